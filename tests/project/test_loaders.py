"""Loaders: where they are made, with which arguments, and which parts of the project their workers run."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.versions.environment import Environment, version_set
from tests.project.linking import link

HEAD = """
import argparse, functools, os
from dataclasses import dataclass
import torch.utils.data
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __getitem__(self, i): return i
"""

#: Ways to say how many workers: the code, then the answer to 'at least one?' and what people read.
WORKERS = {
    "left out": ("loader = DataLoader(D())", "no", "num_workers=0"),
    "a literal": ("loader = DataLoader(D(), num_workers=4)", "yes", "num_workers=4"),
    "zero": ("loader = DataLoader(D(), num_workers=0)", "no", "num_workers=0"),
    "the sixth position": ("loader = DataLoader(D(), 1, True, None, None, 3)", "yes", "num_workers=3"),
    "a constant": ("N = 2 * 4\nloader = DataLoader(D(), num_workers=N)", "yes", "num_workers=8"),
    "a visible dict": ("kw = {'num_workers': 2}\nloader = DataLoader(D(), **kw)", "yes", "num_workers=2"),
    "a dict that is filled": (
        "kw = dict(num_workers=2)\nkw['num_workers'] = 0\nloader = DataLoader(D(), **kw)",
        "no",
        "num_workers=0",
    ),
    "an unknown dict": ("loader = DataLoader(D(), **load())", "maybe", "num_workers unknown"),
    "argparse": (
        "p = argparse.ArgumentParser()\np.add_argument('-j', '--num-workers', type=int, default=4)\n"
        "args = p.parse_args()\nloader = DataLoader(D(), num_workers=args.num_workers)",
        "yes",
        "num_workers=4, argparse default",
    ),
    "argparse through calls": (
        "def main(args):\n    run(args.workers)\ndef run(n):\n    loader = DataLoader(D(), num_workers=n)\n"
        "p = argparse.ArgumentParser()\np.add_argument('--workers', default=2)\nmain(p.parse_args())",
        "yes",
        "num_workers=2, argparse default",
    ),
    "a parser that went through code out of sight": (
        "p = argparse.ArgumentParser()\np.add_argument('--workers', default=2)\np = extended(p)\n"
        "loader = DataLoader(D(), num_workers=p.parse_args().workers)",
        "yes",
        "num_workers=2, argparse default",
    ),
    "a required option": (
        "p = argparse.ArgumentParser()\np.add_argument('--n', required=True)\n"
        "loader = DataLoader(D(), num_workers=p.parse_args().n)",
        "maybe",
        "num_workers unknown",
    ),
    "a dataclass": (
        "@dataclass\nclass C:\n    n: int = 3\nloader = DataLoader(D(), num_workers=C().n)",
        "yes",
        "num_workers=3, class default",
    ),
    "a parameter's default": (
        "def make(n=5):\n    loader = DataLoader(D(), num_workers=n)",
        "yes",
        "num_workers=5, default",
    ),
    "a parameter nobody gives": (
        "def make(n):\n    loader = DataLoader(D(), num_workers=n)",
        "maybe",
        "num_workers unknown",
    ),
    "an attribute": (
        "class T:\n    def __init__(self, n): self.n = n\n    def go(self):\n"
        "        loader = DataLoader(D(), num_workers=self.n)\nT(6).go()",
        "yes",
        "num_workers=6",
    ),
    "the smaller of two": ("loader = DataLoader(D(), num_workers=min(8, 2))", "yes", "num_workers=2"),
    "the processors": ("loader = DataLoader(D(), num_workers=os.cpu_count())", "maybe", "num_workers unknown"),
    "either of two": (
        "n = 0\nif input():\n    n = 4\nloader = DataLoader(D(), num_workers=n)",
        "maybe",
        "num_workers=0 or 4",
    ),
    "partial": (
        "make = functools.partial(DataLoader, num_workers=4)\nloader = make(D())",
        "yes",
        "num_workers=4",
    ),
    "the dotted name": ("loader = torch.utils.data.DataLoader(D(), num_workers=1)", "yes", "num_workers=1"),
    "one class of two": (
        "cls = DataLoader if input() else DataLoader\nloader = cls(D(), num_workers=1)",
        "yes",
        "num_workers=1",
    ),
    "a subclass": (
        "class Mine(DataLoader):\n    def __init__(self, ds, **k):\n        super().__init__(ds, num_workers=2, **k)\n"
        "loader = Mine(D())",
        "yes",
        "num_workers=2",
    ),
    "a subclass without a constructor": (
        "class Mine(DataLoader): pass\nloader = Mine(D(), num_workers=2)",
        "yes",
        "num_workers=2",
    ),
}


@pytest.mark.parametrize("way", WORKERS)
def test_the_number_of_workers_is_read_from(way: str, tmp_path: Path) -> None:
    code, answer, text = WORKERS[way]
    linked = link(tmp_path, HEAD + code + "\n")
    loader = linked.loader()
    assert (loader.has_workers(), loader.workers_text) == (answer, text)
    assert linked.datasets() == ["D"]


def test_an_alias_of_the_class_is_a_loader(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        from torch.utils.data import DataLoader as DL, Dataset
        class D(Dataset):
            def __getitem__(self, i): return i
        loader = DL(D(), num_workers=2)
        """,
    )
    assert linked.datasets() == ["D"]


def test_a_class_that_a_parameter_holds_by_default_is_a_loader(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        from torch.utils.data import DataLoader, Dataset
        class D(Dataset):
            def __getitem__(self, i): return i
        def make(dataset, klass=DataLoader, **options):
            return klass(dataset, **options)
        loader = make(D(), num_workers=2)
        """,
    )
    assert linked.datasets("make") == ["D"]
    assert linked.loader("make").has_workers() == "yes"


def test_a_class_of_the_same_name_is_none(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        class DataLoader:
            def __init__(self, ds, num_workers): pass
        loader = DataLoader([], num_workers=2)
        """,
    )
    assert linked.model.loaders == ()


def test_parts_are_told_apart(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
def stack(batch): return batch
def init(worker_id): return seed(worker_id)
def seed(n): return n
class Sampler:
    def __iter__(self): return iter([1])
loader = DataLoader(D(), sampler=Sampler(), num_workers=2, collate_fn=stack, worker_init_fn=init)
""",
    )
    parts = {linked.model.label(f): set(r.loaders) for f, r in linked.model.reached.items()}
    assert parts == {"D.__getitem__": {"sample"}, "stack": {"collate"}, "init": {"init"}, "seed": {"init"}}


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        ("Dataset", ["E.__getitem__", "E.__getitems__"]),
        ("torch.utils.data.IterableDataset", ["E.__iter__", "E.__next__"]),
        ("D", ["E.__getitem__", "E.__getitems__"]),
        ("object", ["E.__getitem__", "E.__getitems__", "E.__iter__", "E.__next__"]),
        ("Dataset, somewhere.Mixin", ["E.__getitem__", "E.__getitems__", "E.__iter__", "E.__next__"]),
        ("Dataset, globals()['Mixin']", ["E.__getitem__", "E.__getitems__", "E.__iter__", "E.__next__"]),
        ("litdata.StreamingDataset", ["E.__getitem__", "E.__getitems__", "E.__iter__", "E.__next__"]),
    ],
)
def test_torchs_base_says_which_methods_workers_call(tmp_path: Path, bases: str, expected: list[str]) -> None:
    """A library may call an item of its own iterator, as litdata does; torch's bases call nothing."""
    linked = link(
        tmp_path,
        HEAD
        + f"""
import litdata, torch
from elsewhere import somewhere
class E({bases}):
    def __getitem__(self, index): return index
    def __getitems__(self, indices): return indices
    def __iter__(self): return self
    def __next__(self): return 1
loader = DataLoader(E(), num_workers=2)
""",
    )
    assert linked.reached("loader") == expected


def test_a_method_and_a_partial_can_be_collate_functions(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class E(D):
    def collate(self, batch): return batch
def pad(batch, by): return batch
e = E()
loader = DataLoader(e, num_workers=2, collate_fn=e.collate)
other = DataLoader(e, num_workers=2, collate_fn=functools.partial(pad, by=1))
""",
    )
    assert linked.reached("loader") == ["E.__getitem__", "E.collate"]
    assert linked.reached("other") == ["E.__getitem__", "pad"]


def test_a_function_that_makes_loaders_makes_one_a_caller(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class E(D): pass
def make(ds, n):
    loader = DataLoader(ds, num_workers=n)
    return loader
make(D(), 0)
make(E(), 4)
""",
    )
    found = sorted((one.workers_text, len(one.datasets)) for one in linked.model.loaders)
    assert found == [("num_workers=0", 1), ("num_workers=4", 1)]


def test_a_late_bound_dataset_is_possible_and_says_why(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class Unused(Dataset):
    def __getitem__(self, i): return i
REGISTRY = {}
loader = DataLoader(REGISTRY[input()](), num_workers=2)
certain = DataLoader(D(), num_workers=2)
""",
    )
    assert linked.loader().late
    assert linked.guessed() == ["Unused.__getitem__"]


def test_a_dataset_without_a_loader_in_sight_is_possible(tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD)
    assert linked.guessed() == ["D.__getitem__"]
    assert [one.out_of_sight for one in linked.model.loaders] == [True]


def test_a_dataset_made_for_something_else_is_nobodys(tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD + "first = D()[0]\n")
    assert linked.reached() == []


def test_the_chain_leads_from_the_loader_to_the_line(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        --- data.py
        from torch.utils.data import Dataset
        from ops import crop
        class D(Dataset):
            def __getitem__(self, i): return crop(i)
        --- ops.py
        def crop(x): return box(x)
        def box(x): return x
        --- train.py
        from torch.utils.data import DataLoader
        from data import D
        train_loader = DataLoader(D(), num_workers=4)
        """,
    )
    (frame,) = [f for f in linked.model.reached if linked.model.label(f) == "box"]
    exposure = linked.model.exposure(frame, 1)
    assert exposure is not None and exposure.certainty == "proven"
    first, *rest = [e.message for e in linked.model.why(frame, exposure)]
    assert first == "runs in the workers of train_loader in train.py (num_workers=4): D.__getitem__ > crop > box"
    assert rest == ["D.__getitem__ calls crop", "crop calls box"]


@pytest.mark.parametrize(
    ("argument", "environment", "expected"),
    [
        ("", Environment(), {"fork"}),
        ("", Environment(python=version_set("3.14", "")), {"forkserver"}),
        ("", Environment(platforms=("linux", "windows")), {"fork", "spawn"}),
        ("", Environment(start_method="spawn"), {"spawn"}),
        (", multiprocessing_context='forkserver'", Environment(), {"forkserver"}),
        (", multiprocessing_context=mp.get_context('spawn')", Environment(start_method="fork"), {"spawn"}),
    ],
)
def test_start_methods(argument: str, environment: Environment, expected: set[str], tmp_path: Path) -> None:
    code = f"import multiprocessing as mp\n{HEAD}\nloader = DataLoader(D(), num_workers=2{argument})\n"
    linked = link(tmp_path, code, environment)
    assert linked.model.start_methods(linked.loader()) == expected


def test_set_start_method_counts_where_no_setting_does(tmp_path: Path) -> None:
    code = (
        f"import multiprocessing as mp\n{HEAD}\nmp.set_start_method('spawn')\nloader = DataLoader(D(), num_workers=2)\n"
    )
    linked = link(tmp_path, code)
    assert linked.model.start_methods(linked.loader()) == {"spawn"}


def test_a_start_method_that_may_be_set_is_one_of_several(tmp_path: Path) -> None:
    code = (
        f"import multiprocessing as mp\n{HEAD}\ndef init_dist():\n    if mp.get_start_method() is None:\n"
        "        mp.set_start_method('spawn')\nloader = DataLoader(D(), num_workers=2)\n"
    )
    linked = link(tmp_path, code)
    assert linked.model.start_methods(linked.loader()) == {"fork", "spawn"}
