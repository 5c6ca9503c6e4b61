"""What workers use of the machine, on real PyTorch: what grows is seen, and what only looks like it is not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from loaderlint.audit import audit
from loaderlint.audit.report import Verdict

np = pytest.importorskip("numpy")
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


def noted(dataset: Rows, **more: Any) -> dict[str, Verdict]:
    loader = data.DataLoader(dataset, batch_size=1, num_workers=2, multiprocessing_context="fork")
    results = audit(loader, **{"epochs": 1, "batches": 24, **more}).results
    return {one.check: one.verdict for one in results if one.check in ("memory-growth", "kept-files")}


def test_memory_that_each_batch_leaves_behind(file: Path) -> None:
    assert noted(KeepsSamples(file)) == {"memory-growth": Verdict.NOTE, "kept-files": Verdict.CLEAN}


def test_files_that_each_batch_leaves_open(file: Path) -> None:
    assert noted(KeepsFiles(file)) == {"memory-growth": Verdict.CLEAN, "kept-files": Verdict.NOTE}


@pytest.mark.parametrize("kind", [Rows, KeepsTheLast, OfManySizes, ReadsAMap, OpensAndCloses])
def test_what_does_not_grow(file: Path, kind: type[Rows]) -> None:
    assert set(noted(kind(file)).values()) == {Verdict.CLEAN}


def test_a_few_batches_are_no_trend(file: Path) -> None:
    assert set(noted(KeepsSamples(file), batches=4).values()) == {Verdict.NOT_SEEN}
