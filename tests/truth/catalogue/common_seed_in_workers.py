"""Seeds in worker code that are the same in all workers."""

from __future__ import annotations

from tests.truth.catalogue.base import BOTH, FORK, FORK_SERVER, Case, Run

RULE = "common-seed-in-workers"
RUNS = (Run("fork", FORK, shows=BOTH), Run("fork server", FORK_SERVER, shows=BOTH))

FAULTY: tuple[Case, ...] = (
    Case(RULE, "epoch_in_seed", "draws", RUNS, {"columns": [1]}),
    Case(RULE, "constant", "draws", RUNS, {"columns": [0, 1, 2]}),
    Case(RULE, "first_sample", "draws", RUNS, {"columns": [1]}, fix="unsafe"),
    Case(RULE, "collate", "draws", RUNS, {"columns": [1]}, fix="unsafe"),
)

CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_shared_order", "items", (Run("fork", FORK),)),
    Case(RULE, "clean_worker_seed", "draws", (Run("fork", FORK),), {"columns": [1]}),
)
