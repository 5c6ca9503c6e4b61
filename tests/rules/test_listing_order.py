"""Whose order the sequence of a dataset has: that of a listed folder, sorted or not, whole or in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.facts import ir
from loaderlint.rules.shared.listing_order import ListingOrder, Order
from tests.project.linking import link

HEAD = """
import copy, glob, itertools, math, os, random
import numpy as np
import pandas as pd
from pathlib import Path
from natsort import natsorted
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm
"""
DATASET = """
class D(Dataset):
    def __init__(self, root="x", debug=False):
{}
    def __getitem__(self, index):
        return {}[index]
loader = DataLoader(D(), num_workers=2)
"""

GIVEN = """
class B(Dataset):
    def __init__(self, names, other=None):
        self.names = names
        self.others = other
    def __getitem__(self, index):
        return {}[index]
class E(B):
    def __init__(self, *a, **k): super().__init__(*a, **k)
"""
#: What the constructor does, after module-level code that ends with ` | `, and the orders of `self.names`.
NAMES: dict[str, str] = {
    "self.names = os.listdir(root)": "os.listdir",
    "self.names = os.scandir(root)": "os.scandir",
    "self.names = glob.glob(root)": "glob.glob",
    "self.names = glob.iglob(root)": "glob.iglob",
    "self.names = Path(root).iterdir()": "Path.iterdir",
    'self.names = Path(root).glob("*")': "Path.glob",
    'self.names = Path(root).rglob("*")': "Path.rglob",
    'self.names = load(root).glob("*")': "Path.glob",
    "self.names = load(root)": "",
    'self.names = ["a", "b"]': "",
    'self.names = [*os.listdir(root), "a"]': "os.listdir",
    'self.names = ["a", *sorted(os.listdir(root))]': "os.listdir, sorted",
    "self.names = list(os.listdir(root))": "os.listdir",
    "self.names = tuple(os.listdir(root))": "os.listdir",
    "self.names = np.array(os.listdir(root))": "os.listdir",
    "self.names = len(os.listdir(root))": "",
    "self.names = os.listdir(root) * 3": "os.listdir",
    "self.names = 3 * os.listdir(root)": "os.listdir",
    "self.names = os.listdir(root); self.names *= 3": "os.listdir",
    "n = os.listdir(root); n *= 3; self.names = n": "os.listdir",
    "self.names = np.tile(os.listdir(root), 3)": "os.listdir",
    "self.names = np.repeat(os.listdir(root), 3)": "os.listdir",
    "self.names = sorted(os.listdir(root) * 3)": "os.listdir, sorted",
    "self.names = sorted(os.listdir(root)) * 3": "os.listdir, sorted",
    "self.names = ['a'] * len(os.listdir(root))": "",
    # drawn with a seed, which decides about positions
    "random.seed(0); self.names = random.sample(os.listdir(root), 9)": "os.listdir, cut",
    "np.random.seed(0); self.names = np.random.choice(os.listdir(root), 9)": "os.listdir, cut",
    "self.names = random.Random(0).sample(os.listdir(root), 9)": "os.listdir, cut",
    "self.names = np.random.default_rng(0).permutation(os.listdir(root))": "os.listdir",
    "self.names = np.random.default_rng(0).permutation(os.listdir(root))[:9]": "os.listdir, cut",
    "self.names = np.random.default_rng(0).choice(sorted(os.listdir(root)), 9)": "os.listdir, sorted",
    "self.names = random.sample(os.listdir(root), 9)": "",
    "self.names = np.random.default_rng().choice(os.listdir(root), 9)": "",
    "self.names = np.random.default_rng(None).choice(os.listdir(root), 9)": "",
    "self.names = random.Random(None).sample(os.listdir(root), 9)": "",
    "self.names = np.random.default_rng(0).permutation(len(os.listdir(root)))": "",
    "self.names = copy.copy(os.listdir(root))": "os.listdir",
    "self.names = list(tqdm(os.listdir(root)))": "os.listdir",
    "self.names = list(enumerate(os.listdir(root)))": "os.listdir",
    "self.names = [n for n, x in enumerate(os.listdir(root))]": "",
    "self.names = [n % 4 + 1 for n, _ in enumerate(os.listdir(root))]": "",
    "self.names = [0 for x in os.listdir(root)]": "",
    "self.names = [(n, x) for n, x in enumerate(os.listdir(root))]": "os.listdir",
    "self.names = [x for n, x in enumerate(os.listdir(root))]": "os.listdir",
    "self.names = [pair for pair in enumerate(os.listdir(root))]": "os.listdir",
    "self.names = [x[0] for x in os.listdir(root)]": "os.listdir",
    "self.names = [os.path.join(root, x) for x in os.listdir(root)]": "os.listdir",
    "self.names = list(zip(os.listdir(root), glob.glob(root)))": "glob.glob | os.listdir",
    "self.names = list(filter(None, os.listdir(root)))": "os.listdir",
    "self.names = list(itertools.chain(os.listdir(root), glob.glob(root)))": "glob.glob | os.listdir",
    "self.names = os.listdir(root).copy()": "os.listdir",
    "self.names = np.array(os.listdir(root)).astype(str)": "os.listdir",
    "self.names = load(os.listdir(root)).head()": "",
    "self.names = load(os.listdir(root))": "",
    "self.names = sorted(os.listdir(root))": "os.listdir, sorted",
    "self.names = sorted(os.listdir(root), key=len)": "os.listdir, sorted",
    "self.names = natsorted(os.listdir(root))": "os.listdir, sorted",
    "self.names = np.sort(os.listdir(root))": "os.listdir, sorted",
    "self.names = list(sorted(os.listdir(root)))": "os.listdir, sorted",
    'self.names = sorted(["a"])': "",
    "self.names = sort_by_number(os.listdir(root))": "os.listdir, sorted",
    "self.names = os.listdir(root); self.names.sort()": "os.listdir, sorted",
    "names = os.listdir(root); names.sort(); self.names = names": "os.listdir, sorted",
    "names = os.listdir(root); other = load(); other.sort(); self.names = names": "os.listdir",
    "names = os.listdir(root); self.names = sorted(names)": "os.listdir, sorted",
    "names = os.listdir(root); names = sorted(names); self.names = names": "os.listdir, sorted",
    "self.names = os.listdir(root); self.names = sorted(self.names)": "os.listdir, sorted",
    "self.names = os.listdir(root); self.names = sorted(self.names)[:9]": "os.listdir, sorted",
    "self.names = os.listdir(root); self.names = list(self.names)": "os.listdir",
    "self.names = os.listdir(root); random.shuffle(self.names)": "",
    "self.names = os.listdir(root); np.random.shuffle(self.names)": "",
    "self.names = os.listdir(root); random.Random(0).shuffle(self.names)": "os.listdir",
    "self.names = os.listdir(root); random.Random().shuffle(self.names)": "",
    "self.names = os.listdir(root); np.random.default_rng(3).shuffle(self.names)": "os.listdir",
    "names = os.listdir(root); random.shuffle(names); self.names = names": "",
    "names = os.listdir(root); load(names); self.names = names": "os.listdir",
    "self.names = random.sample(os.listdir(root), 3)": "",
    "self.names = [x for x in os.listdir(root)]": "os.listdir",
    "self.names = list(x for x in os.listdir(root))": "os.listdir",
    "self.names = {x: 1 for x in os.listdir(root)}": "",
    "self.names = [x for x in sorted(os.listdir(root))]": "os.listdir, sorted",
    "self.names = [x for a in os.listdir(root) for x in glob.glob(a)]": "glob.glob | os.listdir",
    "self.names = {x for x in os.listdir(root)}": "set",
    "self.names = list({x for x in os.listdir(root)})": "set",
    "self.names = list(set(os.listdir(root)))": "set",
    "self.names = list(set(sorted(os.listdir(root))))": "set",
    "self.names = list(frozenset(os.listdir(root)))": "set",
    "self.names = sorted(set(os.listdir(root)))": "set, sorted",
    "self.names = list(set(load()))": "",
    "self.names = list({int(x) for x in os.listdir(root)})": "",
    "self.names = list({float(x) for x in os.listdir(root)})": "",
    "self.names = list({str(x) for x in os.listdir(root)})": "set",
    "self.names = list(set(map(int, os.listdir(root))))": "",
    "self.names = list(set(map(str, os.listdir(root))))": "set",
    "names = os.listdir(root); self.names = list({n for n, x in enumerate(names)})": "",
    "names = os.listdir(root); self.names = list(set([int(x) for x in names]))": "",
    "names = os.listdir(root); self.names = list(set([load(x) for x in names]))": "set",
    "names = os.listdir(root); self.names = list({load(x).item() for x in names})": "",
    "parts = [{int(x): 1}.keys() for x in os.listdir(root)]; "
    "self.names = list(set(itertools.chain.from_iterable(parts)))": "",
    "self.names = list({int(x) + 1 for x in os.listdir(root)})": "",
    "self.names = list({Path(root) / x for x in os.listdir(root)})": "set",
    "self.names = list({x + '.png' for x in os.listdir(root)})": "set",
    "self.names = list({x.split('_')[0] for x in os.listdir(root)})": "set",
    "self.names = list({(int(x), x) for x in os.listdir(root)})": "set",
    "parts = [{x: 1}.keys() for x in os.listdir(root)]; "
    "self.names = list(set(itertools.chain.from_iterable(parts)))": "set",
    "known = {};  for x in os.listdir(root): known[int(x)] = x; self.names = list(set([k for k in known]))": "",
    "self.names = os.listdir(root)[:9]": "os.listdir, cut",
    "self.names = os.listdir(root)[3:]": "os.listdir, cut",
    "self.names = os.listdir(root)[::2]": "os.listdir",
    "self.names = os.listdir(root)[:]": "os.listdir",
    "self.names = sorted(os.listdir(root))[:9]": "os.listdir, sorted",
    "self.names = sorted(os.listdir(root)[:9])": "os.listdir, sorted, cut",
    "names = os.listdir(root); self.names = names[:len(names)]": "os.listdir",
    "names = os.listdir(root); self.names = names[:len(root)]": "os.listdir, cut",
    "names = os.listdir(root); self.names = names[:min(len(names), math.inf)]": "os.listdir",
    'names = os.listdir(root); self.names = names[:min(float("inf"), len(names))]': "os.listdir",
    "names = os.listdir(root); self.names = names[:min(len(names), 100)]": "os.listdir, capped",
    "names = os.listdir(root); share = 1.0; self.names = names[:int(len(names) * share)]": "os.listdir",
    "names = os.listdir(root); self.names = names[0:round(1 * len(names))]": "os.listdir",
    "names = os.listdir(root); share = 0.9; self.names = names[:int(len(names) * share)]": "os.listdir, cut",
    "names = os.listdir(root); self.names = names[:int(len(names) / 1.5)]": "os.listdir, cut",
    "names = os.listdir(root); self.names = names[:int(load() * 1.0)]": "os.listdir, cut",
    "names = os.listdir(root); self.names = names[:load(len(names))]": "os.listdir, cut",
    "self.names = os.listdir(root); self.names = self.names[:int(len(self.names) * 1.0)]": "os.listdir",
    "self.names = os.listdir(root); self.names = self.names[:int(len(self.x) * 1.0)]": "os.listdir | os.listdir, cut",
    "names = os.listdir(root); most = None; self.names = names[:most]": "os.listdir",
    "names = os.listdir(root); self.names = names[0:9]": "os.listdir, cut",
    "names = os.listdir(root); self.names = names[1:len(names)]": "os.listdir, cut",
    "names = os.listdir(root); self.names = names[:int(0.8 * len(names))]": "os.listdir, cut",
    "names = os.listdir(root); self.names = names[-load():]": "os.listdir, cut",
    "self.names = os.listdir(root) + glob.glob(root)": "glob.glob | os.listdir",
    "names = []; names += os.listdir(root); self.names = names": "os.listdir",
    'names = ["a"]; names = names + sorted(os.listdir(root)); self.names = names': "os.listdir, sorted",
    "self.names = os.listdir(root) if debug else sorted(glob.glob(root))": "glob.glob, sorted",
    "self.names = load() or os.listdir(root)": "os.listdir",
    "self.names = []; self.names.extend(os.listdir(root))": "os.listdir",
    "self.names = []; self.names.extend(sorted(os.listdir(root)))": "os.listdir, sorted",
    "self.names = []; self.other.extend(os.listdir(root))": "",
    "self.names = []; load().names.extend(os.listdir(root))": "",
    "names = []; names.extend(os.listdir(root)); self.names = names": "os.listdir",
    "self.names = []; for x in os.listdir(root): self.names.append(x)": "os.listdir",
    "self.names = []; for x in sorted(os.listdir(root)): self.names.append(x)": "os.listdir, sorted",
    "names = []; for x in os.listdir(root): names.append(x); self.names = names": "os.listdir",
    "names = []; for x in os.listdir(root): names.extend(glob.glob(x)); self.names = names": "glob.glob | os.listdir",
    "names = []; for x in load(): names.append(x); self.names = names": "",
    "names = []; for x in os.listdir(root): load().append(x); self.names = names": "",
    "names = []; for x in os.listdir(root): names.append(x); names.sort(); self.names = names": "os.listdir, sorted",
    "names = []; for x in load(): [names.append(y) for y in os.listdir(x)]; self.names = names": "os.listdir",
    "names = []; files = os.listdir(root); for n in range(9): names.append(files[n]); self.names = names": "os.listdir",
    "names = []; files = os.listdir(root); for n in load(): names.append(files[n]); self.names = names": "",
    "names = []; files = sorted(os.listdir(root)); "
    "for n in range(9): names.append(files[n]); self.names = names": "os.listdir, sorted",
    "names = []; for n, x in enumerate(os.listdir(root)): (names.append(x) if n % 5 else None); "
    "self.names = names": "os.listdir, cut",
    "names = []; for n, x in enumerate(os.listdir(root)):;   if n == 9: break;   names.append(x); "
    "self.names = names": "os.listdir, cut",
    "names, most = [], load(); for n, x in enumerate(os.listdir(root)):;   if n == most: break;   names.append(x); "
    "self.names = names": "os.listdir, cut",
    "names, most = [], load() or None; for n, x in enumerate(os.listdir(root)):;   if n == most: break;   "
    "names.append(x); self.names = names": "os.listdir",
    "def some(most=None):;   names = [];   for n, x in enumerate(os.listdir(root)):;     if n == most: break;     "
    "names.append(x);   return names; self.names = some(*load())": "os.listdir",
    "def some(most=9):;   names = [];   for n, x in enumerate(os.listdir(root)):;     if n == most: break;     "
    "names.append(x);   return names; self.names = some(*load())": "os.listdir, cut",
    "names, n = [], 0; for d, s, f in os.walk(root): names.append(d); self.names = names": "os.walk",
    "names = []; for d, s, f in os.walk(root): names.extend(f); self.names = names": "os.walk",
    "names = []; for d, s, f in os.walk(root): names.extend(sorted(f)); "
    "self.names = names": "os.walk | os.walk, sorted",
    "names = []; for d, s, f in os.walk(root): s.sort() or names.extend(sorted(f)); "
    "self.names = names": "os.walk, sorted",
    "names = []; for d, s, f in os.walk(root): f.sort() or names.extend(f); "
    "self.names = names": "os.walk | os.walk, sorted",
    "names = []; for d, s, f in sorted(os.walk(root)): names.extend(f); "
    "self.names = names": "os.walk | os.walk, sorted",
    "names = []; for d, s, f in load(root): names.extend(f); self.names = names": "",
    "self.names = next(os.walk(root))[2]": "os.walk",
    "d, s, f = next(os.walk(root)); self.names = f": "os.walk",
    "d, s, f = next(iter(os.walk(root))); self.names = f": "os.walk",
    "d, s, f = next(load(root)); self.names = f": "",
    "d, s, f = load(os.walk(root)); self.names = f": "",
    "self.names = sorted(next(os.walk(root))[2])": "os.walk, sorted",
    "self.names = list(os.walk(root))": "os.walk",
    'NAMES = os.listdir("x") | self.names = NAMES': "os.listdir",
    'NAMES = sorted(os.listdir("x")) | self.names = NAMES': "os.listdir, sorted",
    'NAMES = os.listdir("x"); NAMES.sort() | self.names = NAMES': "",
    'NAMES = os.listdir("x"); random.shuffle(NAMES) | self.names = NAMES': "",
    "NAMES = load() | self.names = NAMES": "",
    'def find(): return os.listdir("x") | self.names = find()': "os.listdir",
    'def find(): return sorted(os.listdir("x")) | self.names = find()': "os.listdir, sorted",
    "def find(r): return os.listdir(r) | self.names = sorted(find(root))": "os.listdir, sorted",
    "def find(r): return r | self.names = find(os.listdir(root))": "os.listdir",
    "def find(r): yield from os.listdir(r) | self.names = list(find(root))": "os.listdir",
    "def find(r): return 1, os.listdir(r) | n, self.names = find(root)": "os.listdir",
    "def find(r): return 1, os.listdir(r) | n, m = find(root); self.names = m": "os.listdir",
    "def find(r): return os.listdir(r), 1 | n, m = find(root); self.names = m": "",
    "def find(r): return load(), sorted(os.listdir(r)) | n, m = find(root); self.names = m": "os.listdir, sorted",
    "n, m = load(); self.names = m": "",
    "find = lambda r: os.listdir(r) | self.names = find(root)": "os.listdir",
    "def find(r): return [x for x in os.listdir(r)] | self.names = find(root)": "os.listdir",
    "self.names = sort_things(load(root))": "",
    "self.names = os.listdir(root); sort_in_place(self.names)": "os.listdir, sorted",
    "self.names = os.listdir(root); load().sort(self.names)": "os.listdir, sorted",
    "self.names = os.listdir(root); sorted(self.names)": "os.listdir",
    "names = os.listdir(root); self.names = names[:2 * (len(names) - 3)]": "os.listdir, cut",
    "names = os.listdir(root); self.names = names[:-9]": "os.listdir, cut",
    "names = os.listdir(root); for n in load(): self.names = names[n:]": "os.listdir",
    "self.names = list(map(load, os.listdir(root), [1]))": "os.listdir",
    "self.names = list(reversed(os.listdir(root)))": "os.listdir",
    "self.names = os.listdir(root); self.names = self.names": "os.listdir",
    "with os.scandir(root) as it: self.names = it": "os.scandir",
    "with os.scandir(root) as it: self.names = sorted(it, key=len)": "os.scandir, sorted",
    "self.names = [(x, y) for x, y in zip(os.listdir(root), load())]": "os.listdir",
    'self.names = "".join(os.listdir(root)).split()': "",
    "self.names = list(load(os.listdir(root)))": "",
    "self.names = os.listdir(root) if load() else load()": "os.listdir",
    "self.names = not os.listdir(root)": "",
    "def find(r):;     for x in os.listdir(r): yield x | self.names = list(find(root))": "os.listdir",
    "def find(r):;     for x in sorted(os.listdir(r)): yield x | self.names = list(find(root))": "os.listdir, sorted",
    "def find(r):;     for x in load(r): yield x | self.names = list(find(root))": "",
    "names = os.listdir(root); if debug: names = names[:9]; self.names = names": "os.listdir",
    "names = os.listdir(root); if not debug: names = names[:9]; self.names = names": "os.listdir, cut",
    "names = os.listdir(root); if root: names = names[:9]; self.names = names": "os.listdir, cut",
    "names = []; files = os.listdir(root); for n in range(9): names.append(files[n]) if n > 3 else None; "
    "self.names = names": "os.listdir, cut",
    "names = []; for n, x in enumerate(load(root)): (names.append(x) if n % 5 else None); self.names = names": "",
    "names = []; if root: names = os.listdir(root); names.sort(); self.names = names": "os.listdir, sorted",
    "names = load(); if root: names = os.listdir(root); names.sort(); self.names = names": "os.listdir, sorted",
    "names = load(); if root: names = os.listdir(root); random.shuffle(names); self.names = names": "",
    # filled by a function inside of the constructor
    "names = []; def add(x): names.append(x); for x in os.listdir(root): add(x); self.names = names": "os.listdir",
    "names = []; def add(x):;   for y in os.listdir(x): names.append(y); add(root); self.names = names": "os.listdir",
    "names = []; def add(x):;   for y in sorted(os.listdir(x)): names.append(y); add(root); "
    "self.names = names": "os.listdir, sorted",
    "names = []; def add(x): names.extend(os.listdir(x)); [add(y) for y in glob.glob(root)]; "
    "self.names = names": "glob.glob | os.listdir",
    "names = []; def add(x): names.extend(os.listdir(x)); def both(): add(root); both(); "
    "self.names = names": "os.listdir",
    "names = []; def add(x): names.extend(os.listdir(x)); add(root); names.sort(); "
    "self.names = names": "os.listdir, sorted",
    "names = []; def add(x): names.extend(os.listdir(x)); def tidy(): names.sort(); add(root); tidy(); "
    "self.names = names": "os.listdir, sorted",
    "names = []; def add(x): names.extend(os.listdir(x)); def mix(): random.shuffle(names); add(root); mix(); "
    "self.names = names": "",
    "names, other = [], []; def add(x): other.extend(os.listdir(x)); add(root); self.names = names": "",
    "names = []; def add(x): names.extend(os.listdir(x)); self.names = names": "",
    "d = {}; def add(x): d.setdefault(x, []).extend(os.listdir(x)); add(root); self.names = d['a']": "os.listdir",
    "d = {}; def add(x): d.setdefault(x, []).extend(sorted(os.listdir(x))); add(root); "
    "self.names = d['a']": "os.listdir, sorted",
    "d = {}; def add(x): d.setdefault('b', []).extend(os.listdir(x)); add(root); self.names = d['a']": "",
    # one by one
    "names = []; for x in os.listdir(root): names += [x]; self.names = names": "os.listdir",
    "names = []; for x in os.listdir(root): names = names + [x]; self.names = names": "os.listdir",
    "names = []; for x in sorted(os.listdir(root)): names += [x]; self.names = names": "os.listdir, sorted",
    "names = []; for n, x in enumerate(os.listdir(root)):;   if n % 5: names += [x]; self.names = names": (
        "os.listdir, cut"
    ),
    "d = {}; for x in os.listdir(root): d[x[0]] += [x]; self.names = d['a']": "os.listdir",
    "for x in os.listdir(root):;   names = []; names += [x]; self.names = names": "",
    # by the statements of the module
    'NAMES = []; for x in os.listdir("x"): NAMES.append(x) | self.names = NAMES': "os.listdir",
    'NAMES = []; for x in os.listdir("x"): NAMES.append(x); NAMES.sort() | self.names = NAMES': "",
    'NAMES = []; for x in sorted(os.listdir("x")): NAMES.append(x) | self.names = NAMES': "os.listdir, sorted",
    'NAMES = []; for x in os.listdir("x"): load().NAMES.append(x) | self.names = NAMES': "",
    'NAMES = []; for x in os.listdir("x"): NAMES.append(x); NAMES = sorted(NAMES) | '
    "self.names = NAMES": "os.listdir, sorted",
    'NAMES = []; for x in os.listdir("x"): NAMES.append(x); NAMES = list(NAMES) | self.names = NAMES': "os.listdir",
    'NAMES = []; for x in os.listdir("x"): NAMES.append(x); NAMES = load() | self.names = NAMES': "",
    'G = {}; for x in os.listdir("x"): G[x[0]].append(x) | self.names = G["a"]': "os.listdir",
    'G = {}; for x in os.listdir("x"): G.setdefault(x[0], []).append(x) | for self.names in G.values(): pass': (
        "os.listdir"
    ),
    'G = {"a": os.listdir("x"), "b": load()} | self.names = G["b"]': "",
    'G = {}; for x in sorted(os.listdir("x")): G[x[0]].append(x) | self.names = G["a"]': "os.listdir, sorted",
    'G = {}; for x in os.listdir("x"): G[x[0]].append(x); for v in G.values(): v.sort() | self.names = G["a"]': "",
    'G = {}; for x in os.listdir("x"): G[x[0]].append(x); for v in G.values(): random.shuffle(v) | '
    'self.names = G["a"]': "",
    'G = {}; for x in os.listdir("x"): G[x[0]].append(x); for v in G.values(): random.Random(0).shuffle(v) | '
    'self.names = G["a"]': "os.listdir",
    'G = {}; for x in os.listdir("x"): G[x[0]].append(x); G = {k: sorted(v) for k, v in G.items()} | '
    'self.names = G["a"]': "os.listdir, sorted",
    'G = {"a": os.listdir("x")}; def tidy(): [v.sort() for v in G.values()] | self.names = G["a"]': "",
    'G = {"a": os.listdir("x")}; def keys(): return len(G) | self.names = G["a"]': "os.listdir",
    'NAMES = os.listdir("x"); AT = random.Random(0).sample(range(99), 9) | self.names = [NAMES[n] for n in AT]': (
        "os.listdir, cut"
    ),
    'NAMES = os.listdir("x"); AT = random.sample(range(99), 9) | self.names = [NAMES[n] for n in AT]': "",
    'NAMES = os.listdir("x"); random.Random(0).shuffle(NAMES) | self.names = NAMES': "os.listdir",
    'NAMES = os.listdir("x"); random.seed(0); random.shuffle(NAMES) | self.names = NAMES': "os.listdir",
    'NAMES = os.listdir("x"); random.shuffle(NAMES); random.seed(0) | self.names = NAMES': "",
    'random.seed(load()); NAMES = os.listdir("x"); random.shuffle(NAMES) | self.names = NAMES': "",
    'NAMES = os.listdir("x"); np.random.seed(0); random.shuffle(NAMES) | self.names = NAMES': "",
    "def set_seed(n):;   np.random.seed(n);   random.seed(n) | set_seed(0); self.names = os.listdir(root); "
    "random.shuffle(self.names)": "os.listdir",
    "def set_seed(n): np.random.seed(n) | set_seed(0); self.names = os.listdir(root); random.shuffle(self.names)": "",
    "def set_seed(n): random.seed(n) | set_seed(load()); self.names = os.listdir(root); random.shuffle(self.names)": "",
    "def set_seed(n): random.seed(n) | self.names = os.listdir(root); random.shuffle(self.names); set_seed(0)": "",
    "def set_seed(n):;   if n > load(): random.seed(n) | set_seed(0); self.names = os.listdir(root); "
    "random.shuffle(self.names)": "",
    "from transformers import set_seed | set_seed(0); self.names = os.listdir(root); "
    "np.random.shuffle(self.names)": "os.listdir",
    'def set_seed(n): random.seed(n); set_seed(0); NAMES = os.listdir("x"); random.shuffle(NAMES) | '
    "self.names = NAMES": "os.listdir",
    'NAMES = os.listdir("x"); def mix(): random.Random(0).shuffle(NAMES) | self.names = NAMES': "",
    # the rows of a table
    "t = pd.DataFrame({'a': os.listdir(root), 'b': 0}); self.names = t['a'].tolist()": "os.listdir",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t[t.b == 0].reset_index()['a'].values": "os.listdir",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t[(t.b == 0) & (t.a != '')].a": "",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t.iloc[:9]": "os.listdir, cut",
    "t = pd.DataFrame(list(zip(os.listdir(root), load()))); self.names = t.head(9)": "os.listdir, cut",
    "t = pd.Series(os.listdir(root)); self.names = t.sample(frac=1, random_state=0)": "os.listdir",
    "t = pd.Series(os.listdir(root)); self.names = t.sample(frac=0.5, random_state=0)": "os.listdir, cut",
    "t = pd.Series(os.listdir(root)); self.names = t.sample(9, random_state=0)": "os.listdir, cut",
    "t = pd.Series(os.listdir(root)); self.names = t.sample(frac=1)": "",
    "t = pd.Series(os.listdir(root)); self.names = t.sample(frac=1, random_state=None)": "",
    "t = pd.Series(os.listdir(root)); t.sample(frac=1); self.names = t": "os.listdir",
    "t = pd.Series(sorted(os.listdir(root))); self.names = t.sample(9, random_state=0)": "os.listdir, sorted",
    "t = pd.DataFrame({'a': os.listdir(root)}); t = t.sort_values('a'); self.names = t[:9]": "",
    "t = pd.DataFrame({'a': os.listdir(root)}); t.sort_values('a', inplace=True); self.names = t": "os.listdir, sorted",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t.merge(load())": "os.listdir",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t.merge(load(), how='outer')": "",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t.merge(load(), how=how)": "",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t.merge(load(), 'right')": "",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t[['a']]": "os.listdir",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t[t.a.isin(load())]": "os.listdir",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = t[load().index('a')]": "",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = pd.merge(t, load(), on='a')": "os.listdir",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = pd.merge(load(), t, on='a')": "",
    "t = pd.DataFrame({'a': os.listdir(root)}); self.names = pd.merge(t, load(), 'right')": "",
    "t = pd.read_csv(root); os.listdir(root); self.names = t[:9]": "",
    # at chosen positions
    "names = os.listdir(root); for a, b in KFold(5, shuffle=True, random_state=0).split(names): "
    "self.names = [names[n] for n in a]": "os.listdir, cut",
    "names = os.listdir(root); for k, (a, b) in enumerate(KFold(5).split(names)): "
    "self.names = [(names[n], n) for n in b]": "os.listdir, cut",
    "names = os.listdir(root); a, b = next(ShuffleSplit(random_state=0).split(names)); "
    "self.names = np.array(names)[a]": "os.listdir, cut",
    "names = os.listdir(root); parts = list(KFold(5).split(names)); a, b = parts[0]; self.names = []; "
    "for n in a: self.names.append(names[n])": "os.listdir, cut",
    "names = sorted(os.listdir(root)); for a, b in KFold(5).split(names): "
    "self.names = [names[n] for n in a]": "os.listdir, sorted",
    "names = os.listdir(root); for a, b in KFold(5, shuffle=True).split(names): self.names = [names[n] for n in a]": "",
    "names = os.listdir(root); for a, b in ShuffleSplit(5).split(names): self.names = [names[n] for n in a]": "",
    "names = os.listdir(root); for a, b in ShuffleSplit(5, random_state=None).split(names): "
    "self.names = [names[n] for n in a]": "",
    "names = os.listdir(root); for a, b in GroupKFold(5).split(names, load(), load()): "
    "self.names = [names[n] for n in a]": "",
    "names = os.listdir(root); order = np.random.default_rng(0).permutation(len(names)); "
    "self.names = [names[n] for n in order[:9]]": "os.listdir, cut",
    "names = os.listdir(root); order = np.random.permutation(len(names)); "
    "self.names = [names[n] for n in order[:9]]": "",
    "names = os.listdir(root); self.names = [names[n] for n in load()]": "",
    "names = os.listdir(root); self.names = names[load()]": "",
    # from a dict
    "d = {}; for x in os.listdir(root): d[x[0]].append(x); self.names = d['a']": "os.listdir",
    "d = {}; for x in os.listdir(root): d[x[0]].append(x); for self.names in d.values(): pass": "os.listdir",
    "d = {}; for x in os.listdir(root): d[x[0]].append(x); for k, self.names in d.items(): pass": "os.listdir",
    "d = {}; for x in os.listdir(root): d[x[0]].append(x); for self.names, v in d.items(): pass": "",
    "d = {}; for x in os.listdir(root): d[x[0]].append(x); "
    "for n, self.names in enumerate(list(d.values())): pass": "os.listdir",
    "d = {}; for x in os.listdir(root): d[x[0]].append(x); "
    "for n, (k, self.names) in enumerate(sorted(d.items())): pass": "os.listdir",
    "d = {}; for x in os.listdir(root): d.setdefault(x[0], []).append(x); self.names = d.get('a')": "os.listdir",
    "d = {}; for x in os.listdir(root): d[x[0]].append(x); self.names = dict(d).pop('a')": "os.listdir",
    "d = {}; for x in os.listdir(root): d[x[0]].append(x); self.names = d.copy()['a']": "os.listdir",
    "d = {'a': os.listdir(root), 'b': []}; self.names = d['b']": "",
    "d = {'a': os.listdir(root), 'b': []}; self.names = d['a'][:9]": "os.listdir, cut",
    "d = {'a': os.listdir(root)}; d['a'].sort(); self.names = d['a']": "os.listdir, sorted",
    "d = {'a': os.listdir(root)}; d['b'].sort(); self.names = d['a']": "os.listdir",
    "d = {'a': os.listdir(root)}; d['a'] = sorted(d['a']); self.names = d['a']": "os.listdir, sorted",
    "d = {'a': os.listdir(root)}; for k in d: d[k] = sorted(d[k]); self.names = d['a']": "os.listdir, sorted",
    "d = {'a': os.listdir(root)}; for k, v in d.items(): v.sort(); self.names = d['a']": "os.listdir, sorted",
    "d = {'a': os.listdir(root)}; for v in d.values(): random.shuffle(v); self.names = d['a']": "",
    "d = {'a': os.listdir(root)}; for v in d.values(): random.Random(0).shuffle(v); self.names = d['a']": "os.listdir",
    "d = {x: os.listdir(x) for x in load()}; d = {k: sorted(v) for k, v in d.items()}; "
    "self.names = d['a']": "os.listdir, sorted",
    "d = {}; d[load()] = os.listdir(root); self.names = d['a']": "os.listdir",
    "d = {}; d['b'] = os.listdir(root); self.names = d['a']": "",
    "d = load(); self.names = d['a']": "",
    "d = {}; for x in load(): d[x[0]].append(x); self.names = d['a']": "",
    "def find(d): return d['a'] | self.names = find({'a': os.listdir(root)})": "os.listdir",
    "def find(r): return {'a': os.listdir(r)} | self.names = find(root)['a']": "os.listdir",
    "def find(r): return {'a': os.listdir(r)} | d = find(root); d['a'].sort(); "
    "self.names = d['a']": "os.listdir, sorted",
    "for files in {'a': os.listdir(root)}.values(): self.names = files[: len(files) // 2]": "os.listdir, cut",
    "for files in {'a': os.listdir(root)}.values(): self.names = files[: load(files) // 2]": "os.listdir",
    # in branches that known arguments never enter
    "table = root + 'x.csv'; names = load(table); if table is None: names = os.listdir(root); self.names = names": "",
    "table = f'{root}.csv'; self.names = load(table) if table is not None else os.listdir(root)": "",
    "table = [root]; self.names = os.listdir(root) if table is None else load(table)": "",
    "table = lambda: root; self.names = load(table) if table is not None else sorted(os.listdir(root))": "",
    "table = load(); names = load(table); if table is None: names = os.listdir(root); self.names = names": "os.listdir",
    "table = None; names = load(table); if table is None: names = os.listdir(root); self.names = names": "os.listdir",
    "table = load() or None; self.names = load(table) if table is not None else os.listdir(root)": "os.listdir",
}
#: The same, and what the sample takes an item of.
KEPT: dict[tuple[str, str], str] = {
    ('self.names = {"a": os.listdir(root)}', 'self.names["a"]'): "os.listdir",
    ('self.names = {"a": sorted(os.listdir(root))}', 'self.names["a"]'): "os.listdir, sorted",
    ('self.names = {"a": os.listdir(root), "b": load()}', 'self.names["b"]'): "",
    ('self.names = {"a": os.listdir(root), "b": sorted(glob.glob(root))}', 'self.names["b"]'): "glob.glob, sorted",
    (
        'self.names = {"a": os.listdir(root), "b": sorted(glob.glob(root))}',
        "self.names[self.part]",
    ): "glob.glob, sorted | os.listdir",
    ("self.names = {load(): os.listdir(root)}", 'self.names["b"]'): "os.listdir",
    ('self.names = {}; self.names["a"] = os.listdir(root)', 'self.names["a"]'): "os.listdir",
    ('self.names = {}; self.names["a"] = os.listdir(root)', 'self.names["b"]'): "",
    ('self.names = {}; self.names["a"] = os.listdir(root); self.names["a"].sort()', 'self.names["a"]'): "",
    ('self.names = {}; self.names["a"] = os.listdir(root); random.shuffle(self.names["a"])', 'self.names["a"]'): "",
    (
        'self.names = {}; self.names["a"] = os.listdir(root); self.names["a"] = sorted(self.names["a"])',
        'self.names["a"]',
    ): "",
    ('self.names = {}; self.other["a"] = os.listdir(root)', 'self.names["a"]'): "",
    ('self.names = load(); self.other = {"a": os.listdir(root)}', 'self.names["a"]'): "",
    ('class A: pass | self.a = A(); self.a.names = {"a": os.listdir(root)}', 'self.a.names["a"]'): "",
    ("self.names = {}; for x in os.listdir(root): self.names[x[0]].append(x)", 'self.names["a"]'): "os.listdir",
    (
        "self.names = {}; for x in os.listdir(root): self.names.setdefault(x[0], []).append(x)",
        "self.names[index]",
    ): "os.listdir",
    (
        "self.names = {}; for x in os.listdir(root): self.names[x[0]].append(x); "
        "for each in self.names.values(): each.sort()",
        'self.names["a"]',
    ): "",
    (
        "self.names = os.listdir(root); self.a, self.b = next(KFold(5).split(self.names))",
        "[self.names[n] for n in self.a]",
    ): "os.listdir, cut",
    ("self.names = os.listdir(root); self.a = random.Random(0).sample(range(99), 9)", "self.names[self.a]"): (
        "os.listdir, cut"
    ),
    ("self.names = os.listdir(root); self.a = random.sample(range(99), 9)", "self.names[self.a]"): "",
    ("self.names = os.listdir(root)", "self.names[0]"): "",
    ("self.names = os.listdir(root)", "self.missing"): "",
    ("self.names = os.listdir(root)", "self.names[:9]"): "os.listdir, cut",
    ("self.names = os.listdir(root)", "sorted(self.names)"): "os.listdir, sorted",
    ("self.names = os.listdir(root)", "list(self.names)"): "os.listdir",
}
#: How a dataset is made that keeps its arguments, and what the sample takes an item of.
PASSED: dict[tuple[str, str], str] = {
    ('d = B(os.listdir("x"))', "self.names"): "os.listdir",
    ('d = B(sorted(os.listdir("x")))', "self.names"): "os.listdir, sorted",
    ('d = B(names=os.listdir("x"))', "self.names"): "os.listdir",
    ('d = B(load(), os.listdir("x"))', "self.names"): "",
    ('d = B(load(), os.listdir("x"))', "self.others"): "os.listdir",
    ('d = B(os.listdir("x"))', "self.others"): "",
    ('d = B(load(), other=glob.glob("x"))', "self.others"): "glob.glob",
    ("d = B(*load())", "self.names"): "",
    ('d = B(*os.listdir("x"))', "self.names"): "",
    ('d = B(os.listdir("x"), **load())', "self.names"): "os.listdir",
    ('d = E(os.listdir("x"))', "self.names"): "os.listdir",
    ('d = E(names=os.listdir("x"))', "self.names"): "os.listdir",
    ('found = os.listdir("x"); d = B(found)', "self.names"): "os.listdir",
    ('found = os.listdir("x"); found.sort(); d = B(found)', "self.names"): "",
    ('found = os.listdir("x"); d = B(found[:9])', "self.names"): "os.listdir, cut",
    ('def make(r): return B(r) | d = make(os.listdir("x"))', "self.names"): "os.listdir",
    (
        'class T(B):;     def __init__(self, t=""):;         names = load() if t is not None else os.listdir("")'
        ';         self.names = [n for n in names if n] | d = T("x" + load())',
        "self.names",
    ): "",
    (
        'class T(B):;     def __init__(self, t=""):;         names = load() if t is not None else os.listdir("")'
        ";         self.names = [n for n in names if n] | d = T(load())",
        "self.names",
    ): "os.listdir",
    ('def make(r): return B(os.listdir(r)) | d = make("x")', "self.names"): "os.listdir",
    # what the caller of a function does to the list that it passes
    (
        'def make(r): return B(r); def main():;     found = os.listdir("x");     found.sort();     return make(found)'
        " | d = main()",
        "self.names",
    ): "os.listdir, sorted",
    (
        "def keep(r):;     kept = [];     for n, x in enumerate(r): kept.append(n);     return kept; "
        'def main():;     found = os.listdir("x");     found.sort();     return B(keep(r=found)) | d = main()',
        "self.names",
    ): "os.listdir, sorted",
    (
        "def make(r): return B(r); def main():;     found = os.listdir('x');     random.shuffle(found)"
        ";     return make(found) | d = main()",
        "self.names",
    ): "",
    (
        'def make(r): return B(r); def main():;     found = os.listdir("x");     other = load();     other.sort()'
        ";     return make(found) | d = main()",
        "self.names",
    ): "os.listdir",
    (
        "def make(r): return B(r); def listed(): return os.listdir('x'); def main():;     found = listed()"
        ";     found.sort();     return make(found); def other(): return make(listed()) | d = main(); other()",
        "self.names",
    ): "os.listdir",
    ('def make(r): return B(r) | found = os.listdir("x"); found.sort(); d = make(found)', "self.names"): "",
}


def shown(order: Order) -> str:
    """'os.listdir, sorted', 'glob.glob, cut'."""
    return ", ".join([order.listing.how, *["sorted"] * order.sorted, *["cut"] * order.cut, *["capped"] * order.capped])


def orders(tmp_path: Path, code: str, kept: str = "self.names") -> str:
    """The orders of what the dataset keeps, after the statements of its constructor. What stands before ` | ` is
    module-level code."""
    above, _, inside = code.rpartition(" | ")
    body = "\n".join(f"        {line}" for line in inside.split("; "))
    return orders_in(tmp_path, lines_of(above) + DATASET.format(body, kept))


def lines_of(code: str) -> str:
    """Module-level code, a statement a line."""
    return "\n".join(code.split("; "))


def orders_in(tmp_path: Path, code: str) -> str:
    """The orders of the sequence that the dataset's sample is an item of."""
    model = link(tmp_path, f"{HEAD}{code}").model
    frame = next(one for one in model.reached if model.label(one).endswith(".__getitem__"))
    item = next(step.value for _, step in model.steps(frame) if isinstance(step, ir.Return))
    e = model.ev.expr(frame, item)
    assert isinstance(e, ir.Index)
    return " | ".join(sorted(map(shown, ListingOrder(model).of(e.base, frame))))


@pytest.mark.parametrize("code", NAMES)
def test_the_order_of_names(tmp_path: Path, code: str) -> None:
    assert orders(tmp_path, code) == NAMES[code]


@pytest.mark.parametrize(("code", "kept"), KEPT)
def test_the_order_of_what_is_kept(tmp_path: Path, code: str, kept: str) -> None:
    assert orders(tmp_path, code, kept) == KEPT[code, kept]


@pytest.mark.parametrize(("code", "kept"), PASSED)
def test_the_order_of_what_is_passed(tmp_path: Path, code: str, kept: str) -> None:
    above, _, made = code.rpartition(" | ")
    module = f"{lines_of(above)}{GIVEN.format(kept)}{lines_of(made)}\nloader = DataLoader(d, num_workers=2)\n"
    assert orders_in(tmp_path, module) == PASSED[code, kept]
