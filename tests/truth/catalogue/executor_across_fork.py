"""Pools and queues whose threads are the main process's."""

from __future__ import annotations

from tests.truth.catalogue.base import (
    FORK,
    FORK_SERVER,
    HANG,
    MAIN_PROCESS,
    PERSISTENT,
    SPAWN,
    TOUCH,
    Case,
    Run,
)

RULE = "executor-across-fork"
HANGS = Run("fork", FORK, shows=HANG, timeout=4.0)
TOUCHED = Run("fork, sample read before", FORK, TOUCH, HANG, timeout=4.0)
#: Neither can be pickled.
CANNOT_START = Run("fork server", FORK_SERVER, shows=frozenset({"TypeError"}))
NOT_IMPLEMENTED = frozenset({"NotImplementedError"})
ALONE = Run("main process", MAIN_PROCESS)
FAULTY: tuple[Case, ...] = (
    Case(
        RULE,
        "thread_pool",
        "ends",
        (
            HANGS,
            TOUCHED,
            Run("fork, persistent", PERSISTENT, {"epochs": 2}, HANG, timeout=4.0),
            Run("fork server", FORK_SERVER, shows=NOT_IMPLEMENTED),
            Run("spawn", SPAWN, shows=NOT_IMPLEMENTED),
            ALONE,
        ),
        fix="unsafe",
    ),
    Case(RULE, "used_before", "ends", (HANGS, TOUCHED, CANNOT_START, ALONE), fix="unsafe"),
    Case(RULE, "idle", "ends", (Run("fork", FORK), TOUCHED, CANNOT_START, ALONE), fix="unsafe"),
    Case(RULE, "process_pool", "ends", (HANGS, ALONE), fix=None),
    Case(
        RULE,
        "process_executor",
        "ends",
        (Run("fork", FORK, shows=frozenset({"AssertionError"})), TOUCHED, ALONE),
        fix=None,
    ),
    Case(RULE, "queue", "ends", (HANGS, ALONE), fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_in_worker", "ends", (Run("fork", FORK), Run("fork server", FORK_SERVER))),
    Case(RULE, "clean_keyed", "ends", (Run("fork", FORK), Run("fork, sample read before", FORK, TOUCH))),
    Case(RULE, "clean_constructor", "ends", (Run("fork", FORK),)),
)
