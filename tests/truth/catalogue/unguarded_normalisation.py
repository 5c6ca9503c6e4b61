"""Samples divided by a statistic of theirs that is zero."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, MAIN_PROCESS, Case, Run

RULE = "unguarded-normalisation"
NAN = frozenset({"nan"})
RUNS = (Run("main process", MAIN_PROCESS, shows=NAN), Run("fork", FORK, shows=NAN))
FAULTY: tuple[Case, ...] = (
    Case(RULE, "spread", "measured", RUNS, fix="unsafe"),
    Case(RULE, "total", "measured", RUNS, fix=None),
)
CLEAN: tuple[Case, ...] = (Case(RULE, "clean_guarded", "measured", RUNS[:1]),)
