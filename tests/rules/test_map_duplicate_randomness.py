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


STARTED = """
import argparse
import multiprocessing as mp
import numpy as np
import torch
from multiprocessing.pool import Pool
def work(item):
    return item + np.random.rand()
def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parallel", action="store_true", default=True)
    parser.add_argument("--fast", action="store_true", default=True)
    args = parser.parse_args()
    {}
    return args
def main(items):
    args = options()
    {}
"""
#: How a start method is chosen and the pool made, each in a line ('; ' ends one), and the answer.
CHOSEN: dict[tuple[str, str], str] = {
    ("if args.parallel: mp.set_start_method('spawn')", "if args.parallel: Pool(4).map(work, items)"): _SILENT,
    (
        "if args.parallel: torch.multiprocessing.set_start_method('spawn')",
        "if args.parallel:;        for item in items:;            Pool(4).apply_async(work, item)",
    ): _SILENT,
    (
        "if args.parallel: mp.set_start_method('spawn')",
        "if args.parallel and items: Pool(4).map(work, items)",
    ): "warning",
    ("if args.parallel: mp.set_start_method('spawn')", "if items: Pool(4).map(work, items)"): "warning",
    ("if args.parallel: mp.set_start_method('spawn')", "if not args.parallel: Pool(4).map(work, items)"): "warning",
    ("if args.parallel: mp.set_start_method('spawn')", "if args.fast: Pool(4).map(work, items)"): "warning",
    ("if args.parallel: mp.set_start_method('fork')", "if args.parallel: Pool(4).map(work, items)"): "warning",
    ("if load(args): mp.set_start_method('spawn')", "if load(args): Pool(4).map(work, items)"): "warning",
    ("pass", "if args.parallel: Pool(4).map(work, items)"): "warning",
}


@pytest.mark.parametrize(("chosen", "made"), CHOSEN)
def test_a_start_method_under_the_test_of_the_pool(chosen: str, made: str, tmp_path: Path) -> None:
    code = STARTED.format(chosen, made.replace(";", "\n"))
    assert answers(tmp_path, "map-duplicate-randomness", code).short == CHOSEN[chosen, made]
