"""Whether a stream gives all that it iterates over, or only what it draws; and which of them never ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.stream_sources import gives_all, goes_on_in_own_order
from tests.project.linking import link

HEAD = """
import itertools, random, secrets
import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, SubsetRandomSampler, WeightedRandomSampler
from tqdm import tqdm, trange
{}
class S(IterableDataset):
    def __init__(self, items=(), rng=None):
        self.items = items
        self.count = 8
        self.rng = np.random.default_rng()
    def noisy(self, x): return x + random.random()
    def picked(self): return random.choice(self.items)
    def pairs(self):
        for x in self.items: yield x, random.random()
    def __iter__(self):
        {}
loader = DataLoader(S(load()), num_workers=2)
"""

#: Code of `__iter__`, after code of the module that ends with ` | `, of a stream that gives all items. `; ` ends a
#: line, and more spaces after it indent the next one.
ALL = [
    "for x in self.items: yield x",
    "for x in self.items: yield x + random.random()",
    "for x in self.items: yield x, random.random()",
    "for x in self.items: yield {'x': x, 'noise': np.random.rand(3)}",
    "for x in self.items: yield x, random.choice(self.items)",
    "for x in self.items: yield x, 1",
    "for x in self.items: yield self.noisy(x)",
    "for x in self.items: yield load(x, random.random())",
    "for x in self.items: yield x if random.random() < 0.5 else -x",
    "for x in self.items: yield random.random() < 0.5 and x",
    "for n, x in enumerate(self.items): yield n, x",
    "for n in range(8): yield n",
    "for n in range(8): yield n, 'a'",
    "for n in range(8): yield self.items[n]",
    "for n in range(8): yield self.items[n], random.random()",
    "for x in random.sample(self.items, len(self.items)): yield x",
    "for x in random.sample(self.items, k=len(self.items)): yield x",
    "for n in np.random.permutation(8): yield self.items[n]",
    "for n in torch.randperm(8): yield self.items[n]",
    "for n in self.rng.permutation(8): yield self.items[n]",
    "for n in np.random.choice(8, len(self.items), replace=False): yield self.items[n]",
    "for n in np.random.choice(8, size=len(self.items), replace=False): yield self.items[n]",
    "order = list(range(8)); random.shuffle(order); for n in order: yield self.items[n]",
    "order = torch.randperm(8); for n in range(8): yield self.items[order[n]]",
    "order = torch.randperm(8); for n in range(8): yield order[n]",
    "for x in tqdm(self.items): yield x, random.random()",
    "for x in zip(self.items, itertools.count()): yield x, random.random()",
    "for x in map(self.noisy, self.items): yield x",
    "for x in filter(None, self.items): yield x, random.random()",
    "for x in iter(self.items): yield x, random.random()",
    "for x in list(itertools.chain(self.items, self.items)): yield x, random.random()",
    "for x in itertools.islice(self.items, random.randint(1, 3)): yield x",
    "it = iter(self.items); while True: yield next(it), random.random()",
    "for x in self.items: yield random.choice([load, max])(x if load() else 1)",
    "yield from self.items",
    "yield from self.pairs()",
    "return self.pairs()",
    "return iter(self.items)",
    "return load()",
    "for n in range(8): yield n + random.random()",
    "for n in trange(8): yield n",
    "for n in torch.arange(8): yield n",
    "for n in itertools.count(): yield n",
    "for n in itertools.repeat(3): yield n",
    "return map(self.noisy, self.items)",
    "return (x + random.random() for x in self.items)",
    "return iter([x + random.random() for x in self.items])",
    "buffer = []; for x in self.items:;  buffer.append(x);  yield buffer.pop()",
    "buffer = []; for x in self.items:;  buffer.append(x);  yield buffer.pop(random.randrange(3))",
    "buffer = []; for x in self.items: buffer.append(x); for x in buffer: yield x, random.random()",
    "buffer = []; for x in self.items: buffer += [x]; for x in buffer: yield x, random.random()",
    "buffer = [0] * 8; for n, x in enumerate(self.items): buffer[n] = x; random.shuffle(buffer); yield from buffer",
    "left = list(self.items); while left:;  n = random.randrange(3);  yield left[n];  del left[n]",
    "left = list(range(8)); while left:;  n = random.randrange(3);  yield left[n];  left.remove(left[n])",
    "random.seed(3); for x in self.items: yield x",
    "rng = random.Random(3); for x in self.items: yield x, rng.random()",
    "def f(x): return x | for x in self.items: yield f(x), random.random()",
    "def f(a, x): return x | for x in self.items: yield f(random.random(), x)",
    "def f(a, x): return x | for x in self.items: yield f(x=x, a=random.random())",
    "def f(n): return f(n - 1) if n else n | for x in self.items: yield x, f(3), random.random()",
    "def f(xs): return [x for x in xs] | for x in f(self.items): yield x, random.random()",
    "def f(xs):;  for x in xs: yield x | for x in f(self.items): yield x, random.random()",
    "def f(xs):;  if load(): return None;  return xs | for x in f(self.items): yield x, random.random()",
    "class I:;  def __iter__(self): yield from load() | for x in I(): yield x, random.random()",
    "class I:;  def __init__(self, x): self.x = x | for x in self.items: yield I(x), random.random()",
    "for x in RandomSampler(self.items): yield x",
    "for x in SubsetRandomSampler(self.items): yield x",
    "for x in RandomSampler(self.items, replacement=False): yield x",
    "for x in WeightedRandomSampler([1, 2], 2, False): yield x",
    "for n in np.zeros(8).choice(8): yield n",
    "for rng in [random.Random(n) for n in range(8)]: yield rng",
    "for x in self.items: yield load(x, random.choice(self.items))",
    "self.buffer = []; for x in self.items:;  self.buffer.append(x);  yield self.buffer",
    "o = load(); self.a = []; o.a.append(random.choice([1])); for x in self.items:;  self.a.append(x);  yield self.a",
    "buffer = []; for x in self.items:;  buffer.append(x);  buffer.remove(random.choice(buffer));  yield load(buffer)",
    "for x in self.items:;  sample = {};  sample['x'] = x;  sample['noise'] = random.random();  yield sample",
    "for x in self.items:;  sample = dict();  sample['x'] = x;  sample['noise'] = random.random();  yield sample",
    "for x in self.items:;  sample = [];  sample.append(x);  sample.append(random.random());  yield sample",
    "for x in self.items:;  sample = {'a': 1};  sample.update(x=x, noise=random.choice([1, 2]));  yield sample",
    "order = torch.randperm(8); for n in range(0, 8, 2): yield order[n:n + 2]",
    "order = torch.randperm(8); for n in range(0, 8, 2): yield self.items[order[n:n + 2]]",
    "order = torch.randperm(8); for n in range(0, 8, 2): yield [self.items[k] for k in order[n:n + 2]]",
    "items = self.items[torch.randperm(8)]; for x in items: yield x",
    "items = self.items[torch.randperm(8)]; for n in range(8): yield items[n]",
    "order = torch.randperm(8); for n, x in enumerate(self.items): yield order[n], x",
    "buffer = []; for x in self.items:;  buffer.append(x);  yield buffer[n], random.choice(buffer)",
    "def f(xs): return xs[random.randrange(3)] | for x in self.items: yield f([x])",
    "for n in map(np.random.choice, range(8)): yield n",
    "for x in self.items: yield load(**random.random(), x=x)",
    "def f(x, **k): return x | for x in self.items: yield f(x, a=random.random())",
    "def f(x): return x | for x in self.items: yield f(x, random.random())",
    "def f(x): yield x, random.random() | for x in self.items: yield from f(x)",
    "def f(x):;  if load(): return;  return x | for x in self.items: yield f(x), random.random()",
    "for x in sorted(self.items, key=random.random): yield x, random.random()",
    "for n in range(0, 8, 2): yield [self.items[n + k] for k in range(2)], random.random()",
    "for x in self.items: yield [y + random.random() for y in x]",
    "for x in self.items:;  sample = {};  for y in x: sample[y] = y + random.random();  yield sample",
    "for x in self.items:;  sample = {};  for n in load(): sample[n] = load(x, random.random());  yield sample",
    "batch = []; for x in self.items:;  batch.append(x + random.random());  if load():;   yield batch;   batch = []",
    "for x in [y + random.random() for y in self.items]: yield x",
    "for xs in [[y + random.random() for y in self.items]]:;  for x in xs: yield x",
    "buffer = []; for x in self.items: buffer.append(x + random.random()); yield from buffer",
    "a = [x for x in self.items]; for x in self.items:;  n = random.randrange(3);  yield a[n];  a[n] = x",
    "known = [x for x in self.items]; for n in range(8): yield known[n], random.random()",
    "known = [x for x in self.items]; while known: yield known.pop(random.randrange(3))",
    "for x in self.items: yield x[random.randrange(3)]",
    "def f(xs): return [x + random.random() for x in xs] | for x in self.items: yield f([x])",
    "def f(xs): return [x + random.random() for x in xs] | for x in f(self.items): yield x",
    "a = list(itertools.islice(self.items, 3)); for x in self.items:;  n = random.randrange(3);  yield a[n];  a[n] = x",
]

#: The same of a stream that draws its items.
DRAWN = [
    "yield random.random()",
    "yield random.random(), 1",
    "while True: yield np.random.rand(3)",
    "while True: yield torch.randn(3)",
    "while True: yield secrets.token_hex()",
    "while True: yield self.rng.random()",
    "while True: yield self.picked()",
    "while True: yield random.choice(self.items)",
    "while True: yield np.random.choice(self.items)",
    "while True: yield self.items[random.randrange(8)]",
    "while True: yield self.items[random.randrange(8)], 1",
    "while True: yield {'x': self.items[torch.randint(8, (1,))]}",
    "while True: yield load(random.choice(self.items))",
    "while True: yield random.choice(self.items).text",
    "while True: yield random.choice(self.items).read()",
    "while True: yield random.choice(self.items)[0]",
    "while True: yield random.choice([load, max])(1)",
    "while True: yield random.random() if load() else random.choice(self.items)",
    "for x in random.choices(self.items, k=8): yield x",
    "for x in random.choices(self.items, k=len(self.items)): yield x",
    "for x in random.sample(self.items, 3): yield x",
    "for x in random.sample(self.items, k=3): yield x",
    "for n in np.random.choice(8, 8, replace=False): yield self.items[n]",
    "for n in np.random.choice(8, len(self.items)): yield self.items[n]",
    "for n in np.random.choice(8, len(self.items), replace=True): yield self.items[n]",
    "for n in np.random.randint(0, 8, 8): yield self.items[n]",
    "for n in np.random.sample(8): yield n",
    "for n in range(8): yield random.choice(self.items)",
    "for n in range(8): yield n, random.choice(self.items)",
    "for n in range(8): yield random.random()",
    "for x in self.items: yield random.choice(self.items)",
    "for x in [random.random() for n in range(8)]: yield x",
    "for x in map(float, np.random.rand(8)): yield x",
    "yield from np.random.rand(8)",
    "yield from [random.random()]",
    "return (random.random() for x in self.items)",
    "return iter([random.choice(self.items)])",
    "for x in self.items: yield x; yield random.random()",
    "buffer = []; for x in range(8): buffer.append(random.random()); yield from buffer",
    "buffer = {}; for x in range(8): buffer['a'] = random.choice(self.items); yield buffer",
    "left = list(range(8)); while True: yield left[random.randrange(3)]",
    "def f(x): return random.random() | for x in self.items: yield f(x)",
    "def f(x, a): return x | for x in self.items: yield f(random.random(), x)",
    "def f(x, a): return x | for x in self.items: yield f(a=x, x=random.random())",
    "def f():;  while True: yield random.random() | yield from f()",
    "def f():;  while True: yield random.random() | return f()",
    "def f():;  while True: yield random.random() | for x in f(): yield x",
    "def f(): return [random.random()] | for x in f(): yield x",
    "class I:;  def __iter__(self): yield random.random() | for x in I(): yield x",
    "class I:;  def __iter__(self): return iter([random.random()]) | for x in I(): yield x",
    "for n in RandomSampler(self.items, True): yield self.items[n]",
    "for n in RandomSampler(self.items, replacement=True): yield self.items[n]",
    "for n in RandomSampler(self.items, replacement=load()): yield self.items[n]",
    "for n in WeightedRandomSampler([1, 2], 2): yield self.items[n]",
    "for n in range(8): yield n, random.random()",
    "for n in itertools.count(): yield n, random.random()",
    "for n in trange(8): yield n, random.random()",
    "for n in np.arange(8): yield n, random.random()",
    "order = torch.randperm(8)[2:]; for n in order: yield n",
    "return load(random.random())",
    "order = torch.randperm(8); yield from order[:4]",
    "pass",
    "while True: yield self",
    "for n in self.rng.choice(8, 8): yield self.items[n]",
    "for n in self.rng.integers(0, 8, 8): yield self.items[n]",
    "for n in np.random.sample(size=len(self.items)): yield n",
    "for x in self.items: yield load(x if load() else random.choice(self.items))",
    "for x in self.items: yield x if load() else random.choice(self.items)",
    "for n in range(8): yield {'n': n, 'x': random.random()}",
    "for n in range(8):;  sample = {};  sample['x'] = random.random();  sample['n'] = n;  yield sample",
    "for x in self.items:;  sample = {};  sample['x'] = random.choice(self.items);  yield sample",
    "left = list(range(8)); other = {}; while left:;  n = random.randrange(3);  del other[n];  yield left[n]",
    "left = list(range(8)); while left:;  n = random.randrange(3);  yield left[n];  del n",
    "left = [n for n in range(8)]; while True: yield left[random.choice([1, 2])]",
    "items = self.items[torch.randperm(8)[:4]]; for x in items: yield x",
    "items = self.items[torch.randperm(8)][:4]; for x in items: yield x",
    "order = torch.randperm(8); while True: yield self.items[order[0]]",
    "order = torch.randperm(8); while True: yield self.items[order[:4]]",
    "chosen = [random.choice(self.items)]; while True: yield chosen.pop()",
    "chosen = random.choices(self.items); while True: yield chosen.pop()",
    "for x in map(random.random, range(8)): yield x; yield random.random()",
    "def f(xs): return xs | for x in f(random.choices(self.items)): yield x",
    "def f(): return random.random() | for n in [f() for x in range(8)]: yield n",
    "buffer = []; for x in self.items: buffer.append(x); while buffer: yield buffer[random.randrange(3)]",
    "known = [x for x in self.items]; for n in range(8): yield known[random.randrange(3)]",
    "known = [x for x in self.items]; while True: yield random.choice(known)",
    "known = {n: x for n, x in enumerate(self.items)}; while True: yield known[random.randrange(3)]",
    "while True: yield [x + random.random() for x in self.items]",
    "while True: yield {x: x * random.random() for x in self.items}",
    "while True: yield [load(n, random.random()) for n in range(8)]",
    "while True: yield [[x + random.random() for x in self.items] for n in range(8)]",
    "while True:;  sample = {};  for x in self.items: sample[x] = x + random.random();  yield sample",
    "while True:;  sample = [];  for x in self.items: sample.append(x + random.random());  yield sample, 1",
    "while True: yield load([x + random.random() for x in self.items])",
    "def f(xs): return [x + random.random() for x in xs] | while True: yield f(self.items)",
    "def f(): return [x + random.random() for x in load()] | while True: yield f()",
    "while True:;  for x in [random.choice(self.items) for n in range(8)]: yield x",
]

#: Code of a stream that goes through its items again and again, in orders that each worker draws.
ENDLESS = [
    "while True:;  random.shuffle(self.items);  yield from self.items",
    "while True:;  random.shuffle(self.items);  for x in self.items: yield x",
    "while 1:;  for n in np.random.permutation(8): yield n",
    "for n in itertools.count(): yield from np.random.permutation(8)",
    "for n in itertools.repeat(3):;  for x in np.random.permutation(8): yield x",
    "while True:;  for n in torch.randperm(8):;   if n: yield n",
    "while True:;  for n in torch.randperm(8):;   for m in range(3): yield n, m",
    "def f(x): random.shuffle(x) | while True:;  f(self.items);  yield from self.items",
]

#: The same of a stream that ends, has one order, or one that is seeded or not known to be its own.
NOT_ENDLESS = [
    "random.shuffle(self.items); yield from self.items",
    "for n in np.random.permutation(8): yield n",
    "while True: yield from self.items",
    "while load():;  random.shuffle(self.items);  yield from self.items",
    "while False:;  random.shuffle(self.items);  yield from self.items",
    "while True:;  random.shuffle(self.items);  yield self.items[0]",
    "for x in self.items:;  for n in np.random.permutation(8): yield n",
    "for n in range(8): yield from np.random.permutation(8)",
    "random.seed(3); while True:;  random.shuffle(self.items);  yield from self.items",
    "def f(): np.random.seed(3) | f(); while True:;  random.shuffle(self.items);  yield from self.items",
    "while True:;  self.rng.shuffle(self.items);  yield from self.items",
    "while True:;  random.choice(self.items);  yield from self.items",
    "while True:;  random.shuffle(self.items);  yield from self.items;  yield 0",
    "while True:;  random.shuffle(self.items);  return self.items",
]


def stream(folder: Path, code: str) -> tuple[Frame, Model]:
    """The frame of `__iter__` with some code, and its model."""
    module, _, inside = code.rpartition(" | ")
    text = HEAD.format("\n".join(module.split("; ")), "\n        ".join(inside.split("; ")))
    linked = link(folder, text)
    (dataset,) = [one for one in linked.loader().datasets if isinstance(one, Instance)]
    entry = linked.model.ev.classes.open_method(dataset, "__iter__")
    assert entry is not None
    return entry, linked.model


@pytest.mark.parametrize("code", [*ALL, *DRAWN])
def test_a_stream_gives_all_or_what_it_draws(code: str, tmp_path: Path) -> None:
    assert gives_all(*stream(tmp_path, code)) is (code in ALL)


@pytest.mark.parametrize("code", [*ENDLESS, *NOT_ENDLESS])
def test_a_stream_goes_on_in_its_own_order_or_not(code: str, tmp_path: Path) -> None:
    entry, model = stream(tmp_path, code)
    assert goes_on_in_own_order(entry, model.run_by((entry,)), model) is (code in ENDLESS)
