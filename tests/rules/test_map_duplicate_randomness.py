"""Draws in a branch for an argument that is left out, in a function that is called in more ways than are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.limits import MAX_CONTEXTS
from tests.rules.answers import answers

CODE = """
import json
import numpy as np
from multiprocessing import Pool
from torch.utils.data import DataLoader, Dataset
def cut(path, length, start=None):
    if start is None:
        start = np.random.randint(length)
    return path, start
def work(path):
    return cut(path, 1000, {})
class Cuts(Dataset):
    def __getitem__(self, index):
        return [{}]
loader = DataLoader(Cuts(), num_workers=2)
def main(paths):
    with Pool(4) as pool:
        return pool.map(work, paths)
"""
_SILENT = "silent: nothing that its processes run is known to draw from a state that they share at the start"

#: What the processes pass to the function, and the answer.
PASSED: dict[str, str] = {
    "start=5": _SILENT,
    "len(path)": _SILENT,
    "": "warning",
    "start=None": "warning",
    "start=json.load(open(path))": "warning",
}


@pytest.mark.parametrize("others", ["cut('a', {}, 3)", "cut('a', {})"])
@pytest.mark.parametrize("passed", PASSED)
def test_an_argument_that_is_passed_is_told_from_one_that_is_not(passed: str, others: str, tmp_path: Path) -> None:
    calls = ", ".join(map(others.format, range(MAX_CONTEXTS + 1)))
    assert answers(tmp_path, "map-duplicate-randomness", CODE.format(passed, calls)).short == PASSED[passed]
