"""The cost of watching: CPU time of a plain loader and of one that an audit watches, for the same batches.

    python -m benchmarks.audit_overhead

Needs PyTorch and a system that can fork. The samples are images that are flipped and normalised in NumPy.
"""

from __future__ import annotations

import os
import resource
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

EPOCHS, BATCHES, WORKERS, RANKS = 2, 8, 2, 2

#: The width and height of the images, in pixels.
SIDES = (64, 224)


def main() -> None:
    """Print seconds of CPU time, and their ratio, for each size."""
    warnings.simplefilter("ignore")
    from torch.utils.data import DataLoader

    from loaderlint.audit import sandbox
    from loaderlint.audit.auditing import _as_ranks, _iterating

    for side in SIDES:
        loader: Any = DataLoader(pictures(side), batch_size=16, num_workers=WORKERS)
        plain = _spent(partial(_plainly, loader, EPOCHS))
        watched = _spent(partial(sandbox.run, _iterating(loader, EPOCHS, BATCHES, WORKERS), 300.0))
        print(f"{side} pixels: plain {plain:.2f} s, watched {watched:.2f} s, {watched / plain:.2f} times")
        for kind, dataset in (("map-style", loader.dataset), ("iterable", stream(loader.dataset))):
            loader = DataLoader(dataset, batch_size=16, num_workers=WORKERS)
            plain = _spent(partial(_plainly, loader, RANKS + 1))
            taken = _spent(partial(_as_ranks, loader, BATCHES, WORKERS, RANKS, lambda part: 300.0))
            print(f"  {RANKS} ranks, {kind}: plain {plain:.2f} s, as ranks {taken:.2f} s, {taken / plain:.2f} times")


def pictures(side: int) -> Any:
    """A dataset of 256 images."""
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


def stream(pictures: Any) -> Any:
    """The same images as an iterable dataset, divided among ranks and workers."""
    from torch import distributed
    from torch.utils.data import IterableDataset, get_worker_info

    class Stream(IterableDataset[Any]):  # type: ignore[misc]  # PyTorch's types are not known here
        def __iter__(self) -> Iterator[Any]:
            worker = get_worker_info()
            rank, ranks = (
                (distributed.get_rank(), distributed.get_world_size()) if distributed.is_initialized() else (0, 1)
            )
            mine = range(rank * worker.num_workers + worker.id, len(pictures), ranks * worker.num_workers)
            return map(pictures.__getitem__, mine)

    return Stream()


def _plainly(loader: Any, epochs: int) -> None:
    """Read the batches in a copy of this process, as an audit does."""
    import torch

    child = os.fork()
    if child == 0:
        torch.set_num_threads(1)
        for _ in range(epochs):
            for number, _ in enumerate(loader):
                if number == BATCHES:
                    break
        os._exit(0)
    os.waitpid(child, 0)


def _spent(work: Callable[[], object]) -> float:
    """The minimum CPU time of three runs, in seconds, including all processes that they start."""
    return min(_once(work) for _ in range(3))


def _once(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
