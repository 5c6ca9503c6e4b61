"""Whether the title of a fix says that torch's seed then fixes the numbers of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

HEAD = """\
import random, time
import numpy as np
import torch
from pytorch_lightning import seed_everything
from torch.utils.data import DataLoader, Dataset

class Noise(Dataset):
    def __init__(self, seed=None, epoch=0):
        self.epoch = epoch
        self.rng = np.random.default_rng(SEED)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.random()

"""
LOADER = "loader = DataLoader(Noise(), num_workers=2)"
#: The generator's seed, ` | `, and the code that makes the loader: whether the title says it.
CASES = {
    f"42 | {LOADER}": True,
    f"42 + self.epoch | {LOADER}": True,
    f"seed | {LOADER.replace('Noise()', 'Noise(3)')}": True,
    f"seed | {LOADER}": False,
    f" | {LOADER}": False,
    f"None | {LOADER}": False,
    f"int(time.time()) | {LOADER}": False,
    f"random.randrange(99) | {LOADER}": False,
    f"42 | torch.manual_seed(0); {LOADER}": False,
    f"42 | seed_everything(0); {LOADER}": False,
    # what a function of the project does
    f"42 | def set_seed(seed):;     torch.manual_seed(seed); set_seed(0); {LOADER}": False,
    f"42 | def set_seed(seed):;     np.random.seed(seed); set_seed(0); {LOADER}": True,
    # another generator's seed, and a loader's
    f"42 | other = torch.Generator(); other.manual_seed(0); {LOADER}": True,
    f"42 | other = torch.Generator().manual_seed(0); {LOADER}": True,
    "42 | g = torch.Generator(); g.manual_seed(0); loader = DataLoader(Noise(), num_workers=2, generator=g)": False,
    "42 | g = torch.Generator().manual_seed(0); loader = DataLoader(Noise(), num_workers=2, generator=g)": False,
}


@pytest.mark.parametrize("case", CASES)
def test_the_title_says_what_fixes_the_numbers(tmp_path: Path, case: str) -> None:
    seed, _, code = case.partition(" | ")
    (finding,) = answers(tmp_path, "shared-generator", HEAD.replace("SEED", seed) + lines(code)).findings
    (fix,) = finding.fixes
    told = "; `torch.manual_seed` then fixes its numbers" if CASES[case] else ""
    assert fix.title == f"Make the generator in the worker{told}"


TRANSFORM = """\
import random
import albumentations as A
import torch
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __init__(self):
        self.transform = A.Compose([A.HorizontalFlip()], SEED)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.transform(image=index)["image"]

"""
#: What else is passed to the transform, and before the loader is made.
TRANSFORMS = {
    "seed=137 | pass": True,
    "p=0.5 | pass": False,
    "seed=None | pass": False,
    "seed=random.randrange(99) | pass": False,
    "seed=137 | torch.manual_seed(0)": False,
}


@pytest.mark.parametrize("case", TRANSFORMS)
def test_the_title_says_what_fixes_the_transforms(tmp_path: Path, case: str) -> None:
    seed, _, code = case.partition(" | ")
    text = f"{TRANSFORM.replace('SEED', seed)}{code}\nloader = DataLoader(Images(), num_workers=2)"
    (finding,) = answers(tmp_path, "frozen-augmentation-state", text).findings
    (fix,) = finding.fixes
    told = "; `torch.manual_seed` then fixes their numbers" if TRANSFORMS[case] else ""
    assert fix.title == f"Seed each worker's transforms: pass `worker_init_fn=seed_transform`{told}"
