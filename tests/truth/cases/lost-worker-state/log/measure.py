"""What the main process sees of what the workers counted: `lost` is less than there was."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType


def measure(module: ModuleType) -> Iterator[str]:
    loader = module.make_loader()
    for _ in range(3):
        for _ in loader:
            pass
    if module.counted(loader.dataset) != 3 * len(loader.dataset):
        yield "lost"
