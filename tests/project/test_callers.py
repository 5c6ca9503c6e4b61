"""Callers are searched where a call may lead to the function, and not where it is written that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.callers import Callers
from tests.project.linking import link

TRAINER = """
--- trainer.py
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, workers):
        self.workers = workers

    def run(self, data, batch):
        loader = DataLoader(data, batch_size=batch, num_workers=self.workers)
        return loader


class Longer(Trainer):
    def longer(self, data):
        return super().run(data, 8)
--- train.py
from trainer import Longer, Trainer


def main():
    Trainer(2).run([], 4)


def other():
    Longer(3).longer([])
--- tools.py
import subprocess


class Tool:
    def run(self):
        return subprocess.run(["ls"])

    def again(self):
        return self.run()


def several(tools):
    return [Tool().run() for _ in tools]


def build():
    several([1])
"""


def _searched(monkeypatch: pytest.MonkeyPatch, folder: Path) -> tuple[set[str], set[object]]:
    """The files in which callers were searched while the project was linked, and the loader's batch sizes."""
    searched: set[str] = set()
    find = Callers._find

    def noted(self, path, piece, def_, facts, depth):  # type: ignore[no-untyped-def]
        searched.add(f"{path.name}:{facts.ir.defs[def_].name}")
        return find(self, path, piece, def_, facts, depth)

    monkeypatch.setattr(Callers, "_find", noted)
    linked = link(folder, TRAINER)
    sizes = {one.argument("batch_size").literal for one in linked.model.loaders}
    return searched, {one.value for one in sizes if one is not None}


def test_only_calls_that_may_lead_there_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched, sizes = _searched(monkeypatch, tmp_path)
    assert sizes == {4, 8}
    assert "trainer.py:longer" in searched
    assert not {one for one in searched if one.startswith("tools.py:again")}
    assert "tools.py:run" not in searched
