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

#: A function that returns a loader in a pair.
MAKE = "def make():\n    return 1, DataLoader([1])\n"

#: One that returns a loader in a dict.
MAKE_DICT = "def make():\n    train = None\n    train = DataLoader([1])\n    return {'train': train, 'test': [2]}\n"

#: One that returns a loader with as many workers as it is told.
MAKE_WITH = "def make(workers):\n    return DataLoader([1], num_workers=workers), [2]\n"
#: It is called once for the loader, and once for the other.
DROPS = "_, test = make(1)\nprint(test)\ntrain, _ = make(2)\nfor batch in train: pass\n"
NOTEBOOK = (
    "--- look.ipynb\n"
    '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": '
    '["from tools import make\\n", "train, test = make(WORKERS)"]}], '
    '"metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}\n'
)

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
    "returned, and dropped": "def make():\n    loader = DataLoader([1])\n    return loader\nmake()\n",
    "returned in a pair": MAKE + "def run():\n    train, test = make()\n    print(train, len(test))\nrun()\n",
    "returned to names of a module": MAKE + "train, _ = make()\n",
    "returned in a pair of which the other is read": MAKE + "train = make()[0]\nprint(list(train))\n",
    "returned in a pair with a name": MAKE + "def run():\n    pair = make()\n    for one in pair[-2]: pass\nrun()\n",
    "returned in some runs": (
        "def make(more):\n    return 1, DataLoader([1]) if more else None\ntrain, test = make(input())\n"
    ),
    "returned through functions and files": (
        "def build(root):\n    return root, DataLoader([1])\n"
        "--- data/__init__.py\n"
        "from tools import build as build_pair\n"
        "def build(root):\n    return 1, build_pair(root)\n"
        "--- main.py\n"
        "import data\n"
        "def main():\n"
        "    number, (root, moved) = data.build('images')\n"
        "    print(root)\n"
        "main()\n"
    ),
    "returned by functions that call each other": (
        "def make(depth):\n"
        "    if depth:\n"
        "        return make(depth - 1)\n"
        "    return DataLoader([1])\n"
        "test = make(len(input()))\n"
    ),
    "returned in a test": "--- tests/test_it.py\nfrom torch.utils.data import DataLoader\n"
    + MAKE
    + ("def test_it():\n    one, loader = make()\n    assert loader.timeout == 0\n"),
    "dropped by one of two calls": MAKE_WITH + DROPS,
    "dropped by one of two calls in a function": (
        MAKE_WITH + "def run(make_one):\n    _, test = make(1)\n    print(test)\ndef fit():\n"
        "    for batch in make(2)[0]: pass\nrun(3)\nfit()\n"
    ),
    "dropped by one of two calls of a library": MAKE_WITH
    + DROPS
    + "--- setup.py\nfrom setuptools import setup\nsetup()\n",
    "dropped by one of two calls, apart from a notebook": MAKE_WITH + DROPS + NOTEBOOK.replace("WORKERS", "3"),
    "a loop after a name that nothing binds": "loader = DataLoader([1])\nprint(missing)\nfor batch in loader: pass\n",
    "one in a function": (
        "def run():\n    loader = DataLoader([1])\n    model = missing()\n    for batch in loader: pass\nrun()\n"
    ),
    "a name that nothing binds in the loop around it": (
        "def run():\n    loader = DataLoader([1])\n    for epoch in range(3):\n        print(missing)\n"
        "        fit(loader)\ndef fit(rows): pass\nrun()\n"
    ),
    "returned after a name that nothing binds": (
        "def make():\n    loader = DataLoader([1])\n    print(missing)\n    return loader\nfor batch in make(): pass\n"
    ),
    "returned in a dict that nobody keeps": "def make():\n    return {'test': DataLoader([1])}\nmake()\n",
    "an item of a dict that a function returns": MAKE_DICT + "loader = make()['train']\nprint(len(loader))\n",
    "another item of the dict": MAKE_DICT
    + "def run():\n    loaders = make()\n    for row in loaders['test']: pass\nrun()\n",
    "an item of a dict in a pair": (
        "def make():\n    return 1, {'train': DataLoader([1])}\n"
        "def run():\n    _, loaders = make()\n    print(loaders['train'].dataset)\nrun()\n"
    ),
    "a name that is also a key": MAKE_DICT
    + "if __name__ == '__main__':\n    loaders = make()\n    train = loaders['train']\n    print(train, 'train')\n",
    "a name that is also a key, where code reads other attributes": MAKE_DICT
    + "def read(one): return getattr(one, 'size')\n"
    + "if __name__ == '__main__':\n    loaders = make()\n    train = loaders['train']\n    print(train == 'train')\n",
    "a local elsewhere": ("loader = DataLoader([1])\n--- other.py\ndef run(loader):\n    for batch in loader: pass\n"),
}

#: Code that may iterate over one.
USED = {
    "a loop": "loader = DataLoader([1])\nfor batch in loader: pass\n",
    "a loop before a name that nothing binds": "loader = DataLoader([1])\nfor batch in loader: pass\nprint(missing)\n",
    "one in a function": (
        "def run():\n    loader = DataLoader([1])\n    for batch in loader: pass\n    print(missing)\nrun()\n"
    ),
    "a loop after a name that nothing binds on another path": (
        "def run(more):\n    loader = DataLoader([1])\n    if more:\n        print(missing)\n"
        "    for batch in loader: pass\nrun(1)\n"
    ),
    "a comprehension": "loader = DataLoader([1])\nprint([len(batch) for batch in loader])\n",
    "iter": "loader = DataLoader([1])\nbatch = next(iter(loader))\n",
    "a call": "loader = DataLoader([1])\nfit(loader)\n",
    "a call of a keyword": "loader = DataLoader([1])\nfit(loader=loader)\n",
    "a method": "loader = DataLoader([1])\nbatch = loader._get_iterator()\n",
    "unpacked": "loader = DataLoader([1])\nfirst, second = loader\nprint(*loader)\n",
    "a membership test": "loader = DataLoader([1])\nprint(3 in loader)\n",
    "returned to nobody": "def make():\n    loader = DataLoader([1])\n    return loader\n",
    "returned to a loop": MAKE + "for batch in make()[1]: pass\n",
    "returned to a call": MAKE + "train, test = make()\nfit(test)\n",
    "returned to an attribute": MAKE
    + "class A:\n    def __init__(self):\n        self.train, self.test = make()\nA()\n",
    "returned to one caller that passes it on": MAKE
    + "train, test = make()\n--- other.py\nimport tools\nfit(*tools.make())\n",
    "returned as a pair that is kept": MAKE + "class A:\n    pair = make()\nA()\n",
    "returned as a pair of which any item is read": (
        MAKE + "def run(index):\n    return list(make()[index])\nrun(int(input()))\n"
    ),
    "returned as a pair that is unpacked with a star": MAKE + "first, *rest = make()\n",
    "returned as a pair that is iterated over": MAKE + "for one in make(): print(list(one))\n",
    "returned in a list": "def make():\n    return [1, DataLoader([1])]\ntrain, test = make()\n",
    "returned by a function that is passed on": MAKE + "train, test = make()\nrun(make)\n",
    "returned by a function that a text names": (
        MAKE + "train, test = make()\n--- other.py\nimport tools\nprint(getattr(tools, 'make')())\n"
    ),
    "returned by a function with another name": (
        MAKE + "train, test = make()\n--- other.py\nfrom tools import make as build\nfit(build())\n"
    ),
    "returned by a function that is bound to a name": MAKE + "train, test = make()\nother = make\nfit(other())\n",
    "returned by a method": ("class A:\n    def make(self):\n        return DataLoader([1])\ntest = A().make()\n"),
    "returned by a decorated function": "@keep\ndef make():\n    return DataLoader([1])\ntest = make()\n",
    "returned by a coroutine": "async def make():\n    return DataLoader([1])\ntest = make()\n",
    "returned by a function in a function": (
        "def run():\n    def make():\n        return DataLoader([1])\n    test = make()\nrun()\n"
    ),
    "returned by a lambda": "make = lambda: DataLoader([1])\ntest = make()\n",
    "returned further to nobody": MAKE + "def make_again():\n    return make()\n",
    "returned further to a loop": (
        MAKE + "def again():\n    train, test = make()\n    return test\nfor batch in again(): pass\n"
    ),
    "returned to tests only": MAKE + "--- tests/test_tools.py\nfrom tools import make\ntrain, test = make()\n",
    "returned to a notebook": (
        MAKE + "train, test = make()\n"
        "--- look.ipynb\n"
        '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": '
        '["from tools import make\\n", "train, test = make()"]}], '
        '"metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}\n'
    ),
    "returned by a library": MAKE + "train, test = make()\n--- setup.py\nfrom setuptools import setup\nsetup()\n",
    "dropped by one of two calls that are alike": MAKE_WITH + DROPS.replace("2", "1"),
    "dropped by one of two calls that pass the pair on": "from lib import fit\n"
    + MAKE_WITH
    + "fit(make(1))\ntrain, _ = make(2)\nfit(train)\n",
    "dropped by one of two calls, and taken by a notebook": MAKE_WITH + DROPS + NOTEBOOK.replace("WORKERS", "1"),
    "dropped by one of the calls of a function that calls itself": (
        "def make(workers):\n    if workers > 3:\n        return make(1)\n"
        "    return DataLoader([1], num_workers=workers), [2]\n_, test = make(1)\ntrain, _ = make(4)\nfit(train)\n"
    ),
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
    "a text in the same file": "import sys\nloader = DataLoader([1])\nrun(getattr(sys.modules[__name__], 'loader'))\n",
    "a text with a name": (
        "import sys\nloader = DataLoader([1])\nname = 'loader'\nrun(getattr(sys.modules[__name__], name))\n"
    ),
    "an item of a dict": MAKE_DICT
    + "def run():\n    loaders = make()\n    for batch in loaders['train']: pass\nrun()\n",
    "all items of a dict": MAKE_DICT + "for loader in make().values():\n    for batch in loader: pass\n",
    "an item under a key that is not known": MAKE_DICT + "for batch in make()[input()]: pass\n",
    "an item of a dict that is made of another": (
        "def make():\n    return {**dict(a=1), 'train': DataLoader([1])}\nfor batch in make()['train']: pass\n"
    ),
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
    assert len(_idle(tmp_path, TRAIN, HEAD + code)) == 1


@pytest.mark.parametrize("code", USED.values(), ids=USED)
def test_code_that_may_iterate_over_the_loader(code: str, tmp_path: Path) -> None:
    assert _idle(tmp_path, TRAIN, HEAD + code) == []


def test_no_loader_is_idle_where_no_program_iterates_over_another(tmp_path: Path) -> None:
    """As while somebody writes the first script."""
    assert _idle(tmp_path, HEAD + IDLE["its length"]) == []
