"""torch's own threads in forked workers."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, HANG, MAIN_PROCESS, PERSISTENT, Case, Run

RULE = "torch-threads-in-worker"
HANGS = (
    Run("fork", FORK, shows=HANG, timeout=3.0),
    Run("fork, persistent", PERSISTENT, shows=HANG, timeout=3.0),
    Run("fork server", FORK_SERVER),
    Run("main process", MAIN_PROCESS),
)
FAULTY: tuple[Case, ...] = (
    Case(RULE, "init_function", "ends", HANGS),
    Case(RULE, "helper", "ends", HANGS),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_one_thread", "ends", HANGS[:3]),
    Case(RULE, "clean_before", "ends", HANGS[:3]),
)
