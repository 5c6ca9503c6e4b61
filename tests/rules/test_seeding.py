"""Whether the workers of a loader get NumPy states of their own, and whether a draw comes after a seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.rules.shared.worker_seeding import (
    init_in_sight,
    may_be_passed,
    seed_worker_fix,
    seeds_numpy,
    seeds_on_the_way,
)
from tests.project.linking import Linked, link

HEAD = """
import functools, os, random, time
import numpy as np
import torch
import monai
from torch.utils.data import DataLoader, Dataset
def options(): return {"seed": None, "on": False}
class D(Dataset):
    def __getitem__(self, index): return index
"""
#: The loader's worker_init_fn, after code of the module that ends with ` | `: whether it seeds NumPy, and whether
#: everything that it does is known. `; ` ends a line, and more spaces after it indent the next one.
INITS: dict[str, tuple[str, bool]] = {
    "None": ("no", True),
    "np.random.seed": ("yes", True),
    "random.seed": ("no", True),
    "torch.manual_seed": ("no", True),
    "monai.data.utils.worker_init_fn": ("no", True),
    "print": ("no", True),
    "load": ("maybe", False),
    "load()": ("maybe", False),
    "torch.set_num_threads": ("maybe", False),
    "functools.partial(np.random.seed)": ("yes", True),
    "functools.partial(load, 1)": ("maybe", False),
    "functools.partial(print, 1)": ("no", True),
    "def f(n): np.random.seed(n) | f": ("yes", True),
    "def f(n): random.seed(n) | f": ("no", True),
    "def f(n): pass | f": ("no", True),
    "def f(n): g(n); def g(n): np.random.seed(n) | f": ("yes", True),
    "def f(n): torch.utils.data.get_worker_info().dataset.rng = n | f": ("no", True),
    "def f(a, n): np.random.seed(a + n) | functools.partial(f, 1)": ("yes", True),
    "f = lambda n: np.random.seed(n) | f": ("yes", True),
    "class A:;  def __call__(self, n): np.random.seed(n) | A()": ("yes", True),
    "class A:;  def run(self, n): np.random.seed(n) | A().run": ("yes", True),
    "class A:;  def run(self, n): pass | A().run": ("no", True),
    "def f(n):;  if n: np.random.seed(n) | f": ("yes", True),
    "seed = None; def f(n):;  if seed is not None: np.random.seed(n) | f": ("no", True),
    "seed = 3; def f(n):;  if seed is not None: np.random.seed(n) | f": ("yes", True),
    "on = False; def f(n):;  if on: np.random.seed(n) | f": ("no", True),
    "on = options()['on']; def f(n):;  if on: np.random.seed(n) | f": ("no", True),
    "def f(n, seed=None):;  if seed: np.random.seed(n) | functools.partial(f, seed=load())": ("yes", True),
    "def f(n, a=None):;  if not a: np.random.seed(n) | f": ("sometimes", True),
    "def f(n, a=None):;  if a or load(): np.random.seed(n) | f": ("sometimes", True),
    "def f(n, a=None):;  if load() or a is None: np.random.seed(n) | f": ("sometimes", True),
    "def f(n, a=None):;  if a != 3: np.random.seed(n);  np.random.seed(4) | f": ("yes", True),
    "def f(n, a=None):;  for x in load(a): np.random.seed(n) | f": ("yes", True),
    "def f(n):;  if load(None): np.random.seed(n) | f": ("yes", True),
    "def f(n): pass | f if load() else load": ("maybe", False),
    "def f(n): np.random.seed(n) | f if load() else None": ("yes", True),
}


def parted(code: str) -> tuple[str, str]:
    """The text of a module that begins with the code before ` | `, and what stands behind that."""
    module, _, last = code.rpartition(" | ")
    return HEAD + "\n".join(module.split("; ")), last


def loader_with(folder: Path, code: str) -> Linked:
    """A project whose loader has this worker_init_fn."""
    module, init = parted(code)
    return link(folder, f"{module}\nloader = DataLoader(D(), num_workers=2, worker_init_fn={init})\n")


@pytest.mark.parametrize("code", INITS)
def test_whether_a_worker_init_fn_seeds(code: str, tmp_path: Path) -> None:
    linked = loader_with(tmp_path, code)
    loader = linked.loader()
    assert (seeds_numpy(loader, linked.model), init_in_sight(loader)) == INITS[code]


#: More of a project, before the loader without a worker_init_fn, and whether Lightning seeds its workers.
LIGHTNING: dict[str, bool] = {
    "pass": False,
    "from lightning import Trainer, seed_everything; seed_everything(3, workers=True)": True,
    "from lightning import Trainer, seed_everything; seed_everything(3, workers=load())": True,
    "from lightning import Trainer, seed_everything; seed_everything(3, workers=False)": False,
    "from lightning import Trainer, seed_everything; seed_everything(3)": False,
    "from lightning import Trainer, seed_everything; seed_everything(3, True)": False,
    "from lightning import Trainer, seed_everything; seed_everything(3, verbose=True)": False,
    "from lightning import seed_everything; seed_everything(3, workers=True)": False,
    "from lightning.fabric import Fabric, seed_everything; seed_everything(3, workers=True)": True,
    "from lightning.pytorch.cli import LightningCLI; LightningCLI()": True,
    "from lightning.pytorch.cli import LightningCLI": False,
}


@pytest.mark.parametrize("code", LIGHTNING)
def test_whether_lightning_seeds(code: str, tmp_path: Path) -> None:
    linked = loader_with(tmp_path, f"{code} | None")
    assert seeds_numpy(linked.loader(), linked.model) == ("yes" if LIGHTNING[code] else "no")
    given = loader_with(tmp_path, f"{code}; def f(n): pass | f")
    assert seeds_numpy(given.loader(), given.model) == "no"


#: Code of a sample that draws by `np.random.rand()`, and whether NumPy is seeded before. ` | ` ends code of the module.
DRAWS: dict[str, str] = {
    "return np.random.rand()": "no",
    "np.random.seed(index); return np.random.rand()": "yes",
    "random.seed(index); return np.random.rand()": "no",
    "x = np.random.rand(); np.random.seed(index); return x": "yes",
    "x = np.random.rand(); if index: np.random.seed(index); return x": "no",
    "if index: np.random.seed(index); return np.random.rand()": "sometimes",
    "if index:;  np.random.seed(index);  return np.random.rand()": "yes",
    "if index: np.random.seed(index); else: np.random.seed(3); return np.random.rand()": "yes",
    "if index: np.random.seed(index); else: return np.random.rand()": "no",
    "if index: return np.random.rand(); np.random.seed(index); return 1": "no",
    "if index: np.random.seed(index); if self.a: return np.random.rand()": "sometimes",
    "if index: np.random.seed(index); if index: return np.random.rand()": "yes",
    "if index: np.random.seed(index); if not index: return np.random.rand()": "sometimes",
    "for x in self.a: np.random.seed(index); return np.random.rand()": "sometimes",
    "with self.a: np.random.seed(index); return np.random.rand()": "yes",
    "try: np.random.seed(index); except E: pass; return np.random.rand()": "sometimes",
    "if not hasattr(self, 'a'):;  np.random.seed(index);  self.a = 1; return np.random.rand()": "yes",
    "if not hasattr(self, 'a'):;  np.random.seed(index);  self.b = 1; return np.random.rand()": "yes",
    "if not hasattr(self, 'a'): np.random.seed(index); self.a = 1; return np.random.rand()": "sometimes",
    "if load(self.a) and index: np.random.seed(index); return np.random.rand()": "sometimes",
    "on = load() | global on; if on:;  np.random.seed(index);  on = 0; return np.random.rand()": "yes",
    "on = load() | global on; if on and index:;  np.random.seed(index);  on = 0; return np.random.rand()": "yes",
    "on = load() | global on; if index > on:;  np.random.seed(index);  on = 0; return np.random.rand()": "yes",
    "on = load() | if on:;  np.random.seed(index);  x = 0; return np.random.rand()": "sometimes",
    "on = load(); def f():;  global on;  if on:;   np.random.seed(3);   on = 0 | f(); return np.random.rand()": "yes",
    "def f(n): np.random.seed(n) | f(index); return np.random.rand()": "yes",
    "def f(n): random.seed(n) | f(index); return np.random.rand()": "no",
    "def f(n):;  if n: np.random.seed(n) | f(index); return np.random.rand()": "sometimes",
    "def f(): return np.random.rand() | np.random.seed(index); return f()": "yes",
    "def f(): return np.random.rand() | return f()": "no",
    "def f(): return np.random.rand() | if index: np.random.seed(index); return f()": "sometimes",
    "def f(): return np.random.rand() | x = f(); np.random.seed(index); return x": "yes",
    "def f():;  np.random.seed(3);  return np.random.rand() | return f()": "yes",
    "def f(): return g(); def g(): return np.random.rand() | np.random.seed(index); return f()": "yes",
    "def f(x): return np.random.rand() | return f(np.random.seed(index))": "yes",
}


@pytest.mark.parametrize("code", DRAWS)
def test_whether_a_draw_comes_after_a_seed(code: str, tmp_path: Path) -> None:
    module, sample = parted(code)
    inside = "\n  ".join(sample.split("; "))
    text = f"{module}\nclass S(Dataset):\n def __getitem__(self, index):\n  {inside}\n"
    linked = link(tmp_path, f"{text}loader = DataLoader(S(), num_workers=2)\n")
    loader, model = linked.loader(), linked.model
    calls = [call for frame in model.reached for call in model.frame_calls(frame)]
    (draw,) = [one for one in calls if any(getattr(a, "name", "") == "numpy.random.rand" for a in one.callee.atoms)]
    assert seeds_on_the_way(draw, loader, model) == DRAWS[code]


#: How a loader is created, and what the fix that seeds its workers says; '' for none.
FIXED: dict[str, str] = {
    "DataLoader(D(), num_workers=2)": "pass `worker_init_fn=seed_worker`",
    "DataLoader(D(), num_workers=2, worker_init_fn=None)": "pass `worker_init_fn=seed_worker`",
    "DataLoader(D(), num_workers=2, worker_init_fn=load)": "",
    "DataLoader(D(), num_workers=2, worker_init_fn=print)": "",
    "DataLoader(D(), num_workers=2, **{'worker_init_fn': None})": "",
    "DataLoader(D(), 1, False, None, None, 2, None, False, False, 0, None)": "",
    "DataLoader(D(), 1, False, None, None, 2, None, False, False, 0)": "pass `worker_init_fn=seed_worker`",
    "def f(n): random.seed(n) | DataLoader(D(), num_workers=2, worker_init_fn=f)": "seed NumPy in its worker_init_fn",
    "def f(n): pass | DataLoader(D(), num_workers=2, worker_init_fn=f if load() else None)": "",
    "class L(DataLoader): pass | L(D(), num_workers=2)": "",
    "f = functools.partial(DataLoader, num_workers=2) | f(D())": "pass `worker_init_fn=seed_worker`",
    "monai.data.DataLoader(D(), num_workers=2)": "",
}


@pytest.mark.parametrize("code", FIXED)
def test_what_the_fix_does(code: str, tmp_path: Path) -> None:
    module, call = parted(code)
    linked = link(tmp_path, f"{module}\nloader = {call}\n")
    fix = seed_worker_fix([linked.loader()], linked.model)
    assert (fix.title.removeprefix("Seed each worker: ") if fix is not None else "") == FIXED[code]
    assert fix is None or fix.safety == "safe"
    if "pass" in FIXED[code]:
        assert may_be_passed(linked.loader(), linked.model)


def test_one_fix_for_two_loaders(tmp_path: Path) -> None:
    linked = link(tmp_path, f"{HEAD}a = DataLoader(D(), num_workers=2)\nb = DataLoader(D(), num_workers=3)\n")
    fix = seed_worker_fix(linked.model.loaders, linked.model)
    assert fix is not None and fix.title.endswith("pass `worker_init_fn=seed_worker` to 2 loaders")
    assert seed_worker_fix([], linked.model) is None
