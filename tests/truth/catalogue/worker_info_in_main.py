"""Iterable datasets that ask for the worker in the main process."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, ITEMS, MAIN_PROCESS, ONE_WORKER, PERSISTENT_FORK_SERVER, SPAWN, Case, Run

INFO = "worker-info-in-main"
STREAMED = (
    Run("fork", FORK, shows=ITEMS),
    Run("fork, one worker", ONE_WORKER),
    Run("main process", MAIN_PROCESS),
    Run("fork server, persistent", PERSISTENT_FORK_SERVER, shows=ITEMS),
)
FAULTY: tuple[Case, ...] = (
    Case(INFO, "constructor", "items", (*STREAMED, Run("spawn", SPAWN, shows=ITEMS)), fix="unsafe"),
    #: A worker of the fork server imports the module itself, but before it is told that it is a worker.
    Case(INFO, "module_level", "items", STREAMED, fix="unsafe"),
)
CLEAN: tuple[Case, ...] = (
    Case(INFO, "clean_iteration", "items", STREAMED),
    Case(INFO, "clean_init_function", "items", STREAMED),
)
