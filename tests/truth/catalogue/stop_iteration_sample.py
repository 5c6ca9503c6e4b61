"""StopIteration out of the code that makes samples and batches."""

from __future__ import annotations

from tests.truth.catalogue.base import (
    FORK,
    FORK_SERVER,
    MAIN_PROCESS,
    ONE_WORKER,
    PERSISTENT,
    SPAWN,
    Case,
    Run,
)

RULE = "stop-iteration-sample"
SHORT = frozenset({"short"})
RUNS = (
    Run("main process", MAIN_PROCESS, shows=SHORT),
    Run("fork, one worker", ONE_WORKER, shows=SHORT),
    Run("fork", FORK, shows=SHORT),
    Run("fork server", FORK_SERVER, shows=SHORT),
)
FAULTY: tuple[Case, ...] = (
    Case(RULE, "stored", "measured", (*RUNS[:3], Run("fork, persistent", PERSISTENT, shows=SHORT)), fix="unsafe"),
    Case(RULE, "search", "measured", (*RUNS, Run("spawn", SPAWN, shows=SHORT)), fix="unsafe"),
    Case(RULE, "collate", "measured", RUNS, fix="unsafe"),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_endless", "measured", RUNS[:3]),
    Case(RULE, "clean_caught", "measured", RUNS[:3]),
)
