"""Who calls the code around a call is asked where the call may make a loader for one of them, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.call_sites import CallSite
from loaderlint.project.loaders.candidate_calls import Candidates
from tests.project.linking import Linked, link

HEAD = """
import copy, functools, os
import torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __getitem__(self, i): return i
class Mine(DataLoader): pass
class Net(nn.Module): pass
class Other: pass
def given(x): return x
"""

#: Calls that make a loader for some caller of the function that they stand in.
MADE = {
    "the class itself": "def make(data): return DataLoader(data)\nmake(D())",
    "a partial of the module": """
batches = functools.partial(DataLoader)
def make(data): return batches(data)
make(D())""",
    "a parameter": """
def make(cls, data): DataLoader; return cls(data)
make(DataLoader, D())""",
    "a parameter with the default of another class": """
def make(data, cls=Other): DataLoader; return cls(data)
make(D(), DataLoader)""",
    "a parameter with a name as its default": """
def make(data, cls='none'):
    DataLoader
    if cls == 'none': cls = Other
    return cls(data)
make(D(), DataLoader)""",
    "a class that is chosen": """
def make(a, data):
    DataLoader
    cls = Mine if a else Other
    return cls(data)
make(1, D())""",
    "the last of several": """
def make(cls, data): return ((cls or DataLoader) if data else Other)(data)
make(None, D())""",
    "a partial": "def make(data): return functools.partial(DataLoader, num_workers=2)(data)\nmake(D())",
    "a partial that is passed in": """
def make(f, data): DataLoader; return f(data)
make(functools.partial(DataLoader), D())""",
    "an attribute of a module by its name": """
def make(data): return getattr(torch.utils.data, 'DataLoader')(data)
make(D())""",
    "a class that a function gives back": "def make(data): return given(DataLoader)(data)\nmake(D())",
    "a class that a function gives back which is passed in": """
def make(f, data): DataLoader; return f()(data)
make(lambda: DataLoader, D())""",
    "a copy of a class": "def make(data): return copy.copy(DataLoader)(data)\nmake(D())",
    "a class that is picked by a number": """
def make(data, i=0):
    classes = [Other, DataLoader]
    return (classes[i] if i else Other)(data)
make(D(), 1)""",
    "a class that an object holds": """
class T:
    def __init__(self, c): self.DataLoader = c
    def make(self, data): return self.DataLoader(data)
T(Mine).make(D())""",
    "the class that a class method is called on": """
class Made(DataLoader):
    @classmethod
    def make(cls, data): DataLoader; return cls(data)
Made.make(D())""",
    "a class of its own that a decorated function makes": """
@torch.no_grad()
def make(data):
    class Local(DataLoader): pass
    def inner(): return Local(data)
    return inner()
make(D())""",
    "a name of the function around": """
def make(DataLoader, data):
    def inner(): return DataLoader(data)
    return inner()
make(Mine, D())""",
    "an item of a dict of loaders": "LOADERS = {'a': DataLoader}\ndef f(kind): return LOADERS[kind](D())\nf('a')",
    "one of two items": "LOADERS = {'a': DataLoader}\ndef f(x): return LOADERS['a' if x else 'b'](D())\nf(1)",
    "what a dict of loaders gives": "loader_types = {'a': DataLoader}\ndef f(): return loader_types.get('a')(D())\nf()",
    "a name of an item": "LOADERS = {'a': DataLoader}\ndef f():\n    make = LOADERS['a']\n    return make(D())\nf()",
}

#: Calls in functions that make none for any caller, in pieces that name a loader.
NONE_MADE = {
    "an object of the project": "def f(x): DataLoader; return Net()(x)",
    "an object of the project that is made with what is passed": "def f(x, n): DataLoader; return Net(n, x)(x)",
    "an object of a library": "def f(x, n): DataLoader; return nn.Linear(n, n)(x)",
    "one of two classes": "def f(x):\n    DataLoader\n    cls = Net if x else Other\n    return cls(x)",
    "one of two objects": "def f(x):\n    DataLoader\n    net = Net() if x else nn.Linear(3, 3)\n    return net(x)",
    "a library's class of the same name": "from other import thing\ndef f(x): return thing.DataLoader(x)",
    "a computed number": "def f(x):\n    DataLoader\n    n = 1 if x else x + 1\n    return n(x)",
    "an item that is none": "LOADERS = {'a': DataLoader}\nNETS = [Net]\ndef f(x): return LOADERS['a'], NETS[0](x)",
}


#: A project that has no loader class of its own, and calls of what is passed in.
PASSED = """
import copy, functools, importlib, os, torch
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __getitem__(self, i): return i
class Other:
    held = None
    def __init__(self, c=None): self.c = c
    def call(self, data): DataLoader; return getattr(self, 'run', None)(data)
    @classmethod
    def made(cls, data): DataLoader; return cls(data)
def make(cls, data): DataLoader; return cls(data)
def chosen(name, data): DataLoader; return getattr(importlib.import_module(name), name)(data)
def checked(x): return isinstance(x, DataLoader) and type(x) is DataLoader
__all__ = ['DataLoader', 'make']
"""

#: Ways to hand a loader on, of which each may lead to the calls above.
HANDED = {
    "as an argument": "make(DataLoader, D())",
    "as an argument by its name": "make(cls=DataLoader, data=D())",
    "as one of two": "make(DataLoader if torch.cuda.is_available() else Other, D())",
    "as what a function gives": "def give(): return DataLoader\nmake(give(), D())",
    "as a default": "def more(data, cls=DataLoader): return make(cls, data)\nmore(D())",
    "as an item": "WAYS = {'a': DataLoader}\nmake(WAYS['a'], D())",
    "as an attribute": "Other.held = DataLoader\nmake(Other.held, D())",
    "in an object": "make(Other(DataLoader).c, D())",
    "with bound arguments": "make(functools.partial(DataLoader, num_workers=1), D())",
    "by a name": "make(getattr(torch.utils.data, 'DataLoader'), D())",
    "by a local name": "def f():\n    way = DataLoader\n    return make(way, D())",
    "from the function around": "def f():\n    way = DataLoader\n    def g(): return make(way, D())\n    return g",
    "by another name": "from torch.utils.data import DataLoader as Way\nmake(Way, D())",
    "a class of its own": "class Mine(DataLoader): pass\nmake(Other, D())",
}

#: What hands none on.
KEPT = {
    "nothing": "make(Other, D())",
    "a call": "make(Other, DataLoader(D()))",
    "a comparison": "make(Other, 1 if DataLoader is Other else 2)",
    "an annotation": "def f(x: DataLoader) -> DataLoader: y: DataLoader = x; return make(Other, y)",
    "a question": "make(Other, isinstance(3, DataLoader))",
    "a class of its own that is none": "class Mine(Dataset): pass\nmake(Mine, D())",
    "a variable of the environment": "make(Other, os.getenv('DataLoader'))",
}


def _found(linked: Linked) -> list[CallSite]:
    """The calls that may make a loader."""
    return list(Candidates(linked.model.ev, linked.model.callers).find())


def _asked_for(linked: Linked) -> set[str]:
    """The names of the functions whose callers are asked for."""
    facts = [(linked.model.ev.facts(one.path, one.piece), one.def_) for one in _found(linked)]
    return {one.ir.defs[def_].name for one, def_ in facts if one}


@pytest.mark.parametrize("way", MADE)
def test_a_call_that_may_make_one_is_followed(way: str, tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD + MADE[way] + "\n")
    assert _found(linked)
    assert [len(one.datasets) for one in linked.model.loaders] == [1]


@pytest.mark.parametrize("way", NONE_MADE)
def test_nobody_asks_who_calls_one_that_makes_none(way: str, tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD + NONE_MADE[way] + "\n")
    assert _found(linked) == []


@pytest.mark.parametrize("way", HANDED)
def test_calls_of_parameters_count_where_a_loader_is_handed_on(way: str, tmp_path: Path) -> None:
    assert {"make", "chosen"} <= _asked_for(link(tmp_path, PASSED + HANDED[way] + "\n"))


@pytest.mark.parametrize("way", KEPT)
def test_calls_of_parameters_count_nowhere_else(way: str, tmp_path: Path) -> None:
    found = _asked_for(link(tmp_path, PASSED + KEPT[way] + "\n"))
    assert {"make", "chosen", "call", "made"}.isdisjoint(found)


#: A project with a class that is called as a trainer of a library is, and what its names are.
TRAINERS = """
--- trainer.py
from {base} import {name}
class Trainer{inherited}:
    def fit(self): pass
--- model.py
from trainer import Trainer
class Model(Trainer):
    def one(self): pass
class Small(Model): pass
def inside():
    class Local(Trainer): pass
    return Local
--- train.py
import transformers
from model import Model
def run(data, cls):
    cls() # in a piece that names Model and Small
    return Model(train_dataset=data)
"""


def test_a_class_that_only_shares_a_loaders_name_gives_its_name_to_none(tmp_path: Path) -> None:
    text = TRAINERS.format(base="abc", name="ABC", inherited="")
    assert _found(link(tmp_path, text)) == []


def test_a_class_between_a_loader_and_another_class_gives_its_name(tmp_path: Path) -> None:
    text = TRAINERS.format(base="transformers", name="Trainer as Base", inherited="(Base)")
    renamed = link(tmp_path / "a", text.replace("Trainer as Base", "Trainer").replace("(Base)", "(Trainer)"))
    assert len(_found(renamed)) == 2
    assert [one.kind.name for one in renamed.model.loaders] == ["transformers.Trainer"]


def test_of_two_classes_of_one_name_one_may_be_a_loader(tmp_path: Path) -> None:
    text = """
    --- a.py
    class Loading: pass
    class Batches(Loading): pass
    --- b.py
    from torch.utils.data import DataLoader as Loading, DataLoader
    class Batches(DataLoader): pass
    --- c.py
    from b import Batches
    def run(data): return Batches(data)
    """
    linked = link(tmp_path, text)
    assert [one.path.name for one in linked.model.loaders if one.path] == ["c.py"]
