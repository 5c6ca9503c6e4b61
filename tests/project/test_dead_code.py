"""Tests that constants decide: which branch runs, and which of several bindings is read after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.operators import compare
from loaderlint.project.evaluation.values import BOTTOM, Literal_, of
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
    "torch.from_numpy(load()).float() is None": "g",
    "np.zeros(3).copy() is not None": "f",
    "os.path.join(load(), load()) is None": "g",
    "torch.load(load()) is None": "f | g",
    "torch.from_numpy(load()).grad is None": "f | g",
    "load().float() is None": "f | g",
    "A is not None": "f",
    '"a" is "a"': "f | g",
    "TYPE_CHECKING": "g",
    "typing.TYPE_CHECKING": "g",
    "not TYPE_CHECKING": "f",
    "options.jobs": "f | g",
    "options.jobs is None": "f | g",
    "A()": "f",
    "Sized()": "f | g",
    "A().missing": "f | g",
    "bool(0)": "g",
    "bool(load())": "f | g",
    "len([])": "f | g",
    "len([1]) > 0": "f",
    "len([1]) != 0": "f",
    "len([1]) == 0": "g",
    "not len([1]) >= 1": "g",
    "0 < len([1])": "f",
    "1 > len([1])": "g",
    "len({1: 2}) == 0": "g",
    "len([*load()]) > 0": "f | g",
    "len(list(load())) > 0": "f | g",
    "len([x for x in load()]) > 0": "f | g",
    "[x for x in load()]": "f | g",
    "{x: x for x in load()}": "f | g",
    "len([1]) > 1": "f | g",
    "len(load()) > 0": "f | g",
    "len(A) > 0": "f | g",
    "torch.cuda.is_available()": "f | g",
    "[1][0]": "f | g",
}
#: What the last line may be, where a loop fills a container.
FILLED = {
    "v = []; for x in load():;  v.append(x); if v:;  w = f; else:;  w = g; w": "f | g",
    "v = []; for x in load():;  v.append(x); if len(v) == 0:;  w = f; else:;  w = g; w": "f | g",
    "v = {}; for x in load():;  v[x] = x; if v:;  w = f; else:;  w = g; w": "f | g",
    "v = [1]; for x in load():;  v.append(x); if len(v) > 0:;  w = f; else:;  w = g; w": "f",
}
#: What the last line may be. Several branches, in which names are bound again.
BINDINGS = {
    "v = f; if True:;  v = g; v": "g",
    "v = f; if False:;  v = g; v": "f",
    "v = f; if load():;  v = g; v": "f | g",
    "v = f; while False:;  v = g; v": "f",
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
    "v = f; for x in load():;  if False:;   v = g; v": "f",
    "v = f; if False:;  for x in load():;   v = g; v": "f",
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
    "v = f; while not True:;  v = g; v": "f",
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

#: The lines before a test of the type of `x`, with what it leaves.
TYPES = {
    "x = Image.open(p); isinstance(x, np.ndarray)": "g",
    "x = Image.open(p).convert('L').resize((2, 2)); isinstance(x, np.ndarray)": "g",
    "x = Image.open(p); isinstance(x, Image.Image)": "f",
    "x = Image.open(p); type(x) is np.ndarray": "g",
    "x = Image.open(p); type(x) == np.ndarray": "g",
    "x = Image.open(p); type(x) is not np.ndarray": "f",
    "x = Image.open(p); type(x) != np.ndarray": "f",
    "x = Image.open(p); type(x) is Image.Image": "f | g",
    "x = Image.open(p); type(x) is load()": "f | g",
    "x = load(); type(x) is np.ndarray": "f | g",
    "x = A(); type(x) is B": "g",
    "x = A(); type(x) is A": "f | g",
    "x = Image.open(p); isinstance(x, (np.ndarray, torch.Tensor))": "g",
    "x = Image.open(p); isinstance(x, (np.ndarray, Image.Image))": "f",
    "x = Image.open(p); isinstance(x, accimage.Image)": "g",
    "x = Image.open(p); torch.is_tensor(x)": "g",
    "x = Image.open(p); isinstance(x, collections.abc.Sequence)": "g",
    "x = Image.open(p); isinstance(x, A)": "g",
    "x = Image.open(p); isinstance(x, types.Array)": "f | g",
    "x = Image.open(p); isinstance(x, load())": "f | g",
    "x = Image.open(p).size; isinstance(x, np.ndarray)": "f | g",
    "x = Image.open(p); x = np.asarray(x); isinstance(x, np.ndarray)": "f",
    "x = Image.open(p); if load():;  x = np.asarray(x); isinstance(x, np.ndarray)": "f | g",
    "x = np.zeros(3).astype('uint8'); isinstance(x, Image.Image)": "g",
    "x = np.zeros(3).sum(); isinstance(x, np.ndarray)": "f | g",
    "x = np.load(p); isinstance(x, np.ndarray)": "f | g",
    "x = cv2.imread(p); isinstance(x, np.ndarray)": "f | g",
    "x = torch.zeros(3).float(); isinstance(x, torch.Tensor)": "f",
    "x = torch.zeros(3).numpy(); isinstance(x, torch.Tensor)": "f | g",
    "x = torch.zeros(3); isinstance(x, torch.FloatTensor)": "f | g",
    "x = np.zeros((3, 3))[:, 1:]; isinstance(x, torch.Tensor)": "g",
    "y = np.zeros((3, 3)); x = y[y[:, 0] > 0]; isinstance(x, np.ndarray)": "f",
    "y = np.zeros((3, 3)); m = (y[:, 0] > 0) & ~(y[:, 1] > 9); x = y[m]; isinstance(x, torch.Tensor)": "g",
    "x = np.zeros((3, 3))[[0, 2]]; isinstance(x, np.ndarray)": "f",
    "x = torch.zeros(3, 3)[0][1]; isinstance(x, torch.Tensor)": "f",
    "x = torch.zeros(p)" + "[0]" * 9 + "; isinstance(x, torch.Tensor)": "f",
    "x = torch.zeros(p)"
    + "; x = x[0] if p else x[1] if load() else x[2] if load(p) else x[3]" * 12
    + "; isinstance(x, torch.Tensor)": "f",
    "x = [y[y > 0] for y in [np.stack(p)]]; isinstance(x[0], torch.Tensor)": "g",
    "y = np.stack(p); for i in p:;  y = y[y > i]; isinstance(y, torch.Tensor)": "f | g",
    "x = np.stack(p)[0]; isinstance(x, np.ndarray)": "f | g",
    "x = np.stack(p)[load() & 3]; isinstance(x, np.ndarray)": "f | g",
    "x = np.stack(p)[0][1:]; isinstance(x, torch.Tensor)": "f | g",
    "x = load()[1:]; isinstance(x, torch.Tensor)": "f | g",
    "x = np.load(p)[1:]; isinstance(x, np.ndarray)": "f | g",
    "x = Path(p) / 'a'; isinstance(x, str)": "g",
    "x = Path(p).parent; isinstance(x, str)": "f | g",
    "x = os.path.join(p, 'a'); isinstance(x, (str, Path))": "f",
    "x = 3; isinstance(x, int)": "f",
    "x = True; isinstance(x, int)": "f",
    "x = 3; isinstance(x, numbers.Number)": "f",
    "x = 3; isinstance(x, (list, tuple))": "g",
    "x = None; isinstance(x, str)": "g",
    "x = options.size; isinstance(x, int)": "f | g",
    "x = [1, 2]; isinstance(x, (list, tuple))": "f",
    "x = (1, 2); isinstance(x, list)": "g",
    "x = {'a': 1}; isinstance(x, dict)": "f",
    "x = {'a': 1}; isinstance(x, collections.abc.Mapping)": "f",
    "x = [i for i in load()]; isinstance(x, list)": "f",
    "x = (i for i in load()); isinstance(x, list)": "f | g",
    "x = {i for i in load()}; isinstance(x, list)": "g",
    "x = load(); isinstance(x, list)": "f | g",
    "x = A(); isinstance(x, A)": "f",
    "x = A(); isinstance(x, B)": "g",
    "x = A(); isinstance(x, np.ndarray)": "g",
    "x = A(); isinstance(x, collections.abc.Iterable)": "f | g",
    "x = f; isinstance(x, A)": "g",
    "x = Compose([f]); isinstance(x, Compose)": "f",
    "x = Compose([f]); isinstance(x, AugmentationSequential)": "g",
    "x = Compose([f]); isinstance(x, torch.nn.Sequential)": "g",
    "x = Compose([f]); isinstance(x, torch.nn.Module)": "f | g",
    "x = Compose([f]); isinstance(x, RandomCrop)": "f | g",
    "x = AugmentationSequential(f); isinstance(x, torch.nn.Sequential)": "f | g",
    "y = [Image.open(p)]; x = y[0]; isinstance(x, np.ndarray)": "g",
    "y = []; for q in load():;  y.append(Image.open(q)); x = y[0]; isinstance(x, np.ndarray)": "g",
    "y = list(); for q in load():;  y.append(Image.open(q)); x = y[0]; isinstance(x, np.ndarray)": "g",
    "y = [Image.open(p)]; y[0] = np.asarray(y[0]); x = y[0]; isinstance(x, np.ndarray)": "f | g",
    "y = [Image.open(p)]; y[:] = load(); x = y[0]; isinstance(x, np.ndarray)": "f | g",
    "y = {'a': Image.open(p)}; x = y['a']; isinstance(x, np.ndarray)": "f | g",
    "x = Image.open(p); for i in load():;  x = np.asarray(x); isinstance(x, np.ndarray)": "f | g",
}
_IMPORTS = """
import collections.abc
import numbers
import os
from pathlib import Path
import accimage
import cv2
import numpy as np
import torch
import types_of_others as types
from PIL import Image
from kornia.augmentation import AugmentationSequential
from torchvision.transforms import Compose, RandomCrop
""".strip().replace("\n", "; ")


@pytest.mark.parametrize(("test", "expected"), TESTS.items(), ids=TESTS)
def test_branches(tmp_path: Path, test: str, expected: str) -> None:
    assert evaluated(tmp_path, f"if {test}:;  v = f; else:;  v = g; v", "function") == expected


@pytest.mark.parametrize(("code", "expected"), FILLED.items(), ids=FILLED)
def test_filled_containers(tmp_path: Path, code: str, expected: str) -> None:
    assert evaluated(tmp_path, code, "function") == expected


#: What a function returns whose body tests the keywords that it is called with: `f` where it has `a`, `g` where not.
KEYWORDS = {
    ("if 'a' in k:", "a=1"): "f",
    ("if 'a' in k:", "b=1"): "g",
    ("if 'a' not in k:", "b=1"): "f",
    ("if 'a' in k:", "**{'b': 1}"): "g",
    ("if 'a' in k:", "**load()"): "f | g",
    ("if 'a' in k:", "b=1, **load()"): "f | g",
    ("if name in k:", "b=1"): "f | g",
    ("k['b'] = 1;  if 'a' in k:", ""): "g",
    ("k['a'] = 1;  if 'a' in k:", ""): "f | g",
    ("k[name] = 1;  if 'a' in k:", ""): "f | g",
    ("k.update(load());  if 'a' in k:", ""): "f | g",
    ("k.setdefault('b', 1);  if 'a' in k:", ""): "g",
    ("k.setdefault('a', 1);  if 'a' in k:", ""): "f | g",
    ("k.pop('a', None);  if 'a' in k:", ""): "g",
    ("k.pop('a', None);  if 'a' in k:", "a=1"): "f | g",
    ("k.pop('b', None);  if 'a' in k:", "a=1"): "f",
    ("del k['a'];  if 'a' in k:", "a=1"): "f | g",
    ("load(k);  if 'a' in k:", ""): "f | g",
    ("load(**k);  if 'a' in k:", ""): "g",
}


@pytest.mark.parametrize(("code", "expected"), KEYWORDS.items(), ids=map(" ".join, KEYWORDS))
def test_keywords(tmp_path: Path, code: tuple[str, str], expected: str) -> None:
    body, passed = code
    lines = f"def pick(name=load(), **k):;  v = g;  {body};   v = f;  return v; pick({passed})"
    assert evaluated(tmp_path, lines, "function") == expected


def test_what_is_being_computed_decides_nothing() -> None:
    assert compare("!=", BOTTOM, of(Literal_("str", "a"))) is None
    assert compare("==", BOTTOM, of(Literal_("str", "a"))) is None


@pytest.mark.parametrize(("code", "expected"), BINDINGS.items(), ids=BINDINGS)
def test_bindings(tmp_path: Path, code: str, expected: str) -> None:
    assert evaluated(tmp_path, code, "function") == expected


@pytest.mark.parametrize(("code", "expected"), TYPES.items(), ids=TYPES)
def test_types(tmp_path: Path, code: str, expected: str) -> None:
    before, _, test = code.rpartition("; ")
    lines = f"{_IMPORTS}; {before}; if {test}:;  v = f; else:;  v = g; v"
    assert evaluated(tmp_path, lines, "function") == expected


IN_LOOPS = {
    "x = None; for i in load():;  if isinstance(x, np.ndarray):;   v = f;  else:;   v = g;  x = np.zeros(3)": "f | g",
    "x = load(); while isinstance(x, A):;  x = x.inner; v = x": "?undefined name",
}


@pytest.mark.parametrize(("code", "expected"), IN_LOOPS.items(), ids=IN_LOOPS)
def test_types_in_loops(tmp_path: Path, code: str, expected: str) -> None:
    assert evaluated(tmp_path, f"{_IMPORTS}; {code}; v", "function") == expected


#: What `h` gives, which is called under a test of its argument.
PASSED = {
    "def k(y):;  if y == 'a':;   return h(y);  return None; k(load())": "None | f",
    "def k(y):;  if y in ('a', 'b'):;   return h(y);  return None; k(load())": "None | f | g",
    "def k(y):;  if y in ['b', 'c']:;   return h(y);  return None; k(load())": "None | g",
    "def k(y):;  if y not in ['b', 'c']:;   return None;  return h(y); k(load())": "None | g",
    "def k(y):;  if y not in ['b', 'c']:;   return h(y);  return None; k(load())": "None | f | g",
    "def k(y):;  if y in ['b', load()]:;   return h(y);  return None; k(load())": "None | f | g",
    "def k(y):;  if y in []:;   return h(y);  return None; k(load())": "None | f | g",
    "def k(y):;  if y.kind == 'b':;   return h(y.kind);  return None; k(load())": "None | g",
    "def k(y):;  if y.kind == 'b':;   y.kind = load();   return h(y.kind);  return None; k(load())": "None | f | g",
    "def k(y):;  if y == 'b':;   y = load();   return h(y);  return None; k(load())": "None | f | g",
    "def k(y):;  if y == 'b' or load():;   return h(y);  return None; k(load())": "None | f | g",
    "def k(y):;  if y == 'b' and load():;   return h(x=y);  return None; k(load())": "None | g",
    "def k(y):;  assert y in ('b', 'c');  return h(y); k(load())": "g",
    "def k(y):;  if y in ('a', 'b'):;   return h(y);  return None; k('b')": "g",
    "def k(y):;  if y == 'b':;   return h(*y);  return None; k(load())": "None | f | g",
}


@pytest.mark.parametrize(("code", "expected"), PASSED.items(), ids=PASSED)
def test_what_a_call_in_a_branch_passes(tmp_path: Path, code: str, expected: str) -> None:
    assert evaluated(tmp_path, f"def h(x):;  if x == 'a':;   return f;  return g; {code}", "function") == expected
