"""Functions that code starts in new processes, or hands to a function that calls them, are called as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

TRAIN = """
--- train.py
import argparse
import multiprocessing
from functools import partial

import torch.multiprocessing as mp
from accelerate import notebook_launcher
from detectron2.engine import launch
from helpers import start
from torch.utils.data import DataLoader


def work(FIRST, workers):
    loader = DataLoader([1, 2, 3], num_workers=workers)
    return list(loader)


class Trainer:
    def __init__(self):
        self.workers = 3

    def run(self, rank):
        loader = DataLoader([1, 2, 3], num_workers=self.workers)
        return list(loader)

    def start(self):
        mp.spawn(self.run, nprocs=2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=5)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    passed = (options.workers,)
    CALL
--- helpers.py
import torch.multiprocessing as mp


def _in_process(rank, function, args):
    function(rank, *args)


def start(function, gpus, args=()):
    if gpus > 1:
        mp.spawn(_in_process, args=(function, args), nprocs=gpus)
    else:
        function(0, *args)


def keep(function):
    return [function]
"""
LAUNCHED = {
    "spawn": ("rank", "mp.spawn(work, args=(options.workers,), nprocs=2)", "5, argparse default"),
    "spawn, by name": ("rank", "mp.spawn(fn=work, nprocs=2, args=passed)", "5, argparse default"),
    "start_processes": ("rank", 'mp.start_processes(work, [7], nprocs=2, start_method="fork")', "7"),
    "a partial": ("steps, rank", "mp.spawn(partial(work, 10), args=(2,), nprocs=2)", "2"),
    "a process": ("rank", "multiprocessing.Process(target=work, args=(0, 6)).start()", "6"),
    "of a context": ("rank", 'context.Process(target=work, args=(0,), kwargs={"workers": 4}).start()', "4"),
    "in a loop": ("rank", "all = [mp.Process(target=work, args=(i, 2)) for i in range(4)]", "2"),
    "in a notebook": ("rank", "notebook_launcher(work, (1, 2), num_processes=2)", "2"),
    "detectron2": ("rank", "launch(work, 8, num_machines=1, args=(1, 4))", "4"),
    "handed on": ("rank", "start(work, 8, args=passed)", "5, argparse default"),
    "handed on, in this process": ("rank", "start(work, 1, args=(9,))", "9"),
}


@pytest.mark.parametrize("way", LAUNCHED)
def test_what_a_launcher_passes(way: str, tmp_path: Path) -> None:
    first, call, workers = LAUNCHED[way]
    linked = link(tmp_path, TRAIN.replace("FIRST", first).replace("CALL", call))
    assert [one.workers_text for one in linked.model.loaders][:1] == [f"num_workers={workers}"]


def test_a_method_in_a_process(tmp_path: Path) -> None:
    linked = link(tmp_path, TRAIN.replace("FIRST", "rank").replace("CALL", "Trainer().start()"))
    assert {one.workers_text for one in linked.model.loaders} == {"num_workers=3", "num_workers unknown"}


@pytest.mark.parametrize(
    "call",
    [
        "mp.spawn(work, args=options.all, nprocs=2)",
        "mp.Process(args=(0, 4)).start()",
        "mp.Process(target=print, args=(work, 4)).start()",
        "keep(work)",
        "if False:\n        mp.spawn(work, args=(4,))",
        "passed.spawn(work, args=(4,))",
    ],
    ids=["unknown arguments", "no function", "an argument", "kept", "a dead branch", "another spawn"],
)
def test_what_is_not_called(call: str, tmp_path: Path) -> None:
    linked = link(tmp_path, TRAIN.replace("FIRST", "rank").replace("CALL", call))
    assert [one.workers_text for one in linked.model.loaders][:1] == ["num_workers unknown"]
