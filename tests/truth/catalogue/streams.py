"""Iterable datasets."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, ITEMS, MAIN_PROCESS, ONE_WORKER, PERSISTENT_FORK_SERVER, SPAWN, Case, Run

STREAM = "unsharded-iterable-dataset"
STREAMED = (
    Run("fork", FORK, shows=ITEMS),
    Run("fork, one worker", ONE_WORKER),
    Run("main process", MAIN_PROCESS),
    Run("fork server, persistent", PERSISTENT_FORK_SERVER, shows=ITEMS),
)
FAULTY: tuple[Case, ...] = (
    Case(STREAM, "ranges", "items", (*STREAMED, Run("spawn", SPAWN, shows=ITEMS))),
    Case(STREAM, "loop", "items", STREAMED),
    Case(STREAM, "yield_from", "items", STREAMED),
    Case(STREAM, "yield_from_files", "items", STREAMED),
    Case(STREAM, "web_loader", "items", STREAMED[:3], modules=("webdataset",)),
    Case(STREAM, "helpers", "items", STREAMED, fix=None),
    Case(STREAM, "shuffled", "items", STREAMED, fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(STREAM, "clean_sharded", "items", STREAMED),
    Case(STREAM, "clean_sharded_by_init_function", "items", (STREAMED[0], STREAMED[3])),
    Case(STREAM, "clean_one_worker", "items", (Run("as it is", {}),)),
)
