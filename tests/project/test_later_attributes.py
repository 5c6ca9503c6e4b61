"""Attributes that an object gets from the code around it, after it is made: assigned there, or by a method that keeps
its argument."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project.linking import Linked, link

HEAD = """
from torch.utils.data import DataLoader, Dataset, random_split
from torchvision.datasets import CIFAR10, ImageFolder
class Crop:
    def __call__(self, x):
        return x
class Own(Dataset):
    def __init__(self, transform=None):
        self.transform = transform
    def __getitem__(self, i):
        return self.transform(i)
    def use(self, transform):
        self.transform = transform
class Folder(ImageFolder):
    def __getitem__(self, i):
        return super().__getitem__(i)
def change(data):
    data.transform = Crop()
class Trainer:
    def __init__(self, size):
        self.size = size
    def change(self, data):
        data.transform = Crop()
    @staticmethod
    def renew(data):
        data.transform = Crop()
"""
COPIED = f"""{HEAD}
import copy
from copy import deepcopy
from torch.utils.data import Subset
class Flip:
    def __call__(self, x):
        return x
class Named(CIFAR10):
    def __init__(self, transform=None):
        super().__init__("data", transform=transform)
def library(transform=None):
    return CIFAR10("data", transform=transform)
"""
#: How the transform of a dataset is set; `MAKE` stands for the dataset.
WAYS = {
    "in the same def": "def main():\n    d = MAKE\n    d.transform = Crop()\n    loader = DataLoader(d, num_workers=2)",
    "at module level": "d = MAKE\nd.transform = Crop()\nloader = DataLoader(d, num_workers=2)",
    "in a branch": """
        def main(train):
            d = MAKE
            if train:
                d.transform = Crop()
            loader = DataLoader(d, num_workers=2)
    """,
    "on what a function gives": """
        def make():
            return MAKE
        def main():
            d = make()
            d.transform = Crop()
            loader = DataLoader(d, num_workers=2)
    """,
    "on what a function gives, at module level": """
        def make():
            return MAKE
        d = make()
        d.transform = Crop()
        loader = DataLoader(d, num_workers=2)
    """,
    "on one of several that a function gives": """
        def make():
            return MAKE, MAKE
        def main():
            d, other = make()
            d.transform = Crop()
            loader = DataLoader(d, num_workers=2)
    """,
    "by a function": "def main():\n    d = MAKE\n    change(d)\n    loader = DataLoader(d, num_workers=2)",
    "by a function, on what another gives": """
        def make():
            return MAKE
        def main():
            d = make()
            change(d)
            loader = DataLoader(d, num_workers=2)
    """,
    "by a method of an object that the def makes": """
        def main():
            d = MAKE
            trainer = Trainer(3)
            trainer.change(d)
            loader = DataLoader(d, num_workers=2)
    """,
    "by a method of another object": """
        def main():
            d = MAKE
            (Trainer(3) if len(d) else Trainer(4)).change(data=d)
            loader = DataLoader(d, num_workers=2)
    """,
    "by a static method, on what a function gives": """
        def make():
            return MAKE
        def main():
            d = make()
            Trainer(3).renew(d)
            loader = DataLoader(d, num_workers=2)
    """,
    "by a method of the same object, on what a function gives": """
        def make():
            return MAKE, 3
        class Data(Trainer):
            def loader(self):
                d, size = make()
                self.change(d)
                loader = DataLoader(d, num_workers=2)
    """,
    "through a split": """
        def main():
            one, other = random_split(MAKE, [1, 2])
            one.dataset.transform = Crop()
            loader = DataLoader(other, num_workers=2)
    """,
    "through the loader": """
        def main():
            loader = DataLoader(MAKE, num_workers=2)
            loader.dataset.transform = Crop()
    """,
    "where an object holds it": """
        class Data:
            def __init__(self):
                self.d = MAKE
                self.d.transform = Crop()
            def loader(self):
                loader = DataLoader(self.d, num_workers=2)
    """,
    "in another method": """
        class Data:
            def __init__(self):
                self.d = MAKE
            def prepare(self):
                self.d.transform = Crop()
            def loader(self):
                loader = DataLoader(self.d, num_workers=2)
    """,
    "in another method, on what a function gives": """
        def make():
            return MAKE
        class Data:
            def __init__(self):
                self.d = make()
            def prepare(self):
                self.d.transform = Crop()
            def loader(self):
                loader = DataLoader(self.d, num_workers=2)
    """,
}
MADE = ("Own()", 'CIFAR10("data")', 'Folder("data")')


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("way", WAYS)
def test_a_transform_is_set(way: str, made: str, tmp_path: Path) -> None:
    linked = link(tmp_path, f"{HEAD}\n{textwrap.dedent(WAYS[way].replace('MAKE', made))}")
    assert "Crop.__call__" in linked.reached("loader")


#: How a method that keeps its argument is called.
CALLS = {
    "in the same def": WAYS["in the same def"],
    "at module level": WAYS["at module level"],
    "on what a function gives": WAYS["on what a function gives"],
    "where an object holds it": WAYS["where an object holds it"],
    "in another method": WAYS["in another method"],
    "on what a function gives, where an object holds it": """
        def make():
            return MAKE
        class Data:
            def __init__(self):
                self.d = make()
                self.d.transform = Crop()
            def loader(self):
                loader = DataLoader(self.d, num_workers=2)
    """,
}


@pytest.mark.parametrize("way", CALLS)
def test_a_method_keeps_a_transform(way: str, tmp_path: Path) -> None:
    text = CALLS[way].replace("MAKE", "Own()").replace(".transform = Crop()", ".use(Crop())")
    linked = link(tmp_path, f"{HEAD}\n{textwrap.dedent(text)}")
    assert "Crop.__call__" in linked.reached("loader")


#: What sets no transform on the dataset of the loader.
NOTHING = {
    "on another object": "d.transform = Crop()",
    "on another object, by a method": "d.use(Crop())",
    "in a dead branch": "if False:\n        e.transform = Crop()",
    "another attribute": "e.other = Crop()",
    "a method that keeps nothing": "e.ignore(Crop())",
    "a method that a nearer class overrides": "e.keep(Crop())",
    "on another object, by a method that gets it": "Trainer(3).change(d)",
    "by a method that sets it on itself": "Gentle(3).hold(e)",
    "by a method that a nearer class of the other object overrides": "Gentle(3).change(e)",
}


@pytest.mark.parametrize("given", ["d, e = Near(), Near()", "d, e = make(), make()", "d, e = both()"])
@pytest.mark.parametrize("what", NOTHING)
def test_no_transform_is_set(what: str, given: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class Far(Own):
    def keep(self, transform):
        self.transform = transform
class Near(Far):
    def keep(self, transform):
        self.kept = transform
    def ignore(self, transform):
        print(transform)
class Gentle(Trainer):
    def change(self, data):
        print(data)
    def hold(self, data):
        self.transform = Crop()
def make():
    return Near()
def both():
    return Near(), Near()
def main():
    {given}
    {NOTHING[what]}
    loader = DataLoader(e, num_workers=2)
""",
    )
    assert "Crop.__call__" not in linked.reached("loader")


@pytest.mark.parametrize(
    ("calls", "workers"),
    [
        ("m.fit(4)", "num_workers=4"),
        ("m.fit(workers=4)", "num_workers=4"),
        ("m.fit()", "num_workers=0"),
        ("m.fit(4)\n    m.fit(8)", "num_workers=4 or 8"),
        ("m.fit(4)\n    m.fit()", "num_workers=0 or 4"),
        ("m.fit(n)", "num_workers unknown"),
        ("n.fit(4)", "num_workers=0, default"),
    ],
)
def test_a_number_that_a_method_keeps_is_that_of_its_calls(calls: str, workers: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
class Model:
    def fit(self, workers=0):
        self.workers = workers
    def loaders(self):
        return DataLoader(Own(), num_workers=self.workers)
def main(n):
    m = Model()
    {calls}
    loader = m.loaders()
""",
    )
    assert [one.workers_text for one in linked.model.loaders if one.site and one.site.frame.receiver] == [workers]


def test_a_loader_of_timm_replaces_the_transform(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
from timm.data import create_loader
def make():
    return CIFAR10("data", transform=Crop())
def main():
    own, folder, given, named = Own(Crop()), Folder("data", transform=Crop()), make(), CIFAR10("x", transform=Crop())
    a = create_loader(own, 224, 8, num_workers=2)
    b = create_loader(folder, 224, 8, num_workers=2)
    c = create_loader(given, 224, 8, num_workers=2)
    d = create_loader(named, 224, 8, num_workers=2)
    loader = DataLoader(make(), num_workers=2)
""",
    )
    assert ["Crop.__call__" in linked.reached(name) for name in "abcd"] == [False] * 4
    assert "Crop.__call__" in linked.reached("loader")


@pytest.mark.parametrize(
    ("items", "workers"),
    [
        ("for k, v in options.items()", "num_workers=2"),
        ("for k, v in options.items() if v is not None", "num_workers=2"),
        ("for k, v in options.items() if k in KNOWN", "num_workers=0 or 2"),
        ("for k, v in options.items() if v is not None if k in KNOWN", "num_workers=0 or 2"),
        ("for v, k in options.items()", "num_workers unknown"),
        ("for k, v in options.other()", "num_workers unknown"),
        ("for k, v in pairs", "num_workers unknown"),
        ("for one in KNOWN for k, v in options.items()", "num_workers unknown"),
    ],
)
def test_options_that_a_comprehension_copies(items: str, workers: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{HEAD}
KNOWN = open("known").read().split()
def make(pairs, **options):
    options = {{k: v {items}}}
    return DataLoader(Own(), **options)
def main():
    loader = make([], num_workers=2, sampler=None)
""",
    )
    (loader,) = [one for one in linked.model.loaders if one.site]
    assert loader.workers_text == workers


#: How a dataset is copied, and which of the transforms Crop and Flip its loader and that of the copy run.
COPIES = {
    "the copy gets another": ("a = MAKE(Crop())\nb = deepcopy(a)\nb.transform = Flip()", "Crop", "Flip"),
    "a shallow copy": ("a = MAKE(Crop())\nb = copy.copy(a)\nb.transform = Flip()", "Crop", "Flip"),
    "the copy gets none": ("a = MAKE(Crop())\nb = deepcopy(a)\nb.transform = None", "Crop", ""),
    "the copy may get another": (
        "a = MAKE(Crop())\nb = deepcopy(a)\nif x:\n    b.transform = Flip()",
        "Crop",
        "Crop Flip",
    ),
    "the original gets one later": ("a = MAKE()\nb = deepcopy(a)\na.transform = Crop()", "Crop", ""),
    "the original gets one before": ("a = MAKE()\na.transform = Crop()\nb = deepcopy(a)", "Crop", "Crop"),
    "each gets one": ("a = MAKE()\nb = deepcopy(a)\na.transform = Crop()\nb.transform = Flip()", "Crop", "Flip"),
    "a copy of a copy": (
        "a = MAKE()\nc = deepcopy(a)\nb = deepcopy(c)\na.transform = Crop()\nb.transform = Flip()",
        "Crop",
        "Flip",
    ),
    "in a loop": (
        "a = MAKE(Crop())\nfor _ in x:\n    b = deepcopy(a)\n    a.transform = Flip()",
        "Crop Flip",
        "Crop Flip",
    ),
    "one half of a split gets a copy": (
        "f = MAKE()\na, b = random_split(f, [1, 2])\nb.dataset = deepcopy(f)\n"
        "a.dataset.transform = Crop()\nb.dataset.transform = Flip()",
        "Crop",
        "Flip",
    ),
    "one half of a split gets another dataset": (
        "a, b = random_split(MAKE(Crop()), [1, 2])\nb.dataset = MAKE(Flip())",
        "Crop",
        "Flip",
    ),
    "one half of a split is copied": (
        "a, b = random_split(MAKE(Crop()), [1, 2])\nb = deepcopy(b)\nb.dataset.transform = Flip()",
        "Crop",
        "Flip",
    ),
    "both halves of a split hold one dataset": (
        "a, b = random_split(MAKE(), [1, 2])\na.dataset.transform = Crop()\nb.dataset.transform = Flip()",
        "Crop Flip",
        "Crop Flip",
    ),
    "a shallow copy of a subset holds the same": (
        "a = Subset(MAKE(), [0])\nb = copy.copy(a)\na.dataset.transform = Crop()",
        "Crop",
        "Crop",
    ),
}


#: What nothing finds at module level: `b.dataset` where another statement replaces it.
IN_FUNCTIONS = {"one half of a split gets a copy", "a shallow copy of a subset holds the same"}


@pytest.mark.parametrize("made", ["Own", "Named", "library"])
@pytest.mark.parametrize(
    ("way", "inside"),
    [
        (way, inside)
        for way in COPIES
        for inside in ("a function", "a module")
        if inside == "a function" or way not in IN_FUNCTIONS
    ],
)
def test_a_copy_has_attributes_of_its_own(way: str, inside: str, made: str, tmp_path: Path) -> None:
    lines, original, copied = COPIES[way]
    lines = f"{lines}\nfirst = DataLoader(a, num_workers=2)\nsecond = DataLoader(b, num_workers=2)".replace(
        "MAKE", made
    )
    indented = textwrap.indent(lines, "    ")
    body = f"def main(x):\n{indented}" if inside == "a function" else f"x = open('x').read()\n{lines}"
    linked = link(tmp_path, f"{COPIED}{body}\n")
    assert [_transforms(linked, one) for one in ("first", "second")] == [original.split(), copied.split()]


#: Other ways to set the transform of a copy.
COPIED_ELSEWHERE = {
    "by a method": """
        def main():
            a = Own(Crop())
            b = deepcopy(a)
            b.use(Flip())
            first, second = DataLoader(a, num_workers=2), DataLoader(b, num_workers=2)
    """,
    "in the function that copies": """
        def split(data):
            held = deepcopy(data)
            held.transform = Flip()
            return data, held
        def main():
            a, b = split(Own(Crop()))
            first, second = DataLoader(a, num_workers=2), DataLoader(b, num_workers=2)
    """,
    "where an object holds both": """
        class Data:
            def __init__(self):
                self.a = Own(Crop())
                self.b = deepcopy(self.a)
                self.b.transform = Flip()
            def loaders(self):
                first = DataLoader(self.a, num_workers=2)
                second = DataLoader(self.b, num_workers=2)
    """,
}


@pytest.mark.parametrize("way", COPIED_ELSEWHERE)
def test_a_copy_elsewhere_has_attributes_of_its_own(way: str, tmp_path: Path) -> None:
    linked = link(tmp_path, f"{COPIED}{textwrap.dedent(COPIED_ELSEWHERE[way])}")
    assert [_transforms(linked, one) for one in ("first", "second")] == [["Crop"], ["Flip"]]


def _transforms(linked: Linked, loader: str) -> list[str]:
    """The transforms that the workers of a loader run."""
    return [label.removesuffix(".__call__") for label in linked.reached(loader) if label.endswith(".__call__")]
