"""Listings of folders. What they show depends on the file system: measured on ext4, whose order goes by hashes."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, MAIN_PROCESS, Case, Run

RULE = "unsorted-listing"
MISMATCH = frozenset({"mismatch"})
ORDER = frozenset({"order"})
FAULTY: tuple[Case, ...] = (
    Case(
        RULE,
        "pairs",
        "measured",
        (Run("fork", FORK, shows=MISMATCH), Run("main process", MAIN_PROCESS, shows=MISMATCH)),
    ),
    Case(
        RULE,
        "rows",
        "measured",
        (Run("fork", FORK, shows=MISMATCH), Run("main process", MAIN_PROCESS, shows=MISMATCH)),
        fix="unsafe",
    ),
    Case(RULE, "classes", "measured", (Run("main process", MAIN_PROCESS, shows=ORDER),), fix="unsafe"),
    Case(RULE, "part", "measured", (Run("main process", MAIN_PROCESS, shows=ORDER),)),
    Case(RULE, "walk", "measured", (Run("main process", MAIN_PROCESS, shows=ORDER),), fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_sorted", "measured", (Run("fork", FORK),)),
    Case(RULE, "clean_by_name", "measured", (Run("fork", FORK),)),
)
