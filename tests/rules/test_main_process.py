"""What the main process does: functions that it maps over several processes, and batches that it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import itertools, multiprocessing
import numpy as np, torch
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datasets import Dataset as Table, load_dataset
from multiprocessing import Pool
from torch.utils.data import DataLoader, Dataset
from torchdata.nodes import ParallelMapper
from tqdm import tqdm
{}
"""


def said(folder: Path, rule: str, text: str) -> str:
    """The severities of a rule's findings, with what their fixes are called; or why it is silent."""
    found = answers(folder, rule, CODE.format(text))
    shown = [
        " ".join([*["possible"] * (one.certainty == "possible"), one.severity.value, *(f.title for f in one.fixes)])
        for one in found.findings
    ]
    reasons = ["silent"] * bool(found.silences)
    text = " + ".join(sorted(shown) or reasons).replace("`", "'").replace("Keep a copy: ", "")
    return text.replace("Draw from a generator of the process", "with a fix")


def mapped(folder: Path, code: str) -> str:
    """What is said of code in `main` that runs `f`, which draws from NumPy, in processes."""
    above, _, inside = code.rpartition(" | ")
    text = f"def f(x, y=0): return np.random.rand()\ndef g(x, y=0): return x\n{lines(above)}\n"
    return said(folder, "map-duplicate-randomness", f"{text}def main(n=load()):\n{lines(inside, 1)}\nmain()\n")


def kept(folder: Path, code: str) -> str:
    """What is said of a loop in `main` over `loader`, of samples that stand before ` | `, with a list `kept`."""
    sample, _, inside = code.rpartition(" | ")
    text = f"class D(Dataset):\n def __getitem__(self, index): return {sample or 'torch.ones(3)'}\n"
    text += "def main(n=load()):\n kept = []\n loader = DataLoader(D(), num_workers=2)\n"
    return said(folder, "retained-batches", f"{text}{lines(inside, 1)}\nmain()\n")


#: Code that runs a function in processes, and what is said of it.
MAPPED: dict[str, str] = {
    "Pool(4).map(f, [1, 2])": "warning with a fix",
    "Pool(4).map(g, [1, 2])": "silent",
    "Pool(4).map(load, [1, 2])": "",
    "Pool(1).map(f, [1, 2])": "",
    "Pool().map(f, [1, 2])": "warning with a fix",
    "Pool(None).map(f, [1, 2])": "warning with a fix",
    "Pool(n).map(f, [1, 2])": "possible information with a fix",
    "Pool(processes=4).map(f, [1, 2])": "warning with a fix",
    "Pool(processes=1).map(f, [1, 2])": "",
    "Pool(4 if n else 1).map(f, [1, 2])": "possible information with a fix",
    "Pool(4 if n else None).map(f, [1, 2])": "warning with a fix",
    "Pool(4).map()": "",
    "Pool(4).imap(f, [1, 2])": "warning with a fix",
    "Pool(4).imap_unordered(f, [1, 2])": "warning with a fix",
    "Pool(4).map_async(f, [1, 2])": "warning with a fix",
    "Pool(4).starmap(f, [(1, 2)])": "warning with a fix",
    "Pool(4).starmap_async(f, [(1, 2)])": "warning with a fix",
    "Pool(4).apply(f, (1,))": "warning with a fix",
    "Pool(4).apply_async(f, (1,))": "warning with a fix",
    "Pool(4).apply_async(f, args=(1,))": "warning with a fix",
    "Pool(4).apply_async(f)": "warning with a fix",
    "Pool(4).close(f)": "",
    "with Pool(4) as p: p.map(f, [1, 2])": "warning with a fix",
    "p = Pool(4); p.map(f, [1, 2])": "warning with a fix",
    "p = load(); p.map(f, [1, 2])": "",
    "multiprocessing.Pool(4).map(f, [1, 2])": "warning with a fix",
    "multiprocessing.get_context('fork').Pool(4).map(f, [1, 2])": "warning with a fix",
    "multiprocessing.get_context('spawn').Pool(4).map(f, [1, 2])": "silent",
    "ProcessPoolExecutor(4).map(f, [1, 2])": "warning with a fix",
    "ProcessPoolExecutor(1).map(f, [1, 2])": "",
    "ProcessPoolExecutor().map(f, [1, 2])": "warning with a fix",
    "ProcessPoolExecutor(max_workers=4).submit(f, 1)": "warning with a fix",
    "ProcessPoolExecutor(4).submit(g, 1)": "silent",
    "ProcessPoolExecutor(4, mp_context=multiprocessing.get_context('spawn')).map(f, [1, 2])": "silent",
    "ProcessPoolExecutor(4, mp_context=multiprocessing.get_context('fork')).map(f, [1, 2])": "warning with a fix",
    "ThreadPoolExecutor(4).map(f, [1, 2])": "",
    "multiprocessing.pool.ThreadPool(4).map(f, [1, 2])": "",
    "def init(): np.random.seed() | Pool(4, init).map(f, [1, 2])": "silent",
    "def init(): np.random.seed() | Pool(4, initializer=init).map(f, [1, 2])": "silent",
    "def init(): print(3) | Pool(4, init).map(f, [1, 2])": "warning with a fix",
    "def init(): np.random.rand() | Pool(4, init).map(g, [1, 2])": "warning with a fix",
    "Pool(4, load()).map(f, [1, 2])": "silent",
    "Pool(4, None).map(f, [1, 2])": "warning with a fix",
    "def h(x): return f(x) | Pool(4).map(h, [1, 2])": "warning with a fix",
    "def h(x): return np.random.default_rng(x).random() | Pool(4).map(h, [1, 2])": "silent",
    "def h(x): return np.random.default_rng().random() | Pool(4).map(h, [1, 2])": "silent",
    "def h(x):;  np.random.seed(x);  return np.random.rand() | Pool(4).map(h, [1, 2])": "silent",
    "RNG = np.random.default_rng(3); def h(x): return RNG.random() | Pool(4).map(h, [1, 2])": "warning",
    "class C:;  def h(self, x): return np.random.rand() | Pool(4).map(C().h, [1, 2])": "warning with a fix",
    "class C:;  def __call__(self, x): return np.random.rand() | Pool(4).map(C(), [1, 2])": "warning with a fix",
    "def h(x): return x(1) | Pool(4).map(h, [f, f])": "warning with a fix",
    "def h(x): return x(1) | Pool(4).map(h, [g, g])": "silent",
    "def h(x): return x(1) | Pool(4).map(h, load())": "silent",
    "def h(x, y): return y(1) | Pool(4).starmap(h, [(1, f)])": "warning with a fix",
    "def h(x, y): return y(1) | Pool(4).starmap(h, [(f, 1)])": "silent",
    "def h(x, y): return y(1) | Pool(4).apply(h, (1, f))": "warning with a fix",
    "def h(x, y): return y(1) | ProcessPoolExecutor(4).submit(h, 1, f)": "warning with a fix",
    "def h(x, y): return y(1) | ProcessPoolExecutor(4).submit(h, f, 1)": "silent",
    "def h(x, y): return y(1) | ProcessPoolExecutor(4).submit(h, 1, y=f)": "warning with a fix",
    "load_dataset('x').map(f, num_proc=4)": "warning with a fix",
    "load_dataset('x').map(f, num_proc=1)": "",
    "load_dataset('x').map(f)": "",
    "load_dataset('x').map(f, num_proc=n)": "possible information with a fix",
    "load_dataset('x').map(function=f, num_proc=4)": "warning with a fix",
    "load_dataset('x').filter(f, num_proc=4)": "warning with a fix",
    "load().map(f, num_proc=4)": "warning with a fix",
    "class T:;  def map(self, f, num_proc): return 3 | T().map(f, num_proc=4)": "",
    "ParallelMapper(load(), f, 4, True, 'process')": "warning with a fix",
    "ParallelMapper(load(), f, 4, True, 'thread')": "",
    "ParallelMapper(load(), f, 1, True, 'process')": "",
    "ParallelMapper(load(), map_fn=f, num_workers=4, method='process')": "warning with a fix",
    "ParallelMapper(load(), map_fn=f, num_workers=4)": "",
    "ParallelMapper(load(), map_fn=f, num_workers=4, method=n)": "",
    "ParallelMapper(load(), map_fn=f, num_workers=4, method='process', multiprocessing_context='spawn')": "silent",
    "map(f, [1, 2])": "",
    "if False: Pool(4).map(f, [1, 2])": "",
}
#: What a loop over `loader` does with a list `kept`, and what is said of it.
KEPT: dict[str, str] = {
    "for x in loader: kept.append(x)": "information '.clone()'",
    "for x in loader: kept.append(x.clone())": "",
    "for x in loader: kept.append(x + 1)": "",
    "for x in loader: kept.append(x.mean())": "",
    "for x in loader: kept.append(x.detach())": "information '.clone()'",
    "for x in loader: kept.append(x.view(3))": "information '.clone()'",
    "for x in loader: kept.append(x.cpu())": "information '.clone()'",
    "for x in loader: kept.append(x.numpy())": "information '.copy()'",
    "for x in loader: kept.append(x.detach().numpy())": "information '.copy()'",
    "for x in loader: kept.append(x.data)": "information '.clone()'",
    "for x in loader: kept.append(x.shape)": "",
    "for x in loader: kept.append(x[0])": "hint",
    "for x in loader: kept.append(x[0:2])": "information '.clone()'",
    "for x in loader: kept.append(x[load()])": "",
    "for x in loader: kept.append(load(x))": "",
    "for x in loader: kept.append((x, 1))": "information",
    "for x in loader: kept.append([x])": "information",
    "for x in loader: kept.append({'a': x})": "information",
    "for x in loader: y = x; kept.append(y)": "",
    "for x in loader:;  y = x;  kept.append(y)": "information",
    "for x in loader:;  y = x.clone();  kept.append(y)": "",
    "for x in loader:;  x = x.clone();  kept.append(x)": "",
    "for x in loader:;  y = [];  y.append(x)": "",
    "for x in loader:;  if load(): kept.append(x)": "",
    "for x in loader:;  if False: kept.append(x)": "",
    "for x in loader: kept.extend(x)": "",
    "for x in loader: load().append(x)": "",
    "for x in loader: n.append(x)": "",
    "for x in loader: kept.append()": "",
    "for x in tqdm(loader): kept.append(x)": "information '.clone()'",
    "for k, x in enumerate(loader): kept.append(x)": "information '.clone()'",
    "for k, x in enumerate(loader): kept.append(k)": "",
    "for k, x in enumerate(tqdm(loader)): kept.append(x)": "information '.clone()'",
    "for k, x in tqdm(enumerate(loader)): kept.append(x)": "information '.clone()'",
    "for p in enumerate(loader): kept.append(p[1])": "information '.clone()'",
    "for p in enumerate(loader): kept.append(p[0])": "",
    "for p in enumerate(loader): kept.append(p)": "",
    "for k, x in enumerate(enumerate(loader)): kept.append(x)": "",
    "for x in iter(loader): kept.append(x)": "information '.clone()'",
    "for x in zip(loader, loader): kept.append(x)": "",
    "for x in itertools.islice(loader, 3): kept.append(x)": "",
    "for x in load(loader): kept.append(x)": "",
    "for x in [1, 2]: kept.append(x)": "",
    "for x in load(): kept.append(x)": "",
    "torch.ones(3), 1 | for x, y in loader: kept.append(x)": "information '.clone()'",
    "torch.ones(3), 1 | for x, y in loader: kept.append(y)": "information '.clone()'",
    "torch.ones(3), 'a' | for x, y in loader: kept.append(y)": "",
    "torch.ones(3), 'a' | for x, y in loader: kept.append((y, x))": "information",
    "torch.ones(3), load() | for x, y in loader: kept.append(y)": "hint",
    "torch.ones(3), load() | for x, y in loader: kept.append(y.detach())": "information '.clone()'",
    "torch.ones(3), 1 | for x in loader: kept.append(x[1])": "information '.clone()'",
    "torch.ones(3), 1 | for x in loader: kept.append(x[-1])": "information '.clone()'",
    "torch.ones(3), 'a' | for x in loader: kept.append(x[-1])": "",
    "{'a': torch.ones(3), 'b': 'x'} | for x in loader: kept.append(x['a'])": "information '.clone()'",
    "{'a': torch.ones(3), 'b': 'x'} | for x in loader: kept.append(x['b'])": "",
    "{'a': torch.ones(3), 'b': 'x'} | for x in loader: kept.append(x['c'])": "hint",
    "{'a': np.ones(3), 'b': 'x'} | for x in loader: kept.append(x['a'])": "information '.clone()'",
    "load() | for x in loader: kept.append(x)": "hint",
    "np.ones(3) | for x in loader: kept.append(x)": "information '.clone()'",
    "3 | for x in loader: kept.append(x)": "information '.clone()'",
    "'a' | for x in loader: kept.append(x)": "",
    "len(load()) | for x in loader: kept.append(x)": "information '.clone()'",
    "loader = DataLoader(D(), num_workers=0); for x in loader: kept.append(x)": "",
    "loader = DataLoader(D(), num_workers=2, pin_memory=True); for x in loader: kept.append(x)": "",
    "loader = DataLoader(D(), num_workers=2, pin_memory=load()); for x in loader: kept.append(x)": "",
    "loader = DataLoader(D(), num_workers=n); for x in loader: kept.append(x)": "possible hint '.clone()'",
    "loader = DataLoader(D(), num_workers=2, collate_fn=load()); for x in loader: kept.append(x)": "hint",
    "loader = DataLoader(D(), num_workers=2, collate_fn=load()); "
    "for x in loader: kept.append(x.detach())": "information '.clone()'",
    "torch.multiprocessing.set_sharing_strategy('file_system'); for x in loader: kept.append(x)": "silent",
}


@pytest.mark.parametrize("code", MAPPED)
def test_what_is_mapped_over_processes(code: str, tmp_path: Path) -> None:
    assert mapped(tmp_path, code) == MAPPED[code]


@pytest.mark.parametrize("code", KEPT)
def test_which_batches_are_kept(code: str, tmp_path: Path) -> None:
    assert kept(tmp_path, code) == KEPT[code]
