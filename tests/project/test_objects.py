"""Classes and objects: ancestry, construction, what attributes hold, told apart by where an object is made."""

from __future__ import annotations

import textwrap
from pathlib import Path
from textwrap import indent

import pytest

from tests.project.linking import link

HEAD = """
import functools
import copy
from dataclasses import dataclass, field
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, ConcatDataset, random_split
import torchvision.transforms as T
class Crop:
    def __call__(self, x):
        return self.box(x)
    def box(self, x):
        return x
class Flip:
    def forward(self, x):
        return x
def scale(x, by):
    return x
"""

#: The body of a dataset whose sample runs `Crop.__call__` in some way, and how it is made.
STORED = {
    "a constructor argument": (
        "def __init__(self, t): self.t = t\n    def __getitem__(self, i): return self.t(i)",
        "D(Crop())",
    ),
    "a keyword": (
        "def __init__(self, t=None): self.t = t\n    def __getitem__(self, i): return self.t(i)",
        "D(t=Crop())",
    ),
    "a default": ("def __init__(self, t=Crop()): self.t = t\n    def __getitem__(self, i): return self.t(i)", "D()"),
    "a class attribute": ("t = Crop()\n    def __getitem__(self, i): return self.t(i)", "D()"),
    "a method that the constructor calls": (
        "def __init__(self): self.build(Crop())\n    def build(self, t): self.t = t\n"
        "    def __getitem__(self, i): return self.t(i)",
        "D()",
    ),
    "a setter called from outside": (
        "def set(self, t): self.t = t\n    def build(self): self.set(Crop())\n"
        "    def __init__(self): self.build()\n    def __getitem__(self, i): return self.t(i)",
        "D()",
    ),
    "a method that the constructor holds and calls": (
        "def __init__(self): self.fill = self.build; self.fill(Crop())\n    def build(self, t): self.t = t\n"
        "    def __getitem__(self, i): return self.t(i)",
        "D()",
    ),
    "a property": (
        "@property\n    def t(self): return Crop()\n    def __getitem__(self, i): return self.t(i)",
        "D()",
    ),
    "a static method": (
        "@staticmethod\n    def make(): return Crop()\n    def __getitem__(self, i): return self.make()(i)",
        "D()",
    ),
    "a class method that constructs": (
        "def __init__(self, t): self.t = t\n    @classmethod\n    def load(cls): return cls(Crop())\n"
        "    def __getitem__(self, i): return self.t(i)",
        "D.load()",
    ),
    "a list gone through": (
        "def __init__(self): self.ts = [Flip(), Crop()]\n    def __getitem__(self, i):\n"
        "        for t in self.ts: i = t(i)\n        return i",
        "D()",
    ),
    "a list that grows": (
        "def __init__(self):\n        self.ts = []\n        self.ts.append(Crop())\n"
        "    def __getitem__(self, i): return [t(i) for t in self.ts]",
        "D()",
    ),
    "a dict": (
        "def __init__(self): self.ts = {'a': Crop()}\n    def __getitem__(self, i): return self.ts['a'](i)",
        "D()",
    ),
    "Compose": ("t = T.Compose([Flip(), Crop()])\n    def __getitem__(self, i): return self.t(i)", "D()"),
    "Compose in Compose": (
        "t = T.Compose([T.RandomApply([Crop()])])\n    def __getitem__(self, i): return self.t(i)",
        "D()",
    ),
    "a lambda": ("def __getitem__(self, i): return (lambda x: Crop()(x))(i)", "D()"),
    "a nested function": (
        "def __getitem__(self, i):\n        def inner(x): return Crop()(x)\n        return inner(i)",
        "D()",
    ),
    "map": ("def __getitem__(self, i): return list(map(Crop(), [i]))", "D()"),
    "sorted by a key": ("def __getitem__(self, i): return sorted([i], key=Crop())", "D()"),
    "a helper that takes it": (
        "def __getitem__(self, i): return self.apply(Crop(), i)\n    def apply(self, f, x): return f(x)",
        "D()",
    ),
    "a conditional expression": (
        "def __init__(self, a=0): self.t = Crop() if a else Flip()\n    def __getitem__(self, i): return self.t(i)",
        "D(int(input()))",
    ),
    "copy": (
        "def __init__(self): self.t = copy.deepcopy(Crop())\n    def __getitem__(self, i): return self.t(i)",
        "D()",
    ),
    "getattr": (
        "def __init__(self): self.t = Crop()\n    def __getitem__(self, i): return getattr(self, 't')(i)",
        "D()",
    ),
}


@pytest.mark.parametrize("way", STORED)
def test_a_transform_is_reached_through(way: str, tmp_path: Path) -> None:
    body, made = STORED[way]
    linked = link(tmp_path, f"{HEAD}\nclass D(Dataset):\n    {body}\nloader = DataLoader({made}, num_workers=2)\n")
    assert {"Crop.__call__", "Crop.box"} <= set(linked.reached("loader"))


#: A dataset that derives from a library's, how it is made, and whether its samples run `Crop.__call__`.
BY_POSITION = {
    "super()": ("CIFAR10", "super().__init__(root, True, t, None, True)", "D('x', Crop())", True),
    "the name of the base": ("ImageFolder", "ImageFolder.__init__(self, root, t)", "D('x', Crop())", True),
    "another dataset's place": ("CocoDetection", "super().__init__(root, 'a.json', t)", "D('x', Crop())", True),
    "unpacked": ("MNIST", "super().__init__(*[root, True, t])", "D('x', Crop())", True),
    "the target's transform": ("CIFAR10", "super().__init__(root, True, None, t)", "D('x', Crop())", True),
    "a place that is called for no sample": ("CIFAR10", "super().__init__(root, t)", "D('x', Crop())", False),
    "a dataset that is not known": ("Kitti", "super().__init__(root, t)", "D('x', Crop())", False),
    "no subclass": ("CIFAR10", "pass", "CIFAR10('x', True, Crop())", True),
    "no subclass, in another place": ("CIFAR10", "pass", "CIFAR10(Crop(), True)", False),
}


@pytest.mark.parametrize("way", BY_POSITION)
def test_a_library_dataset_gets_a_transform_by_position(way: str, tmp_path: Path) -> None:
    base, init, made, runs = BY_POSITION[way]
    linked = link(
        tmp_path,
        HEAD
        + f"""
from torchvision.datasets import {base}
class D({base}):
    def __init__(self, root, t=None):
        {init}
loader = DataLoader({made}, num_workers=2)
""",
    )
    assert ("Crop.__call__" in linked.reached()) is runs


def test_two_objects_of_a_class_are_told_apart(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class D(Dataset):
    def __init__(self, t): self.t = t
    def __getitem__(self, i): return self.t(i)
loader = DataLoader(D(Crop()), num_workers=2)
plain = DataLoader(D(Flip()), num_workers=0)
""",
    )
    assert "Crop.__call__" not in linked.reached("plain")
    assert "Flip.forward" not in linked.reached("loader")


def test_a_branch_that_a_constant_rules_out_is_dead(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class D(Dataset):
    def __init__(self, train): self.train = train
    def __getitem__(self, i):
        if self.train:
            i = Crop()(i)
        return i
loader = DataLoader(D(True), num_workers=2)
plain = DataLoader(D(train=False), num_workers=2)
""",
    )
    assert "Crop.__call__" in linked.reached("loader")
    assert "Crop.__call__" not in linked.reached("plain")


#: What a loop over a `Crop` and a `Flip` does with each `t` of them: which of the two it runs.
NARROWED = {
    "if isinstance(t, Crop): t(i)": "Crop",
    "if not isinstance(t, Crop): t(i)": "Flip",
    "if isinstance(t, Crop): pass\nelse: t(i)": "Flip",
    "if isinstance(t, Crop): continue\nt(i)": "Flip",
    "if isinstance(t, (Crop, str)): t(i)": "Crop",
    "if isinstance(t, Crop) and i: t.box(i)": "Crop",
    "if isinstance(t, (Crop, Flip)): t(i)": "Crop Flip",
    "if isinstance(t, Crop) or i: t(i)": "Crop Flip",
    "if isinstance(load(), Crop): t(i)": "Crop Flip",
    "if isinstance(t, load()): t(i)": "Crop Flip",
    "if callable(t): t(i)": "Crop Flip",
}


@pytest.mark.parametrize("body", NARROWED)
def test_a_type_test_narrows_the_item_of_a_list(body: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class D(Dataset):
    def __init__(self): self.ts = [Crop(), Flip()]
    def __getitem__(self, i):
        for t in self.ts:
{indent(body, "            ")}
loader = DataLoader(D(), num_workers=2)
""",
    )
    runs = {"Crop": ("Crop.__call__", "Crop.box"), "Flip": ("Flip.forward",)}
    found = [name for name, frames in runs.items() if not set(frames).isdisjoint(linked.reached("loader"))]
    assert " ".join(found) == NARROWED[body]


#: What a constructor with the parameters `train` and `kind` does, and a method of the object: which of the two
#: transforms the method may run.
CHOSEN_TWICE = {
    ("self.t = Crop()\nif train: self.t = Flip()", "if self.train: self.t(i)"): "Flip",
    ("self.t = Crop()\nif train: self.t = Flip()", "if not self.train: self.t(i)"): "Crop",
    ("self.t = Crop()\nif train: self.t = Flip()", "self.t(i)"): "Crop Flip",
    ("self.t = Crop()\nif train: self.t = Flip()", "if self.kind: self.t(i)"): "Crop Flip",
    ("self.t = Crop()\nif not train: self.t = Flip()", "if not self.train: self.t(i)"): "Flip",
    ("self.t = Crop()\nif kind == 'a': self.t = Flip()", "if self.kind == 'a': self.t(i)"): "Flip",
    ("self.t = Crop()\nif kind in ('a', 'b'): self.t = Flip()", "if self.kind == 'a': self.t(i)"): "Flip",
    ("self.t = Crop()\nif kind == 'a': self.t = Flip()", "if self.kind in ('a', 'b'): self.t(i)"): "Crop Flip",
    ("self.t = Crop()\nif kind != 'b': self.t = Flip()", "if self.kind == 'a': self.t(i)"): "Flip",
    ("self.t = Crop()\nif train and kind: self.t = Flip()", "if self.train and self.kind: self.t(i)"): "Flip",
    ("self.t = Crop()\nif train and kind: self.t = Flip()", "if self.train: self.t(i)"): "Crop Flip",
    ("self.t = Crop()\nif train or kind: self.t = Flip()", "if self.train: self.t(i)"): "Flip",
    ("self.t = Crop()\nif train:\n  if kind: self.t = Flip()", "if self.train: self.t(i)"): "Crop Flip",
    ("self.t = Crop()\nfor x in load():\n  if train: self.t = Flip()", "if self.train: self.t(i)"): "Crop Flip",
    ("self.t = Crop()\nif train: self.t = Flip()\nif train: self.u = self.t", "self.u(i)"): "Flip",
    ("self.t = Crop()\nif train: self.u = self.t\nif train: self.t = Flip()", "self.u(i)"): "Crop Flip",
    ("self.t = Crop()\nif train: self.t = Flip()\nif kind: self.u = self.t", "self.u(i)"): "Crop Flip",
    ("self.t = Crop()\nif train: self.t = Flip()\nif train: self.get()", "self.u(i)"): "Crop Flip",
}


@pytest.mark.parametrize(("constructor", "method"), CHOSEN_TWICE)
def test_what_a_constructor_replaces_is_gone_where_the_same_test_holds(
    constructor: str, method: str, tmp_path: Path
) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class D(Dataset):
    def __init__(self, train, kind):
        self.train = train
        self.kind = kind
{indent(constructor, "        ")}
    {"def get(self): self.u = self.t" if "self.get()" in constructor else ""}
    def __getitem__(self, i):
        {method}
loader = DataLoader(D(load(), load()), num_workers=2)
""",
    )
    runs = {"Crop": "Crop.__call__", "Flip": "Flip.forward"}
    found = [name for name, frame in runs.items() if frame in linked.reached("loader")]
    assert " ".join(found) == CHOSEN_TWICE[constructor, method]


def test_a_default_on_the_command_line_rules_no_branch_out(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""import argparse
{HEAD}
parser = argparse.ArgumentParser()
parser.add_argument("--augment", action="store_true")
args = parser.parse_args()
class D(Dataset):
    def __getitem__(self, i):
        return Crop()(i) if args.augment else i
loader = DataLoader(D(), num_workers=2)
""",
    )
    assert "Crop.__call__" in linked.reached("loader")


@pytest.mark.parametrize(
    "call", ["super().__init__(t)", "super(D, self).__init__(t)", "Base.__init__(self, t)", "super().__init__(t=t)"]
)
def test_a_base_constructor_gets_its_arguments(call: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class Mixin: pass
class Base:
    def __init__(self, t): self.t = t
    def __getitem__(self, i): return self.t(i)
class D(Dataset, Mixin, Base):
    def __init__(self, t): {call}
loader = DataLoader(D(Crop()), num_workers=2)
""",
    )
    assert "Crop.__call__" in linked.reached("loader")


def test_the_nearest_definition_in_the_ancestry_runs(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class A(Dataset):
    def __getitem__(self, i): return self.read(i)
    def read(self, i): return i
class B(A):
    def read(self, i): return i
class C(A):
    def read(self, i): return i
class D(B, C): pass
loader = DataLoader(D(), num_workers=2)
""",
    )
    frames = [f for f in linked.model.reached if linked.model.label(f) == "D.read"]
    assert [linked.model.ev.classes.name(f.owner) for f in frames if f.owner] == ["B"]


def test_recursion_ends(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class D(Dataset):
    def __init__(self): self.other = self
    def __getitem__(self, i): return self.other[self.walk(i)]
    def walk(self, i): return self.walk(i - 1) or even(i)
def even(i): return odd(i - 1)
def odd(i): return even(i - 1)
class Odd(Odd): pass
loader = DataLoader(D(), num_workers=2)
""",
    )
    assert {"D.walk", "even", "odd"} <= set(linked.reached("loader"))


@pytest.mark.parametrize(
    "wrapper",
    [
        "Subset(D(), [1])",
        "ConcatDataset([D(), D()])",
        "random_split(D(), [1, 2])[0]",
        "Subset(Subset(D(), [1]), [1])",
        "D() + D()",
    ],
)
def test_a_wrapped_dataset_is_found(wrapper: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"{HEAD}\nclass D(Dataset):\n    def __getitem__(self, i): return Crop()(i)\n"
        f"loader = DataLoader({wrapper}, num_workers=2)\n",
    )
    assert linked.loader().wrapped
    assert "Crop.__call__" in linked.reached("loader")


def test_an_unpacked_split_gives_both_parts(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class D(Dataset):
    def __getitem__(self, i): return i
train, val = random_split(D(), [1, 2])
loader = DataLoader(train, num_workers=2)
other = DataLoader(val)
""",
    )
    assert linked.datasets() == linked.datasets("other") == ["D"]


def test_a_dataset_around_a_dataset_runs_both(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class D(Dataset):
    def __getitem__(self, i): return i
class Around(Dataset):
    def __init__(self, inner): self.inner = inner
    def __getitem__(self, i): return Crop()(self.inner[i])
loader = DataLoader(Around(D()), num_workers=2)
""",
    )
    assert linked.reached("loader") == ["Around.__getitem__", "Crop.__call__", "Crop.box", "D.__getitem__"]


@pytest.mark.parametrize(
    "use",
    ["for x in self.inner: pass", "yield from self.inner", "return iter(self.inner)", "return [1 for _ in self.inner]"],
)
def test_going_through_an_object_runs_its_iterator(use: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class Inner:
    def __iter__(self): return Crop()(1)
class D(IterableDataset):
    def __init__(self): self.inner = Inner()
    def __iter__(self):
        {use}
loader = DataLoader(D(), num_workers=2)
""",
    )
    assert linked.reached("loader") == ["Crop.__call__", "Crop.box", "D.__iter__", "Inner.__iter__"]


#: A dataset that derives from a library's, then the functions of the project that its workers run.
KEPT_BY_LIBRARIES = {
    "a transform by name": (
        """
        class Images(ImageFolder):
            def __getitem__(self, index): return self.transform(self.samples[index])
        loader = DataLoader(Images("images", transform=Noise()), num_workers=2)
        """,
        ["Images.__getitem__", "Noise.__call__"],
    ),
    "a transform by position": (
        """
        class Images(CIFAR10):
            def __getitem__(self, index): return self.transform(self.data[index])
        loader = DataLoader(Images("images", True, Noise()), num_workers=2)
        """,
        ["Images.__getitem__", "Noise.__call__"],
    ),
    "a transform that the project's constructor passes on": (
        """
        class Images(VisionDataset):
            def __init__(self, root, steps): super().__init__(root, transform=steps)
            def __getitem__(self, index): return self.transform(index)
        loader = DataLoader(Images("images", Noise()), num_workers=2)
        """,
        ["Images.__getitem__", "Noise.__call__"],
    ),
    "a function that loads": (
        """
        class Images(DatasetFolder):
            def __getitem__(self, index): return self.loader(self.samples[index][0])
        def load(path): return path
        loader = DataLoader(Images("images", load), num_workers=2)
        """,
        ["Images.__getitem__", "load"],
    ),
    "the dataset of a subset": (
        """
        class Half(Subset):
            def __getitem__(self, index): return self.dataset.read(self.indices[index])
        loader = DataLoader(Half(Store(), [1]), num_workers=2)
        """,
        ["Half.__getitem__", "Store.read"],
    ),
    "the datasets of a concatenation": (
        """
        class Both(ConcatDataset):
            def __init__(self, parts):
                self.datasets: list
                super().__init__(parts)
            def __getitem__(self, index): return [one.read(index) for one in self.datasets]
        loader = DataLoader(Both([Store(), Store()]), num_workers=2)
        """,
        ["Both.__getitem__", "Store.read"],
    ),
    "not a transform that the class replaces": (
        """
        class Images(ImageFolder):
            def __init__(self, root, transform):
                super().__init__(root, transform=transform)
                self.transform = str
            def __getitem__(self, index): return self.transform(index)
        loader = DataLoader(Images("images", Noise()), num_workers=2)
        """,
        ["Images.__getitem__"],
    ),
    "not what the library keeps otherwise": (
        """
        class Images(ImageFolder):
            def __getitem__(self, index): return self.steps(index)
        loader = DataLoader(Images("images", steps=Noise()), num_workers=2)
        """,
        ["Images.__getitem__"],
    ),
    "not of a base that keeps nothing": (
        """
        class Images(Dataset):
            def __getitem__(self, index): return self.transform(index)
        loader = DataLoader(Images(transform=Noise()), num_workers=2)
        """,
        ["Images.__getitem__"],
    ),
}


@pytest.mark.parametrize("way", KEPT_BY_LIBRARIES)
def test_the_constructor_of_a_library_keeps(way: str, tmp_path: Path) -> None:
    body, expected = KEPT_BY_LIBRARIES[way]
    head = """
        from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset
        from torchvision.datasets import CIFAR10, DatasetFolder, ImageFolder, VisionDataset
        class Noise:
            def __call__(self, image): return image
        class Store:
            def read(self, index): return index
    """
    assert link(tmp_path, textwrap.dedent(head) + textwrap.dedent(body)).reached("loader") == expected


#: Arguments of a dataset that derives from a dataset of torchvision, and how the samples are transformed.
COMBINED_TRANSFORMS = {
    "VisionDataset: transform=Noise()": "together",
    "VisionDataset: target_transform=Noise()": "together",
    "VisionDataset: transform=Noise(), target_transform=Noise()": "together",
    "CocoDetection: transform=Noise()": "together",
    "VisionDataset: transform=load()": "alone together",
    "VisionDataset: ": "alone",
    "VisionDataset: transform=None": "alone",
    "VisionDataset: transforms=Noise()": "together Noise.__call__",
    "CocoDetection: transforms=Noise()": "together Noise.__call__",
    "FlyingChairs: transform=Noise()": "alone",
}


@pytest.mark.parametrize("given", COMBINED_TRANSFORMS)
def test_vision_datasets_combine_their_transforms(given: str, tmp_path: Path) -> None:
    base, _, arguments = given.partition(": ")
    handed_on = {
        "VisionDataset": "root, transforms=transforms, transform=transform, target_transform=target_transform",
        "CocoDetection": "root, 'labels.json', transform, target_transform, transforms",
        "FlyingChairs": "root, transforms=transforms",
    }[base]
    linked = link(
        tmp_path,
        f"""
from torch.utils.data import DataLoader
from torchvision.datasets import {base}
class Noise:
    def __call__(self, image, label): return image, label
def alone(index): return index
def together(index): return index
class Images({base}):
    def __init__(self, root, transforms=None, transform=None, target_transform=None):
        super().__init__({handed_on})
    def __getitem__(self, index):
        if self.transforms is None: return alone(index)
        together(index)
        return self.transforms(index, 0)
loader = DataLoader(Images("images", {arguments}), num_workers=2)
""",
    )
    assert linked.reached("loader") == sorted(["Images.__getitem__", *COMBINED_TRANSFORMS[given].split()])


#: The dataset of a loader, then what of it `get_worker_info().dataset.advance()` runs.
WORKER_DATASETS = {
    "a concatenation of the project's": ("Both([Plain()])", ["Both.advance"]),
    "a dataset inside torch's": ("Subset(Plain(), [0])", []),
    "a dataset itself": ("Plain()", ["Plain.advance"]),
}


@pytest.mark.parametrize("way", WORKER_DATASETS)
def test_the_dataset_of_a_worker_is_the_outermost_one(way: str, tmp_path: Path) -> None:
    made, expected = WORKER_DATASETS[way]
    linked = link(
        tmp_path,
        f"""
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, get_worker_info
class Plain(Dataset):
    def advance(self): return 1
    def __getitem__(self, index): return index
class Both(ConcatDataset):
    def advance(self): return 2
def collate(samples):
    get_worker_info().dataset.advance()
    return samples
loader = DataLoader({made}, num_workers=2, collate_fn=collate)
""",
    )
    assert [name for name in linked.reached("loader") if name.endswith("advance")] == expected
