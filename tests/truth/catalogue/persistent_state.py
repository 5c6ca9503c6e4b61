"""What the main process sets while the workers live on."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, Case, Loader, Run

STALE_STATE = "stale-persistent-state"
STALE = frozenset({"stale"})
SPAWN_ONE: Loader = {"multiprocessing_context": "spawn", "num_workers": 1}
FORKED = Run("fork", FORK, shows=STALE)
SERVED = Run("fork server", FORK_SERVER, shows=STALE)

FAULTY: tuple[Case, ...] = (
    Case(
        STALE_STATE,
        "attribute",
        "measured",
        (FORKED, SERVED, Run("spawn", SPAWN_ONE, shows=STALE), Run("main process", MAIN_PROCESS)),
    ),
    Case(STALE_STATE, "setter", "measured", (FORKED, SERVED)),
    Case(STALE_STATE, "property", "measured", (FORKED, SERVED)),
    Case(STALE_STATE, "transform", "measured", (FORKED, SERVED)),
    Case(STALE_STATE, "items", "measured", (FORKED, SERVED)),
    Case(STALE_STATE, "endless_loader", "measured", (FORKED,), fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(STALE_STATE, "clean_plain_workers", "measured", (FORKED, SERVED)),
    Case(STALE_STATE, "clean_loader_in_loop", "measured", (FORKED, SERVED)),
    Case(STALE_STATE, "clean_shared_tensor", "measured", (FORKED, SERVED)),
    Case(STALE_STATE, "clean_shared_in_place", "measured", (FORKED, SERVED)),
    Case(STALE_STATE, "clean_value", "measured", (FORKED,)),
)
