"""Samples that are the stored data itself, and a loop that edits its batches."""

from __future__ import annotations

from tests.truth.catalogue.base import CHANGED, FORK, MAIN_PROCESS, Case, Loader, Run

ALIASED = "aliased-sample"
#: `--fix` leaves hints alone.
SELECTED = ("--extend-select", ALIASED, "--severity", f"{ALIASED}=information")
TWO: Loader = {**FORK, "num_workers": 2}
RUNS = (Run("main process", MAIN_PROCESS, shows=CHANGED), Run("fork", TWO))

FAULTY: tuple[Case, ...] = tuple(Case(ALIASED, name, "measured", RUNS, flags=SELECTED) for name in ("array", "tensor"))
CLEAN: tuple[Case, ...] = (
    Case(ALIASED, "clean_collated", "measured", RUNS, flags=SELECTED),
    Case(ALIASED, "clean_copied", "measured", RUNS, flags=SELECTED),
    Case(ALIASED, "clean_workers", "measured", (Run("fork", TWO),), flags=SELECTED),
)
