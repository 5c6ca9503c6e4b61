"""Which iterators run out: what a second epoch finds exhausted, and where a bare `next` ends an epoch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loaderlint.findings.finding import Finding
from tests.rules.answers import answers, lines

CODE = """
import csv, glob, itertools, os, re
import h5py, numpy as np
from pathlib import Path
from torch.utils.data import DataLoader, Dataset, IterableDataset
{}
class D({}):
 def __init__(self, items, root=Path("x")):
  self.items, self.root = items, root
{}
{}
loader = DataLoader(D([1, 2]), {})
for batch in loader:
 print(batch)
"""
SPENT = re.compile(
    r"from the second epoch on .* gives no batches(?: \([^)]*\))?: `D.__iter__` (.*); reset it in `__iter__`$"
)
ENDED = re.compile(r"the epoch of .* ends early without an error: `next` in (\S+) raises StopIteration ([^,]*),")


def told(found: Finding, pattern: re.Pattern[str]) -> str:
    """The severity of a finding and what varies in its message."""
    match = pattern.match(found.message)
    assert match is not None, found.message
    certainty = ["possible"] * (found.certainty == "possible")
    return " ".join([*certainty, found.severity.value, *match.groups()]).replace("`", "'").replace("D.__getitem__ ", "")


def project(base: str, code: str, options: str = "num_workers=2, persistent_workers=True") -> str:
    """A dataset: module-level code stands before ` | `, the constructor's before ` / `, then its methods."""
    above, _, code = code.rpartition(" | ")
    built, _, methods = code.rpartition(" / ")
    return CODE.format(lines(above), base, lines(built or "pass", 2), lines(methods, 1), options)


def spent(folder: Path, code: str) -> str:
    """What is exhausted in the second epoch of an iterable dataset."""
    found = answers(folder, "exhausted-iterable", project("IterableDataset", code)).findings
    return " | ".join(sorted(told(one, SPENT) for one in found))


def over(folder: Path, code: str) -> str:
    """What is said of a dataset, before ` | `, whose loader has some options."""
    made, _, options = code.rpartition(" | ")
    text = project("IterableDataset", f"self.it = {made} / def __iter__(self): yield from self.it", options)
    found = answers(folder, "exhausted-iterable", text)
    when = "without workers, or with persistent ones"
    shown = [f"{told(one, SPENT).split()[0]}{' in some' * (when in one.message)}" for one in found.findings]
    return " | ".join(shown) or ", ".join(one.reason.partition(": `")[0] for one in found.silences)


def going_over(folder: Path, code: str) -> str:
    """What is exhausted where `__iter__` goes over `self.it`, which the constructor makes."""
    above, _, made = code.rpartition(" | ")
    return spent(folder, f"{above} | self.it = {made} / def __iter__(self): yield from self.it").replace(
        "uses 'self.it', which is exhausted by then", "exhausted"
    )


def ended(folder: Path, code: str) -> str:
    """What a bare `next` in a sample is said to do."""
    above, _, code = code.rpartition(" | ")
    built, _, sample = code.rpartition(" / ")
    text = project("Dataset", f"{above} | {built or 'pass'} / def __getitem__(self, index):; {lines_in(sample)}")
    return " | ".join(sorted(told(one, ENDED) for one in answers(folder, "stop-iteration-sample", text).findings))


def lines_in(code: str) -> str:
    """The same lines, one level deeper."""
    return "; ".join(f" {line}" for line in code.split("; "))


#: What `self.it` is, after module-level code, and what is said of a second epoch over it.
MADE: dict[str, str] = {
    "iter(items)": "warning exhausted",
    "iter([1, 2])": "warning exhausted",
    "iter((1, 2))": "warning exhausted",
    "iter({'a': 1})": "warning exhausted",
    "iter(range(3))": "warning exhausted",
    "iter(load())": "information exhausted",
    "iter(load, None)": "",
    "iter(items or load())": "information exhausted",
    "iter(itertools.count())": "",
    "iter(np.arange(3))": "warning exhausted",
    "items": "",
    "[1, 2]": "",
    "load()": "",
    "None": "",
    "self.items": "",
    "map(load, items)": "warning exhausted",
    "map(load, load())": "information exhausted",
    "map(load, itertools.count())": "",
    "map(itertools.count(), items)": "warning exhausted",
    "map(load)": "",
    "map(load, [1], itertools.count())": "warning exhausted",
    "map(load, [1], load())": "warning exhausted",
    "filter(None, items)": "warning exhausted",
    "filter(None, load())": "information exhausted",
    "filter(itertools.cycle, [1])": "warning exhausted",
    "zip(items, [1])": "warning exhausted",
    "zip(items, itertools.count())": "warning exhausted",
    "zip(itertools.count(), itertools.count())": "",
    "zip(load(), items)": "warning exhausted",
    "zip(load(), load())": "information exhausted",
    "zip(load(), itertools.count())": "information exhausted",
    "zip()": "",
    "zip(load(), load(), strict=True)": "information exhausted",
    "zip(items, load(), strict=True)": "warning exhausted",
    "zip(*load())": "information exhausted",
    "zip(*[items, items])": "warning exhausted",
    "enumerate(items, 1)": "warning exhausted",
    "enumerate(items, start=1)": "warning exhausted",
    "itertools.combinations(items, 2)": "warning exhausted",
    "itertools.product(items, repeat=2)": "warning exhausted",
    "iter('abc')": "warning exhausted",
    "map(load, itertools.count(), load())": "information exhausted",
    "map(load, itertools.count(), itertools.count())": "",
    "enumerate(items)": "warning exhausted",
    "enumerate(itertools.cycle(items))": "",
    "enumerate(load(), 3)": "information exhausted",
    "reversed(items)": "warning exhausted",
    "itertools.chain(items, [1])": "warning exhausted",
    "itertools.chain(items, itertools.repeat(1))": "",
    "itertools.chain(items, load())": "information exhausted",
    "itertools.islice(items, 3)": "warning exhausted",
    "itertools.cycle(items)": "",
    "itertools.repeat(3)": "",
    "itertools.count()": "",
    "itertools.product(items, [1])": "warning exhausted",
    "glob.iglob('x')": "warning exhausted",
    "glob.glob('x')": "",
    "os.scandir('x')": "warning exhausted",
    "os.listdir('x')": "",
    "os.walk('x')": "warning exhausted",
    "root.glob('*')": "warning exhausted",
    "root.rglob('*')": "warning exhausted",
    "root.iterdir()": "warning exhausted",
    "root.parent.iterdir()": "warning exhausted",
    "(root / 'a').iterdir()": "warning exhausted",
    "Path('x').glob('*')": "warning exhausted",
    "load().glob('*')": "",
    "load().rglob('*')": "",
    "root.resolve().iterdir()": "warning exhausted",
    "open('x')": "",
    "csv.reader(open('x'))": "warning exhausted",
    "csv.reader(load())": "information exhausted",
    "re.finditer('x', 'y')": "warning exhausted",
    "(x for x in items)": "warning exhausted",
    "(x for x in items if x)": "warning exhausted",
    "(x for x in load())": "information exhausted",
    "(x for x in itertools.count())": "",
    "(x for x in itertools.count() if x)": "",
    "[x for x in items]": "",
    "(x for x in [1] for y in load())": "warning exhausted",
    "iter(iter(iter(items)))": "warning exhausted",
    "iter(map(load, filter(None, (x for x in items))))": "warning exhausted",
    "iter(iter(iter(iter(iter(iter(items))))))": "warning exhausted",
    "iter(iter(iter(iter(iter(iter(iter(iter(iter(items)))))))))": "warning exhausted",
    "def f():;  yield 1 | f()": "warning exhausted",
    "def f():;  yield 1 | iter(f())": "warning exhausted",
    "def f():;  while True: yield 1 | f()": "",
    "def f():;  while 1: yield 1 | f()": "",
    "def f():;  while load(): yield 1 | f()": "information exhausted",
    "def f():;  while False: yield 1 | f()": "warning exhausted",
    "def f():;  for x in load(): yield x | f()": "information exhausted",
    "def f():;  for x in [1, 2]: yield x | f()": "warning exhausted",
    "def f():;  for x in itertools.count(): yield x | f()": "",
    "def f():;  yield from itertools.count() | f()": "",
    "def f():;  yield from load() | f()": "information exhausted",
    "def f():;  yield from [1] | f()": "warning exhausted",
    "def f():;  yield load() | f()": "warning exhausted",
    "def f():;  for x in [1]: yield x;  for x in itertools.count(): yield x | f()": "",
    "def f():;  for x in load(): yield x;  for x in itertools.count(): yield x | f()": "",
    "def f():;  for x in [1]: yield x;  for x in load(): yield x | f()": "information exhausted",
    "def f():;  yield from f() | f()": "information exhausted",
    "def f(): return [1] | f()": "",
    "def f(): return load() | f()": "",
    "def f(): return iter([1]) | f()": "",
    "def f():;  yield 1; def g():;  yield from f() | g()": "warning exhausted",
    "def f():;  while True: yield 1; def g():;  yield from f() | g()": "",
    "def f():;  while True: yield 1 | map(load, f())": "",
    "class A:;  def __iter__(self): yield 1 | iter(A())": "warning exhausted",
    "class A:;  def __iter__(self):;   while True: yield 1 | iter(A())": "",
    "class A:;  def __iter__(self): return load() | iter(A())": "information exhausted",
    "class A: pass | iter(A())": "information exhausted",
    "class A:;  def f(self): yield 1 | A().f()": "warning exhausted",
    "class A:;  def f(self):;   while True: yield 1 | A().f()": "",
    "import torch.utils.data as t | iter(DataLoader(items))": "warning exhausted",
    "f = lambda: (yield 1) | f()": "warning exhausted",
}
#: The constructor and methods of an iterable dataset, and what is said of its second epoch.
KEPT: dict[str, str] = {
    "self.it = iter(items) / def __iter__(self): return self.it": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / def __iter__(self):; "
    " for x in self.it: yield x": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / def __iter__(self):; "
    " yield from self.it": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / def __iter__(self):;  yield self.it": "",
    "self.it = iter(items) / def __iter__(self):;  while True: yield next(self.it)": "",
    "self.it = iter(items) / "
    "def __iter__(self): return map(load, self.it)": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / "
    "def __iter__(self): return zip(self.it, self.items)": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / "
    "def __iter__(self): return zip(self.items, "
    "enumerate(self.it))": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / "
    "def __iter__(self): return (x + 1 for x in self.it)": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / "
    "def __iter__(self): return (x + 1 for x in map(load, "
    "self.it))": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / "
    "def __iter__(self): return iter([x for x in self.it])": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / def __iter__(self): return load(self.it)": "",
    "self.it = iter(items) / "
    "def __iter__(self): return (y for x in self.items for y in "
    "self.it)": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / "
    "def __iter__(self): return map(load, map(load, map(load, map(load, "
    "self.it))))": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items) / "
    "def __iter__(self): return map(load, map(load, map(load, map(load, map(load, self.it)))))": "",
    "self.it = iter(items) / def __iter__(self):;  self.it = iter(self.items);  return self.it": "",
    "self.it = iter(items) / def __iter__(self): return self.it; def reset(self): self.it = iter(self.items)": "",
    "self.it = iter(items); self.it = iter(items) / "
    "def __iter__(self): return self.it": "warning uses 'self.it', which is exhausted by then",
    "self.it = iter(items); self.it = load() / def __iter__(self): return self.it": "",
    "self.it = iter(items) if items else load() / def __iter__(self): return self.it": "",
    "if items: self.it = iter(items); else: self.it = items / "
    "def __iter__(self): return self.it": "warning uses 'self.it', which is exhausted by then",
    "if load(): self.it = iter(items); else: self.it = map(load, items) / "
    "def __iter__(self): return self.it": "warning uses 'self.it', which is exhausted by then",
    "it = iter(items); self.it = it / "
    "def __iter__(self): return self.it": "warning uses 'self.it', which is exhausted by then",
    "self.it = [iter(items)] / def __iter__(self): return self.it[0]": "",
    "self.a = load(); self.a.it = iter(items) / def __iter__(self): return self.a.it": "",
    "class A:;  def __init__(self, x): self.it = iter(x) | self.a = A(items) / "
    "def __iter__(self): return self.a.it": "",
    "IT = iter([1, 2]) | def __iter__(self): return IT": "",
    "IT = iter([1, 2]) | pass / def __iter__(self):;  for x in IT: yield x": "",
    "self.it = open('x') / def __iter__(self):;  for x in self.it: yield x": "",
    "self.it = iter(load()) / "
    "def __iter__(self): return self.it": "information uses 'self.it', which is exhausted by then",
    "def __iter__(self): return self.items": "",
    "def __iter__(self): return iter(self.items)": "",
    "def __iter__(self): return self": "",
    "self.n = 0 / def __iter__(self): return self; def __next__(self):;  if self.n > 3: raise StopIteration; "
    " self.n += 1;  return self.n": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = 0 / def __iter__(self): return self; def __next__(self):;  if self.n > 3: raise StopIteration(); "
    " self.n = self.n + 1;  return self.n": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = 9 / def __iter__(self): return self; def __next__(self):;  if self.n == 0: raise StopIteration; "
    " self.n = self.n - 1;  return self.n": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = 9 / def __iter__(self): return self; def __next__(self):;  if self.n == 0: raise StopIteration; "
    " self.n = self.n * 1;  return self.n": "",
    "self.n = 9 / def __iter__(self): return self; def __next__(self):;  if not self.n: raise StopIteration; "
    " self.n -= 1;  return self.n": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = 9 / def __iter__(self): return self; def __next__(self):; "
    " if self.n + 1 > 3 or load(): raise StopIteration;  self.n -= 1; "
    " return 3": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = 9 / def __iter__(self): return self; "
    "def __next__(self):; "
    " if load() and 3 < self.n: raise StopIteration;  self.n -= 1; "
    " return 3": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = 9 / def __iter__(self): return self; def __next__(self):;  if load(): raise StopIteration; "
    " self.n -= 1;  return 3": "",
    "self.n = 9 / def __iter__(self): return self; def __next__(self):;  if self.n > 3: raise ValueError; "
    " self.n -= 1;  return 3": "",
    "self.n = self.m = 9 / def __iter__(self): return self; "
    "def __next__(self):;  if self.n > self.m: raise StopIteration; "
    " self.n += 1;  return 3": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = self.m = 9 / def __iter__(self): return self; "
    "def __next__(self):; "
    " if self.n > self.m: raise StopIteration;  self.n += 1; "
    " self.m += 1;  return 3": "warning returns itself, with 'self.m' and 'self.n' where the last epoch ended",
    "self.n = self.m = 9 / def __iter__(self): return self; def __next__(self):;  if self.m: raise StopIteration; "
    " self.n += 1;  return 3": "",
    "self.n = self.m = 9 / def __iter__(self): return self; def __next__(self):;  if self.n: raise StopIteration; "
    " self.n = self.m + 1;  return 3": "",
    "self.n = 0 / def __iter__(self): return self; def __next__(self):;  if self.n > 3:;   self.n = 0; "
    "  raise StopIteration;  self.n += 1;  return 3": "",
    "self.n = 0 / def __iter__(self):;  self.n = 0;  return self; def __next__(self):; "
    " if self.n > 3: raise StopIteration;  self.n += 1;  return 3": "",
    "self.n = 0 / def __iter__(self):;  load(self);  return self; def __next__(self):; "
    " if self.n > 3: raise StopIteration;  self.n += 1;  return 3": "",
    "self.n = 0 / def __iter__(self): return self; def reset(self): self.n = 0; def __next__(self):; "
    " if self.n > 3: raise StopIteration;  self.n += 1;  return 3": "",
    "self.n = 0 / def __iter__(self): return self; def step(self): self.n += 1; "
    "def __next__(self):;  if self.n > 3: raise StopIteration;  self.step(); "
    " return 3": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = 0 / def __iter__(self): return self; def is_done(self): return self.n; def __next__(self):; "
    " if self.is_done(): raise StopIteration;  self.n += 1;  return 3": "",
    "self.n = 0 / def __iter__(self): return self; def stop(self):; "
    " if self.n > 3: raise StopIteration; def __next__(self):;  self.stop();  self.n += 1; "
    " return 3": "warning returns itself, with 'self.n' where the last epoch ended",
    "self.n = 0 / def __iter__(self): return self; def __next__(self):;  if items.n > 3: raise StopIteration; "
    " self.n += 1;  return 3": "",
    "self.n = 0 / def __iter__(self): return self; def __next__(self):;  if self.n > 3: raise StopIteration; "
    " self.items.n += 1;  return 3": "",
    "self.it = iter(items) / def __iter__(self): return self; "
    "def __next__(self): return next(self.it)": "warning returns itself, with 'self.it' where the last epoch ended",
    "self.it = iter(load()) / def __iter__(self): return self; "
    "def __next__(self): return next(self.it)": "information returns itself, with 'self.it' where the last epoch ended",
    "self.it = iter(items) / def __iter__(self): return self; def __next__(self): return next(self.it, None)": "",
    "self.it = iter(items) / def __iter__(self): return self; def __next__(self): return next(load())": "",
    "self.it = iter(items); self.n = 0 / def __iter__(self): return self; "
    "def __next__(self):;  if self.n > 3: raise StopIteration;  self.n += 1; "
    " return next(self.it)": "warning returns itself, with 'self.it' where the last epoch ended",
    "self.it = iter(items); "
    "self.ti = map(load, load()) / "
    "def __iter__(self): return self; "
    "def __next__(self): return next(self.it), "
    "next(self.ti)": "information returns itself, with 'self.it' and 'self.ti' where the last epoch ended",
    "self.it = iter(items); "
    "self.ti = map(load, items) / "
    "def __iter__(self): return self; "
    "def __next__(self): return next(self.it), "
    "next(self.ti)": "warning returns itself, with 'self.it' and 'self.ti' where the last epoch ended",
    "self.it = iter(items) / def __iter__(self): return self; def __next__(self): return self.it.pop()": "",
}
#: What `self.it` is and, after ` | `, the options of the loader, and what is said of its second epoch.
LOADERS: dict[str, str] = {
    "iter(items) | num_workers=0": "warning",
    "iter(items) | num_workers=2": "hint in some",
    "iter(items) | num_workers=2, persistent_workers=True": "warning",
    "iter(items) | num_workers=2, persistent_workers=False": "hint in some",
    "iter(items) | num_workers=2, persistent_workers=load()": "information in some",
    "iter(items) | num_workers=load()": "information in some",
    "iter(items) | num_workers=load(), persistent_workers=True": "warning",
    "iter(items) | num_workers=load(), persistent_workers=False": "information in some",
    "iter(load()) | num_workers=0": "information",
    "iter(load()) | num_workers=2": "too much of what it depends on is unknown to report it even as a hint",
    "iter(load()) | num_workers=2, persistent_workers=load()": "hint in some",
    "open('x') | num_workers=0": "warning",
    "open('x') | num_workers=2, "
    "persistent_workers=True": "handle-across-workers reports an open file that several processes read",
    "open('x') | num_workers=load(), "
    "persistent_workers=True": "handle-across-workers reports an open file that several processes read",
    "[1, 2] | num_workers=0": "nothing that it returns is known to run out",
}
#: The constructor and, after ` / `, a sample, and what is said of `next` in it.
NEXT: dict[str, str] = {
    "return next(iter(self.items))": "",
    "return next(iter(self.items), None)": "",
    "return next(load())": "",
    "self.it = iter(items) / return next(self.it)": "error once 'self.it' runs out",
    "self.it = iter(items) / return next(self.it, None)": "",
    "self.it = iter(items) / return self.it.__next__()": "",
    "self.it = iter(load()) / return next(self.it)": "possible information once 'self.it' runs out",
    "self.it = itertools.cycle(items) / return next(self.it)": "",
    "self.it = iter(items) / self.it = iter(self.items); return next(self.it)": "",
    "self.it = iter(items) / if index: self.it = iter(self.items); return next(self.it)": "",
    "self.it = iter(items) / load().it = 3; return next(self.it)": "",
    "self.it = iter(items) / try: return next(self.it); except StopIteration: return 3": "",
    "self.it = iter(items) / try: return next(self.it); except Exception: return 3": "",
    "self.it = iter(items) / try: return next(self.it); except ValueError: return 3": "error once 'self.it' runs out",
    "IT = iter([1, 2]) | return next(IT)": "error once 'IT' runs out",
    "IT = itertools.cycle([1, 2]) | return next(IT)": "",
    "IT = iter([1, 2]); IT = iter([3]) | return next(IT)": "",
    "IT = [1] | return next(iter(IT))": "",
    "def f():;  global IT;  IT = iter([1]); IT = iter([2]) | return next(IT)": "",
    "self.its = [iter(x) for x in items] / return next(self.its[index])": "error once 'self.its[...]' runs out",
    "self.its = [iter(x) for x in items] / self.its[index] = 3; return next(self.its[index])": "",
    "self.its = [iter(x) for x in items] / load()[index] = 3; "
    "return next(self.its[index])": "error once 'self.its[...]' runs out",
    "self.its = [iter(x) for x in items] / self.items[index] = 3; "
    "return next(self.its[index])": "error once 'self.its[...]' runs out",
    "self.its = {x: iter([x]) for x in items} / return next(self.its[index])": "error once 'self.its[...]' runs out",
    "self.its = (iter(x) for x in items) / return next(self.its[index])": "",
    "self.its = {iter(x) for x in items} / return next(self.its[index])": "",
    "self.its = [x for x in items] / return next(self.its[index])": "",
    "self.its = [itertools.cycle(x) for x in items] / return next(self.its[index])": "",
    "self.its = [iter(x) for x in items]; self.its = load() / return next(self.its[index])": "",
    "self.its = [iter(x) for x in items] / return next(self.its)": "",
    "self.its = [iter(x) for x in items] / self.its = load(); return next(self.its[index])": "",
    "return next(glob.iglob('x'))": "warning where no file is found",
    "return next(os.scandir('x'))": "warning where no file is found",
    "return next(os.walk('x'))": "warning where no file is found",
    "return next(self.root.glob('*'))": "warning where no file is found",
    "return next(self.root.iterdir())": "warning where no file is found",
    "return next(Path(index).rglob('*'))": "warning where no file is found",
    "return next(load().glob('*'))": "",
    "return next(re.finditer('x', index))": "information where nothing matches",
    "return next(filter(None, self.items))": "information where nothing matches",
    "return next(map(load, self.items))": "",
    "return next(x for x in self.items)": "",
    "return next(x for x in self.items if x)": "information where nothing matches",
    "return next(x for x in self.items if x > index)": "",
    "return next(x for x in self.items if index < x)": "",
    "return next(x for x in self.items if index <= x)": "",
    "return next(x for x in self.items if x >= index)": "",
    "return next(x for x in self.items if x == index)": "information where nothing matches",
    "return next(x for x in self.items if x > 3)": "information where nothing matches",
    "return next(x for x in self.items if 1 < x < index)": "information where nothing matches",
    "return next(x for x in self.items if x.y > index + 1)": "information where nothing matches",
    "return next((y for x in self.items if x for y in x))": "information where nothing matches",
    "return next((y for x in self.items for y in x if y))": "information where nothing matches",
    "return next((x for x in self.items if [y for y in x if y]))": "information where nothing matches",
    "if index: return 3; return next(x for x in self.items if x)": "information where nothing matches",
    "if index: return next(x for x in self.items)": "",
    "def f(x): return next(y for y in x if y) | return f(self.items)": "information f where nothing matches",
    "def f(x): return next(y for y in x if y) | pass / "
    "return [f(x) for x in self.items]": "information f where nothing matches",
}


@pytest.mark.parametrize("code", MADE)
def test_which_iterators_run_out(code: str, tmp_path: Path) -> None:
    assert going_over(tmp_path, code) == MADE[code]


@pytest.mark.parametrize("code", KEPT)
def test_what_is_kept_and_exhausted(code: str, tmp_path: Path) -> None:
    assert spent(tmp_path, code) == KEPT[code]


@pytest.mark.parametrize("code", LOADERS)
def test_with_which_loaders_an_iterator_runs_out(code: str, tmp_path: Path) -> None:
    assert over(tmp_path, code) == LOADERS[code]


@pytest.mark.parametrize("code", NEXT)
def test_where_next_ends_an_epoch(code: str, tmp_path: Path) -> None:
    assert ended(tmp_path, code) == NEXT[code]
