"""Iterable datasets that go on where the last epoch ended."""

from __future__ import annotations

from tests.truth.catalogue.base import MAIN_PROCESS, ONE_WORKER, Case, Run

RULE = "exhausted-iterable"
EMPTY = frozenset({"empty"})
_ONE_PERSISTENT = {"num_workers": 1, "persistent_workers": True}
LIVES_ON = Run("fork, persistent", {**_ONE_PERSISTENT, "multiprocessing_context": "fork"}, shows=EMPTY)
STARTED_ANEW = Run("fork, one worker", {**ONE_WORKER, "persistent_workers": False})
RUNS = (Run("main process", MAIN_PROCESS, shows=EMPTY), STARTED_ANEW, LIVES_ON)
FORK_SERVER = Run("fork server, persistent", {**_ONE_PERSISTENT, "multiprocessing_context": "forkserver"}, shows=EMPTY)
FAULTY: tuple[Case, ...] = (
    Case(RULE, "stored", "measured", RUNS, fix="unsafe"),
    Case(RULE, "itself", "measured", (*RUNS, FORK_SERVER), fix="unsafe"),
    Case(RULE, "generator", "measured", RUNS, fix="unsafe"),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_begun_again", "measured", RUNS),
    Case(RULE, "clean_items", "measured", RUNS),
    Case(RULE, "clean_endless", "measured", RUNS),
)
