"""Seeds that NumPy does not take."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, PERSISTENT, Case, Run

RULE = "worker-seed-overflow"
RAISES = frozenset({"ValueError"})
#: The numbers that are drawn show that the fix seeds each worker anew; the exception is the symptom before it.
ENDS = (
    Run("fork", FORK, shows=RAISES),
    Run("fork, persistent", PERSISTENT, shows=RAISES),
    Run("fork server", FORK_SERVER, shows=RAISES),
)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "as_it_is", "ends", (*ENDS, Run("main process", MAIN_PROCESS)), {"epochs": 2}),
    Case(RULE, "with_worker_number", "ends", ENDS[:2], {"epochs": 2}),
    Case(RULE, "in_dataset", "ends", ENDS, {"epochs": 2}),
)

CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_remainder", "draws", (Run("fork", FORK), Run("fork server", FORK_SERVER)), {"columns": [1]}),
    Case(RULE, "clean_wide_seeds", "draws", (Run("fork", FORK),), {"columns": [0, 1, 2]}),
)
