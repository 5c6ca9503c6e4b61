"""Statements at module level that are cut into their clauses: what a name is in them, and which branches never run."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.project.linking import link
from tests.project.test_values import shown
from tests.robustness import calculations
from tests.robustness.test_real_values import covers, passed

HEAD = "import torch\nfrom torch.utils.data import DataLoader\nfrom unseen import flag"
TURN = "def turn():;  global x;  x = 9"
#: Code in which LONG stands for many lines, and what the last `x` may be.
VALUES: dict[str, str] = {
    "x = 1; if flag():;  LONG;  x = 2;  use(x)": "2",
    "x = 1; if flag():;  LONG;  x = 2; use(x)": "1 | 2",
    "x = 1; if flag():;  LONG;  x = 2; else:;  use(x)": "1 | 2",
    "x = 1; if flag():;  LONG;  if flag(): x = 2;  use(x)": "1 | 2",
    "x = 1; if flag():;  x = 2;  LONG;  if flag():;   LONG;   x = 3;  use(x)": "2 | 3",
    "x = 1; for i in range(3):;  LONG;  use(x);  x = 2": "1 | 2",
    "x = 1; for i in range(3):;  x = 3;  LONG;  use(x);  x = 2": "3",
    "x = 1; for i in range(3):;  x = 3;  LONG;  while flag():;   LONG;   use(x);   x = 2": "2 | 3",
    "x = 1; for i in range(3):;  LONG;  x = 2; use(x)": "1 | 2",
    "x = 1; with open('f') as f:;  LONG;  x = 2; use(x)": "2",
    "x = 1; try:;  LONG;  x = 2; except OSError: pass; use(x)": "1 | 2",
    "x = 1; try:;  LONG;  x = 2; finally: pass; use(x)": "2",
    f"{TURN}; x = 1; turn(); use(x)": "1 | 9",
    f"{TURN}; if flag():;  LONG;  x = 1;  turn();  use(x)": "1 | 9",
}


#: Code of short statements that change a list or dict of the module where they use it.
FILLED: dict[str, str] = {
    "l = [1]; if flag():;  l.append(2);  use(l[1])": "2",
    "l = [1]; if flag():;  l.insert(0, 2);  use(l[0])": "1 | 2",
    "d = {'a': 1}; with open('f') as f:;  use(d['a']);  d['a'] = 2": "1 | 2",
    "d = {'a': 1}; if flag():;  d['a'] = 2;  use(d['a'])": "1 | 2",
}


@pytest.mark.parametrize("code", FILLED)
def test_an_item_in_the_statement_that_stores_it(code: str, tmp_path: Path) -> None:
    model = link(tmp_path, _written(code)).model
    (loader,) = model.loaders
    assert shown(loader.argument("collate_fn"), model) == FILLED[code]


@pytest.mark.parametrize("code", VALUES)
def test_the_values_of_a_name(code: str, tmp_path: Path) -> None:
    model = link(tmp_path, _written(code)).model
    (loader,) = model.loaders
    assert shown(loader.argument("collate_fn"), model) == VALUES[code]


#: Code in which LONG stands for many lines, and whether some program makes the loader.
BRANCHES: dict[str, bool] = {
    "x = True; if x:;  LONG; else:;  use(x)": False,
    "x = True; if x:;  LONG;  use(x)": True,
    "x = False; if x:;  LONG;  use(x)": False,
    "x = False; if x:;  LONG; else:;  use(x)": True,
    "x = True; if not x:;  LONG;  use(x)": False,
    "x = flag(); if x:;  LONG; else:;  use(x)": True,
    "x = True; if flag():;  LONG; elif x:;  pass; else:;  use(x)": False,
    "x = True; if x:;  LONG; elif flag():;  use(x)": False,
    "x = True; if x:;  LONG; elif flag(): use(x)": False,
    "x = True; if flag():;  LONG; elif x:;  use(x)": True,
    "x = True; if x:;  LONG; else:;  with open('f'):;   LONG;   use(x)": False,
    "x = True; for i in range(3):;  LONG; else:;  use(x)": True,
    "x = True; try:;  LONG; except OSError:;  pass; else:;  use(x)": True,
    f"{TURN}; x = False; turn(); if x:;  LONG;  use(x)": True,
    "x = True; for i in range(3):;  LONG;  if x:;   LONG;  else:;   use(x);  x = False": True,
    "x = False; while x:;  LONG;  use(x)": False,
    "x = True; while x:;  LONG;  use(x)": True,
    "while not flag():;  LONG;  x = True; if flag():;  LONG;  x = True;  if x:;   LONG;  else:;   use(x)": False,
}


@pytest.mark.parametrize("code", BRANCHES)
def test_a_branch_that_constants_switch_off(code: str, tmp_path: Path) -> None:
    model = link(tmp_path, _written(code)).model
    (loader,) = model.loaders
    assert loader.site is not None
    assert model.is_unused(loader.site.frame.path, loader.site.frame.piece, 0) is not BRANCHES[code]


def test_a_start_in_a_branch_that_runs_counts_first(tmp_path: Path) -> None:
    code = "x = True; if x:;  LONG; else:;  for i in DataLoader([], num_workers=2): pass; "
    text = _written(code + "for i in DataLoader([], num_workers=3): pass")
    (start,) = link(tmp_path, text).model.scripts.starts()
    assert start.loader.workers_text == "num_workers=3"


@pytest.mark.parametrize("seed", range(40))
def test_each_value_of_a_long_program_is_possible(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    lines = calculations.program(seed).split("\n")
    text = "\n".join(line for one in lines for line in _lengthened(one, chance)) if "main()" not in lines else ""
    model = link(tmp_path, text).model
    for run in range(6):
        for number, value in passed(text, random.Random(run)).items():
            told = [one.argument("collate_fn") for one in model.loaders if one.name == f"loader{number}"]
            assert any(covers(one, value, model) for one in told), f"{text}\n{calculations.NAMES[number]} is {value!r}"


def _lengthened(line: str, chance: random.Random) -> list[str]:
    """A line of a program, and sometimes many more where it begins a block outside functions."""
    is_head = line.endswith(":") and not line.lstrip().startswith(("def ", "class ", "match ", "case ", "@"))
    if not is_head or chance.random() < 0.5:
        return [line]
    indent = len(line) - len(line.lstrip()) + 4
    return [line, *[" " * indent + "pass"] * 31]


def _written(code: str) -> str:
    """The program for a line of a table: `;` ends a line, and each space after it but one is a level of indentation."""
    lines = [HEAD]
    for one in f" {code}".split(";"):
        indent = "    " * (len(one) - len(one.lstrip()) - 1)
        text = re.sub(r"use\((.*)\)", r"loader = DataLoader([], collate_fn=\1)", one.strip())
        lines += [f"{indent}pass"] * 31 if text == "LONG" else [indent + text]
    return "\n".join(lines) + "\n"
