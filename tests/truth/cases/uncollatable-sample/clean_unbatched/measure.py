"""Whether the default collate function refuses a batch."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType


def measure(module: ModuleType) -> Iterator[str]:
    try:
        for _ in module.make_loader():
            pass
    except TypeError as error:
        if "batch must contain tensors" in str(error):
            yield "refused"
