"""Samplers of several processes that are not told of the epoch."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, Case, Run

RULE = "missing-set-epoch"
ORDER = frozenset({"order"})
EPOCHS = (
    Run("fork", FORK, shows=ORDER),
    Run("fork server", FORK_SERVER, shows=ORDER),
    Run("main process", MAIN_PROCESS, shows=ORDER),
)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "plain_loop", "measured", EPOCHS),
    Case(RULE, "one_process_too", "measured", (EPOCHS[2], Run("one process", MAIN_PROCESS, {"processes": 1}))),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_set_epoch", "measured", EPOCHS),
    Case(RULE, "clean_stored_epoch", "measured", EPOCHS),
    Case(RULE, "clean_in_order", "measured", EPOCHS),
)
