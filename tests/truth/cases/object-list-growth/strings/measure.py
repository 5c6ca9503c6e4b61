"""Whether the worker's own memory grows while it reads: `grows` is by more than 4 MB. A sample is that memory in kB."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType


def measure(module: ModuleType) -> Iterator[str]:
    sizes = [int(size) for batch in module.make_loader() for size in batch]
    if max(sizes) - sizes[0] > 4096:
        yield "grows"
