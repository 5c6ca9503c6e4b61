"""Arrays that are read backwards."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, Case, Run

STRIDE = "negative-stride-sample"
RAISED = frozenset({"ValueError"})
RUNS = (
    Run("fork", FORK, shows=RAISED),
    Run("fork server", FORK_SERVER, shows=RAISED),
    Run("main process", MAIN_PROCESS, shows=RAISED),
)

#: Another function than the one that makes the tensor reverses the array.
HINTS = ("flipped", "turned")
FAULTY: tuple[Case, ...] = tuple(
    Case(STRIDE, name, "ends", RUNS, flags=("--hints",) if name in HINTS else ())
    for name in ("flipped", "collated", "turned", "channels")
)
CLEAN: tuple[Case, ...] = tuple(Case(STRIDE, name, "ends", RUNS) for name in ("clean_copied", "clean_lists"))
