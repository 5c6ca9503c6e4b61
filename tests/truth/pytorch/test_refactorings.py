"""What a refactoring promises, on real PyTorch: two runs of a program, before and after it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.fixes.file_edits import FileEdit
from loaderlint.syntax.positions import apply_edits

PROGRAM = """\
import random
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index, np.random.rand(), random.random(), torch.rand(()).item()


def main():
    loader = DataLoader(Noise(), shuffle=True, num_workers=2, multiprocessing_context=sys.argv[1])
    for _ in range(int(sys.argv[2])):
        for batch in loader:
            print(*(float(part) for part in batch))


if __name__ == "__main__":
    main()
"""
LINE = PROGRAM.split("\n").index(
    "    loader = DataLoader(Noise(), shuffle=True, num_workers=2, multiprocessing_context=sys.argv[1])"
)


def drawn(program: Path, method: str, epochs: int) -> list[list[str]]:
    """The columns of what a run prints: indices, and the numbers of NumPy, `random` and torch."""
    command = [sys.executable, program, method, str(epochs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    return [list(column) for column in zip(*(line.split() for line in done.stdout.splitlines()), strict=True)]


def drawn_twice(program: Path, method: str, epochs: int) -> list[list[list[str]]]:
    """What two runs print. They run side by side: most of their time goes into imports of torch."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(drawn, [program] * 2, [method] * 2, [epochs] * 2))


@pytest.mark.parametrize(("method", "epochs"), [("fork", 2), ("spawn", 1)])  # a spawned worker imports torch: seconds
def test_seeded_workers_draw_the_same_in_every_run(tmp_path: Path, method: str, epochs: int) -> None:
    program = tmp_path / "train.py"
    program.write_text(PROGRAM)
    first, second = drawn_twice(program, method, epochs)
    assert all(one != other for one, other in zip(first[1:], second[1:], strict=True)), "before, nothing is repeated"

    workspace = Workspace([tmp_path])
    (fix,) = workspace.refactorings(program, LINE)
    repair = workspace.repair(program, fix)
    assert repair is not None
    (file,) = repair.files
    assert isinstance(file, FileEdit)
    program.write_text(apply_edits(PROGRAM, file.edits))

    first, second = drawn_twice(program, method, epochs)
    assert first == second
    assert all(len(set(column)) == 8 * epochs for column in first[1:]), "every worker and epoch draws its own"
    assert epochs == 1 or first[0][:8] != first[0][8:], "the epochs are shuffled in different ways"
    changed = Workspace([tmp_path])
    assert not changed.refactorings(program, program.read_text().split("\n").index("def main():") + 1)
    assert not any(changed.check([program]).values())
