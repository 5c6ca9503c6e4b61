"""Objects that code puts into dicts, lists and other objects, and changes there."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.project.linking import link

HEAD = """
from torch.utils.data import DataLoader, Dataset, Subset, random_split
from torchvision.datasets import ImageFolder
from torchvision.transforms import Compose, ToTensor
class Crop:
    def __call__(self, x):
        return x
class Own(Dataset):
    def __init__(self, split=""):
        self.transform = None
    def __getitem__(self, i):
        return self.transform(i)
    def use(self, transform):
        self.transform = transform
class Holder:
    def __init__(self, data):
        self.data = data
class Trainer:
    def __init__(self, data):
        self.data = data
        self.data.use(Crop())
class Late:
    def __init__(self, sets):
        self.sets = sets
    def start(self):
        for name in self.sets:
            self.sets[name].transform = Crop()
class Steps:
    def __init__(self, transforms):
        self.transforms = transforms
    def __call__(self, x):
        for each in self.transforms:
            x = each(x)
        return x
class Data:
    def __init__(self):
        self.train = Own()
        self.sets = {"a": Own()}
def change(sets):
    for each in sets.values():
        each.use(Crop())
"""
#: The dataset of `loader` gets a `Crop`.
SET = {
    "an item of a dict": "sets = {'a': Own()}\nsets['a'].use(Crop())\nloader = DataLoader(sets['a'], num_workers=2)",
    "an attribute of an item": (
        "sets = {'a': Own()}\nsets['a'].transform = Crop()\nloader = DataLoader(sets['a'], num_workers=2)"
    ),
    "an item of a comprehension": (
        "sets = {k: Own(k) for k in 'ab'}\nsets['a'].use(Crop())\nloader = DataLoader(sets['a'], num_workers=2)"
    ),
    "an item that is stored": (
        "sets = {}\nsets['a'] = Own()\nsets['a'].use(Crop())\nloader = DataLoader(sets['a'], num_workers=2)"
    ),
    "by `get`": "sets = dict(a=Own())\nsets.get('a').use(Crop())\nloader = DataLoader(sets['a'], num_workers=2)",
    "an item of a list": "sets = [Own(), Own()]\nsets[0].use(Crop())\nloader = DataLoader(sets[0], num_workers=2)",
    "an item that is appended": (
        "sets = []\nsets.append(Own())\nsets[0].use(Crop())\nloader = DataLoader(sets[0], num_workers=2)"
    ),
    "each value": (
        "sets = {'a': Own()}\nfor each in sets.values():\n    each.use(Crop())\n"
        "loader = DataLoader(sets['a'], num_workers=2)"
    ),
    "each pair": (
        "sets = {'a': Own()}\nfor name, each in sets.items():\n    each.transform = Crop()\n"
        "loader = DataLoader(sets['a'], num_workers=2)"
    ),
    "each of a tuple": (
        "one, two = Own(), Own()\nfor each in (one, two):\n    each.use(Crop())\n"
        "loader = DataLoader(one, num_workers=2)"
    ),
    "in a `zip`": (
        "one = Own()\nfor each, step in zip([one], [Crop()]):\n    each.use(step)\n"
        "loader = DataLoader(one, num_workers=2)"
    ),
    "what a condition chooses": "one = Own() if x else None\none.use(Crop())\nloader = DataLoader(one, num_workers=2)",
    "where an object keeps it": (
        "held = Holder(Own())\nheld.data.use(Crop())\nloader = DataLoader(held.data, num_workers=2)"
    ),
    "of what a constructor makes": (
        "data = Data()\ndata.train.use(Crop())\nloader = DataLoader(data.train, num_workers=2)"
    ),
    "in a dict that a constructor makes": (
        "data = Data()\ndata.sets['a'].transform = Crop()\nloader = DataLoader(data.sets['a'], num_workers=2)"
    ),
    "in the constructor of what keeps it": "t = Trainer(Own())\nloader = DataLoader(t.data, num_workers=2)",
    "in a method of what keeps a dict of it": (
        "late = Late({'a': Own()})\nlate.start()\nloader = DataLoader(late.sets['a'], num_workers=2)"
    ),
    "in a function that gets the dict": (
        "sets = {'a': Own()}\nchange(sets)\nloader = DataLoader(sets['a'], num_workers=2)"
    ),
    "through a loader": "loader = DataLoader(Own(), num_workers=2)\nloader.dataset.use(Crop())",
    "through a split": (
        "a, b = random_split(Own(), [1, 1])\na.dataset.use(Crop())\nloader = DataLoader(b, num_workers=2)"
    ),
    "a step that is appended": (
        "steps = Compose([ToTensor()])\nsteps.transforms.append(Crop())\n"
        "loader = DataLoader(ImageFolder('x', transform=steps), num_workers=2)"
    ),
    "a step in a branch": (
        "steps = Compose([ToTensor()])\nif x:\n    steps.transforms.insert(0, Crop())\n"
        "loader = DataLoader(ImageFolder('x', transform=steps), num_workers=2)"
    ),
    "a step of what a dataset keeps": (
        "data = ImageFolder('x', transform=Compose([ToTensor()]))\ndata.transform.transforms.append(Crop())\n"
        "loader = DataLoader(data, num_workers=2)"
    ),
    "a step that replaces another": (
        "steps = Compose([ToTensor()])\nsteps.transforms[0] = Crop()\n"
        "loader = DataLoader(ImageFolder('x', transform=steps), num_workers=2)"
    ),
    "a step of a pipeline of the project": (
        "steps = Steps([ToTensor()])\nsteps.transforms.append(Crop())\n"
        "loader = DataLoader(ImageFolder('x', transform=steps), num_workers=2)"
    ),
}
#: The dataset of `loader` gets none.
NOT_SET = {
    "another item": (
        "sets = {'a': Own(), 'b': Own()}\nsets['b'].use(Crop())\nloader = DataLoader(sets['a'], num_workers=2)"
    ),
    "another item of a list": "sets = [Own(), Own()]\nsets[1].use(Crop())\nloader = DataLoader(sets[0], num_workers=2)",
    "another holder": (
        "one, two = Holder(Own()), Holder(Own())\ntwo.data.use(Crop())\nloader = DataLoader(one.data, num_workers=2)"
    ),
    "each key": (
        "sets = {'a': Own()}\nfor each in sets:\n    each.use(Crop())\nloader = DataLoader(sets['a'], num_workers=2)"
    ),
    "a step of another pipeline": (
        "steps, others = Compose([ToTensor()]), Compose([ToTensor()])\nothers.transforms.append(Crop())\n"
        "loader = DataLoader(ImageFolder('x', transform=steps), num_workers=2)"
    ),
}


def _reached(lines: str, inside: str, tmp_path: Path) -> bool:
    indented = textwrap.indent(lines, "    ")
    body = f"def main(x):\n{indented}" if inside == "a function" else f"x = open('x').read()\n{lines}"
    return "Crop.__call__" in link(tmp_path, f"{HEAD}{body}\n").reached("loader")


@pytest.mark.parametrize("inside", ["a function", "a module"])
@pytest.mark.parametrize("way", SET)
def test_a_transform_is_set_where_the_dataset_is_kept(way: str, inside: str, tmp_path: Path) -> None:
    assert _reached(SET[way], inside, tmp_path)


@pytest.mark.parametrize("inside", ["a function", "a module"])
@pytest.mark.parametrize("way", NOT_SET)
def test_a_transform_of_something_else_is_set(way: str, inside: str, tmp_path: Path) -> None:
    assert not _reached(NOT_SET[way], inside, tmp_path)
