"""Loaders that nothing iterates over, and code that may iterate over one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

TRAIN = """
--- train.py
from torch.utils.data import DataLoader

for batch in DataLoader([1, 2], num_workers=4):
    print(batch)
"""
HEAD = "--- tools.py\nfrom torch.utils.data import DataLoader\n"

#: Code that only looks at a loader.
IDLE = {
    "its length": "loader = DataLoader([1])\nprint(len(loader))\n",
    "nothing": "DataLoader([1])\n",
    "its attributes, a type test, a text": (
        "loader = DataLoader([1])\n"
        "assert loader.batch_size == 1 and isinstance(loader, DataLoader)\n"
        "print(f'{loader}', loader.dataset[0], type(loader))\n"
    ),
    "a test": ("loader = DataLoader([1])\nif loader is not None:\n    print('loaded' if loader else 'not loaded')\n"),
    "bound again before the loop": (
        "def train():\n"
        "    loader = DataLoader([1])\n"
        "    print(len(loader))\n"
        "    for epoch in range(3):\n"
        "        loader = None\n"
        "        for batch in loader: pass\n"
        "def run(): train()\n"
        "run()\n"
    ),
    "one of two": (
        "def run(more):\n"
        "    loader = DataLoader([1])\n"
        "    if more:\n"
        "        loader = [2]\n"
        "    print(len(loader))\n"
        "run(0)\n"
    ),
    "in a test case": (
        "import unittest\n"
        "class Loading(unittest.TestCase):\n"
        "    def test_it(self):\n"
        "        loader = DataLoader([1])\n"
        "        self.assertIsInstance(loader, DataLoader)\n"
        "        self.assertEqual(loader.num_workers, 0)\n"
    ),
    "in another function too": "loader = DataLoader([1])\ndef size(): return len(loader)\n",
    "another name": "def run():\n    loader = DataLoader([1])\n    other = loader\n    print(len(other))\nrun()\n",
    "a local elsewhere": ("loader = DataLoader([1])\n--- other.py\ndef run(loader):\n    for batch in loader: pass\n"),
}

#: Code that may iterate over one.
USED = {
    "a loop": "loader = DataLoader([1])\nfor batch in loader: pass\n",
    "a comprehension": "loader = DataLoader([1])\nprint([len(batch) for batch in loader])\n",
    "iter": "loader = DataLoader([1])\nbatch = next(iter(loader))\n",
    "a call": "loader = DataLoader([1])\nfit(loader)\n",
    "a call of a keyword": "loader = DataLoader([1])\nfit(loader=loader)\n",
    "a method": "loader = DataLoader([1])\nbatch = loader._get_iterator()\n",
    "unpacked": "loader = DataLoader([1])\nfirst, second = loader\nprint(*loader)\n",
    "a membership test": "loader = DataLoader([1])\nprint(3 in loader)\n",
    "returned": "def make():\n    loader = DataLoader([1])\n    return loader\nmake()\n",
    "yielded": "def make():\n    loader = DataLoader([1])\n    yield loader\nmake()\n",
    "kept": "class A:\n    def __init__(self):\n        self.loader = DataLoader([1])\nA()\n",
    "a member of a class": "class A:\n    loader = DataLoader([1])\nA()\n",
    "in a table": "loader = DataLoader([1])\nloaders = {'train': loader}\n",
    "a closure": (
        "def make():\n"
        "    loader = DataLoader([1])\n"
        "    def run():\n"
        "        for b in loader: pass\n"
        "    return run\n"
        "make()()\n"
    ),
    "on one path": (
        "def run(more):\n"
        "    loader = DataLoader([1])\n"
        "    if more:\n"
        "        loader = []\n"
        "    for b in loader: pass\n"
        "run(0)\n"
    ),
    "in the next epoch": (
        "def run():\n"
        "    loader = DataLoader([1])\n"
        "    for epoch in range(3):\n"
        "        for b in loader: pass\n"
        "        loader = []\n"
        "run()\n"
    ),
    "another name": "def run():\n    loader = DataLoader([1])\n    other = loader\n    for b in other: pass\nrun()\n",
    "another name of the module": "loader = DataLoader([1])\nother = loader\ndef run():\n    for b in other: pass\n",
    "a function of the module": "loader = DataLoader([1])\ndef run():\n    for batch in loader: pass\n",
    "an import": "loader = DataLoader([1])\n--- other.py\nfrom tools import loader\n",
    "an import in parentheses": "loader = DataLoader([1])\n--- other.py\nfrom tools import (\n    loader,\n)\n",
    "an attribute of the module": "loader = DataLoader([1])\n--- other.py\nimport tools\nrun(tools.loader)\n",
    "a star import": "loader = DataLoader([1])\n--- other.py\nfrom tools import *\nfor batch in loader: pass\n",
    "a text": "loader = DataLoader([1])\n--- other.py\nimport tools\nrun(getattr(tools, 'loader'))\n",
    "all names": "def run():\n    loader = DataLoader([1])\n    return locals()\nrun()\n",
    "a function called len": "def len(one): return list(one)\nloader = DataLoader([1])\nlen(loader)\n",
    "a class of the project": (
        "class Eager(DataLoader):\n"
        "    def __init__(self, rows):\n"
        "        super().__init__(rows)\n"
        "        next(iter(self))\n"
        "loader = Eager([1])\n"
    ),
}


def _idle(folder: Path, *files: str) -> list[str]:
    """The names of the files that create a loader which nothing iterates over."""
    return sorted(one.path.name for one in link(folder, "\n".join(files)).model.loaders if one.idle and one.path)


@pytest.mark.parametrize("code", IDLE.values(), ids=IDLE)
def test_nothing_iterates_over_the_loader(code: str, tmp_path: Path) -> None:
    assert _idle(tmp_path, TRAIN, HEAD + code) == ["tools.py"]


@pytest.mark.parametrize("code", USED.values(), ids=USED)
def test_code_that_may_iterate_over_the_loader(code: str, tmp_path: Path) -> None:
    assert _idle(tmp_path, TRAIN, HEAD + code) == []


def test_no_loader_is_idle_where_no_program_iterates_over_another(tmp_path: Path) -> None:
    """As while somebody writes the first script."""
    assert _idle(tmp_path, HEAD + IDLE["its length"]) == []
