"""Seeds that are too large for NumPy, that are the same in each epoch, and which code limits OpenCV's threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import os, random, sys
import cv2, numpy as np, torch
import lightning.pytorch as pl
from torch.utils.data import DataLoader, Dataset, get_worker_info
from elsewhere import thing
{}
class D(Dataset):
 def __getitem__(self, index): return {}
"""


def said(folder: Path, rule: str, text: str) -> str:
    """The severities and fixes of a rule's findings; or why it is silent."""
    found = answers(folder, rule, text)
    shown = [
        " ".join([*["possible"] * (one.certainty == "possible"), one.severity.value])
        + "".join(f" [{fix.safety}]" for fix in one.fixes)
        for one in found.findings
    ]
    reasons = dict.fromkeys(one.reason.partition(": `loader`")[0] for one in found.silences)
    return " + ".join(sorted(shown)) or ", ".join(reasons)


def wide(folder: Path, code: str) -> str:
    """What is said of a seed that a worker_init_fn, called with `n`, passes to NumPy. Module-level code stands before
    ` | `, and statements before the seed."""
    above, _, inside = code.rpartition(" | ")
    *before, seed = inside.split("; ")
    body = lines("; ".join([*before, f"np.random.seed({seed})"]), 1)
    text = CODE.format(lines(above), "np.random.rand()") + f"def init(n):\n{body}\n"
    return said(folder, "worker-seed-overflow", f"{text}loader = DataLoader(D(), num_workers=2, worker_init_fn=init)\n")


def repeated(folder: Path, code: str) -> str:
    """What is said of seeds in a program that trains with `loader`. Module-level code stands before ` | `."""
    above, _, inside = code.rpartition(" | ")
    text = CODE.format(lines(above), "torch.rand(3)") + "def main(seed=3, on=load(), o=load()):\n"
    text += " loader = DataLoader(D(), num_workers=2, shuffle=True)\n" + lines(inside, 1) + "\nmain()\n"
    return said(folder, "constant-epoch-seed", text)


def limited(folder: Path, code: str) -> str:
    """What is said of OpenCV's threads in workers. Module-level code stands before ` | `, the options of the loader
    after it."""
    above, _, options = map(str.strip, code.partition(" |"))
    text = CODE.format(lines(above), "cv2.Canny(load(), 3, 3)") + "def main():\n"
    text += f" loader = DataLoader(D(), num_workers=4{options and ', '}{options})\n for batch in loader: print(batch)\n"
    text += "if __name__ == '__main__': main()\n"
    return said(folder, "opencv-threads-in-workers", text)


#: The seed that a worker_init_fn passes to NumPy, and what is said of it.
WIDE: dict[str, str] = {
    "torch.initial_seed()": "error [safe]",
    "torch.initial_seed() % 2**32": "the seed is below 2**32",
    "torch.initial_seed() % 2 ** 32": "the seed is below 2**32",
    "torch.initial_seed() % (2**32 - 1)": "the seed is below 2**32",
    "torch.initial_seed() % (2**32 + 1)": "error [safe]",
    "torch.initial_seed() % 2**33": "error [safe]",
    "torch.initial_seed() % (1 << 32)": "the seed is below 2**32",
    "torch.initial_seed() % (1 << 33)": "error [safe]",
    "torch.initial_seed() % 4294967296": "the seed is below 2**32",
    "torch.initial_seed() % 10000": "the seed is below 2**32",
    "torch.initial_seed() % load()": "",
    "torch.initial_seed() % 0": "",
    "torch.initial_seed() % 2**32 + n": "the seed is below 2**32",
    "torch.initial_seed() % 2**32 * 2": "error [safe]",
    "torch.initial_seed() % 2**32 * 1": "the seed is below 2**32",
    "torch.initial_seed() % 2**31 * 2": "the seed is below 2**32",
    "torch.initial_seed() % 2**31 * n": "the seed is below 2**32",
    "torch.initial_seed() % 2**31 << 3": "error [safe]",
    "(torch.initial_seed() + n) % 2**32": "the seed is below 2**32",
    "torch.initial_seed() + n": "error [safe]",
    "torch.initial_seed() - n": "error [safe]",
    "torch.initial_seed() - 3": "error [safe]",
    "torch.initial_seed() - load()": "",
    "3 - torch.initial_seed()": "",
    "torch.initial_seed() // 2**32": "the seed is below 2**32",
    "torch.initial_seed() // 2**31": "the seed is below 2**32",
    "torch.initial_seed() // 2**30": "error [safe]",
    "torch.initial_seed() // 0": "",
    "torch.initial_seed() >> 31": "the seed is below 2**32",
    "torch.initial_seed() >> 30": "error [safe]",
    "torch.initial_seed() >> 100": "the seed is below 2**32",
    "torch.initial_seed() & 0xffffffff": "the seed is below 2**32",
    "torch.initial_seed() & (2**32 - 1)": "the seed is below 2**32",
    "torch.initial_seed() & 2**32": "error [safe]",
    "torch.initial_seed() & 2**33 - 1": "error [safe]",
    "(2**32 - 1) & torch.initial_seed()": "the seed is below 2**32",
    "torch.initial_seed() & load()": "",
    "torch.initial_seed() ^ n": "error [safe]",
    "torch.initial_seed()|3": "error [safe]",
    "torch.initial_seed() / 3": "",
    "torch.initial_seed() ** 2": "",
    "int(torch.initial_seed())": "error [safe]",
    "int(torch.initial_seed() % 2**32)": "the seed is below 2**32",
    "int(torch.initial_seed()) % 2**32": "the seed is below 2**32",
    "abs(torch.initial_seed())": "error [safe]",
    "hash(torch.initial_seed())": "",
    "str(torch.initial_seed())": "",
    "[torch.initial_seed(), n]": "error [safe]",
    "[torch.initial_seed() % 2**32, n]": "the seed is below 2**32",
    "(n, torch.initial_seed())": "error [safe]",
    "sum([torch.initial_seed(), n])": "error [safe]",
    "np.array(torch.initial_seed())": "error [safe]",
    "get_worker_info().seed": "error [safe]",
    "get_worker_info().seed % 2**32": "the seed is below 2**32",
    "get_worker_info().id": "",
    "torch.utils.data.get_worker_info().seed": "error [safe]",
    "info = get_worker_info(); info.seed": "error [safe]",
    "seed = torch.initial_seed(); seed": "error [safe]",
    "seed = torch.initial_seed(); seed += n; seed": "error [safe]",
    "seed = torch.initial_seed(); seed %= 2**32; seed": "the seed is below 2**32",
    "seed = torch.initial_seed() if n else 3; seed": "",
    "seed = torch.initial_seed() if n else torch.initial_seed() % 2**32; seed": "the seed is below 2**32",
    "seed = 3; if n: seed = torch.initial_seed(); seed": "",
    "seed = torch.initial_seed() % 2**32; if n: seed = torch.initial_seed(); seed": "the seed is below 2**32",
    "seed = torch.initial_seed(); if n: seed = torch.seed(); seed": "error",
    "torch.manual_seed(n); torch.initial_seed()": "its workers set another seed for torch first, which may be small",
    "torch.seed()": "error [safe]",
    "torch.random.initial_seed()": "error [safe]",
    "n": "",
    "n + 3": "",
    "load()": "",
    "random.getrandbits(64)": "",
    "SEED = torch.initial_seed() | SEED": "",
    "SEED = torch.initial_seed() | SEED + n": "",
    "LIMIT = 2**32 | torch.initial_seed() % LIMIT": "the seed is below 2**32",
    "LIMIT = 2**33 | torch.initial_seed() % LIMIT": "error [safe]",
    "LIMIT = 2 * 2**31 | torch.initial_seed() % LIMIT": "the seed is below 2**32",
    "LIMIT = 2**32 - 1 | torch.initial_seed() % LIMIT": "the seed is below 2**32",
    "LIMIT = -3 | torch.initial_seed() % LIMIT": "",
    "LIMIT = load() | torch.initial_seed() % LIMIT": "",
    "LIMIT = np.iinfo(np.uint32).max | torch.initial_seed() % LIMIT": "",
    "def seed(): return torch.initial_seed() | seed()": "error [safe]",
    "def seed(): return torch.initial_seed() % 2**32 | seed()": "the seed is below 2**32",
    "def seed(x): return x % 2**32 | seed(torch.initial_seed())": "the seed is below 2**32",
    "def seed(x): return x + 1 | seed(torch.initial_seed())": "error [safe]",
    "seed=torch.initial_seed()": "error [safe]",
    "if torch.initial_seed() < 2**32: pass; torch.initial_seed()": "error [safe]",
}
#: What a program does that trains with `loader`, and what is said of its seeds.
REPEATED: dict[str, str] = {
    "for e in range(3):;  torch.manual_seed(3);  for x in loader: print(x)": "warning [unsafe]",
    "for e in range(3):;  torch.manual_seed(e);  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed(3 + e);  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed(seed);  for x in loader: print(x)": "warning",
    "for e in range(3):;  torch.manual_seed(seed + e);  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed(seed + 1);  for x in loader: print(x)": "warning",
    "for e in range(3):;  torch.manual_seed(-seed);  for x in loader: print(x)": "warning",
    "for e in range(3):;  torch.manual_seed(int(seed));  for x in loader: print(x)": "warning",
    "for e in range(3):;  torch.manual_seed(o.seed);  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed(o['seed']);  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed(load());  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed(random.random());  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed(3 if on else 4);  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed([1, 2, 3][e]);  for x in loader: print(x)": "",
    "for e in range(3):;  torch.manual_seed();  for x in loader: print(x)": "",
    "for e in range(3):;  np.random.seed(3);  for x in loader: print(x)": "",
    "for e in range(3):;  random.seed(3);  for x in loader: print(x)": "",
    "for e in range(3):;  torch.cuda.manual_seed(3);  for x in loader: print(x)": "",
    "for e in range(3):;  pl.seed_everything(3);  for x in loader: print(x)": "warning [unsafe]",
    "for e in range(3):;  torch.random.manual_seed(3);  for x in loader: print(x)": "warning [unsafe]",
    "torch.manual_seed(3); for e in range(3):;  for x in loader: print(x)": "",
    "torch.manual_seed(3); for x in loader: print(x)": "",
    "for e in range(3):;  for x in loader: print(x);  torch.manual_seed(3)": "warning [unsafe]",
    "for e in range(3):;  for x in loader: torch.manual_seed(3)": (
        "its loop iterates over no training loader whose order or workers draw random numbers"
    ),
    "for e in range(3):;  torch.manual_seed(3); "
    " print(e)": "its loop iterates over no training loader whose order or workers draw random numbers",
    "for e in range(3):;  torch.manual_seed(3);  torch.manual_seed(e); "
    " for x in loader: print(x)": "the training after it gets another seed in each epoch",
    "for e in range(3):;  torch.manual_seed(e);  torch.manual_seed(3);  for x in loader: print(x)": "warning [unsafe]",
    "for e in range(3):;  if on: torch.manual_seed(3);  for x in loader: print(x)": "",
    "for e in range(3):;  if seed is not None: torch.manual_seed(3);  for x in loader: print(x)": "",
    "for e in range(3):;  if seed: torch.manual_seed(seed);  for x in loader: print(x)": "",
    "for e in range(3):;  if e == 0: torch.manual_seed(3);  for x in loader: print(x)": "",
    "for e in range(3):;  if load(): torch.manual_seed(3);  for x in loader: print(x)": "",
    "for e in range(3):;  try: torch.manual_seed(3);  except OSError: pass; "
    " for x in loader: print(x)": "warning [unsafe]",
    "for e in range(3):;  try: print(e);  except OSError: torch.manual_seed(3);  for x in loader: print(x)": "",
    "for e in range(3):;  with open('x'): torch.manual_seed(3);  for x in loader: print(x)": "warning [unsafe]",
    "for e in range(3):;  with torch.random.fork_rng():;   torch.manual_seed(3);   for x in loader: print(x)": "",
    "for e in range(3):;  with load(): torch.manual_seed(3);  for x in loader: print(x)": "",
    "while on:;  torch.manual_seed(3);  for x in loader: print(x)": "warning",
    "while True:;  torch.manual_seed(3);  for x in loader: print(x)": "warning",
    "for s in [1, 2]:;  torch.manual_seed(s);  for e in range(3):;   for x in loader: print(x)": "",
    "for s in [1, 2]:;  torch.manual_seed(3);  for e in range(3):;   for x in loader: print(x)": (
        "its loop iterates over no training loader whose order or workers draw random numbers"
    ),
    "k = 3; for e in range(3):;  torch.manual_seed(k);  for x in loader: print(x)": "warning",
    "k = load(); for e in range(3):;  torch.manual_seed(k);  for x in loader: print(x)": "",
    "k = 3; for e in range(3):;  torch.manual_seed(k);  k += 1;  for x in loader: print(x)": "",
    "for e in range(3):;  k = e;  torch.manual_seed(k);  for x in loader: print(x)": "",
    "SEED = 3 | for e in range(3):;  torch.manual_seed(SEED);  for x in loader: print(x)": "warning [unsafe]",
    "def fix(): torch.manual_seed(3) | for e in range(3):;  fix();  for x in loader: print(x)": "warning",
    "def fix(s): torch.manual_seed(s) | for e in range(3):;  fix(3);  for x in loader: print(x)": "warning [unsafe]",
    "def fix(s): torch.manual_seed(s) | for e in range(3):;  fix(e);  for x in loader: print(x)": "",
    "def fix(s): torch.manual_seed(s) | for e in range(3):;  fix(seed + e);  for x in loader: print(x)": "",
    "def fix(s):;  if s: torch.manual_seed(s) | for e in range(3):;  fix(3);  for x in loader: print(x)": "",
    "def fix(s=3): torch.manual_seed(s) | for e in range(3):;  fix();  for x in loader: print(x)": "warning",
    "def fix(s):;  np.random.seed(s);  torch.manual_seed(s + 1) | for e in range(3):;  fix(3); "
    " for x in loader: print(x)": "warning [unsafe]",
    "def train(l):;  for x in l: print(x) | for e in range(3):;  torch.manual_seed(3); "
    " train(loader)": "warning [unsafe]",
    "def train(l):;  torch.manual_seed(3);  for x in l: print(x) | for e in range(3): train(loader)": "warning",
    "def train(l, e):;  torch.manual_seed(e);  for x in l: print(x) | for e in range(3): train(loader, e)": "",
    "def train(l):;  torch.manual_seed(3);  for x in l: print(x) | train(loader)": "",
}
#: What a program does at module level and, after ` | `, the options of the loader, and what is said of OpenCV.
LIMITED: dict[str, str] = {
    "pass |": "information [safe] [unsafe]",
    "cv2.setNumThreads(0) |": "cv2.setNumThreads limits OpenCV's threads there",
    "cv2.setNumThreads(1) |": "cv2.setNumThreads limits OpenCV's threads there",
    "cv2.setNumThreads(2) |": "information [safe] [unsafe]",
    "cv2.setNumThreads(load()) |": "hint [safe] [unsafe]",  # nothing defines `load` there
    "cv2.setNumThreads() |": "information [safe] [unsafe]",
    "cv2.setUseOptimized(False) |": "information [safe] [unsafe]",
    "torch.set_num_threads(1) |": "information [safe] [unsafe]",
    "import albumentations |": "information [safe] [unsafe]",
    "if __name__ == '__main__': cv2.setNumThreads(0) |": "cv2.setNumThreads limits OpenCV's threads there",
    "if __name__ == '__main__': cv2.setNumThreads(0) | multiprocessing_context='spawn'": "information [safe] [unsafe]",
    "if __name__ == '__main__': cv2.setNumThreads(0) | "
    "multiprocessing_context='fork'": "cv2.setNumThreads limits OpenCV's threads there",
    "cv2.setNumThreads(0) | multiprocessing_context='spawn'": "cv2.setNumThreads limits OpenCV's threads there",
    "cv2.setNumThreads(0) | multiprocessing_context='fork'": "cv2.setNumThreads limits OpenCV's threads there",
    "def f(): cv2.setNumThreads(0) |": "information [safe] [unsafe]",
    "def f(): cv2.setNumThreads(0); f() |": "cv2.setNumThreads limits OpenCV's threads there",
    "def f(): cv2.setNumThreads(0); f() | "
    "multiprocessing_context='fork'": "cv2.setNumThreads limits OpenCV's threads there",
    "def f(): cv2.setNumThreads(0); g = f |": "cv2.setNumThreads limits OpenCV's threads there",
    "@thing; def f(): cv2.setNumThreads(0) |": "cv2.setNumThreads limits OpenCV's threads there",
    "class C:;  def f(self): cv2.setNumThreads(0) |": "cv2.setNumThreads limits OpenCV's threads there",
    "def f(n): cv2.setNumThreads(0) | worker_init_fn=f": "cv2.setNumThreads limits OpenCV's threads there",
    "def f(n): cv2.setNumThreads(0) | "
    "worker_init_fn=f, multiprocessing_context='spawn'": "cv2.setNumThreads limits OpenCV's threads there",
    "def f(n): cv2.setNumThreads(4) | worker_init_fn=f": "information [safe] [unsafe]",
    "def f(n): cv2.setNumThreads(0); def g(n): pass | worker_init_fn=g": "information [unsafe]",
    "def f(n): cv2.setNumThreads(0); "
    "g = DataLoader(D(), num_workers=2, worker_init_fn=f) if D().size else 0 |": "information [safe] [unsafe]",
    "from cv2 import setNumThreads; setNumThreads(0) |": "cv2.setNumThreads limits OpenCV's threads there",
    "thing.setNumThreads(0) |": "cv2.setNumThreads limits OpenCV's threads there",
}


@pytest.mark.parametrize("code", WIDE)
def test_which_seeds_are_too_large(code: str, tmp_path: Path) -> None:
    assert wide(tmp_path, code) == WIDE[code]


@pytest.mark.parametrize("code", REPEATED)
def test_which_seeds_repeat_an_epoch(code: str, tmp_path: Path) -> None:
    assert repeated(tmp_path, code) == REPEATED[code]


@pytest.mark.parametrize("code", LIMITED)
def test_what_limits_the_threads_of_opencv(code: str, tmp_path: Path) -> None:
    assert limited(tmp_path, code) == LIMITED[code]
