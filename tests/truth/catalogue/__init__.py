"""Which programs are run, how, and what must be seen of them.

A faulty program is run before and after the tool's own fix, under each start method that matters and in the ways that
break fixes that are too simple: the main process reads a sample first (`touch`), the workers persist, there is one
worker or none. A clean one (`clean_*`) shows no symptom, and the tool is silent.

Each module of this package holds the cases of a rule or a family, in `FAULTY` and `CLEAN`.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.truth.catalogue.base import Case, Run

_MODULES = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]

FAULTY: tuple[Case, ...] = tuple(case for module in _MODULES for case in getattr(module, "FAULTY", ()))
CLEAN: tuple[Case, ...] = tuple(case for module in _MODULES for case in getattr(module, "CLEAN", ()))

__all__ = ["CLEAN", "FAULTY", "Case", "Run"]
