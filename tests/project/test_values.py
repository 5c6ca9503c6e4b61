"""What an expression may be: constants, containers, and the results of builtins and library functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    PartialOf,
    SeqOf,
    Unknown,
    Val,
)
from loaderlint.project.reach.model import Model
from tests.project.linking import link

HEAD = """
import argparse, collections, copy, dataclasses, enum, functools, importlib, json, os, random
import numpy as np
import torch
from pathlib import Path
from torch.utils.data import DataLoader
args = argparse.Namespace()
parser = argparse.ArgumentParser()
parser.add_argument("--jobs", type=int, default=4)
options = parser.parse_args()
class A:
    def run(self): return 7
class Sized:
    def __len__(self): return 0
class B:
    def __getitem__(self, index): return A()
class C:
    def __iter__(self): return iter([A(), B()])
@dataclasses.dataclass
class Record:
    size: int = 3
    name: str = "x"
class W:
    def __init__(self, x): self.y = x
class S:
    size = 4
    def __init__(self): self.table = {"a": 1}
class T(S): pass
def f(x): return x
def g(x): return A()
"""


#: Operators.
OPERATORS: dict[str, str] = {
    "2 == 2": "True",
    "'train' == 'val'": "False",
    "None is None": "True",
    "f is not None": "True",
    "x = True; x is True": "True",
    "x = True; x is not True": "False",
    "x = False; f if x is True else g": "g",
    "x = False; f if x is False else g": "f",
    "x = 1; f if x is True else g": "g",
    "x = load(); f if x is True else g": "f | g",
    "x = True if load() else 1; f if x is True else g": "f | g",
    "x = options.jobs; f if x is True else g": "f | g",
    "x = 'train'; y = x == 'val'; f if y else g": "g",
    "load() == 'val'": "builtins.bool()",
    "options.jobs == 4": "True, argparse default",
    "1 < 2 < 3": "builtins.bool()",
    "1 < 'a'": "builtins.bool()",
    "7 // 2": "3",
    "7 / 2": "3.5",
    "7 % 4": "3",
    "7 - 2": "5",
    "7 * 2": "14",
    "7 + 2": "9",
    "7 ** 2": "builtins.operation()",
    '"a" + "b"': "'ab'",
    '"a" * 3': "builtins.operation()",
    '"a" - "b"': "builtins.operation()",
    "7 // 0": "builtins.operation()",
    '"a" + 1': "builtins.operation()",
    "2 ** 70 + 1": "builtins.operation()",
    "-(3)": "-3",
    '-"a"': "builtins.operation()",
    "not 0": "True",
    "not load()": "builtins.operation()",
    "+3": "builtins.operation()",
    "~3": "builtins.operation()",
    "[f] + [g]": "[f, g]",
    "[f, g] * 2": "[f, g]",
    "(f,) + (g,)": "(f, g)",
    "[f] + load()": "[?operation | f]",
    "[1] + load()": "builtins.operation()",
    "[f] + load() + [g]": "[?operation | f | g]",
    '{"a": f} | {"b": g}': "{a: f, b: g}",
    '{"a": f, "b": f} | {"b": g}': "{a: f, b: g}",
    '{"a": f} | load()': "builtins.operation()",
    'Path("a") / "b"': "pathlib.Path()",
    '"a" / Path("b")': "pathlib.Path()",
    'Path("a").parent / "b"': "pathlib.Path()",
    'Path("a").name / "b"': "builtins.operation()",
    "f or g": "f",
    "load() or f": "?undefined name | f",
    "None or f": "f",
    "False and f": "False",
    "True and f": "f",
    "1 or f": "1",
    "0 or f": "f",
    "f and g": "f | g",
    "not options.jobs": "False, argparse default",
    "-options.jobs": "-4, argparse default",
    "options.jobs > 0": "True, argparse default",
    "options.jobs == 0": "False, argparse default",
    "0 < options.jobs < 9": "builtins.bool()",
}
#: Conditions: a branch that never runs gives nothing.
CONDITIONS: dict[str, str] = {
    "f if load() else g": "f | g",
    "x = f if load() else None; g if x is None else x": "f | g",
    "x = f if load() else None; x if x is not None else g": "f | g",
    "x = f if load() else None; x if x is None else g": "None | f | g",
    "x = f if load() else None; y = x; y if load() is None else x": "None | f",
    "x = load(); x['a'] = 1; g if x is None else f": "f",
    "x = load(); x.a = 1; f if x is not None else g": "f",
    "x = load(); x.update(a=1); f if x is not None else g": "f",
    "x = load(); y = [x.a + 1]; f if x is not None else g": "f",
    "x = load(); y = x['a'] if load() else 1; f if x is not None else g": "f | g",
    "x = load(); y = load() and x.a; f if x is not None else g": "f | g",
    "x = load(); y = [x.a for z in load()]; f if x is not None else g": "f | g",
    "x = load(); y = x.__class__; f if x is not None else g": "f | g",
    "x = load(); y = load(x); f if x is not None else g": "f | g",
    "x = load(); y = f if x is not None else g; x.a = 1; y": "f | g",
    "x = load(); x.a = 1; x = load(); f if x is not None else g": "f | g",
    "x = load(); x.a = 1; f if x else g": "f | g",
    "def h(x):;  x['a'] = 1;  return x; f if h(load()) is not None else g": "f",
    "def h(x):;  if x['a']: x['b'] = 1;  return x; f if h(load()) is None else g": "g",
    "class P:;  def __call__(self, x):;    x = copy.deepcopy(x);    x['a'] = 1;    return x; "
    "f if P()(load()) is not None else g": "f",
    "def h(x):;  x.a = 1;  return x; def k(x): return h(x); f if k(load()) is not None else g": "f",
    "def h(x):;  if load(): x['a'] = 1;  return x; f if h(load()) is not None else g": "f | g",
    "def h(x):;  if x['a']: return x; f if h(load()) is not None else g": "f | g",
    "def h(x):;  if x['a']: return;  return x; f if h(load()) is not None else g": "f | g",
    "def h(x):;  try: x['a'] = 1;  except TypeError: pass;  return x; f if h(load()) is not None else g": "f | g",
    "@load(); def h(x):;  x['a'] = 1;  return x; f if h(load()) is not None else g": "f | g",
    "def h(x):;  x['a'] = 1;  return x; f if (h if load() else load)(load()) is not None else g": "f | g",
    "f if A else g": "f",
    "f if options.jobs else g": "f | g",
    "f if None is None else g": "f",
    "f if A() is None else g": "g",
    "f if A() is not None else g": "f",
    "f if load() is None else g": "f | g",
    "f if options.jobs is None else g": "f | g",
    "f if torch.rand(1) is None else g": "g",
    "f if torch.utils.data.get_worker_info() is None else g": "g",
    "f if len(load()) is None else g": "g",
    "f if torch.nn.Linear(1, 1) is None else g": "g",
    "f if random.random() < 1 else g": "f",
    "f if random.random() < 2 else g": "f",
    "f if random.random() <= 1 else g": "f",
    "f if random.random() > 1 else g": "g",
    "f if random.random() >= 0 else g": "f",
    "f if random.random() > 0 else g": "f",
    "f if random.random() < 0 else g": "g",
    "f if random.random() <= 0 else g": "g",
    "f if random.random() > -1 else g": "f",
    "f if random.random() < 0.5 else g": "f | g",
    "f if 0 > random.random() else g": "g",
    "f if 1 >= random.random() else g": "f",
    "f if 0.5 > random.random() else g": "f | g",
    "f if random.random() > random.random() else g": "f | g",
    "f if torch.rand(1).item() < 0 else g": "g",
    "f if torch.randn(1).item() < 0 else g": "f | g",
    "f if random.Random(3).random() < 0 else g": "g",
    "f if np.random.default_rng(3).uniform() < 0 else g": "g",
    "f if np.random.RandomState(3).rand() < 0 else g": "g",
    "f if np.random.RandomState(3).randn() < 0 else g": "f | g",
    "f if random.uniform(0, 1) < 0 else g": "g",
    "f if random.uniform(0.0, 1.0) < 1 else g": "f",
    "f if random.uniform(0, 2) < 1 else g": "f | g",
    "f if random.uniform(-1, 1) < 0 else g": "f | g",
    "f if random.uniform(*pair) < 1 else g": "f | g",
    "f if np.random.uniform() < 0 else g": "g",
    "f if np.random.uniform(high=2) < 1 else g": "f | g",
    "f if random.random() == 2 else g": "f | g",
    "f if 3 > 2 else g": "f",
    "f if 2 > 2 else g": "g",
    "f if 2 >= 2 else g": "f",
    "f if 2 < 2 else g": "g",
    "f if 2 <= 2 else g": "f",
    "f if 2 == 2 else g": "f",
    "f if 2 != 2 else g": "g",
    'f if "a" < 2 else g': "f | g",
    "f if options.jobs > 2 else g": "f | g",
    "f if 3 > options.jobs else g": "f | g",
    "steps = f; f if steps else g": "f",
    "steps = load(); f if steps else g": "f | g",
    "steps = None; f if steps else g": "g",
    "steps = functools.partial(f); f if steps else g": "f",
    "steps = A().run; f if steps else g": "f",
}
#: Items of containers and of library objects.
ITEMS: dict[str, str] = {
    "[f, g][1:][0]": "g",
    "[f, g][::-1][0]": "g",
    "(f, g)[-1:][0]": "g",
    "[f, g][load():][0]": "f | g",
    "sorted([f, g])[0]": "f | g",
    "tuple(sorted([f, g]))[0]": "f | g",
    "a, b = sorted([f, g]); a": "f | g",
    "xs = [f, g]; xs.sort(); xs[0]": "f | g",
    "xs = [f, g]; xs.insert(0, int); xs[1]": "builtins.int | f | g",
    "xs = [f, g]; random.shuffle(xs); xs[0]": "f | g",
    "xs = [f]; xs.append(g); xs[0]": "f",
    "a, b = {'k': (f, g)}[load()]; b": "?looked up by a key | g",
    "a, b = {'k': (f, g), 'l': (f, 1)}[load()]; b": "1 | ?looked up by a key | g",
    "a, b = {'k': (f, g), 'l': open('x')}[load()]; b": "?looked up by a key | builtins.open[]() | f | g",
    "load() + [f]": "[?operation | f]",
    "(5, 6, 7)[1]": "6",
    "[5, 6, 7][-1]": "7",
    "[5, 6, 7][-3]": "5",
    "[5, 6][2]": "5 | 6",
    "[5, 6][load()]": "5 | 6",
    '{"a": 5, "b": 6}["a"]': "5",
    '{"a": 5, "a": 6}["a"]': "6",
    '{"a": 5, "b": 6}["c"]': "?no such key",
    '{"a": 5, "b": 6}[load()]': "5 | 6 | ?looked up by a key",
    '{"a": 5, "b": 6, "c": 7}["a" if load() else "b"]': "5 | 6",
    '{"a": 5, "b": 6}["a" if load() else "z"]': "5",
    '{"a": 5, "b": 6, "c": 7}[["b", "c"][load()]]': "6 | 7",
    '{"a": 5, **load()}["c"]': "?a copied mapping | ?looked up by a key",
    "{}[load()]": "?empty mapping",
    '{"x_a": 5, "y_a": 6}[f"x_{load()}"]': "5 | ?looked up by a key",
    '{"a": 5}.get("a")': "5",
    '{"a": 5}.get("b")': "?no such key",
    '{"a": 5}.get("b", 6)': "6 | ?no such key",
    '{"a": 5}.get(load(), 6)': "5 | 6 | ?looked up by a key",
    '{"a": 5}.pop("a", 6)': "5",
    '{"a": 5}.keys()': "dict.keys()",
    '{"a": 5}.values()': "dict.values()",
    "[5].copy()": "[5]",
    "[5].index(5)": "list.index()",
    '{"a": 5}.copy()': "{a: 5}",
    "np.zeros(3)[0]": "numpy.zeros[]()",
    "np.zeros(3)[0][1]": "numpy.zeros[]()",
    'import h5py; h5py.File("x")["a"]': "h5py.File[]()",
    'import h5py; h5py.File("x")["a"]["b"]': "h5py.File[]()",
    'import h5py; h5py.File("x")["a"]["b"][0]': "h5py.data()",
    'import h5py; h5py.File("x")["a"]["b"][:]': "h5py.data()",
    'import h5py; h5py.File("x").get("a")': "h5py.File.get()",
    'import h5py; h5py.File("x").get("a")["b"]': "h5py.File.get()",
    'json.load(load())["a"]': "json.load[]()",
    "json.load(load()).copy()": "json.load()",
    'json.load(load()).copy()["a"]': "json.load[]()",
    'vars(options)["jobs"]': "4, argparse default",
    'collections.OrderedDict([("a", f)])["a"]': "collections.OrderedDict[]()",
    "def h(a): yield a; [x for x in h(f)]": "[builtins.generator[]() | f]",
    "torch.utils.data.Subset(B(), [0])[1]": "A()",
    "torch.utils.data.random_split(B(), [1, 1])[0][1]": "A()",
    "torch.utils.data.ConcatDataset([B(), B()])[1]": "A() | A()",
    "torch.utils.data.ConcatDataset([B() for _ in load()])[1]": "A()",
    "torch.utils.data.Subset(torch.utils.data.ConcatDataset([B()]), [0])[load()]": "A()",
    "d = B(); for _ in load(): d = torch.utils.data.Subset(d, [0]); d[1]": "A() | A()",
    "torch.utils.data.Subset(load(), [0])[1]": "torch.utils.data.Subset[]()",
    "torch.utils.data.ConcatDataset(load())[1]": "torch.utils.data.ConcatDataset[]()",
    "torch.utils.data.Subset([f, g], [0])[1]": "torch.utils.data.Subset[]()",
    "torch.utils.data.Subset(B(), [0]).indices": "torch.utils.data.Subset().indices",
}
#: Lists and dicts that grow after they are made.
CONTAINERS: dict[str, str] = {
    "steps = [f]; steps.append(g); steps": "[f, g]",
    "steps = [f]; steps.insert(0, g); steps": "[f, g]",
    "steps = [f]; steps.insert(g); steps": "[f]",
    "steps = [f]; steps.extend([g, f]); steps": "[f, g, f]",
    "steps = [f]; steps += [g]; steps": "[f, g]",
    "steps = []; if load(): steps.append(g); steps": "[g]",
    "steps = []; if None: steps.append(g); steps": "[]",
    "def add(to): to.append(g); steps = [f]; add(steps); steps": "[f, g]",
    "def add(no, to): to.extend([g]); steps = [f]; add(1, to=steps); steps": "[f, g]",
    "def add(no, to): to.extend([g]); steps = [f]; add(steps, 1); steps": "[f]",
    'known = {"a": f}; known["b"] = g; known': "{a: f, b: g}",
    'known = {"a": f}; known["a"] = g; known': "{a: g}",
    'known = {"a": f}; if load(): known["a"] = g; known': "{a: f | g}",
    'known = {"a": f}; if load(): known["b"] = g; known': "{a: f, b: ?not always there | g}",
    'known = {}; if True: known["b"] = g; known': "{b: g}",
    'known = {"b": f}; if True: known["b"] = g; known': "{b: g}",
    'known = {}; if 1 > 0: known.setdefault("b", g); known': "{b: g}",
    'known = {}; if True:;  if load(): known["b"] = g; known': "{b: ?not always there | g}",
    "known = {}; known[load()] = g; known": "{*: g}",
    'known = {"a": f}; known.update(b=g); known': "{a: f, b: g}",
    'known = {"a": f}; known.update({"a": g, "b": f}); known': "{a: g, b: f}",
    'known = {"a": f}; if load(): known.update(a=g); known': "{a: f | g}",
    'known = {"a": f}; if load(): known["a"] = g; else: known["a"] = 7; known': "{a: 7 | g}",
    'known = {"a": f}; if load(): known["a"] = g; elif load(): known["a"] = 7; known': "{a: 7 | f | g}",
    'known = {"a": f}; if load(): known["a"] = g; elif load(): known["a"] = 7; else: known["a"] = g; known': (
        "{a: 7 | g}"
    ),
    'known = {"a": f}; if load(): known.update(a=g); else: known.update({"a": 7, "b": g}); known': (
        "{a: 7 | g, b: ?not always there | g}"
    ),
    'known = {"a": f}; if load(): known["a"] = g; if load(): known["a"] = 7; known': "{a: 7 | f | g}",
    'known = {"a": f}; if load(): known["a"] = g; else: known["a"] = 7; if load(): known["a"] = f; known': (
        "{a: 7 | f | g}"
    ),
    'known = {"a": f, "b": g}; for key in known: known[key] = 7; known': "{a: 7, b: 7}",
    'known = {"a": f, "b": g}; for key in known.keys(): known[key] = 7; known': "{a: 7, b: 7}",
    'known = {"a": f, "b": g}; for key, one in known.items(): known[key] = 7; known': "{a: 7, b: 7}",
    'known = {"a": f, "b": g}; for key, one in known.items(): known[one] = 7; known': "{a: f, b: g, *: 7}",
    'known = {"a": f}; other = {"b": g}; for key in other: known[key] = 7; known': "{a: f, b: 7 | ?not always there}",
    'known = {"a": f}; for key in known:;  if load(): known[key] = 7; known': "{a: f, *: 7}",
    'known = {}; known.setdefault("a", f); known': "{a: f}",
    'known = {"a": f}; known.setdefault("a", g); known': "{a: f}",
    'known = {}; if load(): known.setdefault("a", f); known': "{a: ?not always there | f}",
    "known = {}; known.setdefault(load(), f); known": "{*: f}",
    'known = {}; known.setdefault("a", []).append(f); known': "{a: [f]}",
    'def fill(to): to["b"] = g; known = {"a": f}; fill(known); known': "{a: f, b: g}",
    'def fill(to): to.update(b=g); known = {"a": f}; fill(to=known); known': "{a: f, b: g}",
    'def fill(to): to.setdefault("b", g); known = {"a": f}; fill(known); known': "{a: f, b: g}",
    'def fill(to): to[load()] = g; known = {"a": f}; fill(known); known': "{a: f, *: g}",
    'def fill(to): to["a"] = g; known = {"a": f}; fill(known); known': "{a: f | g}",
    "first = [f]; steps = first.copy(); steps.append(g); steps": "[f, g]",
    'first = {"a": f}; known = copy.copy(first); known["b"] = g; known': "{a: f, b: g}",
    'first = {"a": f}; known = copy.deepcopy(first); known["b"] = g; known': "{a: f, b: g}",
    'first = {"a": f}; known = dict(first); known["b"] = g; known': "{a: f, b: g}",
    'first = {"a": f}; known = dict(first); known["b"] = g; first': "{a: f}",
    'known = {"a": {"b": f}}; known["a"]["c"] = g; known["a"]': "{b: f}",
    'known = {**{"a": f}, "b": g}; known': "{a: f, b: g}",
    'known = {**load(), "b": g}; known': "{b: g, *: ?a copied mapping}",
    'known = {**load()}; known["c"]': "?a copied mapping | ?looked up by a key",
    'known = {1: f, "a": g}; known': "{a: g, *: f}",
    'known = {1: f, "a": g}; known["b"]': "?looked up by a key | f",
    'known = {1: f, "a": g}; known["a"]': "g",
    'known = {1: f}; known.get("a", g)': "?looked up by a key | f | g",
}
#: Items under keys that are built from constant parts and others: a key is another one if its beginning or end differs.
BUILT_KEYS: dict[str, str] = {
    's = load(); known = {}; known[f"x_{s}"] = f; known[f"y_{s}"] = g; known[f"y_{s}"]': "?looked up by a key | g",
    's = load(); known = {}; known[f"{s}_x"] = f; known[f"{s}_y"] = g; known[f"{s}_y"]': "?looked up by a key | g",
    's = load(); known = {}; known["x_" + s] = f; known["y_%s" % s] = g; known["x_{}".format(s)]': (
        "?looked up by a key | f"
    ),
    's = load(); k = f"x{s}"; known = {}; known[f"{k}_a"] = f; known[f"day{s}"] = g; known[f"{k}_b"]': (
        "?looked up by a key"
    ),
    's = "" if load() else f"_{load()}"; known = {f"x{s}": f, f"day{s}": g}; known[f"x{s}"]': "?looked up by a key | f",
    's = load(); known = {f"x_{s}": f, "y_1": g}; known["x_1"]': "?looked up by a key | f",
    's = load(); known = {f"x_{s}": f, "y_1": g}; known["y_1"]': "g",
    's = load(); known = {f"x_{s}": f, "y_1": g}; known[f"y_{s}"]': "?looked up by a key | g",
    's = load(); known = {f"x_{s}": f, f"y_{s}": g}; known.get(f"y_{s}")': "?looked up by a key | g",
    's = load(); known = {f"x_{s}": f}; known.setdefault(f"y/{s}", g); known[f"y/{s}"]': "?looked up by a key | g",
    's = load(); known = {f"x_{s}": f, f"y_{s}": g}; other = dict(known); other[f"y_{s}"]': "?looked up by a key | g",
    'known = {f"x_{s}": f for s in load()}; known[f"y_{load()}"]': "?looked up by a key",
    'known = {f"x_{s}": f for s in load()}; known[f"x_{load()}"]': "?looked up by a key | f",
    'def key(s): return f"x_{s}"; known = {}; known[key(load())] = f; known["y"] = g; known[key(7)]': (
        "?looked up by a key | f"
    ),
    's = "a"; known = {f"{s:_>3}x": f, "ay": g}; known["__ax"]': "?looked up by a key | f",
    # these may be the same key
    's = load(); known = {}; known[f"x_{s}"] = f; known[f"x_{s}_y"] = g; known[f"x_{s}"]': (
        "?looked up by a key | f | g"
    ),
    's = load(); known = {}; known[f"x_{s}"] = f; known[f"{s}_y"] = g; known[f"x_{s}"]': "?looked up by a key | f | g",
    's = load(); known = {}; known[f"x_{s}"] = f; known[s] = g; known[f"x_{s}"]': "?looked up by a key | f | g",
    's = load(); known = {f"x_{s}": f, "x_": g}; known[f"x_{s}"]': "?looked up by a key | f | g",
    's = load(); known = {"x_%r" % s: f, f"y_{s!r}": g}; known[f"z_{s}"]': "?looked up by a key | f | g",
    's = load(); known = {"x_%d" % s: f, "z_%d" % s: g}; known[f"z_{s}"]': "?looked up by a key | g",
    's = load(); s += "_x"; known = {f"x_{s}": f, f"y_{s}": g}; known[s]': "?looked up by a key | f | g",
    'def fill(to): to[f"y_{load()}"] = g; known = {f"x_{load()}": f}; fill(known); known[f"x_{load()}"]': (
        "?looked up by a key | f | g"
    ),
}
#: What loops, comprehensions and assignments take out of something.
LOOPS: dict[str, str] = {
    "a, b = f, g; b": "g",
    "a, *b = f, g; b": "[g]",
    "a, b = load(); b": "?undefined name",
    "a, b = [f, g] if load() else (g, f); a": "f | g",
    "a, b = None if load() else (g, f); a": "g",
    "(a, b), c = (f, g), f; b": "g",
    "a, b = [f]; b": "f",
    "a, b = Path('x'); b": "?a path has no items",
    "a, b = Path('x') if load() else (f, g); b": "g",
    "a, b = list(Path('x').iterdir())[0]; b": "?a path has no items",
    "a, b = Path('x').iterdir(); b": "pathlib.Path.iterdir[]()",
    "[one for one in list(Path('x').iterdir())[:3]][0]": "pathlib.Path.iterdir[]()",
    "for a in [f, g]: b = a; b": "f | g",
    "for a in []: b = a; b": "?empty",
    'for a in {"x": f}: b = a; b': "'x'",
    "for a in {}: b = a; b": "?",
    "for a in {load(): f}: b = a; b": "?key",
    'for a, c in {"x": f}.items(): b = c; b': "f",
    'for a, c in {"x": f}.items(): b = a; b': "?key",
    'for a in {"x": f}.values(): b = a; b': "f",
    "for a in load().values(): b = a; b": "?undefined name",
    "for a, c in enumerate([f]): b = c; b": "f",
    "for a, c in enumerate([f]): b = a; b": "?index",
    "for a, c in zip([f], [g]): b = c; b": "g",
    "for a, c in zip([f], [g]): b = (c, a); b": "(g, f)",
    "for a in B(): b = a; b": "A()",
    "for a in C(): b = a; b": "A() | B()",
    "for a in A(): b = a; b": "?item",
    "for a in np.zeros(3): b = a; b": "numpy.zeros[]()",
    "for a in f: b = a; b": "?item",
    "[a for a in [f, g]]": "[f | g]",
    "[g for a in load()]": "[g]",
    "{a: f for a in load()}": "{*: f}",
    "{a for a in [f]}": "{f}",
    "(a for a in [f])": "[f]",
    "[a for a in (c for c in [f, g])]": "[f | g]",
}
#: Results of calls, and attributes.
CALLS: dict[str, str] = {
    '"a%d" % 3': "builtins.operation()",
    'os.path.join("a", "b")': "os.path.join()",
    "list((f, g))": "[f, g]",
    "tuple([f, g])": "(f, g)",
    "set([f, g])": "{f, g}",
    "sorted([f, g])": "[f, g]",
    "list(reversed([f, g]))": "[f | g, f | g]",
    "list(load())": "[?undefined name]",
    'list({"a": 5})': "['a']",
    '[*{"a": f}.keys()]': "[dict.keys[]()]",
    '({"a": f}.keys(), *{"a": f}.keys())': "(dict.keys(), dict.keys[]())",
    '(7, *{"a": f, "b": g}.values())': "(7, f | g)",
    '{*{"a": f}}': "{'a'}",
    "[*B()]": "[A()]",
    "[*map(g, [f]), *C()]": "[A(), A() | B()]",
    "def h():;  yield f; [h(), *h()]": "[[f] | builtins.generator(), f]",
    "dict(a=f)": "{a: f}",
    'dict({"a": f}, b=g)': "{a: f, b: g}",
    'dict([("a", f)])': "{a: f}",
    'dict([("a", f), (load(), g)])': "{a: f, *: g}",
    "dict(load(), a=f)": "{a: f, *: ?a copied mapping}",
    "dict(**load())": "{*: ?a copied mapping}",
    'int("3")': "3",
    'int("x")': "builtins.int()",
    'float("2.5")': "2.5",
    'bool("")': "False",
    "str(3)": "'3'",
    "'Crops'.lower()": "'crops'",
    "x = ' Crops '; x.strip().upper()": "'CROPS'",
    "'crops.py'.strip('py')": "builtins.strip()",
    "(3).lower()": "builtins.lower()",
    "int(load())": "builtins.int()",
    "int(None)": "builtins.int()",
    "max(2, 5, 3)": "5",
    "min(2, 5, 3)": "2",
    "max(2, options.jobs)": "4, argparse default",
    "max(2, load())": "builtins.max()",
    "max([2, 5])": "builtins.max()",
    "iter([f])": "[f]",
    "next(iter([f]))": "f",
    "next(iter(C()))": "A() | B()",
    "functools.partial(f, 1)": "partial(f)",
    "functools.partial(functools.partial(f, 1), 2)": "partial(partial(f))",
    "functools.partial(load(), 1)": "?partial",
    'getattr(A(), "run")': "A().run",
    'getattr(A(), "missing", f)': "f",
    "getattr(A(), load())": "?dynamic attribute | A().run",
    'getattr(A(), "r" + load())': "?dynamic attribute | A().run",
    "copy.copy([f])": "[f]",
    'copy.deepcopy({"a": f})': "{a: f}",
    "vars(Record())": "{size: 3, class default, name: 'x', class default}",
    "vars(load())": "builtins.vars()",
    "dataclasses.asdict(Record())": "{size: 3, class default, name: 'x', class default}",
    "dataclasses.asdict(load())": "dataclasses.asdict()",
    "random.choice([f, g])": "f | g",
    "random.choices([f, g])": "[f | g]",
    "random.choice([1, 2])": "random.choice()",
    "random.choice(load())": "random.choice()",
    "np.random.choice([f, g])": "f | g",
    "np.random.choice([f, g], 2)": "[f | g]",
    "np.random.choice([f, g], size=2)": "[f | g]",
    "np.random.permutation([f, g])": "[f | g]",
    "torch.jit.script(f)": "f",
    "torch.utils.data.random_split(load(), [1, 2])": "[torch.utils.data.Subset()]",
    "torch.utils.data.random_split(load(), [1, 2])[0]": "torch.utils.data.Subset()",
    "list(map(g, [1]))": "[A()]",
    "map(g, load())": "[A()]",
    "filter(f, [1])": "builtins.filter()",
    'importlib.import_module("numpy").zeros': "numpy.zeros",
    "importlib.import_module(load())": "?importlib",
    'exec("1")': "?eval",
    "super()": "?super",
    'type("T", (A,), {})': "A",
    'Path("a").with_suffix("b")': "pathlib.Path()",
    'Path("a").stat()': "pathlib.Path.stat()",
    "np.zeros(3).reshape(1)": "numpy.zeros.reshape()",
    "load().x": "?undefined name",
    "import torchvision.transforms as T; T.Compose([f])(1)": "?library call",
    "import torchvision.transforms as T; T.Compose([g])(1)": "?library call",
    "import torchvision.transforms as T; T.Lambda(g)(1)": "A()",
    "import torchvision.transforms as T; T.Lambda(f)(1)": "1",
    "import torchvision.transforms as T; T.Lambda(f)()": "?library call",
    "import torchvision.transforms as T; T.Compose([T.Lambda(f)])()": "?library call",
    "import albumentations; albumentations.Compose([g])(1)": "?library call",
    "np.vectorize(g)(1)": "?library call",
    "functools.reduce(f, [1])": "functools.reduce()",
    "sorted([1], key=g)": "[1]",
    "A().run()": "7",
    "f(A())": "A()",
    "g(1)": "A()",
    "(lambda x: x)(f)": "f",
    "functools.partial(g)(1)": "A()",
    "functools.partial(f, A())()": "A()",
    "functools.partial(functools.partial(f), A())()": "A()",
    "A.run": "run",
    "A().missing": "?no such attribute",
    "Record().size": "3, class default",
    "Record(size=4).size": "4",
    "Record(5).size": "5",
    "dataclasses.replace(Record(), size=6)": "dataclasses.replace()",
    "options.jobs": "4, argparse default",
    "options.missing": "?config",
    'getattr(options, "jobs")': "4, argparse default",
    'os.environ.get("N", "3")': "os.environ.get()",
    'int(os.environ.get("N", "3"))': "builtins.int()",
    "int(options.jobs) + 1": "5, argparse default",
    "str(options.jobs)": "'4', argparse default",
    "str(options.jobs).strip()": "'4', argparse default",
    "max(5, options.jobs)": "5, argparse default",
    "torch.jit.script(A())": "A()",
    "class E(enum.Enum):;     ONE = 'a';     TWO = 'b'; E.ONE.value": "'a'",
    "class E(enum.Enum):;     ONE = 'a';     TWO = 'b'; x = E.ONE; f if x.value == E.TWO.value else g": "g",
    "class E(enum.IntEnum):;     FOUR = 4; E.FOUR.value + 1": "5",
    "class E(enum.Enum):;     ONE = enum.auto();     TWO = enum.auto(); E.ONE.value == E.TWO.value": "False",
    "class E(enum.Enum):;     ONE = enum.auto();     TWO = ONE; f if E.ONE is E.TWO else g": "f",
    "class E(enum.Enum):;     ONE = enum.auto();     TWO = enum.auto(); f if E.ONE is not E.TWO else g": "f",
    "class E(enum.Enum):;     ONE = enum.auto();     TWO = enum.auto(); f if E.ONE in (E.TWO, E.ONE) else g": "f",
    "class E(enum.Enum):;     ONE = enum.auto();     TWO = 2; f if E.ONE == E.TWO else g": "f | g",
    "class E(enum.Enum):;     ONE = enum.auto();     TWO = 2; f if E.ONE is E.TWO else g": "f | g",
    "class E(enum.IntEnum):;     ONE = enum.auto();     TWO = enum.auto(); f if E.ONE < E.TWO else g": "f | g",
    "class E(enum.IntEnum):;     ONE = enum.auto(); f if E.ONE == 1 else g": "f | g",
    "class E(enum.Enum):;     ONE = enum.auto(); f if E.ONE is None else g": "g",
    "class E(enum.Enum):;     ONE = enum.auto(); f if isinstance(E.ONE, E) else g": "f | g",
    "class E(enum.Enum):;     ONE = enum.auto(); f if E[load()] is E.ONE else g": "f | g",
    "class E(enum.Enum):;     ONE = 1;     TWO = 1; f if E.ONE is E.TWO else g": "f",
    "class E(enum.Enum):;     ONE = 1;     TWO = 2; f if E.ONE is E.TWO else g": "g",
    "class E(enum.Enum):;     ONE = 1;     TWO = 2; f if E(load()) is E.TWO else g": "f | g",
    "class E:;     ONE = 1000;     TWO = 1000; f if E.ONE is E.TWO else g": "f | g",
    "class E(enum.Enum):;     ONE = 'a';     TWO = 'b'; E[load()].value == E.TWO.value": "builtins.bool()",
    "class E(enum.Enum):;     ONE = 'a'; E.ONE.missing": "'a'.missing",
    "list(C())": "[A() | B()]",
    "list(B())": "[A()]",
    "collections.OrderedDict(a=f)": "collections.OrderedDict()",
    "next(f for f in [g])": "g",
    "x = f; x = g; x": "g",
    "x = f; if load(): x = g; x": "f | g",
    "x = f; if 1 > 2: x = g; x": "f",
    "x = f; while load(): x = g; x": "f | g",
    "x = [f]; n = 0; while n != 0: x.append(g); x": "[f]",
    "x = [f]; n = 1; while n != 0: x.append(g); x": "[f, g]",
    "x = f; n = 0; while n < 3:;  x = g;  n += 1; x": "f | g",
    "x = lambda: 1; x()": "1",
    "def h(*a): return a; h(f, g)": "(f, g)",
    "def h(**k): return k; h(a=f)": "{a: f}",
    "def h(a, b=g): return b; h(1)": "g",
    "def h(a, *, b): return b; h(1, b=f)": "f",
    "def h(a, b): return b; h(*[f, g])": "g",
    'def h(a, b): return b; h(**{"a": f, "b": g})': "g",
    "def h(a): yield a; h(f)": "[f] | builtins.generator()",
    "def h(a): return a if a else None; h(f)": "f",
    "def h(n): return h(n - 1); h(1)": "?too deep",
}
#: Less usual operands and arguments.
OTHERS: dict[str, str] = {
    '"a%s" % "b"': "builtins.operation()",
    '"a%s" % load()': "builtins.str()",
    "load() % 3": "builtins.operation()",
    "1.5 * 2": "3.0",
    '{"a": f} + [g]': "builtins.operation()",
    '[f] + ["a" for x in load()] + [g]': "[f, 'a', g]",
    "list(load()) + [g]": "[?undefined name | g]",
    "([f] if load() else [g]) + [f]": "[f, f] | [g, f]",
    "([f] if load() else (g,)) + [f]": "(g, f) | [f, f]",
    "[load()] + load()": "builtins.operation()",
    "x = 1 if load() else 3; f if x > 2 else g": "f | g",
    "x = 3 if load() else 4; f if x > 2 else g": "f",
    "x = None if load() else 4; f if x is None else g": "f | g",
    "x = A() if load() else 4; f if x is None else g": "g",
    "x = 3 if load() else load(); f if x > 2 else g": "f | g",
    "f if load() > None else g": "f | g",
    "f if None is A() else g": "f | g",
    "f if A() == None else g": "f | g",
    "f if json is None else g": "f | g",
    "f if [load()] is None else g": "g",
    'f if random.random() < "a" else g': "f | g",
    "f if np.random.shuffle([1]) is None else g": "f | g",
    "f if np.random.rand() is None else g": "g",
    "import torchvision.transforms as T; t = T.Compose([f]); f if t else g": "f | g",
    "import torchvision.transforms as T; t = T.Compose([]); f if t else g": "f | g",
    "import torchvision.transforms as T; t = T.Compose(load()); f if t else g": "f | g",
    'importlib.import_module("json" if load() else load())': "?importlib",
    'importlib.import_module("json" if load() else "numpy")': "json | numpy",
    "importlib.import_module(options.jobs)": "?importlib",
    'vars(Record())["size"]': "3, class default",
    "dataclasses.asdict(A())": "dataclasses.asdict()",
    "np.zeros(3).copy()": "numpy.zeros.copy()",
    '{"a": f}.get()': "dict.get()",
    '{"a": f}.setdefault("a", g)': "f",
    '{load(): f}.pop("a", g)': "?looked up by a key | f | g",
    "random.choice([A(), 1])": "1 | A()",
    "np.random.choice(load(), size=2)": "numpy.random.choice()",
    "random.sample([f, g], 1)": "[f | g]",
    'getattr(json, "loads")': "json.loads",
    "getattr(json, load())": "json.?",
    'getattr(A(), "run" if load() else "missing")': "?no such attribute | A().run",
    'getattr(Record(), "si" + load())': "?dynamic attribute",
    "max(load(), load())": "builtins.max()",
    "min(options.jobs, 9)": "4, argparse default",
    'max("a", "b")': "builtins.max()",
    "int(2.7)": "2",
    "str(2.5)": "'2.5'",
    "bool(None)": "builtins.bool()",
    'float("inf")': "inf",
    'int("9" * 3)': "builtins.int()",
    "iter(load())": "?undefined name",
    "next(iter(B()))": "A()",
    'dict({"a": f} if load() else {"a": g})': "{a: f | g}",
    'dict({"a": f} if load() else {"b": g})': "{a: ?not always there | f, b: ?not always there | g}",
    'dict({"a": f} if load() else load())': "{*: ?a copied mapping}",
    'dict([("a", f), load()])': "{*: ?a copied mapping}",
    'dict([("a", f, g)])': "{*: ?a copied mapping}",
    "dict([])": "{*: ?a copied mapping}",
    "torch.jit.trace(f, 1)": "f",
    'torch.jit.load("x")': "torch.jit.load()",
    'from monai.utils import optional_import; optional_import("numpy")': "(numpy, ?whether a module is installed)",
    "from monai.utils import optional_import; "
    'optional_import("numpy", name="zeros")': "(numpy.zeros, ?whether a module is installed)",
    "from monai.utils import optional_import; optional_import(load())": "?importlib",
    "from monai.utils import optional_import; "
    'optional_import("numpy", "1.0", load(), "zeros")': "(numpy.zeros, ?whether a module is installed)",
    "super().run": "?super",
    '(f, g)["a"]': "f | g",
    '{"a": f}[0]': "?looked up by a key",
    '{"a": f, "b": g}["a" if load() else "b"]': "f | g",
    '"abc"[0]': "?item",
    "a, b, c = (f, g); b": "g",
    "a, b = (f, g, f) if load() else (g, f); b": "f | g",
    "a, b = (f, g) if load() else [f]; b": "f | g",
    "(a, b), c = [(f, g), (g, f)], f; a": "(f, g)",
    "lambda: 3": "<lambda>",
    'f"{3}"': "builtins.str()",
    'f"none"': "'none'",
    'f"no" "ne"': "'none'",
    'f"a{options.jobs}"': "builtins.str()",
    "sum([1, 2])": "builtins.sum()",
    "f if 1 < 2 < 3 else g": "f | g",
    "f if 1 in [1] else g": "f",
    "f if 1 in (2, 3) else g": "g",
    "f if 1 not in {2, 3} else g": "f",
    "f if 1 in (2, load()) else g": "f | g",
    "f if 1 in (load(), 1) else g": "f",
    "f if 1 in () else g": "f | g",
    "f if 1 in (2, *load()) else g": "f | g",
    "f if load() in (1, 2) else g": "f | g",
    "f if options.jobs in (1, 2) else g": "f | g",
    "x = [2]; x.append(load()); f if 1 in x else g": "f | g",
    "def h(a, b):;     if a:;         if b == 1: return f;     return g; h(True, 1)": "f",
    "def h(a, b):;     if a:;         if b == 1: return f;     return g; h(True, 2)": "g",
    "def h(a, b):;     if a:;         if b == 1: return f;     return g; h(load(), 1)": "f | g",
    "def h(a, b):;     if a:;         if b == 1: return f;     return g; h(True, load())": "f | g",
    "def h(a, b):;     for _ in b:;         if a: return f;     return g; h(True, load())": "f | g",
    "def h(a, b):;     if a:;         if b == 1: return f;         elif b == 2: return g; h(True, 2)": "g",
    "def h(a, b):;     if a:;         if b == 1: return f;         elif b == 2: return g; h(True, 3)": "None",
}
#: Dict displays with the items of another: what may be any mapping may replace what stands before it.
SPREADS: dict[str, str] = {
    '{**{"a": f}, "b": g}': "{a: f, b: g}",
    '{"a": f, **{"a": g}}': "{a: g}",
    '{**{"a": g}, "a": f}': "{a: f}",
    '{"a": f, **load()}': "{a: ?a copied mapping | f, *: ?a copied mapping}",
    '{**load(), "a": f}': "{a: f, *: ?a copied mapping}",
    '{"a": f, **({"a": g} if load() else {"b": g})}': "{a: f | g, b: ?not always there | g}",
    '{**({"a": f} if load() else {})}': "{a: ?not always there | f}",
    '{**{load(): f}, "b": g}': "{b: g, *: f}",
    '{load(): f, "b": g}': "{b: g, *: f}",
    '{**{load(): f}, "b": g}["a"]': "?looked up by a key | f",
    '{**load(), "b": g}["a"]': "?a copied mapping | ?looked up by a key",
    '{**load(), "b": g}["b"]': "g",
    '{**({"a": f} if load() else load()), "b": g}': "{a: ?a copied mapping | f, b: g, *: ?a copied mapping}",
}
#: Containers of a module, which its later statements fill.
MODULE: dict[str, str] = {
    'known = {"a": f}; if load(): known["a"] = g; known': "{a: f | g}",
    'known = {"a": f}; if load(): known.update(a=g, b=g); known': "{a: f | g, b: ?not always there | g}",
    'known = {"a": f}; if __name__ == "__main__": known["a"] = g; known': "{a: g}",
    'known = {"a": f}; if None: known["a"] = g; known': "{a: f}",
    'known = {}; for name in ("a", "b"): known[name] = f; known': "{a: f, b: f}",
    'known = {"a": f}; for name in ("a", "b"): known[name] = g; known': "{a: f | g, b: g}",
    'known = {"a": f}; with load(): known["a"] = g; known': "{a: g}",
    'known = {"a": f}; known[load()] = g; known': "{a: f, *: g}",
    "steps = [f]; if load(): steps.append(g); steps": "[f, g]",
    "steps = [f]; if None: steps.append(g); steps": "[f]",
    "steps = [f]; steps.extend([g]); steps": "[f, g]",
    'known = {"a": f}; known.update({"b": g}); known': "{a: f, b: g}",
    "steps = [1]; f if steps else g": "f",
    "steps = []; f if steps else g": "f | g",
    'steps = {"a": 1}; f if steps else g': "f",
    'other = {"a": f}; known = {"a": g}; other["b"] = f; known': "{a: g}",
    "steps = [f]; steps.pop(); steps": "[f]",
}

#: What code outside a class, or further down, stores: in a function and in a module.
STORED: dict[str, str] = {
    "S.size = 2; S.size": "2 | 4",
    "S.size = 2; S().size": "2 | 4",
    "S.size = 2; T.size": "2 | 4",
    "S.size += 2; S.size": "4 | 6",
    "T.size = 2; T().size": "2 | 4",
    "T.size = 2; S.size": "4",
    "S.size == 2; S.size": "4",
    'o = S(); o.table["a"] = 2; o.table': "{a: 1 | 2}",
    "o = S(); o.table.update(b=2); o.table": "{a: 1, b: 2}",
    'o = S(); other = S(); other.table["a"] = 2; o.table': "{a: 1}",
    'd = {"a": 1}; d.setdefault("b", 2); d': "{a: 1, b: 2}",
    'd = {"a": 1}; d.setdefault("a", 2); d': "{a: 1}",
    "steps = [f]; steps[0] = g; steps": "[f | g]",
    "steps = [f, f]; steps[-1] = g; steps": "[f, f | g]",
    "steps = [f, g]; steps[load()] = 1; steps": "[1 | f, 1 | g]",
    "steps = []; steps.append(f); steps[0] = g; steps": "[f | g]",
    "steps = [f]; steps[0] = load(steps[0]); steps": "[f]",
    "steps = [f]; steps += [g]; steps.append(1); steps": "[f, g, 1]",
    "steps = [f]; steps = steps + [g]; steps.append(1); steps": "[f, g, 1]",
    "steps = [g for g in (1, 2)]; steps.append(f); steps": "[1 | 2, f]",
    'd = {"a": 1}; d |= {"b": 2}; d["a"] = 3; d': "{a: 3, b: 2}",
    'd = {"a": 1}; d = d | {"b": 2}; d["c"] = 3; d': "{a: 1, b: 2, c: 3}",
    'd = {k: 1 for k in load()}; d["a"] = 3; d': "{a: 3, *: 1}",
    'd = {"a": 1}; d["b"] = 2; d.get("b", 5)': "2",
}

#: Module-level code after a table of dicts, and what its last line may be.
TABLES: dict[str, str] = {
    'for k in d:;  if "b" not in d[k]: d[k]["b"] = None; d': "{m: {a: f, b: None}, n: {a: f, b: 2}}",
    'for k in d.keys():;  for n in "a", "b":;   if n not in d[k].keys(): d[k][n] = None; d': (
        "{m: {a: f, b: None}, n: {a: f, b: 2}}"
    ),
    'for k, v in d.items(): v["b"] = g; d': "{m: {a: f, b: g}, n: {a: f, b: g}}",
    'for v in d.values(): v.setdefault("b", None); d': "{m: {a: f, b: None}, n: {a: f, b: 2}}",
    'for v in d.values():;  if load(): v["b"] = 3; d': "{m: {a: f, b: 3 | ?not always there}, n: {a: f, b: 2 | 3}}",
    'for v in load().values(): v["b"] = None; d': "{m: {a: f}, n: {a: f, b: 2}}",
    'for k in d: d[k]["b"] = None; d[load()]["b"]': "None",
    'for k in d: d[k]["b"] = None; d[load()]["a"]': "?looked up by a key | f",
    'd[load()]["b"]': "2 | ?looked up by a key | ?no such key",
}


def shown(value: Val, model: Model) -> str:
    """What a value may be, as text; the possibilities are sorted."""
    return " | ".join(sorted(_atom(atom, model) for atom in value.atoms))


def _atom(atom: Atom, model: Model) -> str:
    match atom:
        case Literal_(_, constant, configured):
            return f"{constant!r}, {configured}" if configured else repr(constant)
        case Lib(name):
            return name
        case LibObject(name, _):
            return f"{name}()"
        case LibMember(owner, name):
            return f"{_atom(owner, model)}.{name}"
        case FunctionRef():
            return _name(atom, model)
        case ClassRef():
            return model.ev.classes.name(atom)
        case Method(function, receiver, _):
            return f"{_atom(receiver, model)}.{_atom(function, model)}"
        case Instance(cls, _):
            return f"{model.ev.classes.name(cls)}()"
        case PartialOf(func, _):
            return f"partial({_atom(func, model)})"
        case SeqOf(kind, items):
            first, last = {"list": ("[", "]"), "tuple": ("(", ")"), "set": ("{", "}")}[kind]
            return f"{first}{', '.join(shown(item, model) for item in items)}{last}"
        case MapOf(keys, values):
            pairs = zip(keys, values, strict=True)
            return f"{{{', '.join(f'{key or chr(42)}: {shown(one, model)}' for key, one in pairs)}}}"
        case Unknown(reason):
            return f"?{reason}"
    return type(atom).__name__


def evaluated(tmp_path: Path, code: str, scope: str) -> str:
    """What the last line of some code may be."""
    *before, last = code.split("; ")
    lines = [*before, f"loader = DataLoader(f, collate_fn={last})"]
    if scope == "function":
        lines = ["def main(unknown=None):", *(f"    {line}" for line in lines), "main(load())"]
    linked = link(tmp_path, "\n".join([HEAD, *lines]) + "\n")
    return shown(linked.loader().argument("collate_fn"), linked.model)


def _name(function: FunctionRef, model: Model) -> str:
    one = model.ev.code(function).one
    return one.name if one is not None else "?"


@pytest.mark.parametrize(
    "code", [*OPERATORS, *CONDITIONS, *ITEMS, *CONTAINERS, *BUILT_KEYS, *LOOPS, *CALLS, *OTHERS, *SPREADS]
)
def test_values_in_a_function(tmp_path: Path, code: str) -> None:
    expected = OPERATORS | CONDITIONS | ITEMS | CONTAINERS | BUILT_KEYS | LOOPS | CALLS | OTHERS | SPREADS
    assert evaluated(tmp_path, code, "function") == expected[code]


@pytest.mark.parametrize("code", STORED)
@pytest.mark.parametrize("scope", ["function", "module"])
def test_what_is_stored_later(tmp_path: Path, code: str, scope: str) -> None:
    assert evaluated(tmp_path, code, scope) == STORED[code]


#: What is in a dict at one time, in a function.
AT_A_TIME: dict[str, str] = {
    'd = {"a": 1}; held = d.get("b", 5); d["b"] = 2; held': "5 | ?no such key",
    'd = {"a": 1}; del d["a"]; d.get("a", 5)': "5 | ?empty mapping",
    'd = {"a": 1}; d.pop("a", None); d.get("a", 5)': "5 | ?empty mapping",
    'd = {"a": 1}; held = d.get("a", 5); del d["a"]; held': "1",
}


@pytest.mark.parametrize("code", AT_A_TIME)
def test_what_a_dict_holds_at_a_time(tmp_path: Path, code: str) -> None:
    assert evaluated(tmp_path, code, "function") == AT_A_TIME[code]


@pytest.mark.parametrize("code", [*SPREADS, *MODULE])
def test_values_of_a_module(tmp_path: Path, code: str) -> None:
    assert evaluated(tmp_path, code, "module") == (SPREADS | MODULE)[code]


@pytest.mark.parametrize("code", TABLES)
def test_values_of_a_table(tmp_path: Path, code: str) -> None:
    table = 'd = {"m": {"a": f}, "n": {"a": f, "b": 2}}; '
    assert evaluated(tmp_path, table + code, "module") == TABLES[code]
