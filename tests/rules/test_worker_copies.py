"""Generators and handles that workers get copies of: which are reported, and what the fix makes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loaderlint.findings.finding import Finding, InsertMethod, InsertStatement, ReplaceAttributeUses
from tests.rules.answers import answers, lines

CODE = """
import gzip, random, threading, zipfile
import h5py, lmdb, numpy as np, torch
from torch.utils.data import DataLoader, Dataset
{}
class D(Dataset):
 def __init__(self, path="x", seed=3, on=False):
  self.path, self.seed = path, seed
{}
{}
{}
"""
LOADER = "loader = DataLoader(D(), num_workers=2, multiprocessing_context='fork')"


def project(code: str) -> str:
    """A dataset: module-level code stands before ` | `, the constructor's before ` / `, then its methods, and what
    follows the class after ` ~ `, where that is not a loader alone."""
    inside, _, after = code.partition(" ~ ")
    above, _, inside = inside.rpartition(" | ")
    built, _, methods = inside.rpartition(" / ")
    return CODE.format(lines(above), lines(built or "pass", 2), lines(methods, 1), lines(after or LOADER))


def fixed(found: Finding) -> str:
    """What the fixes do: the methods that they insert, with the seeds in them, what they store, the uses that they
    replace."""
    told = []
    for fix in found.fixes:
        parts = []
        for one in fix.intents:
            if isinstance(one, InsertMethod):
                seeds = re.findall(r" seed = (.*)", one.source)
                parts.append(" ".join([one.name, *seeds]))
            elif isinstance(one, InsertStatement):
                parts.append(one.source)
            elif isinstance(one, ReplaceAttributeUses):
                parts.append(f"uses of {one.attribute}")
        told.append(f"[{fix.safety}: {'; '.join(parts)}]")
    return " ".join([*["possible"] * (found.certainty == "possible"), found.severity.value, *told])


def said(folder: Path, rule: str, code: str) -> str:
    """What a rule says of a dataset."""
    found = answers(folder, rule, project(code))
    reasons = dict.fromkeys(one.reason.partition(": `")[0] for one in found.silences)
    return " + ".join(sorted(map(fixed, found.findings))) or ", ".join(reasons).replace("`", "'")


def generator(folder: Path, code: str) -> str:
    """What is said of a generator that samples draw from."""
    return said(folder, "shared-generator", code)


def handle(folder: Path, code: str) -> str:
    """What is said of a handle that samples read."""
    return said(folder, "handle-across-workers", code)


#: The constructor, after ` / ` the methods of a dataset, and what is said of its generator.
GENERATORS: dict[str, str] = {
    "self.rng = np.random.default_rng() / "
    "def __getitem__(self, i): return "
    "self.rng.random()": "error [safe: _get_rng {torch}.randint(2**63 - 1, ()).item(); uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return "
    "self.rng.random()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(seed) / "
    "def __getitem__(self, i): return "
    "self.rng.random()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(seed=3) / "
    "def __getitem__(self, i): return "
    "self.rng.random()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.RandomState() / "
    "def __getitem__(self, i): return "
    "self.rng.rand()": "error [safe: _get_rng [self.rng.randint(2**31), fresh]; uses of rng]",
    "self.rng = np.random.RandomState(3) / "
    "def __getitem__(self, i): return "
    "self.rng.rand()": "error [safe: _get_rng [self.rng.randint(2**31), fresh]; uses of rng]",
    "self.rng = random.Random() / "
    "def __getitem__(self, i): return "
    "self.rng.random()": "error [safe: _get_rng self.rng.getrandbits(63) ^ fresh; uses of rng]",
    "self.rng = random.Random(3) / "
    "def __getitem__(self, i): return "
    "self.rng.random()": "error [safe: _get_rng self.rng.getrandbits(63) ^ fresh; uses of rng]",
    "self.rng = torch.Generator() / "
    "def __getitem__(self, i): return torch.rand(3, "
    "generator=self.rng)": "error [safe: _get_rng {torch}.randint(2**63 - 1, ()).item(); uses of rng; __getstate__]",
    "self.rng = torch.Generator().manual_seed(3) / "
    "def __getitem__(self, i): return torch.rand(3, "
    "generator=self.rng)": "error [safe: _get_rng hash((3, fresh)); uses of rng; __getstate__]",
    "self.rng = torch.Generator().manual_seed(seed) / "
    "def __getitem__(self, i): return torch.rand(3, generator=self.rng)": (
        "error [safe: self._rng_seed = seed; _get_rng hash((self._rng_seed or 0, fresh)); uses of rng; __getstate__]"
    ),
    "self.rng = torch.Generator(); self.rng.manual_seed(3) / "
    "def __getitem__(self, i): return torch.rand(3, "
    "generator=self.rng)": "error [safe: _get_rng hash((3, fresh)); uses of rng; __getstate__]",
    "self.rng = torch.Generator() / def __getstate__(self): return {}; "
    "def __getitem__(self, i): return torch.rand(3, generator=self.rng)": "error",
    "self.rng = torch.Generator() / def seed(self): self.rng.manual_seed(3); "
    "def __getitem__(self, i): return torch.rand(3, generator=self.rng)": (
        "error [safe: _get_rng hash((self.rng.initial_seed(), fresh)); uses of rng; __getstate__; __setstate__]"
    ),
    "self._rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return "
    "self._rng.random()": "error [safe: _get_rng [self._rng.integers(2**32), fresh]; uses of _rng]",
    "self.rng = load() / def __getitem__(self, i): return self.rng.random()": "",
    "self.rng = np.random.default_rng(3) / def __getitem__(self, i): return 3": "",
    "self.rng = np.random.default_rng(3) / def __getitem__(self, i): return self.rng.bit_generator": "",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() + "
    "self.rng.normal()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def draw(self): return "
    "self.rng.random(); def "
    "__getitem__(self, i): return self.draw()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def reset(self): self.rng = np.random.default_rng(4); "
    "def __getitem__(self, i): return self.rng.random()": (
        "error [safe: _get_rng [self.rng.integers(2**32), fresh]; "
        "uses of rng] + error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]"
    ),
    "self.rng = np.random.default_rng(3) / def reset(self): self.rng = load(); "
    "def __getitem__(self, i): return self.rng.random()": "error",
    "self.rng = np.random.default_rng(3) / "
    "def peek(self): return self.rng; "
    "def __getitem__(self, i): return "
    "self.rng.random()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / def __getitem__(self, i):; "
    " self.rng = np.random.default_rng(i);  return self.rng.random()": (
        "worker code creates it anew, or gives it a new seed, the generator is made in the worker"
    ),
    "self.rng = np.random.default_rng(3) / def __getitem__(self, i):;  rng = self.rng; "
    " return rng.random()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / def __getitem__(self, i): return load(self.rng)": "",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return np.random.default_rng(i).random()": "the generator is made in the worker",
    "self.rng = None / def __getitem__(self, i):;  if self.rng is None: self.rng = np.random.default_rng(); "
    " return self.rng.random()": "the generator is made in the worker",
    "self.rng = None / def __getitem__(self, i):;  if self.rng is None: self.rng = np.random.default_rng(3); "
    " return self.rng.random()": "the generator is made in the worker",
    "if on: self.rng = np.random.default_rng(3); "
    "else: self.rng = np.random.default_rng(4) / "
    "def __getitem__(self, i): return "
    "self.rng.random()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "if load(): self.rng = np.random.default_rng(3); else: self.rng = random.Random(3) / "
    "def __getitem__(self, i): return self.rng.random()": "error + error",
    "self.a = np.random.default_rng(3); self.b = np.random.default_rng(4) / "
    "def __getitem__(self, i): return self.a.random() + self.b.random()": (
        "error [safe: _get_a [self.a.integers(2**32), fresh]; uses of a; "
        "_get_b [self.b.integers(2**32), fresh]; "
        "uses of b] + error [safe: _get_a [self.a.integers(2**32), fresh]; uses of a; "
        "_get_b [self.b.integers(2**32), fresh]; uses of b]"
    ),
    "self.a = self.b = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.a.random() + self.b.random()": "error",
    "self.a = [np.random.default_rng(3)] / def __getitem__(self, i): return self.a[0].random()": "error",
    "self.a = {'x': np.random.default_rng(3)} / def __getitem__(self, i): return self.a['x'].random()": "error",
    "rng = np.random.default_rng(3); "
    "self.rng = rng / def __getitem__(self, i): "
    "return self.rng.random()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "RNG = np.random.default_rng(3) | def __getitem__(self, i): return RNG.random()": "error [safe: ]",
    "RNG = random.Random(3) | def __getitem__(self, i): return RNG.random()": "error [safe: ]",
    "RNG = torch.Generator() | def __getitem__(self, i): return torch.rand(3, generator=RNG)": "error [safe: ]",
    "class T:;  def __init__(self): self.rng = "
    "np.random.default_rng(3); "
    " def __call__(self): return self.rng.random() | "
    "self.t = T() / def __getitem__(self, i): return "
    "self.t()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "class T:;  rng = np.random.default_rng(3); "
    " def __call__(self): return self.rng.random() | "
    "self.t = T() / def __getitem__(self, i): return "
    "self.t()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "class T(load()):;  def __init__(self): self.rng = "
    "np.random.default_rng(3); "
    " def __call__(self): return self.rng.random() | "
    "self.t = T() / def __getitem__(self, i): return "
    "self.t()": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "class T:;  __slots__ = ('rng',);  def __init__(self): self.rng = np.random.default_rng(3); "
    " def __call__(self): return self.rng.random() | self.t = T() / def __getitem__(self, i): return self.t()": "error",
    "def draw(rng): return rng.random() | "
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return "
    "draw(self.rng)": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "def draw(d): return d.rng.random() | self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return draw(self)": "error",
    "self.rng = np.random.default_rng(3) / def __getitem__(self, i): return self.rng.random() ~ class E(D): pass; "
    "loader = DataLoader(E(), num_workers=2)": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ "
    "class E(D):;  def __getitem__(self, i): return "
    "self.rng.normal(); loader = DataLoader(E(), "
    "num_workers=2)": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng; uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ loader = DataLoader(D(), "
    "num_workers=0)": "no workers (num_workers=0)",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ loader = DataLoader(D(), "
    "num_workers=1)": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ loader = DataLoader(D(), "
    "num_workers=load())": "possible warning [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ loader = DataLoader(D(), num_workers=2, "
    "worker_init_fn=load())": "what its worker_init_fn does is not known",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ "
    "def init(n): "
    "torch.utils.data.get_worker_info().dataset.rng = "
    "np.random.default_rng(n); "
    "loader = DataLoader(D(), num_workers=2, "
    "worker_init_fn=init)": "its worker_init_fn gives the dataset's generator a new state",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ def init(n): "
    "np.random.seed(n); loader = DataLoader(D(), num_workers=2, "
    "worker_init_fn=init)": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ d = D(); print(d.rng); "
    "loader = DataLoader(d, num_workers=2)": "error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]",
    "self.rng = np.random.default_rng(3) / "
    "def __getitem__(self, i): return self.rng.random() ~ d = D(); "
    "d.rng = np.random.default_rng(4); loader = DataLoader(d, num_workers=2)": (
        "error [safe: _get_rng [self.rng.integers(2**32), fresh]; "
        "uses of rng] + error [safe: _get_rng [self.rng.integers(2**32), fresh]; uses of rng]"
    ),
}
#: The constructor, after ` / ` the methods of a dataset, and what is said of its handle.
HANDLES: dict[str, str] = {
    "self.f = open(path) / "
    "def __getitem__(self, i): return "
    "self.f.read()": "error [unsafe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = open(path, 'rb') / "
    "def __getitem__(self, i): return "
    "self.f.read()": "error [unsafe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = open(self.path) / "
    "def __getitem__(self, i): return "
    "self.f.read()": "error [unsafe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = open(load()) / "
    "def __getitem__(self, i): return "
    "self.f.read()": "error [unsafe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = gzip.open(path) / "
    "def __getitem__(self, i): return "
    "self.f.read()": "error [unsafe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = zipfile.ZipFile(path) / "
    "def __getitem__(self, i): return "
    "self.f.read('a')": "error [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return "
    "self.f['x'][i]": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path, 'r') / "
    "def __getitem__(self, i): return "
    "self.f['x'][i]": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path)['x'] / def __getitem__(self, i): return self.f[i]": "warning",
    "self.f = h5py.File(path); self.x = self.f['x'] / def __getitem__(self, i): return self.x[i]": "warning",
    "self.f = lmdb.open(path) / def __getitem__(self, i): return self.f.begin()": "warning",
    "self.f = lmdb.open(path).begin() / def __getitem__(self, i): return self.f.get(i)": "warning",
    "self._f = h5py.File(path) / "
    "def __getitem__(self, i): return "
    "self._f['x'][i]": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of _f; __getstate__]",
    "self.f = load(path) / def __getitem__(self, i): return self.f.read()": "",
    "self.f = None / def __getitem__(self, i):;  if self.f is None: self.f = h5py.File(self.path); "
    " return self.f['x'][i]": "the worker opens it, and the main process reads no sample before",
    "self.f = None / def __getitem__(self, i):;  self.f = h5py.File(self.path); "
    " return self.f['x'][i]": "the worker opens it, and the main process reads no sample before",
    "def __getitem__(self, i):;  f = h5py.File(self.path); "
    " return f['x'][i]": "the worker opens it, and the main process reads no sample before",
    "def __getitem__(self, i):; "
    " with h5py.File(self.path) as f: return "
    "f['x'][i]": "the worker opens it, and the main process reads no sample before",
    "self.f = h5py.File(path) / def __getitem__(self, i): return 3": "",
    "self.f = h5py.File(path) / "
    "def __len__(self): return "
    "len(self.f['x']); def __getitem__(self, "
    "i): return self.f['x'][i]": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path); "
    "self.n = len(self.f['x']) / "
    "def __getitem__(self, i): return "
    "self.f['x'][i]": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path); self.f.close() / def __getitem__(self, i): return self.f['x'][i]": (
        "the main process no longer holds it when the workers start, the worker opens it, and the main "
        "process reads no sample before"
    ),
    "self.f = h5py.File(path); self.f = None / def __getitem__(self, i): return self.f['x'][i]": (
        "the main process no longer holds it when the workers start, the worker opens it, and the main "
        "process reads no sample before"
    ),
    "self.f = h5py.File(path); del self.f / def __getitem__(self, i): return self.f['x'][i]": (
        "the main process no longer holds it when the workers start, the worker opens it, and the main "
        "process reads no sample before"
    ),
    "with h5py.File(path) as f: self.f = f / def __getitem__(self, i): return self.f['x'][i]": "warning",
    "with h5py.File(path) as f: self.x = f['x'][:] / def __getitem__(self, i): return self.x[i]": "",
    "self.f = h5py.File(path) if on else None / def __getitem__(self, i): return self.f['x'][i]": "",
    "if load(): self.f = h5py.File(path); else: self.f = open(path) / "
    "def __getitem__(self, i): return self.f['x'][i]": "error + warning",
    "self.f = [h5py.File(path)] / def __getitem__(self, i): return self.f[0]['x'][i]": "warning",
    "self.f = {'a': h5py.File(path)} / def __getitem__(self, i): return self.f['a']['x'][i]": "warning",
    "self.a = h5py.File(path); self.b = h5py.File(path) / "
    "def __getitem__(self, i): return self.a['x'][i] + self.b['x'][i]": (
        "warning [safe: self._a_pid = {os}.getpid(); _get_a; uses of a; self._b_pid = {os}.getpid(); "
        "_get_b; uses of b; __getstate__] + warning [safe: self._a_pid = {os}.getpid(); _get_a; "
        "uses of a; self._b_pid = {os}.getpid(); _get_b; uses of b; __getstate__]"
    ),
    "self.f = h5py.File(path) / def open(self): self.f = h5py.File(self.path); "
    "def __getitem__(self, i): return self.f['x'][i]": "warning",
    "self.f = h5py.File(path) / def __getstate__(self): return {}; "
    "def __getitem__(self, i): return self.f['x'][i]": "warning",
    "self.f = h5py.File(path) / "
    "def close(self): self.f.close(); "
    "def __getitem__(self, i): return "
    "self.f['x'][i]": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def read(self, i): return self.f['x'][i]; "
    "def __getitem__(self, i): return "
    "self.read(i)": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "F = h5py.File('x') | def __getitem__(self, i): return F['x'][i]": "warning",
    "F = open('x') | def __getitem__(self, i): return F.read()": "error",
    "class R:;  def __init__(self, path): self.f = "
    "h5py.File(path);  def read(self, i): return self.f['x'][i] | "
    "self.r = R(path) / def __getitem__(self, i): return "
    "self.r.read(i)": "warning [safe: self._f_pid = {os}.getpid()\nself._path = path; _get_f; uses of f; __getstate__]",
    "class R(load()):;  def __init__(self, path): self.f = "
    "h5py.File(path);  def read(self, i): return self.f['x'][i] | "
    "self.r = R(path) / def __getitem__(self, i): return "
    "self.r.read(i)": "warning [safe: self._f_pid = {os}.getpid()\nself._path = path; _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ loader = DataLoader(D(), "
    "num_workers=0)": "no workers (num_workers=0), the worker opens it, and the main process reads no sample before",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ loader = DataLoader(D(), "
    "num_workers=1)": "hint [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ loader = DataLoader(D(), "
    "num_workers=load())": "possible information [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ loader = DataLoader(D(), num_workers=2, "
    "multiprocessing_context='spawn')": "error [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = open(path) / "
    "def __getitem__(self, i): return self.f.read() ~ loader = DataLoader(D(), num_workers=2, "
    "multiprocessing_context='spawn')": "error [unsafe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ "
    "class E(D): pass; loader = DataLoader(E(), "
    "num_workers=2)": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ def "
    "init(n): torch.utils.data.get_worker_info().dataset.f = "
    "h5py.File('x'); loader = DataLoader(D(), num_workers=2, "
    "worker_init_fn=init)": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ def "
    "init(n): torch.utils.data.get_worker_info().dataset.g = "
    "h5py.File('x'); loader = DataLoader(D(), num_workers=2, "
    "worker_init_fn=init)": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ def init(n): "
    "torch.utils.data.get_worker_info().dataset.f = h5py.File('x'); "
    "loader = DataLoader(D(), num_workers=2, worker_init_fn=init, "
    "multiprocessing_context='spawn')": "error [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ def init(n): "
    "torch.utils.data.get_worker_info().dataset.f = h5py.File('x'); "
    "loader = DataLoader(torch.utils.data.Subset(D(), [1]), num_workers=2, "
    "worker_init_fn=init)": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = h5py.File(path) / "
    "def __getitem__(self, i): return self.f['x'][i] ~ def init(n): "
    "torch.utils.data.get_worker_info().dataset.dataset.f = h5py.File('x'); "
    "loader = DataLoader(torch.utils.data.Subset(D(), [1]), num_workers=2, "
    "worker_init_fn=init)": "warning [safe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = open(path) / "
    "def __getitem__(self, i): return self.f.read() ~ def init(n): torch.utils.data.get_worker_info().dataset.f = "
    "open('x'); loader = DataLoader(D(), num_workers=2, worker_init_fn=init)": "its worker_init_fn opens another one",
    "self.f = open(path) / "
    "def __getitem__(self, i): return self.f.read() ~ def init(n): "
    "torch.utils.data.get_worker_info().dataset.f = open('x'); "
    "loader = DataLoader(D(), num_workers=2, worker_init_fn=init, "
    "multiprocessing_context='spawn')": "error [unsafe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = open(path) / "
    "def __getitem__(self, i): return self.f.read() ~ def init(n): "
    "torch.utils.data.get_worker_info().dataset.f = open('x'); "
    "loader = DataLoader(torch.utils.data.Subset(D(), [1]), num_workers=2, "
    "worker_init_fn=init)": "error [unsafe: self._f_pid = {os}.getpid(); _get_f; uses of f; __getstate__]",
    "self.f = open(path) / "
    "def __getitem__(self, i): return self.f.read() ~ def init(n): "
    "torch.utils.data.get_worker_info().dataset.dataset.f = open('x'); "
    "loader = DataLoader(torch.utils.data.Subset(D(), [1]), num_workers=2, "
    "worker_init_fn=init)": "its worker_init_fn opens another one",
}


@pytest.mark.parametrize("code", GENERATORS)
def test_which_generators_are_shared(code: str, tmp_path: Path) -> None:
    assert generator(tmp_path, code) == GENERATORS[code]


@pytest.mark.parametrize("code", HANDLES)
def test_which_handles_are_shared(code: str, tmp_path: Path) -> None:
    assert handle(tmp_path, code) == HANDLES[code]
