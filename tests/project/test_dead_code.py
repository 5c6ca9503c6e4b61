"""Tests that constants decide: which branch runs, and which of several bindings is read after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.test_values import evaluated

#: What a branch with this test leaves of `f`, bound in it, and `g`, bound in the other.
TESTS = {
    "True": "f",
    "False": "g",
    "not True": "g",
    "not False": "f",
    "load()": "f | g",
    "not load()": "f | g",
    "load() and False": "g",
    "False and load()": "g",
    "load() and True": "f | g",
    "load() or True": "f",
    "True or load()": "f",
    "load() or False": "f | g",
    "True and True": "f",
    "True and False": "g",
    "False or False": "g",
    "False or True": "f",
    "1 < 2": "f",
    "2 < 1": "g",
    "2 < load()": "f | g",
    "1 < 2 < 3": "f | g",
    "load() is None": "f | g",
    "A is None": "g",
    "A is not None": "f",
    '"a" is "a"': "f | g",
    "TYPE_CHECKING": "g",
    "typing.TYPE_CHECKING": "g",
    "not TYPE_CHECKING": "f",
    "options.jobs": "f | g",
    "options.jobs is None": "f | g",
    "A()": "f | g",
    "A().missing": "f | g",
    "bool(0)": "g",
    "bool(load())": "f | g",
    "len([])": "f | g",
    "torch.cuda.is_available()": "f | g",
    "[1][0]": "f | g",
}
#: What the last line may be. Several branches, in which names are bound again.
BINDINGS = {
    "v = f; if True:;  v = g; v": "g",
    "v = f; if False:;  v = g; v": "f",
    "v = f; if load():;  v = g; v": "f | g",
    "v = f; while False:;  v = g; v": "f | g",
    "v = f; while True:;  v = g;  break; v": "g",
    "v = f; while load():;  v = g; v": "f | g",
    "v = f; for x in load():;  v = g; v": "f | g",
    "v = f; if True:;  if load():;   v = g; v": "f | g",
    "v = f; if True:;  if True:;   v = g; v": "g",
    "v = f; if False:;  if load():;   v = g; v": "f",
    "v = f; if False:;  if True:;   v = g; v": "f",
    "v = f; if load():;  if True:;   v = g; v": "f | g",
    "v = f; if load():;  v = A;  if True:;   v = g; v": "f | g",
    "v = f; if load():;  v = A; if True:;  v = g; v": "g",
    "v = f; if True:;  v = g; if load():;  v = A; v": "A | g",
    "v = f; if True:;  v = g; if True:;  v = A; v": "A",
    "v = f; if False:;  v = g; elif True:;  v = A; v": "A",
    "v = f; if False:;  v = g; elif load():;  v = A; else:;  v = B; v": "A | B",
    "v = f; if True:;  v = g; elif load():;  v = A; v": "g",
    "v = f; for x in load():;  if True:;   v = g; v": "f | g",
    "v = f; for x in load():;  if False:;   v = g; v": "f | g",
    "v = f; for x in load():;  w = v;  if True:;   v = g; w": "f | g",
    "v = f; if True:;  for x in load():;   v = g; v": "f | g",
    "if False:;  v = f; v": "f",
    "v = f; try:;  if True:;   v = g; except E:;  pass; v": "f | g",
    "with load():;  if False:;   v = f;  else:;   v = g; v": "g",
    "a = f; b = g; if True:;  a, b = b, a; a": "f | g",
    "unknown = f; if True:;  unknown = g; unknown": "g",
    "if True:;  unknown = g; unknown": "g",
    "if False:;  unknown = g; unknown": "?undefined name",
    "if load():;  unknown = g; unknown": "?undefined name | g",
    "v = f; if True:;  def v(x): return x; v": "v",
    "v = f; if True:;  import json as v; v": "json",
    "v = f if load() else A; if True:;  v = g; v": "g",
    "if load():;  v = f; else:;  v = A; if False:;  v = g; v": "A | f",
    "v = f; for x in [1]:;  v = g; v": "f | g",
    "v = f; with A:;  v = g; v": "g",
    "v = f; with A:;  v = A; if True:;  v = g; v": "g",
    "v = f; while True:;  if load(): break;  v = g; v": "f | g",
    "v = f; while 1:;  v = g;  if load(): break; v": "g",
    "v = f; while not True:;  v = g; v": "f | g",
    "v = f; match 1:;  case 1:;   v = g; v": "f | g",
    "v = f; if False:;  with A:;   v = g; v": "f",
    "v = f; if load():;  w = A;  if True:;   v = g; w": "A",
    "v = f; if load():;  v = B;  with A:;   if True:;    v = g; v": "B | f | g",
    "v = f; for x in load():;  v = B;  if True:;   v = g; v": "B | f | g",
    "def h(x):;  if x:;   return f;  return g; h(True)": "f",
    "def h(x):;  if x:;   return f;  return g; h(False)": "g",
    "def h(x):;  if x:;   return f;  return g; h(load())": "f | g",
    "def h(x=True):;  if x:;   return f;  return g; h()": "f",
    "def h(x):;  if x is None:;   x = g;  return x; h(None)": "g",
    "def h(x):;  if x is None:;   x = g;  return x; h(f)": "f",
    "def h(x):;  if x is None:;   x = g;  return x; h(load())": "?undefined name | g",
}


@pytest.mark.parametrize(("test", "expected"), TESTS.items(), ids=TESTS)
def test_branches(tmp_path: Path, test: str, expected: str) -> None:
    assert evaluated(tmp_path, f"if {test}:;  v = f; else:;  v = g; v", "function") == expected


@pytest.mark.parametrize(("code", "expected"), BINDINGS.items(), ids=BINDINGS)
def test_bindings(tmp_path: Path, code: str, expected: str) -> None:
    assert evaluated(tmp_path, code, "function") == expected
