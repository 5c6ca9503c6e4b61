"""Draws in a branch for an argument that is left out, in a function that is called in more ways than are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.limits import MAX_CONTEXTS
from tests.rules.answers import answers

CODE = """
import json
import numpy as np
import pandas
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
import pandas
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


SEEDED = """
import numpy as np
import pandas as pd
import random
from functools import partial
from multiprocessing import Pool
from experts import make_env, set_seed, tasks
from sklearn.model_selection import train_test_split
SEED = 3
class Env:
    def __init__(self, seed):
        self.seed = seed
def work(item, seed):
    {}
    frame = np.random.randint(100)
    {}
    return frame
def main(items):
    with Pool(4) as pool:
        return pool.starmap(work, items)
"""
_MAY_SEED = "silent: what its processes run passes a seed to code that is not known, which may seed NumPy"
#: What is done before and after the draw, each in a line, and the answer.
PASSED_ON: dict[tuple[str, str], str] = {
    ("make_env(item, seed=seed)", "pass"): _MAY_SEED,
    ("make_env(item, seed)", "pass"): _MAY_SEED,
    ("make_env(item, env_seed=seed + 1)", "pass"): _MAY_SEED,
    ("make_env(item['seed'])", "pass"): _MAY_SEED,
    ("own_seed = item[0] * 7; make_env(own_seed)", "pass"): _MAY_SEED,
    ("tasks.get(item, None)['env'](random_state=item)", "pass"): _MAY_SEED,
    ("make_env(item).reset(seed=seed)", "pass"): _MAY_SEED,
    ("set_seed(item)", "pass"): _MAY_SEED,
    ("env = make_env(item); env.seed(item)", "pass"): _MAY_SEED,
    ("for one in item: frame = np.random.rand(); make_env(seed=one)", "pass"): _MAY_SEED,
    ("pass", "for one in item: make_env(seed=one)"): _MAY_SEED,
    # near misses: nothing seeds NumPy, or with the same number everywhere
    ("make_env(item)", "pass"): "warning",
    ("make_env(item, seed=0)", "pass"): "warning",
    ("make_env(item, seed=None)", "pass"): "warning",
    ("make_env(item, SEED)", "pass"): "warning",
    ("set_seed(42)", "pass"): "warning",
    ("pass", "make_env(item, seed=seed)"): "warning",
    ("random.seed(seed)", "pass"): "warning",
    ("rng = np.random.default_rng(seed)", "pass"): "warning",
    ("train_test_split(item, random_state=seed)", "pass"): "warning",
    ("pd.DataFrame(item).sample(5, random_state=seed)", "pass"): "warning",
    ("Env(seed=seed)", "pass"): "warning",
    ("item.append(seed)", "pass"): "warning",
    ("print(item, seed)", "pass"): "warning",
}


@pytest.mark.parametrize(("before", "after"), PASSED_ON)
def test_a_seed_that_is_passed_to_code_that_is_not_known(before: str, after: str, tmp_path: Path) -> None:
    code = SEEDED.format(before, after)
    assert answers(tmp_path, "map-duplicate-randomness", code).short == PASSED_ON[before, after]
