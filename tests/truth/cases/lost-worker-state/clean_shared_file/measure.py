"""How often a sample was found in the cache: `useless` is never. A sample is 1 where it was."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType


def measure(module: ModuleType) -> Iterator[str]:
    loader = module.make_loader()
    hits = sum(int(batch.sum()) for _ in range(3) for batch in loader)
    if not hits:
        yield "useless"
