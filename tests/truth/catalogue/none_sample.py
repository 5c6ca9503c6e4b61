"""Samples that are None."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK_SERVER, MAIN_PROCESS, ONE_WORKER, Case, Run

NONE = "none-sample"
UNEXPLAINED = frozenset({"unexplained", "none"})
RUNS = (
    Run("main process", MAIN_PROCESS, shows=UNEXPLAINED),
    Run("fork", ONE_WORKER, shows=UNEXPLAINED),
    Run("fork server", FORK_SERVER, shows=UNEXPLAINED),
)

FAULTY: tuple[Case, ...] = (
    Case(NONE, "handler", "measured", RUNS, fix="unsafe"),
    Case(NONE, "helper", "measured", RUNS, fix="unsafe"),
    Case(NONE, "pair", "measured", RUNS, fix="unsafe"),
    Case(NONE, "falls_off", "measured", RUNS, fix=None),
    Case(NONE, "wrapper", "measured", RUNS, fix=None),
    Case(NONE, "looked_at", "measured", RUNS, fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(NONE, "clean_own_collate", "measured", RUNS),
    Case(NONE, "clean_another_sample", "measured", RUNS),
    Case(NONE, "clean_settings", "measured", RUNS),
)
