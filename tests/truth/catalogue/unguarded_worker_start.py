"""Scripts that start workers at module level."""

from __future__ import annotations

from tests.truth.catalogue.base import Case, Run

START = "unguarded-worker-start"
DIES = Run("as a script", {}, shows=frozenset({"RuntimeError"}))

FAULTY: tuple[Case, ...] = (
    Case(START, "loop", "script", (DIES,)),
    Case(START, "call", "script", (DIES,)),
)
CLEAN: tuple[Case, ...] = (
    Case(START, "clean_guarded", "script", (DIES,)),
    Case(START, "clean_made_only", "script", (DIES,)),
)
