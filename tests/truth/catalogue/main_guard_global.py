"""Scripts whose workers read what is bound under the main guard."""

from __future__ import annotations

from tests.truth.catalogue.base import Case, Run

GLOBAL = "main-guard-global"
MISSING = Run("as a script", {}, shows=frozenset({"NameError"}))

FAULTY: tuple[Case, ...] = (
    Case(GLOBAL, "constant", "script", (MISSING,)),
    Case(GLOBAL, "computed", "script", (MISSING,), fix=None),
)
CLEAN: tuple[Case, ...] = (
    Case(GLOBAL, "clean_above", "script", (MISSING,)),
    Case(GLOBAL, "clean_forked", "script", (MISSING,)),
)
