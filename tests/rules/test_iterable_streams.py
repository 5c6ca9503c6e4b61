"""Whether every worker gives the whole stream of an iterable dataset, and why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import itertools, multiprocessing, os, random, time
import numpy as np, torch, webdataset, cv2
from elsewhere import thing
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, get_worker_info
{}
class D(IterableDataset):
 def __init__(self, items, stream=None):
  self.items, self.stream = items, stream
{}
loader = DataLoader(D([1, 2], load()), {})
"""
SHORT = {
    "something asks for the worker, or code that is not known may split the stream": "asks",
    "its worker_init_fn does more than seeding: it may split the stream": "init",
    "its items are random: each worker has its own": "random",
    "it is endless, and each worker draws its own orders": "own orders",
    "what it iterates over is not known, and may be split there": "unknown",
    "what it returns is not known, and may be split there": "result unknown",
    "it asks for the worker too early: see worker-info-in-main": "too early",
}


def said(folder: Path, methods: str, above: str, options: str) -> str:
    """The severity, `shuffled` if the advice is about an order, `fix` if there is one; or why there is no fault."""
    found = answers(folder, "unsharded-iterable-dataset", CODE.format(lines(above), methods, options))
    if not found.findings:
        return ", ".join(SHORT.get(reason := one.reason.rpartition(": ")[0], reason) for one in found.silences)
    (one,) = found.findings
    words = [*["possible"] * (one.certainty == "possible"), one.severity.value]
    words += ["shuffled"] * ("before it is shuffled" in one.message) + ["fix"] * bool(one.fixes)
    return " ".join(words)


def whole(folder: Path, code: str) -> str:
    """What is said of a stream with this `__iter__`; module-level code stands before ` | `."""
    above, _, inside = code.rpartition(" | ")
    return said(folder, f" def __iter__(self):\n{lines(inside, 2)}", above, "num_workers=2")


def created(folder: Path, code: str) -> str:
    """What is said of a plain stream whose loader has these options; module-level code stands before ` | `."""
    above, _, options = code.rpartition(" | ")
    return said(folder, " def __iter__(self):\n  for x in self.items: yield x", above, options)


#: Code of `__iter__` and what is said of it. `; ` ends a line, and more spaces after it indent the next one.
STREAMS: dict[str, str] = {
    "for x in self.items: yield x": "error fix",
    "yield from self.items": "error fix",
    "return iter(self.items)": "error",
    "return self.items": "error",
    "return (x for x in self.items)": "error fix",
    "return map(load, self.items)": "error",
    "return enumerate(self.items)": "error",
    "return open('x')": "error",
    "return load()": "result unknown",
    "return thing(self.items)": "unknown",
    "return itertools.islice(self.items, 3)": "error",
    "yield 3": "error",
    "for x in range(3): yield x": "error fix",
    "for x in self.items: yield x; for x in self.items: yield x": "error",
    "for x in self.items: pass; for x in self.items: yield x": "error",
    "for x in self.items:;  for y in x: yield y": "error fix",
    "for x in self.items:;  yield from x": "error fix",
    "yield from self.items; yield from self.items": "error",
    "while True: yield next(self.stream)": "unknown",
    "while True: yield 3": "error",
    "info = get_worker_info(); for x in self.items: yield x": "error fix",
    "info = torch.utils.data.get_worker_info(); yield from self.items": "error fix",
    "n = multiprocessing.current_process().name; yield from self.items": "asks",
    "n = os.environ['WORKER']; yield from self.items": "asks",
    "n = os.environ['HOME']; yield from self.items": "error fix",
    "n = os.environ.get('WORKER_ID'); yield from self.items": "asks",
    "n = os.environ.get('HOME'); yield from self.items": "error fix",
    "n = os.getenv('SHARD'); yield from self.items": "asks",
    "n = os.getenv('HOME'); yield from self.items": "error fix",
    "n = os.getenv('HOME', 'shard'); yield from self.items": "asks",
    "n = self.items['WORKER']; yield from self.items": "error fix",
    "n = my_worker(); yield from self.items": "asks",
    "n = thing(); yield from self.items": "error fix",
    "n = thing.shard(self.items); yield from self.items": "asks",
    "n = thing(worker=3); yield from self.items": "error fix",
    "n = self.items.shard(); yield from self.items": "asks",
    "def f(): return get_worker_info() | n = f(); yield from self.items": "asks",
    "def f(): return 3 | n = f(); yield from self.items": "error fix",
    "def worker(): return 3 | n = worker(); yield from self.items": "error fix",
    "yield from self.stream": "unknown",
    "yield from self.stream.x": "error fix",
    "yield from thing": "unknown",
    "yield from thing(self.items)": "unknown",
    "yield from thing.items": "unknown",
    "yield from thing['a']": "error fix",
    "yield from load()": "error fix",
    "yield from load().data": "unknown",
    "yield from load().rows": "error fix",
    "yield from load()['a']": "error fix",
    "for x in load(): yield x": "error fix",
    "for x in map(load, load().dataset): yield x": "unknown",
    "for x in map(load, load().rows): yield x": "error fix",
    "for x in enumerate(map(load, thing)): yield x": "unknown",
    "for x in webdataset.WebDataset('x'): yield x": "unknown",
    "for x in np.arange(3): yield x": "error fix",
    "for x in cv2.imread('x'): yield x": "error fix",
    "for x in open('x'): yield x": "error fix",
    "for x in RandomSampler(self.items): yield x": "error fix",
    "for x in RandomSampler(self.items, replacement=True): yield x": "random",
    "for x in BatchSampler(RandomSampler(self.items), 2, True): yield x": "error fix",
    "for x in DataLoader(self.items): yield x": "unknown",
    "for x in torch.utils.data.ChainDataset([self.items]): yield x": "unknown",
    "it = iter(self.stream); while True: yield next(it)": "unknown",
    "it = iter(self.items); while True: yield next(it)": "error",
    "it = iter(thing); yield 3": "unknown",
    "class A:;  def __iter__(self): yield 1 | yield from A()": "error fix",
    "class A:;  def __iter__(self): yield get_worker_info() | yield from A()": "asks",
    "class A(thing):;  def __iter__(self): yield 1 | yield from A()": "error fix",
    "class A(IterableDataset):;  def __iter__(self): yield 1 | for x in A(): yield x": "error fix",
    "def f(data): return data | yield from f(self.items)": "error fix",
    "def f(data):;  for x in data: yield x | yield from f(self.items)": "error fix",
    "def f(data):;  for x in data: yield x | yield from f(thing)": "unknown",
    "def f(data):;  for x in data: yield x | return f(self.items)": "error",
    "for x in self.items: yield x + random.random()": "error",
    "yield random.random()": "random",
    "yield np.random.rand()": "random",
    "yield torch.rand(3)": "random",
    "while True: yield random.choice(self.items)": "random",
    "for n in np.random.permutation(3): yield self.items[n]": "error shuffled",
    "random.shuffle(self.items); yield from self.items": "error shuffled",
    "order = torch.randperm(3); for n in order: yield self.items[n]": "error shuffled",
    "while True:;  order = torch.randperm(3);  for n in order: yield self.items[n]": "own orders",
    "while True:;  for n in np.random.permutation(3): yield self.items[n]": "own orders",
    "while True:;  yield from self.items": "error",
    "self.n = 3; yield from self.items": "error",
    "INFO = get_worker_info() | n = INFO; yield from self.items": "too early",
    "for x in self.items:;  if load(x): yield x": "error fix",
    "if load(): return; yield from self.items": "error fix",
    "for n, x in enumerate(self.items):;  if n % 3 == load(): yield x": "error fix",
    "for x in self.items[::2]: yield x": "error fix",
    "for x in sorted(self.items): yield x": "error fix",
    "for x in reversed(list(self.items)): yield x": "error fix",
    "for x in zip(self.items, thing): yield x": "unknown",
    "for x in zip(self.items, itertools.count()): yield x": "error fix",
}
#: Options of the loader of a plain stream, and what is said of it.
OPTIONS: dict[str, str] = {
    "num_workers=2": "error fix",
    "num_workers=1": "one worker only (num_workers=1)",
    "num_workers=0": "no workers (num_workers=0)",
    "num_workers=load()": "possible warning fix",
    "num_workers=2, worker_init_fn=None": "error fix",
    "num_workers=2, worker_init_fn=load()": "init",
    "num_workers=2, worker_init_fn=thing": "init",
    "num_workers=2, worker_init_fn=thing.init": "init",
    "def f(n): pass | num_workers=2, worker_init_fn=f": "error fix",
    "def f(n): np.random.seed(n) | num_workers=2, worker_init_fn=f": "error fix",
    "def f(n): random.seed(torch.initial_seed() % 2 ** 32) | num_workers=2, worker_init_fn=f": "error fix",
    "def f(n): torch.set_num_threads(1) | num_workers=2, worker_init_fn=f": "error fix",
    "def f(n): cv2.setNumThreads(0) | num_workers=2, worker_init_fn=f": "error fix",
    "def f(n): print(int(n)) | num_workers=2, worker_init_fn=f": "error fix",
    "def f(n): time.sleep(n) | num_workers=2, worker_init_fn=f": "error fix",
    "def f(n): os.sched_setaffinity(0, {n}) | num_workers=2, worker_init_fn=f": "error fix",
    "def f(n): thing.seed(n) | num_workers=2, worker_init_fn=f": "init",
    "def f(n): load(n) | num_workers=2, worker_init_fn=f": "init",
    "def f(n): get_worker_info() | num_workers=2, worker_init_fn=f": "init",
    "def f(n): get_worker_info().dataset.items = [n] | num_workers=2, worker_init_fn=f": "init",
    "def g(n): np.random.seed(n); def f(n): g(n) | num_workers=2, worker_init_fn=f": "init",
    "def f(n):;  x = {};  x[n] = 3 | num_workers=2, worker_init_fn=f": "init",
    "def f(n): torch.manual_seed(n) | num_workers=2, worker_init_fn=f": "error fix",
    "class F:;  def __call__(self, n): np.random.seed(n) | num_workers=2, worker_init_fn=F()": "init",
    "f = lambda n: np.random.seed(n) | num_workers=2, worker_init_fn=f": "error fix",
    "num_workers=2, worker_init_fn=print": "error fix",
    "from lightning.fabric.utilities.seed import pl_worker_init_function as f | "
    "num_workers=2, worker_init_fn=f": "error fix",
    "num_workers=2, worker_init_fn=webdataset.shardlists.init": "init",
    "import functools; f = functools.partial(np.random.seed, 3) | num_workers=2, worker_init_fn=f": "error fix",
    "num_workers=2, worker_init_fn=thing()": "init",
    "num_workers=2, worker_init_fn=random.seed": "error fix",
    "num_workers=2, worker_init_fn=np.random.seed": "error fix",
    "num_workers=2, batch_size=None": "error fix",
}


@pytest.mark.parametrize("code", STREAMS)
def test_which_streams_are_whole(code: str, tmp_path: Path) -> None:
    assert whole(tmp_path, code) == STREAMS[code]


@pytest.mark.parametrize("code", OPTIONS)
def test_which_loaders_give_everything_more_than_once(code: str, tmp_path: Path) -> None:
    assert created(tmp_path, code) == OPTIONS[code]
