"""What workers change on their own copies: counters that the main process reads, caches that never help."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import collections, os, random
import h5py, numpy as np, torch
from torch.utils.data import DataLoader, Dataset, get_worker_info
{}
class D(Dataset):
 def __init__(self, names=(), start=0):
  self.names, self.start = names, start
{}
 def __len__(self): return 3
{}
def main():
 dataset = D(load(), load())
 loader = DataLoader(dataset, num_workers=2)
 for batch in loader: print(batch)
{}
main()
"""


def project(code: str) -> str:
    """A dataset and a loop: module-level code stands before ` | `; then, with ` / ` between, the constructor's, the
    methods, and what follows the loop."""
    above, _, inside = code.rpartition(" | ")
    built, methods, after = (*inside.split(" / "), "", "")[:3]
    return CODE.format(lines(above), lines(built or "pass", 2), lines(methods, 1), lines(after or "pass", 1))


def said(folder: Path, code: str) -> str:
    """The severities of the findings, each with the name of what is lost and a fix; or why there is none."""
    found = answers(folder, "lost-worker-state", project(code))
    shown = [
        " ".join([one.severity.value, one.subject, *(fix.safety for fix in one.fixes)]).replace("D.", "")
        for one in found.findings
    ]
    return " + ".join(sorted(shown)) or ", ".join(dict.fromkeys(one.reason for one in found.silences)).replace("`", "'")


def sample(folder: Path, code: str) -> str:
    """The same of a `__getitem__` that changes `self.n`, which the main process prints after the loop."""
    above, _, inside = code.rpartition(" | ")
    built, _, body = inside.rpartition(" / ")
    method = f"def __getitem__(self, index):; {'; '.join(f' {line}' for line in body.split('; '))};  return index"
    return said(folder, f"{above} | {built or 'self.n = 0'} / {method} / print(dataset.n)")


def cached(folder: Path, code: str) -> str:
    """The same of a `__getitem__` that fills a cache, which the constructor makes."""
    above, _, inside = code.rpartition(" | ")
    built, _, body = inside.rpartition(" / ")
    method = f"def __getitem__(self, index):; {'; '.join(f' {line}' for line in body.split('; '))}"
    return said(folder, f"{above} | {built or 'self.c = {}'} / {method}")


#: The constructor, where it is not `self.n = 0`, and what a sample does before it returns, and what is said of it.
CHANGES: dict[str, str] = {
    "self.n += 1": "warning n",
    "self.n -= 1": "warning n",
    "self.n = self.n + 1": "",
    "self.n = index": "",
    "self.m += 1": "",
    "if index: self.n += 1": "warning n",
    "if False: self.n += 1": "",
    "for k in range(3): self.n += 1": "warning n",
    "x = self; x.n += 1": "warning n",
    "load().n += 1": "",
    "self.names.n += 1": "",
    "self.n = None / self.n += 1": "",
    "self.n = True / self.n += 1": "",
    "self.n = start / self.n += 1": "",
    "self.n = 1.5 / self.n += 1": "warning n",
    "self.n = load() / self.n += 1": "",
    "self.n = 0; self.n = load() / self.n += 1": "",
    "self.n = 'a' / self.n += 'b'": "",
    "self.n = [] / self.n.append(index)": "warning n",
    "self.n = [] / self.n.extend([index])": "warning n",
    "self.n = [] / self.n.insert(0, index)": "warning n",
    "self.n = [] / self.n.pop()": "",
    "self.n = [] / self.n.remove(index)": "",
    "self.n = [] / self.n.clear()": "",
    "self.n = [] / self.n.sort()": "",
    "self.n = [] / self.n += [index]": "warning n",
    "self.n = [1, 2] / self.n.append(index)": "warning n",
    "self.n = [None] / self.n[index] = 3": "warning n",
    "self.n = [None] * 3 / self.n[index] = 3": "warning n",
    "self.n = [[], []] / self.n[index] = 3": "warning n",
    "self.n = (1,) / self.n += (2,)": "",
    "self.n = () / self.n += (2,)": "",
    "self.n = set() / self.n.add(index)": "warning n",
    "self.n = {} / self.n[index] = 3": "warning n",
    "self.n = {} / self.n['a'] = index": "warning n",
    "self.n = {} / self.n.update(a=3)": "warning n",
    "self.n = {} / self.n.setdefault('a', 3)": "",
    "self.n = {'a': 3} / self.n['a'] = index": "warning n",
    "self.n = dict() / self.n['a'] = index": "warning n",
    "self.n = collections.Counter() / self.n['a'] += 1": "warning n",
    "self.n = collections.Counter() / self.n.update([index])": "warning n",
    "self.n = collections.defaultdict(list) / self.n['a'].append(1)": "warning n",
    "self.n = collections.deque() / self.n.append(1)": "warning n",
    "self.n = collections.OrderedDict() / self.n['a'] = 1": "warning n",
    "self.n = {} / self.n['a'] = open('x')": "",
    "self.n = {} / self.n['a'] = h5py.File('x')": "",
    "self.n = {} / self.n['a'] = np.random.default_rng()": "",
    "self.n = {} / self.n['a'] = load.connect()": "warning n",
    "self.n = torch.zeros(3) / self.n[0] = index": "",
    "self.n = torch.zeros(3).share_memory_() / self.n[0] += 1": "",
    "self.n += os.getpid()": "",
    "x = get_worker_info().id; self.n += x": "",
    "def bump(d): d.n += 1 | bump(self)": "",
    "def bump(d): d.n.append(1) | self.n = [] / bump(self)": "",
}
#: The constructor, the methods and what follows the loop, and what is said of it.
READS: dict[str, str] = {
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / print(dataset.n)": "warning n",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / print(loader.dataset.n)": "warning n",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "print(load().n)": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "print(load().dataset.n)": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "print(D().n)": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "print(dataset.m)": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "print(dataset)": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "dataset.n = 3": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "if False: print(dataset.n)": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def count(self): return self.n / "
    "print(dataset.count())": "warning n",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def count(self): return self.n / "
    "print(loader.dataset.count())": "warning n",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def count(self): return self.n / "
    "pass": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def count(self): return 3 / "
    "print(dataset.count())": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def _count(self): return self.n / "
    "print(dataset._count())": "the main process never reads 'n' afterwards",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; @property; def count(self): return self.n / "
    "print(dataset.count)": "warning n",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def reset(self): self.n = 0 / "
    "print(dataset.n)": "warning n",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def reset(self): self.n = 0 / "
    "dataset.reset(); print(dataset.n)": "",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def reset(self): self.n += 1 / "
    "print(dataset.n)": "warning n",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def reset(self): self.n += 1 / "
    "dataset.reset(); print(dataset.n)": "",
    "self.n = [] / def __getitem__(self, i):;  self.n.append(1);  return i; def reset(self): self.n.clear() / "
    "print(dataset.n)": "warning n",
    "self.n = [] / def __getitem__(self, i):;  self.n.append(1);  return i; def reset(self): self.n.clear() / "
    "dataset.reset(); print(dataset.n)": "",
    "self.n = {} / def __getitem__(self, i):;  self.n['a'] = 1;  return i; def reset(self): self.n['a'] = 1 / "
    "print(dataset.n)": "warning n",
    "self.n = {} / def __getitem__(self, i):;  self.n['a'] = 1;  return i; def reset(self): self.n['a'] = 1 / "
    "dataset.reset(); print(dataset.n)": "",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i; def reset(self): load().n = 0 / "
    "print(dataset.n)": "warning n",
    "self.n = 0; self.up() / def up(self): self.n += 1; def __getitem__(self, i):;  self.up();  return i / "
    "print(dataset.n)": "",
    "self.n = 0 / def up(self): self.n += 1; def __getitem__(self, i):;  self.up();  return i / dataset.up(); "
    "print(dataset.n)": "the main process runs the same code on the same object",
    "self.n = 0 / def up(self): self.n += 1; def __getitem__(self, i):;  self.up();  return i / "
    "print(dataset.n)": "warning n",
    "self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / dataset[0]; "
    "print(dataset.n)": "the main process runs the same code on the same object",
    "class T:;  def __init__(self, d): self.d = d;  def show(self):;   self.d.up();   print(self.d.n) | "
    "self.n = 0 / def up(self): self.n += 1; def __getitem__(self, i):;  self.up();  return i / "
    "T(dataset)": "the main process runs the same code on the same object",
    "class T:;  def __init__(self, d): self.d = d;  def show(self):;   self.d[0];   print(self.d.n) | "
    "self.n = 0 / def up(self): self.n += 1; def __getitem__(self, i):;  self.up();  return i / "
    "T(dataset)": "the main process runs the same code on the same object",
    "class T:;  def __init__(self, d): self.d = d;  def show(self):;   D().up();   print(self.d.n) | "
    "self.n = 0 / def up(self): self.n += 1; def __getitem__(self, i):;  self.up();  return i / "
    "T(dataset)": "warning n",
    "class T:;  def __init__(self, d): self.d = d;  def show(self):;   print(3);   print(self.d.n) | "
    "self.n = 0 / def up(self): self.n += 1; def __getitem__(self, i):;  self.up();  return i / "
    "T(dataset)": "warning n",
    "class R:;  def __init__(self): self.seen = 0;  def add(self): self.seen += 1 | self.r = R() / "
    "def __getitem__(self, i):;  self.r.add();  return i / print(dataset.r.seen)": "warning R.seen",
    "class R:;  def __init__(self): self.seen = 0;  def add(self): self.seen += 1 | "
    "self.r = R() / def __getitem__(self, i):;  self.r.add();  return i / "
    "print(dataset.seen)": "the main process never reads 'seen' afterwards",
    "def show(d): print(d.n) | self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "show(dataset)": "warning n",
    "def show(d): print(d.n) | self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "show(load())": "the main process never reads 'n' afterwards",
    "def show(d): print(d.n) | self.n = 0 / def __getitem__(self, i):;  self.n += 1;  return i / "
    "show(3)": "the main process never reads 'n' afterwards",
}
#: The constructor, where it is not `self.c = {}`, and what a sample does, and what is said of it.
CACHES: dict[str, str] = {
    "if index not in self.c: self.c[index] = load(index); return self.c[index]": "information c unsafe",
    "if index in self.c: return self.c[index]; x = load(index); self.c[index] = x; return x": "information c unsafe",
    "x = self.c.get(index); self.c[index] = load(x); return x": "information c unsafe",
    "x = self.c.get(load()); self.c[index] = load(x); return x": "the main process never reads 'c' afterwards",
    "self.c[index] = load(index); return 3": "the main process never reads 'c' afterwards",
    "self.c[index] = load(index); return self.c[3]": "the main process never reads 'c' afterwards",
    "if index not in self.c: self.c[3] = load(index); "
    "return self.c[index]": "the main process never reads 'c' afterwards",
    "if index not in self.c: self.c[index] = 3; return self.c[index]": "the main process never reads 'c' afterwards",
    "if index not in self.c: self.c[index] = open('x'); return self.c[index]": "",
    "if index not in self.c: self.c[index] = os.getpid(); return self.c[index]": "",
    "if index not in self.c: self.c[index + 1] = load(index); "
    "return self.c[index + 1]": "the main process never reads 'c' afterwards",
    "if index not in self.d: self.d[index] = load(index); return self.d[index]": "",
    "self.c = None / if index not in self.c: self.c[index] = load(index); return self.c[index]": "",
    "self.c = load() / if index not in self.c: self.c[index] = load(index); return self.c[index]": "",
    "self.c = {'a': 3} / if index not in self.c: self.c[index] = load(index); "
    "return self.c[index]": "the main process never reads 'c' afterwards",
    "self.c = [None] * 3 / if self.c[index] is None: self.c[index] = load(index); "
    "return self.c[index]": "information c unsafe",
    "self.c = {}; self.k = os.listdir('x') / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "information c unsafe",
    "self.c = {}; self.k = sorted(os.listdir('x')) / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "information c unsafe",
    "self.c = {}; self.k = list(set(names)) / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "information c unsafe",
    "self.c = {}; self.k = list(names) / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "the main process never reads 'c' afterwards",
    "self.c = {}; self.k = ['a', 'b'] / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "information c unsafe",
    "self.c = {}; self.k = ['a', 'a'] / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "the main process never reads 'c' afterwards",
    "self.c = {}; self.k = ['a', load()] / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "the main process never reads 'c' afterwards",
    "self.c = {}; self.k = 'abc' / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "information c unsafe",
    "self.c = {}; self.k = 'aba' / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "the main process never reads 'c' afterwards",
    "self.c = {}; self.k = range(3) / k = self.k[index]; if k not in self.c: self.c[k] = load(k); "
    "return self.c[k]": "information c unsafe",
    "self.c = {}; self.k = list(list(list(list(set(names))))) / k = self.k[index]; "
    "if k not in self.c: self.c[k] = load(k); return self.c[k]": "information c unsafe",
    "self.c = {}; self.k = list(list(list(list(list(set(names)))))) / k = self.k[index]; "
    "if k not in self.c: self.c[k] = load(k); return self.c[k]": "the main process never reads 'c' afterwards",
    "self.c = {}; self.k = ['a', 'b']; self.k = load() / k = self.k[index]; "
    "if k not in self.c: self.c[k] = load(k); return self.c[k]": "the main process never reads 'c' afterwards",
    "C = {} | pass / if index not in C: C[index] = load(index); return C[index]": "information C unsafe",
    "C = {'a': 3} | pass / if index not in C: C[index] = load(index); return C[index]": "",
    "C = {}; C = {} | pass / if index not in C: C[index] = load(index); return C[index]": "",
    "C = {}; print(C) | pass / if index not in C: C[index] = load(index); return C[index]": "",
    "C = {}; def f(): return C | pass / if index not in C: C[index] = load(index); return C[index]": "",
    "C = {} | pass / C[index] = load(index); return 3": "",
    "C = load() | pass / if index not in C: C[index] = load(index); return C[index]": "",
}


@pytest.mark.parametrize("code", CHANGES)
def test_which_changes_are_lost(code: str, tmp_path: Path) -> None:
    assert sample(tmp_path, code) == CHANGES[code]


@pytest.mark.parametrize("code", READS)
def test_where_the_main_process_reads(code: str, tmp_path: Path) -> None:
    assert said(tmp_path, code) == READS[code]


@pytest.mark.parametrize("code", CACHES)
def test_which_caches_never_help(code: str, tmp_path: Path) -> None:
    assert cached(tmp_path, code) == CACHES[code]
