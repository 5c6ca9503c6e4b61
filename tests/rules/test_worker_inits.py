"""What worker_init_fns seed alike in all workers, and how loaders get them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import functools, os, random, time
import numpy as np, torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset, DistributedSampler, get_worker_info
{}
class D(Dataset):
 def __getitem__(self, index): return np.random.rand() + random.random() + torch.rand(())
 def __len__(self): return 3
{}
"""
SEEDED_BY_TORCH = "Seed from 'torch.initial_seed() % 2**32'"


def said(folder: Path, rule: str, above: str, below: str) -> str:
    """The severities and fixes of a rule's findings; or why it is silent."""
    found = answers(folder, rule, CODE.format(lines(above), lines(below)))
    shown = [
        " ".join([*["possible"] * (one.certainty == "possible"), one.severity.value])
        + "".join(f" [{fix.safety}: {fix.title}]" for fix in one.fixes)
        for one in found.findings
    ]
    reasons = dict.fromkeys(one.reason.partition(": `loader`")[0] for one in found.silences)
    return (" + ".join(sorted(shown)) or ", ".join(reasons)).replace("`", "'").replace(SEEDED_BY_TORCH, "by torch")


def seeded(folder: Path, code: str) -> str:
    """What is said of a worker_init_fn, called with `n`, that does this. Module-level code stands before ` | `."""
    above, _, inside = code.rpartition(" | ")
    loader = "loader = DataLoader(D(), num_workers=2, worker_init_fn=init)"
    body = "; ".join(f" {line}" for line in inside.split("; "))
    return said(folder, "constant-worker-seed", above, f"def init(n):; {body}; {loader}")


def passed(folder: Path, code: str) -> str:
    """What is said of how a loader gets its `worker_init_fn`. Module-level code stands before ` | `."""
    above, _, given = code.rpartition(" | ")
    loader = f"loader = DataLoader(D(), num_workers=2, worker_init_fn={given})"
    return said(folder, "called-worker-init", f"def init(n, m=0): np.random.seed(n); {above or 'pass'}", loader)


#: What a worker_init_fn does, and what is said of it.
SEEDED: dict[str, str] = {
    "np.random.seed(3)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "np.random.seed(n)": "warning [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "np.random.seed(3 + n)": "warning [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "np.random.seed(n + 3)": "warning [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "np.random.seed()": "",
    "np.random.seed(None)": "where the seed comes from is not known",
    "np.random.seed(torch.initial_seed() % 2**32)": "the seed differs in each worker and epoch",
    "np.random.seed(get_worker_info().id)": "warning [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "np.random.seed(get_worker_info().seed % 2**32)": "the seed differs in each worker and epoch",
    "np.random.seed(os.getpid())": "where the seed comes from is not known",
    "np.random.seed(int(time.time()))": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "np.random.seed(load())": "where the seed comes from is not known",
    "np.random.seed(random.randint(0, 9))": "where the seed comes from is not known",
    "np.random.seed(np.random.randint(9))": "where the seed comes from is not known",
    "random.seed(3)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "random.seed(n)": "warning [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "torch.manual_seed(3)": "error [safe: by torch]",
    "torch.manual_seed(n)": "warning [safe: by torch]",
    "np.random.seed(3); random.seed(3)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "np.random.seed(3); random.seed(n)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "if n: np.random.seed(3)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "if load(): np.random.seed(3)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "if False: np.random.seed(3)": "",
    "seed = 3; np.random.seed(seed)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "seed = n; np.random.seed(seed)": "warning [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "seed = 3; seed += n; np.random.seed(seed)": "warning [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "seed = 3 if n else 4; np.random.seed(seed)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "SEED = 3 | np.random.seed(SEED)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "SEED = 3 | np.random.seed(SEED + n)": "warning [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "SEED = load() | np.random.seed(SEED)": "where the seed comes from is not known",
    "SEED = time.time() | np.random.seed(SEED)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "SEED = os.environ['SEED'] | np.random.seed(SEED)": "where the seed comes from is not known",
    "def fix(s): np.random.seed(s) | fix(3)": "error [safe: by torch; 'torch.manual_seed' then fixes its numbers]",
    "def fix(s): np.random.seed(s) | fix(n)": "warning",
    "def fix(): np.random.seed(3) | fix()": "error",
    "def fix(s): np.random.seed(s + 1) | fix(3)": "error",
    "np.random.set_state(load())": "",
    "np.random.default_rng(3)": "",
    "print(n)": "",
}
#: The `worker_init_fn` of a loader, and what is said of it.
PASSED: dict[str, str] = {
    "init": "no fault is known in what is passed",
    "init(3)": "error [unsafe: Pass 'init' without calling it]",
    "init(0)": "error [unsafe: Pass 'init' without calling it]",
    "init()": "error [unsafe: Pass 'init' without calling it]",
    "None": "no fault is known in what is passed",
    "print(3)": "no fault is known in what is passed",
    "lambda n: init(n)": "no fault is known in what is passed",
    "lambda: init(3)": "error",
    "functools.partial(init, m=3)": "no fault is known in what is passed",
    "functools.partial(init, m=3)()": "no fault is known in what is passed",
    "load()": "no fault is known in what is passed",
    "def make(): return init | make()": "no fault is known in what is passed",
    "def make(s): return lambda n: init(n + s) | make(3)": "no fault is known in what is passed",
    "def make(s):;  if s: return init | make(3)": "no fault is known in what is passed",
    "def make(s): np.random.seed(s) | make(3)": "error [unsafe: Pass 'make' without calling it]",
    "def make(s): return None | make(3)": "no fault is known in what is passed",
    "def make(s): yield 3 | make(3)": "no fault is known in what is passed",
    "def make(s): return load() | make(3)": "no fault is known in what is passed",
    "class I:;  def __call__(self, n): init(n) | I()": "no fault is known in what is passed",
    "class I:;  def __call__(self, n): init(n) | I()(3)": "no fault is known in what is passed",
    "class I:;  def run(self, n): init(n) | I().run": "no fault is known in what is passed",
    "class I:;  def run(self, n): init(n) | I().run(3)": "error",
    "init if load() else None": "no fault is known in what is passed",
    "init(3) if load() else None": "no fault is known in what is passed",
    "x = init(3) | x": "no fault is known in what is passed",
    "x = init | x": "no fault is known in what is passed",
}


@pytest.mark.parametrize("code", SEEDED)
def test_which_workers_get_the_same_seed(code: str, tmp_path: Path) -> None:
    assert seeded(tmp_path, code) == SEEDED[code]


@pytest.mark.parametrize("code", PASSED)
def test_how_a_loader_gets_its_init(code: str, tmp_path: Path) -> None:
    assert passed(tmp_path, code) == PASSED[code]
