"""What is sent to workers and cannot be pickled: which lambdas and local functions, what the fix makes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loaderlint.findings.finding import Finding, Hoist
from tests.rules.answers import answers, lines

CODE = """
import functools, multiprocessing, threading, types
from collections import defaultdict
import numpy as np, torch, torchvision
from torch.utils.data import DataLoader, Dataset, Subset
from torchvision import transforms as T
from files import load
{}
"""
CALLABLE = re.compile(r"cannot be started by spawn: (.*) is sent to them as (.*), and pickle cannot name it")
KEPT = re.compile(r"cannot be started by spawn: (.*?)(?:;|$)")


def told(found: Finding) -> str:
    """What is sent, as what it is held, and what the fix makes of it."""
    match = CALLABLE.search(found.message)
    assert match is not None, found.message
    fixes = [f"[{fix.safety}: {hoist(one)}]" for fix in found.fixes for one in fix.intents if isinstance(one, Hoist)]
    severity = ["possible"] * (found.certainty == "possible") + [found.severity.value] * (
        found.severity.value != "error"
    )
    return " ".join([*severity, match[2].replace("`", "'"), *fixes])


def hoist(one: Hoist) -> str:
    """The new function's name, and what is bound to it."""
    return ", ".join([one.name, *one.captures]) + ("" if one.returns else ", no result")


def in_function(folder: Path, code: str) -> str:
    """What is said of code in a function `main`. Module-level code stands before ` | `."""
    above, _, inside = code.rpartition(" | ")
    text = CODE.format(
        f"{lines(above)}\nclass D(Dataset):\n def __getitem__(self, i): return i\n def __len__(self): return 3\n"
    )
    body = lines(f"{inside}; loader = DataLoader(d, num_workers=2, multiprocessing_context='spawn', **o)", 1)
    found = answers(
        folder, "unpicklable-callable", f"{text}def main(n=3, m=load()):\n d, o = D(), {{}}\n{body}\nmain()\n"
    )
    return " + ".join(map(told, found.findings))


def kept(folder: Path, code: str) -> str:
    """What is said of what a dataset keeps, after module-level code that stands before ` | `: its constructor, then
    other methods after ` / `, then what the main process does with the dataset `d` after ` / `."""
    above, _, inside = code.rpartition(" | ")
    built, methods, after = (*inside.split(" / "), "", "")[:3]
    text = f"{lines(above)}\nclass D(Dataset):\n def __init__(self, x=None):\n{lines(built, 2)}\n"
    text += f" def __getitem__(self, i): return i\n{lines(methods, 1)}\n"
    text += f"def main():\n d = D()\n{lines(after or 'pass', 1)}\n"
    text += " loader = DataLoader(d, num_workers=2, multiprocessing_context='spawn')\nmain()\n"
    return " + ".join(sorted(map(told, answers(folder, "unpicklable-callable", CODE.format(text)).findings)))


#: Code of a function that gives a loader of the dataset `d` the options `o`, and what is said of it.
FUNCTIONS: dict[str, str] = {
    "o['collate_fn'] = lambda x: x": "the collate_fn [safe: collate]",
    "o['collate_fn'] = lambda x: x + 1": "the collate_fn [safe: collate]",
    "o['worker_init_fn'] = lambda x: x": "the worker_init_fn [safe: init_worker, no result]",
    "o['worker_init_fn'] = lambda x: print(x)": "the worker_init_fn [safe: init_worker, no result]",
    "o['collate_fn'] = lambda x: x + n": "the collate_fn [unsafe: collate, n]",
    "o['collate_fn'] = lambda x: x + m": "the collate_fn [unsafe: collate, m]",
    "o['collate_fn'] = lambda x: x + n + m": "the collate_fn [unsafe: collate, m, n]",
    "o['collate_fn'] = lambda x, y=3: x": "the collate_fn [safe: collate]",
    "o['collate_fn'] = lambda x, y=n: x": "the collate_fn",
    "o['collate_fn'] = lambda *x: x": "the collate_fn [safe: collate]",
    "o['collate_fn'] = lambda x: (lambda y: y + n)(x)": "the collate_fn [unsafe: collate, n]",
    "o['collate_fn'] = lambda x: (lambda y: y + x)(3)": "the collate_fn [safe: collate]",
    "o['collate_fn'] = lambda x: [n + y for y in x]": "the collate_fn [unsafe: collate, n]",
    "o['collate_fn'] = lambda x: super(x)": "the collate_fn",
    "o['collate_fn'] = lambda x: locals()": "the collate_fn",
    "o['collate_fn'] = lambda x: x.__private": "the collate_fn",
    "o['collate_fn'] = lambda x: x.__len__()": "the collate_fn [safe: collate]",
    "def f(x): return x; o['collate_fn'] = f": "the collate_fn [safe: collate]",
    "def f(x): return x + n; o['collate_fn'] = f": "the collate_fn [unsafe: collate, n]",
    "def f(x): return f(x); o['collate_fn'] = f": "the collate_fn",
    "def f(x):;  nonlocal n;  n = x;  return x; o['collate_fn'] = f": "the collate_fn",
    "def f(x):;  def g(y): return y + n;  return g(x); o['collate_fn'] = f": "the collate_fn [unsafe: collate, n]",
    "def f(x: int): return x; o['collate_fn'] = f": "the collate_fn [safe: collate]",
    "def f(x: 'int'): return x; o['collate_fn'] = f": "the collate_fn [safe: collate]",
    "def f(x: torch.Tensor): return x; o['collate_fn'] = f": "the collate_fn [safe: collate]",
    "def f(x: D): return x; o['collate_fn'] = f": "the collate_fn",
    "def f(x: list[int]): return x; o['collate_fn'] = f": "the collate_fn",
    "def f(x, y=3): return x; o['collate_fn'] = f": "the collate_fn [safe: collate]",
    "def f(x, y=[]): return x; o['collate_fn'] = f": "the collate_fn",
    "async def f(x): return x; o['collate_fn'] = f": "the collate_fn",
    "@functools.wraps(print); def f(x): return x; o['collate_fn'] = f": "the collate_fn",
    "k = 3; o['collate_fn'] = lambda x: x + k": "the collate_fn [safe: collate, k]",
    "k = 3; k = 4; o['collate_fn'] = lambda x: x + k": "the collate_fn",
    "o['collate_fn'] = lambda x: x + k; k = 3": "the collate_fn",
    "n = 4; o['collate_fn'] = lambda x: x + n": "the collate_fn",
    "for k in [1, 2]: o['collate_fn'] = lambda x: x + k": "the collate_fn [unsafe: collate, k]",
    "for k in [1, 2]:;  j = k;  o['collate_fn'] = lambda x: x + j": "the collate_fn [unsafe: collate, j]",
    "if load(): k = 3; o['collate_fn'] = lambda x: x + k": "the collate_fn [safe: collate, k]",
    "k = [1, 2]; o['collate_fn'] = lambda x: x + k": "the collate_fn [safe: collate, k]",
    "k = []; o['collate_fn'] = lambda x: x + k": "the collate_fn [safe: collate, k]",
    "k = {'a': 3}; o['collate_fn'] = lambda x: x + k": "the collate_fn [safe: collate, k]",
    "k = [load()]; o['collate_fn'] = lambda x: x + k": "the collate_fn [unsafe: collate, k]",
    "k = [threading.Lock()]; o['collate_fn'] = lambda x: x + k": "the collate_fn",
    "k = threading.Lock(); o['collate_fn'] = lambda x: x + k": "the collate_fn",
    "k = np.ones(3); o['collate_fn'] = lambda x: x + k": "the collate_fn [safe: collate, k]",
    "k = str(3); o['collate_fn'] = lambda x: x + k": "the collate_fn [safe: collate, k]",
    "k = torch.device('cpu'); o['collate_fn'] = lambda x: x + k": "the collate_fn [safe: collate, k]",
    "k = torch.nn.Linear(3, 3); o['collate_fn'] = lambda x: k(x)": "the collate_fn [unsafe: collate, k]",
    "k = D(); o['collate_fn'] = lambda x: k[x]": "the collate_fn [unsafe: collate, k]",
    "k = D; o['collate_fn'] = lambda x: k()": "the collate_fn [safe: collate, k]",
    "def g(x): return x | k = g; o['collate_fn'] = lambda x: k(x)": "the collate_fn [safe: collate, k]",
    "k = lambda x: x; o['collate_fn'] = lambda x: k(x)": "the collate_fn",
    "def k(x): return x; o['collate_fn'] = lambda x: k(x)": "the collate_fn",
    "k = np; o['collate_fn'] = lambda x: k.ones(x)": "the collate_fn",
    "k = types; o['collate_fn'] = lambda x: k.x": "the collate_fn",
    "class K:;  def __call__(self, x): return x; o['collate_fn'] = K()": "the collate_fn",
    "class K:;  def f(self, x): return x; o['collate_fn'] = K().f": "the collate_fn",
    "class K:;  @staticmethod;  def f(x): return x; o['collate_fn'] = K.f": "",
    "o['collate_fn'] = functools.partial(lambda x, y: x, y=3)": "the collate_fn [safe: collate]",
    "o['collate_fn'] = functools.partial(print, lambda x: x)": "the collate_fn [safe: collate]",
    "o['collate_fn'] = functools.partial(print, key=lambda x: x)": "the collate_fn [safe: collate]",
    "o['collate_fn'] = print": "",
    "o['collate_fn'] = load()": "",
    "def g(x): return x | o['collate_fn'] = g": "",
    "g = lambda x: x | o['collate_fn'] = g": "the collate_fn [safe: collate]",
    "g = h = lambda x: x | o['collate_fn'] = g": "the collate_fn [safe: collate]",
    "o['collate_fn'] = n": "",
    "d = Subset(d, [1]); o['collate_fn'] = lambda x: x": "the collate_fn [safe: collate]",
    "d = torchvision.datasets.FakeData(transform=lambda x: x)": "the dataset, in 'FakeData' [safe: identity]",
    "d = torchvision.datasets.FakeData(transform=T.Lambda(lambda x: x + 1))": "the dataset, in 'Lambda' [safe: add_1]",
    "d = torchvision.datasets.FakeData(transform=T.Compose([T.ToTensor(), T.Lambda(lambda x: "
    "x)]))": "the dataset, in 'Lambda' [safe: identity]",
    "d = torchvision.datasets.FakeData(transform=T.ToTensor())": "",
    "d = torchvision.datasets.FakeData(3, (3, 4, 4), 3, lambda x: x)": "the dataset, in 'FakeData' [safe: identity]",
    "d.transform = lambda x: x": "'transform' of 'D' [safe: identity]",
    "d.transform = lambda x: x + 1": "'transform' of 'D' [safe: add_1]",
    "d.table = defaultdict(lambda: 3)": "'table' of 'D', in 'defaultdict' [safe: default_value]",
    "d.table = defaultdict(list)": "",
    "d.table = defaultdict(lambda: defaultdict(int))": "'table' of 'D', in 'defaultdict' [safe: default_value]",
    "d.table = {'a': lambda x: x}": "'table' of 'D' [safe: identity]",
    "d.table = [lambda x: x]": "'table' of 'D' [safe: identity]",
    "d.table = (load(), [lambda x: x])": "'table' of 'D' [safe: identity]",
    "load().transform = lambda x: x": "",
    "d = torch.utils.data.ConcatDataset([D(), Subset(torchvision.datasets.FakeData(transform=lambda x: x), "
    "[1])])": "the dataset, in 'FakeData' [safe: identity]",
    "d, _ = torch.utils.data.random_split(torchvision.datasets.FakeData(transform=lambda x: x), "
    "[1, 2])": "the dataset, in 'FakeData' [safe: identity]",
    "class E(D):;  def __init__(self): self.f = lambda x: x | d = E()": "'self.f' of 'E' [safe: identity]",
    "class E(D):;  def __init__(self, f): self.f = f | d = E(lambda x: x)": "'self.f' of 'E' [safe: identity]",
    "class E(D):;  def __init__(self, f): self.f = f | d = E(f=lambda x: x * n)": "'self.f' of 'E' [unsafe: apply, n]",
    "class E(D): f = lambda x: x | d = E()": "",
    "class E(torchvision.datasets.FakeData): pass | "
    "d = E(transform=lambda x: x)": "an attribute of 'E' [safe: identity]",
    "class E(torchvision.datasets.FakeData):;  def __init__(self): super().__init__(transform=lambda x: x) | "
    "d = E()": "an attribute of 'E' [safe: identity]",
    "import dataclasses; @dataclasses.dataclass; class E(Dataset):;  f: object; "
    " def __getitem__(self, i): return i | d = E(lambda x: x)": "an attribute of 'E' [safe: identity]",
}
#: The constructor of a dataset, its other methods and what follows, and what is said of it.
DATASETS: dict[str, str] = {
    "self.work = lambda y: y": "'self.work' of 'D' [safe: identity]",
    "self.work = lambda y: y + 1": "'self.work' of 'D' [safe: apply_work]",
    "self._work = lambda y: y + 1": "'self._work' of 'D' [safe: apply_work]",
    "self.work = x": "",
    "self.work = lambda y: y; self.work = None": "",
    "self.work = None; self.work = lambda y: y": "'self.work' of 'D' [safe: identity]",
    "self.work = lambda y: y; del self.work": "",
    "self.work = lambda y: y; del self.g": "'self.work' of 'D' [safe: identity]",
    "x = load(); self.work = lambda y: y; del x.work": "'self.work' of 'D' [safe: identity]",
    "if load(): self.work = lambda y: y; else: self.work = None": "'self.work' of 'D' [safe: identity]",
    "self.work = [lambda y: y]": "'self.work' of 'D' [safe: identity]",
    "self.work = []; self.work.append(lambda y: y)": "'self.work' of 'D' [safe: identity]",
    "self.work = []; x = []; x.append(lambda y: y)": "",
    "self.work = {'a': lambda y: y}": "'self.work' of 'D' [safe: identity]",
    "self.work = (lambda y: y, lambda y: y "
    "+ 1)": "'self.work' of 'D' [safe: apply_work] + 'self.work' of 'D' [safe: identity]",
    "f = lambda y: y": "",
    "x.work = lambda y: y": "",
    "self.work = functools.partial(lambda y, z: y, z=3)": "'self.work' of 'D' [safe: return_first_argument]",
    "self.work = self.g / def g(self, y): return y": "",
    "self.work = lambda y: y / def __reduce__(self): return D, ()": "",
    "self.work = lambda y: y / def __reduce_ex__(self, p): return D, ()": "",
    "self.work = lambda y: y / def __getstate__(self): return {}": "",
    "self.work = lambda y: y / "
    "def __getstate__(self): return dict(self.__dict__)": "'self.work' of 'D' [safe: identity]",
    "self.work = lambda y: y / def __getstate__(self):;  s = dict(self.__dict__);  s['work'] = None;  return s": "",
    "self.work = lambda y: y / def __getstate__(self):;  s = dict(self.__dict__);  s['other'] = None; "
    " return s": "'self.work' of 'D' [safe: identity]",
    "self.work = lambda y: y / def __getstate__(self):;  s = dict(self.__dict__);  for k in s: s[k] = None; "
    " return s": "",
    "self.work = lambda y: y / def __setstate__(self, s): pass": "'self.work' of 'D' [safe: identity]",
    "self.x = x / def set(self): self.work = lambda y: y / d.set()": "'self.work' of 'D' [safe: identity]",
    "self.x = x / def set(self): self.work = lambda y: y / load().set()": "",
    "self.x = x / def set(self): self.work = lambda y: y / pass": "",
    "self.x = x / def set(self): self.work = lambda y: y / if False: d.set()": "",
    "self.x = x / def set(self, f): self.work = f / d.set(lambda y: y)": "'self.work' of 'D' [safe: identity]",
    "self.x = x / def set(self, f): self.work = f / d.set(load())": "",
    "self.x = x / def set(self, f): x.work = f / d.set(lambda y: y)": "",
    "self.x = x / pass / d.work = lambda y: y": "'work' of 'D' [safe: identity]",
    "self.x = x / pass / e = D(); e.work = lambda y: y": "",
    "self.x = x / pass / d.x = functools.partial(lambda y: y)": "'x' of 'D' [safe: identity]",
    "class A:;  def __init__(self): self.work = lambda y: y | self.a = A()": "'self.work' of 'A' [safe: identity]",
    "class A:;  def __init__(self): self.work = lambda y: y | self.a = [A()]": "'self.work' of 'A' [safe: identity]",
    "class A:;  def __init__(self, b): self.b = b | self.a = A(A(lambda y: y))": "'self.b' of 'A' [safe: identity]",
    "class A(load()):;  def __init__(self): self.work = lambda y: y | self.a = A()": "",
    "class A:;  def run(self): return 3 | self.a = A().run": "",
    "class A:;  def __init__(self): self.work = lambda y: y;  def run(self): return 3 | "
    "self.a = A().run": "'self.work' of 'A' [safe: identity]",
    "import threading; class A(threading.Thread):;  def __init__(self): self.work = lambda y: y | "
    "self.a = A()": "'self.work' of 'A' [safe: identity]",
    "class A(dict):;  def __init__(self): self.work = lambda y: y | "
    "self.a = A()": "'self.work' of 'A' [safe: identity]",
    "self.x = x / def go(self):;  self.work = lambda y: y; "
    " return DataLoader(self, num_workers=2, multiprocessing_context='spawn') / "
    "d.go()": "'self.work' of 'D' [safe: identity]",
    "self.x = x / def go(self):;  x.work = lambda y: y; "
    " return DataLoader(self, num_workers=2, multiprocessing_context='spawn') / d.go()": "",
}


@pytest.mark.parametrize("code", FUNCTIONS)
def test_what_is_made_of_a_local_function(code: str, tmp_path: Path) -> None:
    assert in_function(tmp_path, code) == FUNCTIONS[code]


@pytest.mark.parametrize("code", DATASETS)
def test_what_a_dataset_keeps(code: str, tmp_path: Path) -> None:
    assert kept(tmp_path, code) == DATASETS[code]
