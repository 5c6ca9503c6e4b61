"""Samples that the default collate function cannot batch."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK_SERVER, MAIN_PROCESS, ONE_WORKER, Case, Run

RULE = "uncollatable-sample"
REFUSED = frozenset({"refused"})
RUNS = (
    Run("main process", MAIN_PROCESS, shows=REFUSED),
    Run("fork", ONE_WORKER, shows=REFUSED),
    Run("fork server", FORK_SERVER, shows=REFUSED),
)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "image", "measured", RUNS, fix="unsafe"),
    Case(RULE, "path", "measured", RUNS, fix="unsafe"),
    Case(RULE, "plain_class", "measured", RUNS, fix=None),
    Case(RULE, "others", "measured", RUNS, fix=None),
    Case(RULE, "tags", "measured", RUNS, fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_batchable", "measured", RUNS),
    Case(RULE, "clean_unbatched", "measured", RUNS),
    Case(RULE, "clean_registered", "measured", RUNS),
)
