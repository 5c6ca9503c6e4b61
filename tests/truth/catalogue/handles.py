"""Files and the like that were opened before the workers started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.truth.catalogue.base import (
    FORK,
    FORK_SERVER,
    HANG,
    MAIN_PROCESS,
    ONE_WORKER,
    PERSISTENT,
    PICKLE,
    READS,
    SPAWN,
    TOUCH,
    Case,
    Run,
)

HANDLE = "handle-across-workers"
CANNOT_START = Run("fork server, sample read before", FORK_SERVER, TOUCH, PICKLE)
WRONG_READS = (
    Run("fork", FORK, shows=READS),
    Run("fork, sample read before", FORK, TOUCH, READS),
    Run("fork, persistent", PERSISTENT, TOUCH, READS),
    CANNOT_START,
)
#: A single worker reads alone as long as the main process reads nothing: the rule speaks more quietly there.
SINGLE = Run("fork, one worker", ONE_WORKER)
#: HDF5 2.0, a read-only LMDB environment and an SQLite connection that only reads bear a fork; what shows with them is
#: that no other start method works.
RIGHT_READS = (
    Run("fork, sample read before", FORK, TOUCH),
    Run("fork, persistent", PERSISTENT, TOUCH),
    CANNOT_START,
)
SPAWNED = Run("spawn, sample read before", SPAWN, {"epochs": 1, **TOUCH}, PICKLE)
ALONE = Run("main process", MAIN_PROCESS, {"epochs": 2})
#: Which reads meet depends on timing: some 30 of 250 are wrong. 40 epochs are tried before the fix, 3 after it.
TRIED: Mapping[str, Any] = {"epochs": 40}
TRIED_AFTER: Mapping[str, Any] = {"epochs": 3}
FEW: Mapping[str, Any] = {"epochs": 2}

FAULTY: tuple[Case, ...] = (
    Case(HANDLE, "records", "reads", (*WRONG_READS, SINGLE, SPAWNED, ALONE), TRIED, TRIED_AFTER),
    Case(HANDLE, "archive", "reads", (*WRONG_READS, SINGLE, ALONE), TRIED, TRIED_AFTER),
    Case(HANDLE, "arrays", "reads", (*WRONG_READS, SINGLE, ALONE), TRIED, TRIED_AFTER),
    Case(HANDLE, "raster", "reads", (*WRONG_READS, SINGLE, ALONE), TRIED, TRIED_AFTER),
    Case(HANDLE, "genome", "reads", (*WRONG_READS, SINGLE, ALONE), TRIED, TRIED_AFTER),
    Case(
        HANDLE,
        "lazy",
        "reads",
        (WRONG_READS[0], *WRONG_READS[2:], ALONE),
        TRIED,
        TRIED_AFTER,
    ),
    Case(HANDLE, "length", "reads", (WRONG_READS[0], *WRONG_READS[2:], ALONE), TRIED, TRIED_AFTER),
    Case(HANDLE, "asked_length", "reads", (WRONG_READS[0], *WRONG_READS[2:], ALONE), TRIED, TRIED_AFTER),
    Case(HANDLE, "method", "reads", (WRONG_READS[0], *WRONG_READS[2:], ALONE), TRIED, TRIED_AFTER),
    Case(HANDLE, "hdf5", "reads", (*RIGHT_READS, ALONE), FEW),
    Case(HANDLE, "lmdb", "reads", (*RIGHT_READS, ALONE), FEW),
    Case(HANDLE, "lmdb_method", "reads", (*RIGHT_READS, ALONE), FEW),
    Case(HANDLE, "sqlite", "reads", (*RIGHT_READS, ALONE), FEW),
    Case(
        HANDLE,
        "video",
        "reads",
        (Run("fork, sample read before", FORK, TOUCH, HANG, timeout=4.0), CANNOT_START, ALONE),
        FEW,
        fix=None,
    ),
)
CLEAN: tuple[Case, ...] = (
    Case(HANDLE, "clean_opened_per_sample", "reads", (*WRONG_READS[:2], CANNOT_START), TRIED_AFTER),
    Case(HANDLE, "clean_keyed_by_process", "reads", WRONG_READS, TRIED_AFTER),
    Case(
        HANDLE, "clean_opened_in_init_function", "reads", (WRONG_READS[0], Run("fork server", FORK_SERVER)), TRIED_AFTER
    ),
    Case(HANDLE, "clean_reopened_through_object", "reads", WRONG_READS[:1], TRIED_AFTER),
    Case(HANDLE, "clean_main_process", "reads", (Run("as it is", {}),), TRIED_AFTER),
)
