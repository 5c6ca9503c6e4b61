"""Datasets that come from a dict of a factory: which classes code stores in it, and code that may store others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

FACTORY = """
--- factory.py
class Factory:
    def __init__(self):
        self.known = {}

    def register(self, config_class, data_class):
        self.known[config_class.__name__] = data_class

    def create(self, config):
        return self.known[config.__class__.__name__](config)
"""
DATA = """
--- data.py
from torch.utils.data import Dataset


class Config:
    pass


class Old(Dataset):
    def __init__(self, config):
        super(Old, self).__init__()
        self.config = config

    def __getitem__(self, index):
        return index


class Images(Dataset):
    def __init__(self, config):
        self.config = config

    def __getitem__(self, index):
        return index


class Sounds(Images):
    pass
"""
TRAIN = """
--- train.py
import data
from torch.utils.data import DataLoader
from data import Config, Images
from factory import Factory

factory = Factory()
factory.register(Config, Images)
for batch in DataLoader(factory.create(Config()), num_workers=2):
    print(batch)
"""

#: The same with a dict of the module.
MODULE = """--- factory.py
KNOWN = {}


def register(config_class, data_class):
    KNOWN[config_class.__name__] = data_class


def create(config):
    return KNOWN[config.__class__.__name__](config)


class Factory:
    def register(self, config_class, data_class):
        register(config_class, data_class)

    def create(self, config):
        return create(config)
"""

#: Code whose dict holds only the classes that it names, as (the file to change, text, instead).
CLOSED = {
    "a path of that name": (TRAIN, "factory = ", "print(find().known / 'images')\nfactory = "),
    "a library's attribute, and a text, of that name": (
        TRAIN,
        "factory = ",
        "import torchvision\n\nprint(torchvision.known.Other(), 'known')\nfactory = ",
    ),
    "a module's dict": (FACTORY, FACTORY[1:], MODULE),
    "a module's dict, imported": (
        FACTORY,
        FACTORY[1:],
        MODULE + "\n\n--- other.py\nfrom factory import KNOWN\n\nprint(sorted(KNOWN))\n",
    ),
    "a dict of the class": (
        FACTORY,
        "    def __init__(self):\n        self.known = {}\n",
        "    known = {}\n",
    ),
    "registered": (TRAIN, "", ""),
    "two": (
        TRAIN,
        "factory.register(Config, Images)\n",
        "factory.register(Config, Images)\nfactory.register(int, data.Sounds)\n",
    ),
    "in a loop": (
        TRAIN,
        "factory.register(Config, Images)\n",
        "for one in (Images, data.Sounds):\n    factory.register(one, one)\n",
    ),
    "with get": (FACTORY, "[config.__class__.__name__](config)", ".get(config.__class__.__name__)(config)"),
    "a constant key": (FACTORY, "self.known[config_class.__name__] =", "self.known['one'] ="),
    "looked at": (
        FACTORY,
        "    def create(self, config):\n",
        "    def create(self, config):\n        print(len(self.known), 'one' in self.known, list(self.known.keys()))\n",
    ),
    "another class with such an attribute": (
        FACTORY,
        "class Factory",
        "class Other:\n    def __init__(self, known):\n        self.known = known\n\n\nclass Factory",
    ),
}

#: Code that may store another class: after `replace` in a file, or more files.
OPEN = {
    "more in a copy that replaces it": (TRAIN, "for batch", "factory.known = factory.known | find()\nfor batch"),
    "more in place": (TRAIN, "for batch", "factory.known |= find()\nfor batch"),
    "stored in a module's dict by unknown code": (FACTORY, FACTORY[1:], MODULE + "\n\nKNOWN['more'] = find()\n"),
    "a module's dict, given away": (FACTORY, FACTORY[1:], MODULE + "\n\nrun(KNOWN)\n"),
    "a module's dict, filled in another file": (
        FACTORY,
        FACTORY[1:],
        MODULE + "\n\n--- other.py\nimport factory\n\nfactory.KNOWN['more'] = factory.find()\n",
    ),
    "registered": (TRAIN, "factory.register(Config, Images)\n", "factory.register(Config, data.Old)\n"),
    "any of a module": (TRAIN, "(Config, Images)\n", "(Config, getattr(data, input()))\n"),
    "all of a module": (
        TRAIN,
        "factory.register(Config, Images)\n",
        "for one in vars(data).values():\n    factory.register(Config, one)\n",
    ),
    "subclasses": (
        TRAIN,
        "factory.register(Config, Images)\n",
        "for one in data.Dataset.__subclasses__():\n    factory.register(one, one)\n",
    ),
    "named elsewhere": (TRAIN, "factory = ", "print(data.Old)\nfactory = "),
    "named in a text": (TRAIN, "factory = ", "print('Old')\nfactory = "),
    "imported elsewhere": (TRAIN, "factory = ", "from data import Old\nfactory = "),
    "a base of another": (DATA, "class Sounds(Images)", "class Sounds(Old)"),
    "decorated": (DATA, "class Old", "@keep\nclass Old"),
    "stored from outside": (TRAIN, "for batch", "factory.known['more'] = find()\nfor batch"),
    "stored through a method": (TRAIN, "for batch", "factory.known.update(find())\nfor batch"),
    "stored by a name": (TRAIN, "for batch", "setattr(factory, 'known', find())\nfor batch"),
    "given away": (
        FACTORY,
        "    def create(self, config):\n",
        "    def table(self):\n        return self.known\n\n    def create(self, config):\n",
    ),
    "read from a file": (FACTORY, "self.known = {}", "self.known = __import__('pickle').load(open('table', 'rb'))"),
    "passed to the constructor by others": (
        FACTORY,
        "(self):\n        self.known = {}",
        "(self, known):\n        self.known = known",
    ),
    "registered by what gets the method": (TRAIN, "for batch", "run(factory.register)\nfor batch"),
    "registered on an unknown object": (
        TRAIN,
        "for batch",
        "def plug(one):\n    one.register(Config, find())\nfor batch",
    ),
    "a class from elsewhere too": (
        TRAIN,
        "factory.create(Config())",
        "factory.create(Config()) if input() else find()",
    ),
    "an installed library": (TRAIN, "--- train.py\n", "--- setup.py\nimport setuptools\n--- train.py\n"),
}


def _held(folder: Path, changed: str, text: str, instead: str) -> set[str]:
    """The names of the datasets that the workers of a project's loaders read."""
    assert text in changed
    files = (FACTORY, DATA, TRAIN)
    project = "\n".join(one.replace(text, instead) if text and one == changed else one for one in files)
    linked = link(folder, project)
    held = (entry.dataset for entry in linked.model.entries)
    return {linked.model.ev.classes.name(one.cls) for one in held if one is not None and hasattr(one, "cls")}


@pytest.mark.parametrize("change", CLOSED.values(), ids=CLOSED)
def test_only_the_stored_classes(change: tuple[str, str, str], tmp_path: Path) -> None:
    found = _held(tmp_path, *change)
    assert "Images" in found and "Old" not in found


@pytest.mark.parametrize("change", OPEN.values(), ids=OPEN)
def test_perhaps_another_class(change: tuple[str, str, str], tmp_path: Path) -> None:
    assert "Old" in _held(tmp_path, *change)
