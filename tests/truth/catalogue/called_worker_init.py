"""What is passed as worker_init_fn."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, Case, Run

INIT = "called-worker-init"
UNPREPARED = frozenset({"NotPrepared"})
TYPE_ERROR = frozenset({"TypeError"})

FAULTY: tuple[Case, ...] = (
    Case(
        INIT,
        "called",
        "measured",
        # A forked worker has another process number, so it is not prepared by what the main process did.
        (Run("fork", FORK, shows=UNPREPARED), Run("fork server", FORK_SERVER, shows=UNPREPARED)),
    ),
    Case(
        INIT, "no_parameter", "ends", (Run("fork", FORK, shows=TYPE_ERROR), Run("main process", MAIN_PROCESS)), fix=None
    ),
    Case(INIT, "library", "ends", (Run("fork", FORK, shows=TYPE_ERROR),), fix="unsafe"),
)
CLEAN: tuple[Case, ...] = (
    Case(INIT, "clean_factory", "measured", (Run("fork", FORK), Run("fork server", FORK_SERVER))),
)
