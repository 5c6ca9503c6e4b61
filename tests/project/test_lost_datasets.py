"""Datasets between the place that stores them and the loader that reads them."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project.linking import link

HEAD = """
import argparse, copy, hydra, torch
from abc import ABC, abstractmethod
from torch.utils.data import DataLoader, Dataset
class A(Dataset):
    def __getitem__(self, i): return i
class B(Dataset):
    def __getitem__(self, i): return -i
"""

#: The body of a class, then the datasets that its loader holds.
STORED = {
    "in a dict, by another method": (
        """
        def __init__(self): self.sets = {}
        def setup(self): self.sets["train"] = A()
        def get(self): loader = DataLoader(self.sets["train"])
        """,
        ["A"],
    ),
    "split off from what it was": (
        """
        def setup(self):
            self.train = A()
            self.train, self.val = torch.utils.data.random_split(self.train, [3, 1])
        def get(self):
            train = DataLoader(self.train)
            loader = DataLoader(self.val)
        """,
        ["A"],
    ),
    "wrapped in what it was": (
        """
        def setup(self):
            self.data = A()
            self.rest = torch.utils.data.Subset(self.data, [0])
            self.data = torch.utils.data.ConcatDataset([self.data, self.rest])
        def get(self):
            train = DataLoader(self.data)
            loader = DataLoader(self.rest)
        """,
        ["A"],
    ),
    "split off in a method that another one calls": (
        """
        def __init__(self):
            self.data = A()
            self.split()
        def split(self): self.data, self.rest = torch.utils.data.random_split(self.data, [3, 1])
        def get(self):
            train = DataLoader(self.data)
            loader = DataLoader(self.rest)
        """,
        ["A"],
    ),
    "where a count of itself decides": (
        """
        def __init__(self): self.turn = 0
        def more(self): self.turn = self.turn + 1
        def get(self):
            if self.turn == 5:
                loader = DataLoader(A())
        """,
        ["A"],
    ),
    "split off from something else": (
        """
        def setup(self):
            self.data = A()
            self.train, self.val = torch.utils.data.random_split(unseen(), [3, 1])
        def get(self):
            train = DataLoader(self.data)
            loader = DataLoader(self.val)
        """,
        [],
    ),
    "in a dict, under another key": (
        """
        def __init__(self): self.sets = {}
        def setup(self):
            self.sets["train"] = A()
            self.sets["test"] = B()
        def get(self): loader = DataLoader(self.sets["test"])
        """,
        ["B"],
    ),
    "in a dict, under keys that a loop goes through": (
        """
        def __init__(self): self.sets = {}
        def setup(self):
            for split in ("train", "test"): self.sets[split] = A()
            self.sets["show"] = B()
        def get(self): loader = DataLoader(self.sets["train"])
        """,
        ["A"],
    ),
    "in a dict, under any key": (
        """
        def __init__(self): self.sets = {}
        def setup(self, split): self.sets[split] = A()
        def get(self, split): loader = DataLoader(self.sets[split])
        """,
        ["A"],
    ),
    "in a dict that is updated": (
        """
        def __init__(self): self.sets = dict()
        def setup(self): self.sets.update(train=A())
        def get(self, split): loader = DataLoader(self.sets.get(split))
        """,
        ["A"],
    ),
    "in a dict with a default": (
        """
        def __init__(self): self.sets = {}
        def setup(self): self.sets.setdefault("train", A())
        def get(self): loader = DataLoader(self.sets["train"])
        """,
        ["A"],
    ),
    "in a dict of options": (
        """
        def __init__(self): self.options = {"num_workers": 4}
        def setup(self): self.options["dataset"] = A()
        def get(self): loader = DataLoader(**self.options)
        """,
        ["A"],
    ),
    "in a dict of another name": (
        """
        def __init__(self): self.sets, self.shown = {}, {}
        def setup(self): self.shown["train"] = A()
        def get(self): loader = DataLoader(self.sets["train"])
        """,
        [],
    ),
    "under a name that is made up": (
        """
        def setup(self): self.train_set = A()
        def get(self, split): loader = DataLoader(getattr(self, f"{split}_set"))
        """,
        ["A"],
    ),
    "under a name that is added up": (
        """
        def setup(self): self.train_set, self.shown = A(), B()
        def get(self, split): loader = DataLoader(getattr(self, split + "_set"))
        """,
        ["A"],
    ),
    "under a name that does not fit": (
        """
        def setup(self): self.shown = A()
        def get(self, split): loader = DataLoader(getattr(self, f"{split}_set"))
        """,
        [],
    ),
    "under one of several names": (
        """
        def setup(self): self.train_set = A()
        def first(self, *names):
            for name in names:
                if getattr(self, name, None) is not None: return getattr(self, name)
        def get(self): loader = DataLoader(self.first("train_set", "any_set"))
        """,
        ["A"],
    ),
    "by setattr": (
        """
        def setup(self): setattr(self, "train_set", A())
        def get(self): loader = DataLoader(self.train_set)
        """,
        ["A"],
    ),
    "by setattr, under a name that is made up": (
        """
        def setup(self):
            for split in ("train", "test"): setattr(self, f"{split}_set", A())
        def get(self): loader = DataLoader(self.train_set)
        """,
        ["A"],
    ),
    "by setattr, under another name": (
        """
        def setup(self, split): setattr(self, f"{split}_shown", A())
        def get(self): loader = DataLoader(self.train_set)
        """,
        [],
    ),
}


@pytest.mark.parametrize("way", STORED)
def test_a_dataset_is_stored(way: str, tmp_path: Path) -> None:
    body, expected = STORED[way]
    linked = link(tmp_path, f"{HEAD}class Data:{body.replace(chr(10) + '    ', chr(10))}")
    assert linked.datasets() == expected


#: Functions and module-level code, then the datasets that the loader holds.
FILLED = {
    "a function fills the dict that it is passed": (
        "def fill(sets): sets['train'] = A()\nsets = {}\ndef main():\n    sets = {}\n    fill(sets)\n"
        "    loader = DataLoader(sets['train'])",
        ["A"],
    ),
    "a function fills the dict that it is passed by name": (
        "def fill(n, *, sets): sets.update(train=A())\ndef main():\n    sets = dict()\n    fill(1, sets=sets)\n"
        "    loader = DataLoader(sets['train'])",
        ["A"],
    ),
    "a function fills another dict": (
        "def fill(sets, others): others['train'] = A()\ndef main():\n    sets = {}\n    fill(sets, {})\n"
        "    loader = DataLoader(sets['train'])",
        [],
    ),
    "a loop fills a dict": (
        "def main(splits):\n    sets = {}\n    for split in splits: sets[split] = A()\n"
        "    loader = DataLoader(sets['train'])",
        ["A"],
    ),
    "pairs make a dict": (
        "def main(splits):\n    sets = dict((split, A()) for split in splits)\n    loader = DataLoader(sets['train'])",
        ["A"],
    ),
    "the copy of a dict is filled": (
        "def use(sets): loader = DataLoader(sets['train'])\ndef main(made):\n    sets = copy.deepcopy({'val': B()})\n"
        "    sets['train'] = A()\n    use(sets)",
        ["A"],
    ),
    "the copy of a dict in a module is filled and unpacked": (
        "OPTIONS = {'size': 4}\ndef use(size, data): loader = DataLoader(data)\ndef main():\n"
        "    options = OPTIONS.copy()\n    options['data'] = A()\n    use(**options)",
        ["A"],
    ),
    "the copy of a list is added to": (
        "SETS = [B()]\ndef main():\n    sets = copy.copy(SETS)\n    sets.append(A())\n"
        "    loader = DataLoader(torch.utils.data.ConcatDataset(sets))",
        ["A", "B"],
    ),
    "the copy of a dict is filled, and the dict is read": (
        "def main():\n    sets = {}\n    copied = copy.deepcopy(sets)\n    copied['train'] = A()\n"
        "    loader = DataLoader(sets['train'])",
        [],
    ),
    "a copy of the copy of a list is added to": (
        "SETS = [B()]\ndef main():\n    sets = copy.copy(SETS)\n    more = sets.copy()\n    more.append(A())\n"
        "    loader = DataLoader(torch.utils.data.ConcatDataset(sets))",
        ["B"],
    ),
    "the code that makes an object": (
        "class Job:\n    dataset = None\n    def get(self): loader = DataLoader(self.dataset)\n"
        "def main():\n    job = Job()\n    job.dataset = A()\n    job.get()",
        ["A"],
    ),
    "the module that makes an object": (
        "class Job:\n    dataset = None\n    def get(self): loader = DataLoader(self.dataset)\n"
        "job = Job()\njob.dataset = A()\njob.get()",
        ["A"],
    ),
    "the code that makes another object": (
        "class Job:\n    dataset = None\n    def get(self): loader = DataLoader(self.dataset)\n"
        "def main():\n    job, other = Job(), Plot()\n    other.dataset = A()\n    job.get()",
        [],
    ),
    "a text for eval() that makes one": (
        "p = argparse.ArgumentParser()\np.add_argument('--data', default='A(seed=1)')\n"
        "loader = DataLoader(eval(p.parse_args().data))",
        ["A"],
    ),
    "a text for eval() that makes two": ("loader = DataLoader(eval('A() + 2 * B(3)'))", ["A", "B"]),
    "a text for eval() that names something else": ("loader = DataLoader(eval('sorted(load())'))", []),
    "a store of a library": (
        "from shelf import store\ndef main():\n    store.put('train', A())\n"
        "    loader = DataLoader(store.get('train'))",
        ["A"],
    ),
    "a wrapper of a library": ("import shelf\nloader = DataLoader(shelf.Sharded(A(), 3))", ["A"]),
    "another store": (
        "from shelf import store, plots\ndef main():\n    plots.put('train', A())\n"
        "    loader = DataLoader(store.get('train'))",
        [],
    ),
    "a function whose result is none": ("import numpy as np\nloader = DataLoader(np.asarray(A()))", []),
}


@pytest.mark.parametrize("way", FILLED)
def test_a_dataset_is_put_there_by(way: str, tmp_path: Path) -> None:
    code, expected = FILLED[way]
    assert link(tmp_path, f"{HEAD}{code}\n").datasets() == expected


def test_what_a_dict_held_before_may_be_any_dataset(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class Data:
    def __init__(self, sets):
        self.sets = dict(sets)
    def setup(self):
        for key in self.sets: self.sets[key] = A()
    def get(self): loader = DataLoader(self.sets["train"])
""",
    )
    assert linked.loader().late == "a copied mapping"
    assert linked.guessed() == ["A.__getitem__", "B.__getitem__"]


def test_the_method_of_a_configured_dataset_is_followed(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class C(Dataset):
    def __getitem__(self, i): return 2 * i
    def held_out(self): return A()
class D(Dataset):
    def __getitem__(self, i): return 2 * i
    def held_out(self): return B()
def main(cfg):
    D()
    loader = DataLoader(hydra.utils.instantiate(cfg.data).held_out())
""",
    )
    assert linked.datasets() == ["A"]
    assert linked.loader().guessed


def test_a_configured_dataset_may_be_held_beside_what_its_method_gives(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class C(Dataset):
    def __getitem__(self, i): return 2 * i
    def held_out(self): return copy.copy(self)
def main(cfg):
    data = hydra.utils.instantiate(cfg.data)
    loader = DataLoader(data, num_workers=2)
    other = DataLoader(data.held_out(), num_workers=2)
""",
    )
    assert "C.__getitem__" in linked.reached("loader")
    assert "C.__getitem__" in linked.reached("other")
    assert linked.guessed() == linked.reached()


# --- a base class that makes the loader -------------------------------------------------------------------------------

BASE = """
class Base(ABC):
    def get(self):
        loader = DataLoader(self.data, num_workers=2)
"""

#: Classes that derive from one which makes the loader, then for each of its loaders the datasets and if it is presumed.
HEIRS = {
    "sets the dataset": ("class Own(Base):\n    def setup(self): self.data = A()", [([], False), (["A"], True)]),
    "makes the dataset": (
        "class Own(Base):\n    @property\n    def data(self): return A()",
        [([], False), (["A"], True)],
    ),
    "is made in sight": ("class Own(Base):\n    def setup(self): self.data = A()\nOwn().get()", [(["A"], False)]),
    "makes a loader of its own": (
        "class Own(Base):\n    def setup(self): self.data = A()\n    def get(self): return [self.data]",
        [([], False)],
    ),
    "has a dataset that another loader holds": (
        "class Own(Base):\n    def setup(self): self.data = A()\nother = DataLoader(A())",
        [(["A"], False), (["A"], False)],
    ),
    "is derived from": (
        "class Own(Base):\n    def setup(self): self.data = A()\n"
        "class Last(Own):\n    def setup(self): self.data = B()",
        [([], False), (["B"], True)],
    ),
    "derives from another class": ("class Own:\n    def setup(self): self.data = A()", [([], False)]),
}


@pytest.mark.parametrize("heir", HEIRS)
def test_a_class_that_inherits_the_loader(heir: str, tmp_path: Path) -> None:
    code, expected = HEIRS[heir]
    linked = link(tmp_path, f"{HEAD}{BASE}{code}\n")
    classes = linked.model.ev.classes
    found = [
        (sorted(classes.name(one.cls) for one in loader.datasets if hasattr(one, "cls")), loader.presumed)
        for loader in linked.model.loaders
        if not loader.out_of_sight
    ]
    assert sorted(found) == sorted(expected)


def test_what_a_presumed_loader_holds_is_possible(tmp_path: Path) -> None:
    linked = link(tmp_path, f"{HEAD}{BASE}class Own(Base):\n    def setup(self): self.data = A()\n")
    (frame,) = [f for f in linked.model.reached if linked.model.label(f) == "A.__getitem__"]
    exposure = linked.model.exposure(frame, 1)
    assert exposure is not None and exposure.certainty == "possible"
    told = [one.message for one in linked.model.why(frame, exposure)]
    assert told[1] == "it is the dataset of a class that inherits the loader, and no known code creates an object of it"


def test_a_method_that_is_overridden_stores_nothing(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class Base:
    def setup(self): self.data = A()
class Own(Base):
    def setup(self): self.data = B()
    def get(self): loader = DataLoader(self.data)
class More(Base):
    def setup(self):
        super().setup()
        self.other = B()
    def show(self): both = DataLoader(self.data)
Own().get()
More().show()
""",
    )
    assert (linked.datasets(), linked.datasets("both")) == (["B"], ["A"])


# --- a class that is chosen at run time -------------------------------------------------------------------------------

KINDS = """
import importlib
from torch.utils.data import DataLoader, Dataset
class Whole(Dataset):
    def __init__(self): pass
    def __getitem__(self, i): return i
class Sized(Dataset):
    def __init__(self, size): pass
    def __getitem__(self, i): return i
KINDS = {}
def register(cls):
    KINDS[cls.__name__] = cls
    return cls
def main(name, load):
    loader = DataLoader(%s, num_workers=2)
"""

#: What makes the dataset of a loader, then the classes that it may be of. Only `Sized` takes an argument.
CHOSEN = {
    "a class from a registry": ("KINDS[name](3)", ["Sized"]),
    "a class in a module that is searched by its name": ("importlib.import_module(name).Frames(3)", ["Sized"]),
    "a method of a class from a registry": ("KINDS[name].load(3)", ["Sized", "Whole"]),
    "a function in a module that is searched by its name": (
        "importlib.import_module(name).load(3)",
        ["Sized", "Whole"],
    ),
    "a class from a registry, beside one in sight": ("Whole() if name is None else KINDS[name](3)", ["Sized", "Whole"]),
    "a function that is passed in": ("load(3)", ["Sized", "Whole"]),
    "a function that is passed in, beside a class in sight": ("Whole() if name is None else load(3)", ["Whole"]),
}


@pytest.mark.parametrize("way", CHOSEN)
def test_the_dataset_is_what_is_given_by(way: str, tmp_path: Path) -> None:
    code, expected = CHOSEN[way]
    linked = link(tmp_path, KINDS % code)
    assert [label.partition(".")[0] for label in linked.reached("loader")] == expected


#: Where a loader without workers takes any dataset, then if an unknown loader is presumed beside it: what the tests
#: do says nothing of the program.
WITHOUT_WORKERS = {"train.py": False, "src/latest.py": False, "test_data.py": True, "tests/data.py": True}


@pytest.mark.parametrize("name", WITHOUT_WORKERS)
def test_a_loader_without_workers_takes_any_dataset_in(name: str, tmp_path: Path) -> None:
    loader = "from torch.utils.data import DataLoader\ndef main(data):\n    loader = DataLoader(data)\n"
    linked = link(tmp_path, f"--- data.py\n{HEAD.lstrip()}--- {name}\n{loader}")
    assert any(one.out_of_sight for one in linked.model.loaders) == WITHOUT_WORKERS[name]


#: Code that takes its dataset from code out of sight, beside a loader that holds `A`; then if its loader may hold `B`,
#: which nothing makes.
PASSED_IN = {
    "a function that nothing calls": ("def test(data): loader = DataLoader(data, num_workers=2)", False),
    "a class that nothing makes": (
        "class Test:\n    def __init__(self, data): self.data = data\n"
        "    def run(self): loader = DataLoader(self.data, num_workers=2)",
        False,
    ),
    "a function that splits it": (
        "def test(data):\n    half, rest = torch.utils.data.random_split(data, [1, 1])\n"
        "    loader = DataLoader(half, num_workers=2)",
        False,
    ),
    "an attribute that nothing sets": (
        "class Test:\n    def run(self): loader = DataLoader(self.data, num_workers=2)",
        False,
    ),
    "an attribute that neither the module nor Lightning sets": (
        "import lightning\nclass Test(lightning.LightningDataModule):\n"
        "    def test_dataloader(self):\n        loader = DataLoader(self.data, num_workers=2)\n"
        "        return loader",
        False,
    ),
    "an attribute, where the workers are set up": (
        "class Test:\n    def run(self): loader = DataLoader(self.data, num_workers=2, worker_init_fn=self.init)",
        True,
    ),
    "keywords, which may set up the workers": (
        "def test(**options): loader = DataLoader(num_workers=2, **options)",
        True,
    ),
    "a function that sets up the workers": (
        "def test(data, init): loader = DataLoader(data, num_workers=2, worker_init_fn=init)",
        True,
    ),
    "a class from a registry": (
        "KINDS = {}\ndef register(cls):\n    KINDS[cls.__name__] = cls\n    return cls\n"
        "def test(name): loader = DataLoader(KINDS[name](), num_workers=2)",
        True,
    ),
}


@pytest.mark.parametrize("way", PASSED_IN)
def test_where_datasets_are_seen_to_be_used_another_is_not_presumed_in(way: str, tmp_path: Path) -> None:
    code, holds = PASSED_IN[way]
    linked = link(tmp_path, f"{HEAD}KINDS = [B]\ndef main(): train = DataLoader(A(), num_workers=2)\n{code}\n")
    assert linked.reached("loader") == (["B.__getitem__"] if holds else [])
    assert linked.guessed() == ["B.__getitem__"]


def test_a_dataset_that_is_only_tried_out_is_presumed_in(tmp_path: Path) -> None:
    used = (
        "def main(): train = DataLoader(A(), num_workers=2)\ndef test(data): loader = DataLoader(data, num_workers=2)"
    )
    linked = link(tmp_path, f"{HEAD}{used}\nif __name__ == '__main__': trial = DataLoader(B())\n")
    assert linked.reached("loader") == ["B.__getitem__"]


@pytest.mark.parametrize("way", PASSED_IN)
def test_a_dataset_that_is_tried_out_makes_no_room_for_others(way: str, tmp_path: Path) -> None:
    """As without it, `B` goes only to the loaders that may hold a dataset which nothing makes."""
    code, holds = PASSED_IN[way]
    used = "class C(A): pass\ndef main(): train = DataLoader(A(), num_workers=2)\n"
    trial = "if __name__ == '__main__': trial = DataLoader(C())\n"
    linked = link(tmp_path, f"{HEAD}{used}{code}\n{trial}")
    assert ("B.__getitem__" in linked.reached("loader")) is holds


@pytest.mark.parametrize("way", PASSED_IN)
def test_where_no_dataset_is_seen_to_be_used_any_is_presumed_in(way: str, tmp_path: Path) -> None:
    linked = link(tmp_path, f"{HEAD}{PASSED_IN[way][0]}\n")
    assert linked.reached("loader") == linked.guessed() == ["A.__getitem__", "B.__getitem__"]


MAKES_A = "def main(): train = DataLoader(A(), num_workers=2)"
ALSO_C = "class C(Dataset):\n    def __getitem__(self, i): return i + 1\n"
#: What stands in `data.py` below the dataset `C` that nothing makes, and the other files; then whether `C` is presumed
#: in a loader.
IN_USE = {
    "no other file imports it": ("", f"--- train.py\n{HEAD}{MAKES_A}", False),
    "another file holds its name": ("", f"--- train.py\n{HEAD}{MAKES_A}\ndata = 'C'", False),
    "another file imports it": ("", f"--- train.py\n{HEAD}{MAKES_A}\nfrom data import C", True),
    "a package imports it": ("", f"--- train.py\n{HEAD}{MAKES_A}\n--- pkg/__init__.py\nfrom data import *", True),
    "another file imports another class of it": ("", f"--- train.py\n{HEAD}{MAKES_A}\nfrom data import B", False),
    "another file imports it, and a text names it": (
        "",
        f"--- train.py\n{HEAD}{MAKES_A}\nimport data\nname = 'C'",
        True,
    ),
    "another file takes it from its module": ("", f"--- train.py\n{HEAD}{MAKES_A}\nimport data\nc = data.C", True),
    "another dataset may be passed in": (
        "",
        f"--- train.py\n{HEAD}from data import B\n"
        "def main(data):\n    if not data: data = A()\n    train = DataLoader(data, num_workers=2)",
        False,
    ),
    "another dataset comes from a missing function": (
        "",
        f"--- train.py\n{HEAD}from data import B, build\n"
        "def main(small): train = DataLoader(A() if small else build(), num_workers=2)",
        True,
    ),
    "a comment names it": ("", f"--- train.py\n{HEAD}{MAKES_A}\nfrom data import B  # not C", False),
    "a loader is made there": (MAKES_A, "", False),
    "a loader is made there, and a function may take it": (f"{MAKES_A}\ndef pick(kind=C): pass", "", True),
    "a loader is made there, and a comment names it": (f"{MAKES_A}  # or C()", "", False),
    "a loader is made there, and a text names it": (f"{MAKES_A}\n__all__ = ['C']", "", True),
    "a class derives from it": (f"class E(C): pass\n{MAKES_A}", "", False),
    "others ask whether a dataset is one": (
        "",
        f"--- train.py\n{HEAD}{MAKES_A}\nimport data\n"
        "def show(one): print(isinstance(one, data.C), isinstance(one, (data.B, data.C)))",
        False,
    ),
    "others ask whether a dataset is one, and list it": (
        "",
        f"--- train.py\n{HEAD}{MAKES_A}\nimport data\ndef show(one): print(isinstance(one, data.C), [data.B, data.C])",
        True,
    ),
    "the other loader is only tried out": ("", f"--- train.py\n{HEAD}train = DataLoader(A(), num_workers=2)", True),
}


@pytest.mark.parametrize("way", IN_USE)
def test_a_dataset_in_a_file_that_nothing_uses_is_not_presumed(way: str, tmp_path: Path) -> None:
    """Where other loaders show what the program does with its datasets, such a file is a copy that was left behind."""
    below, others, presumed = IN_USE[way]
    linked = link(tmp_path, f"--- data.py\n{HEAD}{ALSO_C}{below}\n{others}\n")
    assert ("C.__getitem__" in linked.guessed()) is presumed


TRIED = """--- data.py
{head}
def try_out(): trial = DataLoader(A(), num_workers=2)
if __name__ == "__main__": try_out()
--- main.py
import importlib
from torch.utils.data import DataLoader
{user}
"""

#: What a program does whose dataset a loader in the dataset's own file tries out, then if it may be held.
NAMED = {
    "a function that imports by the parts of a name": (
        """
def import_class(name):
    parts = name.split(".")
    found = __import__(parts[0])
    for part in parts[1:]: found = getattr(found, part)
    return found
def main(args): loader = DataLoader(import_class(args.feeder)(), num_workers=4)
""",
        True,
    ),
    "getattr on a module that is searched by its name": (
        """
def main(args): loader = DataLoader(getattr(importlib.import_module(args.module), args.name)(), num_workers=4)
""",
        True,
    ),
    "a registry": (
        """
KINDS = {}
def register(cls):
    KINDS[cls.__name__] = cls
    return cls
class Job:
    def start(self, name): loader = DataLoader(KINDS[name](), num_workers=4)
""",
        True,
    ),
    "a parameter": ("def main(data): loader = DataLoader(data, num_workers=4)", False),
    "another loader of the program": (
        """
from data import A
def train(): train = DataLoader(A(), num_workers=4)
def main(args): loader = DataLoader(getattr(importlib.import_module(args.module), args.name)(), num_workers=4)
""",
        False,
    ),
}


@pytest.mark.parametrize("way", NAMED)
def test_a_dataset_that_its_file_tries_out_may_be_held_by_name(way: str, tmp_path: Path) -> None:
    user, holds = NAMED[way]
    head = HEAD.replace("class B(Dataset):\n    def __getitem__(self, i): return -i\n", "")
    linked = link(tmp_path, TRIED.format(head=head, user=user))
    assert linked.reached("loader") == linked.guessed() == (["A.__getitem__"] if holds else [])


#: Which datasets a loader may hold whose arguments are not known, by the code that creates those datasets.
PRESUMED = {
    "created nowhere": ("train = DataLoader(A(), num_workers=2)", ["B.__getitem__"]),
    "for other loaders": ("train = [DataLoader(one, num_workers=2) for one in (A(), B())]", []),
    "in a branch that no caller takes": (
        """
        def build(path=None):
            if path is None:
                return A()
            return B()
        train = DataLoader(build(), num_workers=2)
        """,
        [],
    ),
    "in a branch whose test is an option": (
        """
        def build(path):
            if path is None:
                return A()
            return B()
        train = DataLoader(build(load().path), num_workers=2)
        """,
        [],
    ),
    "as an item of another class": (
        """
        class Parts:
            class B: pass
            def get(self): return self.B()
        train = DataLoader(A(), num_workers=2)
        """,
        ["B.__getitem__"],
    ),
}


@pytest.mark.parametrize("way", PRESUMED)
def test_which_datasets_are_presumed(way: str, tmp_path: Path) -> None:
    code, expected = PRESUMED[way]
    again = "def again(old):\n    loader = DataLoader(**old.__dict__, num_workers=2)\n"
    linked = link(tmp_path, f"{HEAD}{textwrap.dedent(code)}\n{again}")
    assert linked.reached("loader") == expected


#: Where a loader holds `A`, then whether it shows what the program does with its datasets: then a function that nothing
#: calls is not presumed to get `B`, which nothing makes.
SHOWING = {
    "a script": ("--- train.py\nfrom data import A, B, DataLoader\ntrain = DataLoader(A(), num_workers=2)\n", True),
    "a script, without workers": ("--- train.py\nfrom data import A, B, DataLoader\ntrain = DataLoader(A())\n", True),
    "the end of its own module": ("train = DataLoader(A(), num_workers=2)\n", False),
    "a test": ("--- tests/test_data.py\nfrom data import A, DataLoader\ntrain = DataLoader(A())\n", False),
}


@pytest.mark.parametrize("way", SHOWING)
def test_a_loader_at_module_level_shows_what_is_done_with_datasets_in(way: str, tmp_path: Path) -> None:
    code, shows = SHOWING[way]
    use = (
        "--- use.py\nfrom torch.utils.data import DataLoader\ndef use(data): loader = DataLoader(data, num_workers=2)\n"
    )
    linked = link(tmp_path, f"--- data.py\n{HEAD.lstrip()}{code}{use}")
    assert ("B.__getitem__" in linked.reached("loader")) is not shows
    assert "B.__getitem__" in linked.guessed()
