"""What watching costs: processor time of a plain loader and of one that an audit watches, for the same batches.

    python -m benchmarks.audit_overhead

Needs PyTorch and a system that can fork. The samples are pictures that are flipped and normalised in NumPy.
"""

from __future__ import annotations

import os
import resource
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

EPOCHS, BATCHES, WORKERS = 2, 8, 2

#: The sides of the pictures, in pixels.
SIDES = (64, 224)


def main() -> None:
    """Print seconds of processor time, and their ratio, for each size."""
    warnings.simplefilter("ignore")
    from torch.utils.data import DataLoader

    from loaderlint.audit import sandbox
    from loaderlint.audit.auditing import _iterating

    for side in SIDES:
        loader: Any = DataLoader(pictures(side), batch_size=16, num_workers=WORKERS)
        plain = _spent(partial(_plainly, loader))
        watched = _spent(partial(sandbox.run, _iterating(loader, EPOCHS, BATCHES, WORKERS), 300.0))
        print(f"{side} pixels: plain {plain:.2f} s, watched {watched:.2f} s, {watched / plain:.2f} times")


def pictures(side: int) -> Any:
    """A dataset of 256 pictures."""
    import numpy as np
    import torch

    class Pictures:
        def __init__(self) -> None:
            self.data = np.random.default_rng(0).integers(0, 255, (64, side, side, 3), dtype=np.uint8)

        def __len__(self) -> int:
            return 256

        def __getitem__(self, index: int) -> Any:
            picture = self.data[index % 64].astype(np.float32) / 255
            if np.random.rand() < 0.5:
                picture = picture[:, ::-1].copy()
            picture = (picture - picture.mean((0, 1))) / picture.std((0, 1))
            return torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1))), index

    return Pictures()


def _plainly(loader: Any) -> None:
    """Take the batches in a copy of this process, as an audit does."""
    import torch

    child = os.fork()
    if child == 0:
        torch.set_num_threads(1)
        for _ in range(EPOCHS):
            for number, _ in enumerate(loader):
                if number == BATCHES:
                    break
        os._exit(0)
    os.waitpid(child, 0)


def _spent(work: Callable[[], object]) -> float:
    """The least processor time of three runs, in seconds, of all that they start."""
    return min(_once(work) for _ in range(3))


def _once(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
