"""Loaders in functions that no program of the project runs, and code that may run such a function."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loaderlint.project.loaders.unused_functions import is_installed
from tests.project.linking import link

TRAIN = """
--- train.py
from torch.utils.data import DataLoader


def train(rows):
    return DataLoader(rows, num_workers=4)


for batch in train([1, 2]):
    print(batch)
"""
PREVIEW = """
--- tools.py
from torch.utils.data import DataLoader


def preview(rows):
    return DataLoader(rows, num_workers=2)
"""

#: Code beside `preview` that does not run it.
NO_USE = {
    "none": "",
    "an import alone": "--- other.py\nfrom tools import preview\n",
    "a function that nothing calls": "--- other.py\nfrom tools import preview\ndef look(): return preview([])\n",
    "functions that only call each other": (
        "--- other.py\nfrom tools import preview\n"
        "def look(): return again()\n"
        "def again(): return look() or preview([])\n"
    ),
    "a text that holds its name": "--- other.py\nprint('no preview today')\n",
    "a function of another module": (
        "--- more.py\ndef preview(rows): return rows\n"
        "--- other.py\nfrom more import preview\nfor row in preview([]): pass\n"
    ),
    "a function of another module, by its module": (
        "--- more.py\ndef preview(rows): return rows\n"
        "--- other.py\nimport more\ndef look(): return more.preview([])\nlook()\n"
    ),
    "a function of the same file": "--- other.py\ndef preview(rows): return rows\nfor row in preview([]): pass\n",
}

#: Code that may run `preview`.
USE = {
    "a script": "--- other.py\nfrom tools import preview\nfor batch in preview([]): pass\n",
    "a function that a script calls": (
        "--- other.py\nfrom tools import preview\n"
        "def look(): return list(preview([]))\n"
        "if __name__ == '__main__':\n    look()\n"
    ),
    "a function of which a table holds it": "--- other.py\nimport tools\nKINDS = {'p': tools.preview}\n",
    "a name in a text": "--- other.py\nrun('tools:preview')\n",
    "a method": "--- other.py\nfrom tools import preview\nclass Look:\n    def on(self): return preview([])\n",
    "an entry point": "--- other.py\nfrom tools import preview\ndef main(): return preview([])\n",
    "a command": "--- other.py\nimport click\nfrom tools import preview\n@click.command()\ndef go(): {*preview([])}\n",
    "a package that passes it on": "--- pack/__init__.py\nfrom tools import preview\n",
    "a library that is installed": "--- setup.py\nfrom setuptools import setup\nsetup()\n",
    "an import in a function": (
        "--- other.py\ndef look():\n    from tools import preview\n    return list(preview([]))\nlook()\n"
    ),
    "another name": "--- other.py\nfrom tools import preview as look\nfor batch in look([]): pass\n",
    "another name in a function": (
        "--- other.py\ndef look():\n    from tools import preview as show\n    return list(show([]))\nlook()\n"
    ),
    "one of two functions": (
        "--- other.py\ntry:\n    from tools import preview\n"
        "except ImportError:\n    def preview(rows): return rows\n"
        "for row in preview([]): pass\n"
    ),
    "a star import": "--- other.py\nfrom tools import *\nfor batch in preview([]): pass\n",
    "something that is not known": (
        "--- other.py\nfrom kits import load\ndef look(kit): return list(kit.preview([]))\nlook(load('tools'))\n"
    ),
    "a test": "--- tests/test_tools.py\nfrom tools import preview\ndef test_it(): preview([])\n",
}


def _unused(folder: Path, *files: str) -> list[str]:
    """The names of the files that create a loader which no program uses."""
    return sorted(one.path.name for one in link(folder, "\n".join(files)).model.loaders if one.unused and one.path)


@pytest.mark.parametrize("code", NO_USE.values(), ids=NO_USE)
def test_no_program_creates_the_loader(code: str, tmp_path: Path) -> None:
    assert "tools.py" in _unused(tmp_path, TRAIN, PREVIEW, code)


@pytest.mark.parametrize("code", USE.values(), ids=USE)
def test_code_that_may_create_the_loader(code: str, tmp_path: Path) -> None:
    assert _unused(tmp_path, TRAIN, PREVIEW, code) == []


BUILD = """
--- tools.py
from torch.utils.data import DataLoader


def build(rows, workers):
    return DataLoader(rows, num_workers=workers)


def small(rows):
    return build(rows, 3)


def large(rows):
    return middle(rows, 5)


def middle(rows, workers):
    return build(rows, workers)


"""
#: Programs that call `build` with 2 workers, and other code with more; the numbers of workers of unused loaders.
CALLS = {
    "a function that nothing calls": ("list(build([1], 2))\n", [3, 5]),
    "a branch that never runs": (
        "FAST = False\nif FAST:\n    list(small([1]))\nelse:\n    list(build([1], 2))\n",
        [3, 5],
    ),
    "a branch that may run": ("import sys\nif sys.argv:\n    list(small([1]))\nelse:\n    list(build([1], 2))\n", [5]),
    "a call of what is in both branches": (
        "FAST = False\nif FAST:\n    list(small([1]))\nelse:\n    list(build([1], 2))\n    list(small([2]))\n",
        [5],
    ),
    "after what always fails": ("list(build([1], 2))\nrun = unknown()\nlist(small([1]))\n", [3, 5]),
    "through two functions": ("list(build([1], 2))\nlist(large([1]))\n", [3]),
    "after what always fails in a function": (
        "def go():\n    run = unknown()\n    list(build([1], 7))\nlist(build([1], 2))\ngo()\n",
        [3, 5, 7],
    ),
    "one of two functions between": ("list(middle([1], 2))\n", [3, 5]),
    "more calls than are looked at": ("".join(f"list(build([1], {n}))\n" for n in range(10, 50)), []),
    "out of a table": ("run({'b': build})\n", []),
    "all are used by others only": ("kinds = {'s': small, 'l': large}\nrun(kinds)\n", []),
}


@pytest.mark.parametrize(("program", "unused"), CALLS.values(), ids=CALLS)
def test_a_function_that_only_some_callers_use(program: str, unused: list[int], tmp_path: Path) -> None:
    linked = link(tmp_path, BUILD + program + TRAIN)
    assert sorted(int(one.workers.most) for one in linked.model.loaders if one.unused) == unused


def test_a_call_after_what_always_fails_uses_no_function(tmp_path: Path) -> None:
    stored = BUILD.replace(
        "    return DataLoader(rows, num_workers=workers)",
        "    loaders = {}\n    loaders['a'] = DataLoader(rows, num_workers=workers)\n    return loaders",
    )
    program = "def go():\n    run = unknown()\n    fit(build([1], 7))\nfit(build([1], 2))\ngo()\n"
    linked = link(tmp_path, f"{stored}from kits import fit\n{program}{TRAIN}")
    assert sorted(int(one.workers.most) for one in linked.model.loaders if one.unused) == [3, 5, 7]


def test_nothing_is_unused_where_no_program_creates_a_loader(tmp_path: Path) -> None:
    """As in a library, whose users call its functions, or while somebody writes the first script."""
    assert _unused(tmp_path, PREVIEW, TRAIN.partition("\nfor ")[0]) == []


def _notebook(*cells: str) -> str:
    written = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return f"--- look.ipynb\n{json.dumps({'cells': written, 'metadata': {}, 'nbformat': 4, 'nbformat_minor': 5})}\n"


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("parser.add_argument('--do', default='preview')", ["preview.py"]),
        ("import preview\nlook('preview')", []),
        ("from preview import DataLoader\nlook('preview')", []),
        ("run('preview:preview')", []),
        ("run('preview.preview')", []),
        ("globals()['preview']()", []),
    ],
)
def test_a_function_with_the_name_of_its_module(text: str, unused: list[str], tmp_path: Path) -> None:
    here = PREVIEW.replace("tools.py", "preview.py")
    assert _unused(tmp_path, TRAIN, here, f"--- other.py\n{text}\n") == unused


@pytest.mark.parametrize(
    ("text", "unused"), [("fire.Fire()", []), ("jsonargparse.CLI()", []), ("CLIP()", ["tools.py"]), ("", ["tools.py"])]
)
def test_a_command_line_of_all_functions_of_a_file(text: str, unused: list[str], tmp_path: Path) -> None:
    assert _unused(tmp_path, TRAIN, f"{PREVIEW}import fire, jsonargparse\n{text}\n") == unused


def test_other_files_do_not_call_a_function_of_a_notebook(tmp_path: Path) -> None:
    cell = PREVIEW.partition("\n--- tools.py\n")[2]
    script = "--- other.py\nfrom tools import preview\npreview([])\n"
    assert "look.ipynb" in _unused(tmp_path, TRAIN, PREVIEW, script, _notebook(cell))
    assert _unused(tmp_path, TRAIN, PREVIEW, script, _notebook(cell, "for batch in preview([1]): pass")) == []


def test_import_cannot_name_a_script_with_a_hyphen(tmp_path: Path) -> None:
    """So what another file calls is another function of that name, unless a text there names the script."""
    other = "--- other.py\nfrom somewhere import preview\nfor batch in preview([]): pass\n"
    script = PREVIEW.replace("tools.py", "src/2-tools.py")
    assert _unused(tmp_path / "a", TRAIN, script, other) == ["2-tools.py"]
    by_text = "import importlib\nfor batch in importlib.import_module('src.2-tools').preview([]): pass\n"
    assert _unused(tmp_path / "b", TRAIN, script, "--- other.py\n" + by_text) == []
    assert _unused(tmp_path / "c", TRAIN, PREVIEW.replace("tools.py", "src/tools.py"), other) == []


def test_a_file_outside_of_the_project_belongs_to_an_installed_library(tmp_path: Path) -> None:
    linked = link(tmp_path, "--- train.py\nfrom torch.utils.data import DataLoader\n")
    assert is_installed(linked.model.files, tmp_path.parent / "site-packages" / "timm" / "data.py")
    assert not is_installed(linked.model.files, tmp_path / "train.py")
