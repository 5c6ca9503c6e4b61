"""Seeds that are set for each sample."""

from __future__ import annotations

from tests.truth.catalogue.base import BOTH, DUPLICATES, FORK, FORK_SERVER, MAIN_PROCESS, ONE_WORKER, Case, Run

RULE = "reseed-per-sample"
EVERYWHERE = (
    Run("fork", FORK, shows=BOTH),
    Run("fork, one worker", ONE_WORKER, shows=BOTH),
    Run("main process", MAIN_PROCESS, shows=BOTH),
    Run("fork server", FORK_SERVER, shows=BOTH),
)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "constant", "draws", EVERYWHERE, {"columns": [0, 1, 2]}, fix="unsafe"),
    Case(RULE, "helper", "draws", EVERYWHERE[:3], {"columns": [0, 1]}, fix="unsafe"),
    Case(
        RULE,
        "worker_seed",
        "draws",
        (Run("fork", FORK, shows=DUPLICATES), Run("fork, one worker", ONE_WORKER, shows=DUPLICATES)),
        {"columns": [1]},
        fix="unsafe",
    ),
)

CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_drawn_seed", "draws", (Run("fork", FORK), Run("main process", MAIN_PROCESS)), {"columns": [0]}),
    Case(RULE, "clean_epoch_and_index", "draws", (Run("fork", FORK),), {"columns": [1]}),
    Case(RULE, "clean_put_back", "draws", (Run("fork", FORK), Run("main process", MAIN_PROCESS)), {"columns": [1]}),
)
