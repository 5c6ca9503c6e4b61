"""What workers use of the machine, on real PyTorch: what grows is seen, and what only looks like it is not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from loaderlint.audit import audit
from loaderlint.audit.report import Verdict

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
data = pytest.importorskip("torch.utils.data")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells it")

#: Numbers of a sample: 2 MiB.
SIZE = 1 << 18


class Rows(data.Dataset):  # type: ignore[misc,name-defined]
    """Samples of 2 MiB each."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.kept: list[Any] = []

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> Any:
        return np.full(SIZE, index, dtype=np.float64)


class KeepsSamples(Rows):
    def __getitem__(self, index: int) -> Any:
        self.kept.append(super().__getitem__(index))
        return self.kept[-1]


class KeepsFiles(Rows):
    def __getitem__(self, index: int) -> Any:
        self.kept.append(self.file.open("rb"))
        return index


class KeepsTensors(Rows):
    """A tensor that is sent is in shared memory from then on, with an open descriptor."""

    def __getitem__(self, index: int) -> Any:
        self.kept.append(torch.full((2 * SIZE,), float(index)))
        return self.kept[-1]


class SendsTensors(Rows):
    def __getitem__(self, index: int) -> Any:
        return torch.full((SIZE * (1 + index % 3),), float(index))


class OpensEachEpoch(data.IterableDataset):  # type: ignore[misc,name-defined]
    """Opens a file when an epoch begins, and keeps it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.kept: list[Any] = []

    def __iter__(self) -> Any:
        self.kept.append(self.file.open("rb"))
        return iter(range(8))


class ReopensEachEpoch(OpensEachEpoch):
    def __iter__(self) -> Any:
        self.kept = [self.file.open("rb")]
        return iter(range(8))


class KeepsTheLast(Rows):
    def __getitem__(self, index: int) -> Any:
        self.kept = [*self.kept[-3:], super().__getitem__(index)]
        return self.kept[-1]


class OfManySizes(Rows):
    def __getitem__(self, index: int) -> Any:
        return float(np.full(SIZE * (1 + index * 7 % 5), index, dtype=np.float64).sum())


class ReadsAMap(Rows):
    def __getitem__(self, index: int) -> Any:
        if not self.kept:
            self.kept.append(np.memmap(self.file, dtype=np.float64, mode="r"))
        return self.kept[0][index * SIZE : (index + 1) * SIZE].sum()


class OpensAndCloses(Rows):
    def __getitem__(self, index: int) -> Any:
        with self.file.open("rb") as file:
            return file.read(1)[0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.bin"
    np.ones(64 * SIZE).tofile(path)
    return path


#: What is told: memory, shared memory, descriptors.
CHECKS = ("memory-growth", "kept-shared-memory", "kept-descriptors")
NOTE, CLEAN, NOT_SEEN = Verdict.NOTE, Verdict.CLEAN, Verdict.NOT_SEEN


def noted(dataset: Any, batch_size: int | None = 1, **more: Any) -> list[Verdict]:
    loader = data.DataLoader(dataset, batch_size, num_workers=2, multiprocessing_context="fork")
    return verdicts(loader, **{"epochs": 1, "batches": 40, **more})


def verdicts(loader: Any, **more: Any) -> list[Verdict]:
    found = {one.check: one.verdict for one in audit(loader, **more).results}
    return [found[check] for check in CHECKS if check in found]


def test_memory_that_each_batch_leaves_behind(file: Path) -> None:
    assert noted(KeepsSamples(file)) == [NOTE, CLEAN, CLEAN]


def test_files_that_each_batch_leaves_open(file: Path) -> None:
    assert noted(KeepsFiles(file)) == [CLEAN, CLEAN, NOTE]


def test_tensors_that_are_kept_after_they_were_sent(file: Path) -> None:
    assert noted(KeepsTensors(file), None) == [CLEAN, NOTE, CLEAN]


def test_the_main_process_and_workers_that_live_on_are_asked_after_each_epoch(file: Path) -> None:
    def after_epochs(kind: type[OpensEachEpoch], epochs: int = 5, **more: Any) -> Verdict:
        loader = data.DataLoader(kind(file), **more)
        return verdicts(loader, epochs=epochs, batches=40)[-1]

    persistent = {"num_workers": 1, "persistent_workers": True, "multiprocessing_context": "fork"}
    for more in ({}, persistent):
        assert after_epochs(OpensEachEpoch, **more) is NOTE
        assert after_epochs(OpensEachEpoch, epochs=4, **more) is CLEAN
        assert after_epochs(ReopensEachEpoch, **more) is CLEAN


@pytest.mark.parametrize("batch_size", [1, None])
@pytest.mark.parametrize("kind", [Rows, SendsTensors, KeepsTheLast, OfManySizes, ReadsAMap, OpensAndCloses])
def test_what_does_not_grow(file: Path, kind: type[Rows], batch_size: int | None) -> None:
    assert noted(kind(file), batch_size) == [CLEAN, CLEAN, CLEAN]


def test_a_few_batches_are_no_trend(file: Path) -> None:
    assert noted(KeepsSamples(file), batches=4) == [NOT_SEEN, NOT_SEEN, NOT_SEEN]
