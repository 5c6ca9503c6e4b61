"""What an option of the command line is after the code that parses it has stored another value."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

_HEAD = """
--- train.py
import argparse
import sys

from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=9)
"""
_LOADER = "\nfor batch in DataLoader([1, 2], num_workers=args.workers): pass\n"
_IN_MAIN = "def main():\n    args = parser.parse_args()\n{}    run(args)\ndef run(args):\n    "

#: Code between the declaration and the loader, and the numbers of workers that the loader may have.
CASES: dict[str, tuple[str, set[int]]] = {
    "nothing is stored": ("args = parser.parse_args()" + _LOADER, {9}),
    "a store": ("args = parser.parse_args()\nargs.workers = 0" + _LOADER, {0}),
    "a store after others": ("args = parser.parse_args()\nargs.workers = 4\nargs.workers = 0" + _LOADER, {0}),
    "a store in a branch": ("args = parser.parse_args()\nif sys.argv:\n    args.workers = 0" + _LOADER, {9}),
    "a store, and one in a branch": (
        "args = parser.parse_args()\nargs.workers = 4\nif sys.argv:\n    args.workers = 0" + _LOADER,
        {4, 0},
    ),
    "a store before the parser": ("args = load()\nargs.workers = 0\nargs = parser.parse_args()" + _LOADER, {9}),
    "an item": ("args, rest = parser.parse_known_args()\nvars(args)['workers'] = 0" + _LOADER, {0}),
    "a value that is made of the option": (
        "args = parser.parse_args()\nargs.workers = args.workers * 2" + _LOADER,
        {9},
    ),
    "another object": ("args = parser.parse_args()\nother = sys.argv\nother.workers = 0" + _LOADER, {9}),
    "two programs": (
        "def other():\n    return parser.parse_args()\nargs = parser.parse_args()\nargs.workers = 0" + _LOADER,
        {9},
    ),
    "in a function": (
        _IN_MAIN.format("    args.workers = 0\n") + _LOADER.replace("\n", "", 1) + "main()\n",
        {0},
    ),
    "in a branch of a function": (
        _IN_MAIN.format("    if sys.argv:\n        args.workers = 0\n") + _LOADER.replace("\n", "", 1) + "main()\n",
        {9},
    ),
    "in another function": (
        "def main():\n    args = parser.parse_args()\n    run(args)\ndef later(args):\n    args.workers = 0\n"
        "def run(args):\n    " + _LOADER.replace("\n", "", 1) + "main()\n",
        {9},
    ),
    "in the function and in another one": (
        "def main():\n    args = parser.parse_args()\n    args.workers = 0\n    run(args)\ndef later(args):\n"
        "    args.workers = 4\ndef run(args):\n    " + _LOADER.replace("\n", "", 1) + "main()\n",
        {0},
    ),
    "in a function that may run, too": (
        "args = parser.parse_args()\nargs.workers = 0\ndef later():\n    args.workers = 4" + _LOADER,
        {0},
    ),
    "in a function that reads a global name": (
        "def main():\n    global args\n    args = parser.parse_args()\ndef later():\n    args.workers = 0\n"
        "main()" + _LOADER,
        {9},
    ),
    "under another condition": (
        "if __name__ == '__main__':\n    args = parser.parse_args()\nif sys.argv:\n    args.workers = 0" + _LOADER,
        {9},
    ),
    "after a guard": (
        "if __name__ == '__main__':\n    args = parser.parse_args()\nelse:\n    args = parser.parse_args([])\n"
        "args.workers = 0" + _LOADER,
        {9},
    ),
    "under a guard": (
        "if __name__ == '__main__':\n    args = parser.parse_args()\n    args.workers = 0\n    "
        + _LOADER.replace("\n", "", 1),
        {0},
    ),
}


@pytest.mark.parametrize(("code", "workers"), CASES.values(), ids=CASES)
def test_the_workers_of_a_loader(code: str, workers: set[int], tmp_path: Path) -> None:
    loader = link(tmp_path, _HEAD + code).model.loaders[0]
    assert {getattr(atom, "value", None) for atom in loader.argument("num_workers").atoms} == workers


def test_options_of_another_file(tmp_path: Path) -> None:
    """The file that parses replaces the option, the one that imports the result reads it."""
    options = _HEAD.replace("train.py", "options.py") + "args = parser.parse_args()\nargs.workers = 0\n"
    code = "--- train.py\nfrom options import args\nfrom torch.utils.data import DataLoader\n" + _LOADER
    loader = link(tmp_path, options + code).model.loaders[0]
    assert {getattr(atom, "value", None) for atom in loader.argument("num_workers").atoms} == {0}
