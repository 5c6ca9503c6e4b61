"""What the workers see of the epoch: `stale` is another one than the main process has set."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType


def measure(module: ModuleType) -> Iterator[str]:
    if any(seen != epoch for epoch, seen in module.train(3)):
        yield "stale"
