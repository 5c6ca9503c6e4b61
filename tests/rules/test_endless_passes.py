"""Loaders whose samples never end: if the training is one pass, their only worker starts once and repeats nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.reach.model import Loader
from loaderlint.rules.shared.endless_passes import takes_one_pass
from loaderlint.rules.shared.loader_traits import one_stream
from loaderlint.rules.shared.silence_reasons import ONE_PASS
from tests.project.linking import Linked, link
from tests.rules.answers import lines

CODE = """
import itertools
import numpy as np, torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, Sampler
class Data(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index): return np.random.rand(3)
class Endless(Sampler):
    def __iter__(self):
        while True: yield from torch.randperm(8).tolist()
class Stream(IterableDataset):
    def __iter__(self):
        while True: yield np.random.rand(3)
{above}
def make(repeat, workers):
    options = dict(num_workers=workers)
    if repeat:
        options['sampler'] = {sampler}
    return DataLoader(Data(), **options)
loader = {made}
{passes}
"""
ONCE = "steps = iter(loader); for number in range(100): next(steps)"

#: Methods of a sampler, and whether it goes on for ever.
SAMPLERS: dict[str, bool] = {
    "def __iter__(self):;  while True: yield 0": True,
    "def __iter__(self):;  while 1:;   for x in torch.randperm(8): yield x": True,
    "def __iter__(self):;  while True:;   for x in torch.randperm(8):;    if x: break;    yield x": True,
    "def __iter__(self): return self; def __next__(self): return np.random.choice(8)": True,
    "def __iter__(self): return itertools.cycle(range(8))": True,
    "def __iter__(self): return iter(itertools.count())": True,
    "def __iter__(self): yield from itertools.islice(self.all(), 0, None, 2); "
    "def all(self):;  while True: yield 0": True,
    "def __iter__(self): return self.all(); def all(self):;  while True: yield 0": True,
    "def __iter__(self): return self; def __next__(self):;  try: return next(self.all);"
    "  except StopIteration: return 0": True,
    "def __iter__(self): return itertools.islice(itertools.count(), 8)": False,
    "def __iter__(self): return iter(range(8))": False,
    "def __iter__(self): yield from range(8)": False,
    "def __iter__(self):;  while True:;   yield 0;   if done(): break": False,
    "def __iter__(self):;  while True:;   yield 0;   if done(): return": False,
    "def __iter__(self):;  while self.left: yield 0": False,
    "def __iter__(self): return itertools.repeat(0, 8)": False,
    "def __iter__(self): return self; def __next__(self):;  if done(): raise StopIteration;  return 0": False,
    "def __iter__(self): return self; def __next__(self): return next(self.all)": False,
    "def __iter__(self): return self; def __next__(self): return self.draw(); "
    "def draw(self): raise StopIteration()": False,
    "def __iter__(self): return self; def __next__(self):;  try: return next(self.all);"
    "  except KeyError: return 0": False,
}
#: How the main process goes through a loader of an endless sampler, and whether that is one pass.
PASSES: dict[str, bool] = {
    ONCE: True,
    "for batch in loader: print(batch)": True,
    "for number, batch in enumerate(loader): print(batch)": True,
    "steps = iter(loader); while True:;  try: next(steps);  except StopIteration: steps = iter(loader)": True,
    "pass": False,
    "for epoch in range(3):;  for batch in loader:;   if batch: break": False,
    "for epoch in range(3):;  steps = iter(loader);  next(steps)": False,
    "def train():;  for batch in loader:;   if batch: break; for epoch in range(3): train()": False,
}
#: How a loader is made, and whether its samples never end.
LOADERS: dict[str, bool] = {
    "make(True, 1)": True,
    "make(False, 1)": False,
    "DataLoader(Data(), sampler=Endless())": True,
    "DataLoader(Data(), batch_sampler=BatchSampler(Endless(), 2, True))": True,
    "DataLoader(Data(), batch_sampler=BatchSampler(range(8), 2, True))": False,
    "DataLoader(Data(), sampler=Endless() if load() else None)": False,
    "DataLoader(Data())": False,
    "DataLoader(Stream())": True,
    "DataLoader(Stream() if load() else Data())": False,
}


def linked(
    folder: Path, *, above: str = "", sampler: str = "Endless()", made: str = "make(True, 1)", by: str = ONCE
) -> Linked:
    """A project with one loader."""
    return link(folder, CODE.format(above=above, sampler=sampler, made=made, passes=lines(by)))


def loader_of(project: Linked) -> Loader:
    """The loader that the project goes through."""
    loaders = project.model.loaders
    return next((one for one in loaders if one.name == "loader"), loaders[0])


def is_one_pass(project: Linked) -> bool:
    """Whether training with that loader is one pass that never ends."""
    return takes_one_pass(loader_of(project), project.model)


@pytest.mark.parametrize("methods", SAMPLERS)
def test_which_samplers_go_on_for_ever(methods: str, tmp_path: Path) -> None:
    above = f"class Own(Sampler):\n{lines(methods, 1)}"
    assert is_one_pass(linked(tmp_path, above=above, sampler="Own()")) is SAMPLERS[methods]


@pytest.mark.parametrize("by", PASSES)
def test_which_training_is_one_pass(by: str, tmp_path: Path) -> None:
    assert is_one_pass(linked(tmp_path, by=by)) is PASSES[by]


@pytest.mark.parametrize("made", LOADERS)
def test_which_loaders_never_end(made: str, tmp_path: Path) -> None:
    assert is_one_pass(linked(tmp_path, made=made)) is LOADERS[made]


@pytest.mark.parametrize(("workers", "reason"), [(1, ONE_PASS), (2, "")])
def test_several_workers_repeat_each_other(workers: int, reason: str, tmp_path: Path) -> None:
    project = linked(tmp_path, made=f"make(True, {workers})")
    assert one_stream(loader_of(project), project.model) == reason
