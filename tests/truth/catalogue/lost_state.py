"""State that stays in the workers."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, ITEMS, MAIN_PROCESS, PERSISTENT, Case, Run

STATE = "lost-worker-state"
LOST = frozenset({"lost"})
USELESS = frozenset({"useless"})
COUNTED = (
    Run("fork", FORK, shows=LOST),
    Run("fork, persistent", PERSISTENT, shows=LOST),
    Run("fork server", FORK_SERVER, shows=LOST),
    Run("main process", MAIN_PROCESS),
)
CACHED = (
    Run("fork", FORK, shows=USELESS),
    Run("fork server", FORK_SERVER, shows=USELESS),
    Run("fork, persistent", PERSISTENT),
    Run("main process", MAIN_PROCESS),
)
WALKED = (
    Run("fork", FORK, shows=ITEMS),
    Run("fork, persistent", PERSISTENT, shows=ITEMS),
    Run("fork server", FORK_SERVER, shows=ITEMS),
    Run("main process", MAIN_PROCESS),
)

FAULTY: tuple[Case, ...] = (
    Case(STATE, "counter", "measured", COUNTED, fix=None),
    Case(STATE, "log", "measured", COUNTED, fix=None),
    Case(STATE, "cache", "measured", CACHED, fix="unsafe"),
    Case(STATE, "cache_list", "measured", CACHED, fix="unsafe"),
    Case(STATE, "position", "items", WALKED, fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(STATE, "clean_persistent", "measured", (Run("fork", FORK), Run("fork server", FORK_SERVER))),
    Case(STATE, "clean_position", "items", (Run("fork", FORK), Run("main process", MAIN_PROCESS))),
    Case(STATE, "clean_shared", "measured", (Run("fork", FORK),)),
    Case(STATE, "clean_shared_file", "measured", (Run("fork", FORK), Run("fork server", FORK_SERVER))),
)
