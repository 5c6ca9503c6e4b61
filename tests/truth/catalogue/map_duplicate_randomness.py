"""Random numbers in pools of processes that are no loader's."""

from __future__ import annotations

from tests.truth.catalogue.base import DUPLICATES, Case, Run

RULE = "map-duplicate-randomness"
FORKED = Run("fork", {}, {"method": "fork"}, DUPLICATES)
#: The fork server of these tests has loaded NumPy before (see `zygote`); only generator objects tell.
SERVED = Run("fork server", {}, {"method": "forkserver"}, DUPLICATES)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "pool_map", "measured", (FORKED,), fix="unsafe"),
    Case(RULE, "dataset_map", "measured", (FORKED,), fix="unsafe", modules=("datasets",)),
    Case(RULE, "own_generator", "measured", (FORKED, SERVED), fix="unsafe"),
    Case(RULE, "executor", "measured", (FORKED,), fix="unsafe"),
    Case(RULE, "parallel_mapper", "measured", (FORKED,), fix="unsafe", modules=("torchdata",)),
)
CLEAN: tuple[Case, ...] = (
    #: Needs NumPy 2, which the tests install.
    Case(RULE, "clean_loaded_later", "measured", (Run("a new interpreter", {}, {}, DUPLICATES),)),
    Case(RULE, "clean_initializer", "measured", (FORKED,)),
    Case(RULE, "clean_seed_per_item", "measured", (FORKED, SERVED)),
    Case(RULE, "clean_threads", "measured", (FORKED,)),
)
