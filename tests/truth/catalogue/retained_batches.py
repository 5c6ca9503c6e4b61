"""Batches that are kept: their memory is shared, and each holds a file descriptor."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, Case, Run

RETAINED = "retained-batches"
FILES = frozenset({"files"})
SELECTED = ("--extend-select", RETAINED)
RUNS = (Run("fork", FORK, shows=FILES), Run("fork server", FORK_SERVER, shows=FILES))

FAULTY: tuple[Case, ...] = tuple(
    Case(RETAINED, name, "measured", RUNS, flags=SELECTED) for name in ("labels", "arrays")
)
CLEAN: tuple[Case, ...] = (
    Case(RETAINED, "clean_copies", "measured", RUNS, flags=SELECTED),
    Case(RETAINED, "clean_main_process", "measured", (Run("as it is", {}),), flags=SELECTED),
)
