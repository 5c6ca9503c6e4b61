"""How an epoch ends: `unexplained` is an exception that does not say which sample it was."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType


def measure(module: ModuleType) -> Iterator[str]:
    try:
        for _ in module.make_loader():
            pass
    except Exception as error:
        if "missing" not in str(error):
            yield "unexplained"
        if "NoneType" in str(error):
            yield "none"
