"""The catalogue of rules: one module each, or a package whose other modules serve this rule alone. What serves several
rules is in `shared`."""

from __future__ import annotations

import importlib
import pkgutil

from loaderlint.rules.base import Rule


def _load() -> tuple[Rule, ...]:
    """Every rule of this package: a module or package that has a `RULE`, in the order of their codes."""
    found = []
    for info in pkgutil.iter_modules(__path__):
        rule = getattr(importlib.import_module(f"{__name__}.{info.name}"), "RULE", None)
        if isinstance(rule, Rule):
            found.append(rule)
    return tuple(sorted(found, key=lambda one: one.code))


RULES: tuple[Rule, ...] = _load()
_BY_NAME = {key: one for one in RULES for key in (one.name, one.code)}


def rule(name_or_code: str) -> Rule | None:
    """The rule with this name or code (any case); None if there is none."""
    return _BY_NAME.get(name_or_code.lower()) or _BY_NAME.get(name_or_code.upper())
