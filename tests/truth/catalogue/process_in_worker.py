"""Processes that workers start."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, SPAWN, Case, Run

RULE = "process-in-worker"
RAISES = frozenset({"AssertionError"})
WAYS = (
    Run("fork", FORK, shows=RAISES),
    Run("fork server", FORK_SERVER, shows=RAISES),
    Run("main process", MAIN_PROCESS),
)
FAULTY: tuple[Case, ...] = (
    Case(RULE, "pool", "ends", (*WAYS, Run("spawn", SPAWN, shows=RAISES)), fix=None),
    Case(RULE, "executor", "ends", WAYS, fix=None),
    Case(RULE, "nested", "ends", (Run("as it is", {}, shows=RAISES),), fix=None),
    Case(RULE, "init_function", "ends", WAYS, fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_threads", "ends", WAYS),
    Case(RULE, "clean_asked", "ends", WAYS),
    Case(RULE, "clean_nested", "ends", (Run("as it is", {}),)),
    Case(RULE, "clean_constructor", "ends", (WAYS[0],)),
    Case(RULE, "clean_joblib", "ends", WAYS[:2], modules=("joblib",)),
    Case(RULE, "clean_flag", "ends", WAYS[:1]),
)
