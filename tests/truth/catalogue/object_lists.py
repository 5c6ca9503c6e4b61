"""Lists of Python objects in forked workers."""

from __future__ import annotations

from tests.truth.catalogue.base import ONE_WORKER, Case, Run

GROWTH = "object-list-growth"
GROWS = frozenset({"grows"})
RUNS = (Run("fork", ONE_WORKER, shows=GROWS),)

FAULTY: tuple[Case, ...] = (
    Case(GROWTH, "strings", "measured", RUNS, fix=None),
    Case(GROWTH, "records", "measured", RUNS, fix=None),
)
CLEAN: tuple[Case, ...] = (Case(GROWTH, "clean_bytes", "measured", RUNS),)
