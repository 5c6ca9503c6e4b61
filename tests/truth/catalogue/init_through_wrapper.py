"""What a worker_init_fn sets on a wrapper."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, SPAWN, Case, Run

RULE = "init-through-wrapper"
UNSET = frozenset({"unset"})
WAYS = (Run("fork", FORK, shows=UNSET), Run("fork server", FORK_SERVER, shows=UNSET))
FAULTY: tuple[Case, ...] = (
    Case(RULE, "split", "measured", (*WAYS, Run("spawn", SPAWN, shows=UNSET)), fix="unsafe"),
    Case(RULE, "joined", "measured", WAYS, fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_itself", "measured", WAYS[:1]),
    Case(RULE, "clean_indices", "measured", WAYS),
)
