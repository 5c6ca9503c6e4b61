"""Generators with one seed, from which a loader's workers draw alike: is the fix, which lets them differ, safe?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers

HEAD = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, raw, label):
        self.raw, self.label = raw, label

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.raw(index), self.label(index)


"""
#: It gets its generator.
GIVEN = """\
class Flip:
    def __init__(self, rng):
        self.rng = rng

    def __call__(self, x):
        return -x if self.rng.random_sample() < 0.5 else x


"""
#: It gets the seed.
SEEDED = GIVEN.replace("rng):", "seed=0):").replace("= rng", "= np.random.RandomState(seed)")
CROP = SEEDED.replace("Flip", "Crop")
AUGMENTER = """\
class Augmenter:
    def __init__(self):
        self.seed = np.random.randint(1000)

    def raw(self):
        return Flip(np.random.RandomState(self.seed))

    def label(self):
        return Flip(np.random.RandomState(self.seed))


augmenter = Augmenter()
loader = DataLoader(Pairs(augmenter.raw(), augmenter.label()), num_workers=4)
"""
IN_ONE = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, seed):
        self.raw = np.random.RandomState(seed)
        self.label = np.random.RandomState(seed)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.raw.random_sample(), self.label.random_sample()


loader = DataLoader(Rows(5), num_workers=4)
"""
#: Two generators that draw alike.
PAIRS = {
    "an attribute": HEAD + GIVEN + AUGMENTER,
    "a parameter": (
        HEAD
        + GIVEN
        + "def make(seed):\n"
        + "    label = Flip(np.random.RandomState(seed))\n"
        + "    return DataLoader(Pairs(Flip(np.random.RandomState(seed)), label), num_workers=4)\n"
    ),
    "a constant": HEAD + SEEDED + "loader = DataLoader(Pairs(Flip(5), Flip(seed=5)), num_workers=4)\n",
    "a constant of the module": (
        HEAD + SEEDED + "SEED = 5\nloader = DataLoader(Pairs(Flip(SEED), Flip(SEED)), num_workers=4)\n"
    ),
    "a drawn number": (
        HEAD
        + SEEDED
        + "seed = np.random.randint(1000)\nloader = DataLoader(Pairs(Flip(seed), Flip(seed)), num_workers=4)\n"
    ),
    "a seed that the object stores": (
        HEAD
        + SEEDED.replace("self.rng =", "self.seed = seed\n        self.rng =").replace(
            "State(seed)", "State(self.seed)"
        )
        + "loader = DataLoader(Pairs(Flip(5), Flip(5)), num_workers=4)\n"
    ),
    "two of one object": IN_ONE,
    "two of torch": (
        IN_ONE.replace("np.random.RandomState(seed)", "torch.Generator().manual_seed(seed)")
        .replace("import numpy as np", "import torch")
        .replace("self.raw.random_sample()", "torch.rand(2, generator=self.raw)")
        .replace("self.label.random_sample()", "torch.rand(2, generator=self.label)")
    ),
}
#: Generators that do not, or of which nobody says that they should.
SINGLE = {
    "one object": HEAD + SEEDED + "loader = DataLoader(Pairs(Flip(5), abs), num_workers=4)\n",
    "one object for both": (HEAD + SEEDED + "flip = Flip(5)\nloader = DataLoader(Pairs(flip, flip), num_workers=4)\n"),
    "other seeds": HEAD + SEEDED + "loader = DataLoader(Pairs(Flip(5), Flip(6)), num_workers=4)\n",
    "two drawn numbers": (
        HEAD
        + SEEDED
        + "first, second = np.random.randint(9), np.random.randint(9)\n"
        + "loader = DataLoader(Pairs(Flip(first), Flip(second)), num_workers=4)\n"
    ),
    "the default of the class": HEAD + SEEDED + "loader = DataLoader(Pairs(Flip(), Flip()), num_workers=4)\n",
    "no seed": (
        HEAD
        + SEEDED.replace("State(seed)", "State()")
        + "loader = DataLoader(Pairs(Flip(5), Flip(5)), num_workers=4)\n"
    ),
    "objects of two classes": (HEAD + SEEDED + CROP + "loader = DataLoader(Pairs(Flip(5), Crop(5)), num_workers=4)\n"),
    "objects of two loaders": (
        HEAD
        + SEEDED
        + "loader = DataLoader(Pairs(Flip(5), abs), num_workers=4)\n"
        + "more = DataLoader(Pairs(Flip(5), abs), num_workers=4)\n"
    ),
    "generators of two libraries": (
        IN_ONE.replace("self.label = np.random.RandomState", "self.label = random.Random")
        .replace("import numpy", "import random\nimport numpy")
        .replace("label.random_sample", "label.random")
    ),
}


def _safeties(folder: Path, code: str) -> set[str]:
    return {fix.safety for one in answers(folder, "shared-generator", code).findings for fix in one.fixes}


@pytest.mark.parametrize("code", PAIRS.values(), ids=PAIRS)
def test_a_pair_has_an_unsafe_fix(code: str, tmp_path: Path) -> None:
    assert _safeties(tmp_path, code) == {"unsafe"}


@pytest.mark.parametrize("code", SINGLE.values(), ids=SINGLE)
def test_others_have_a_safe_fix(code: str, tmp_path: Path) -> None:
    assert _safeties(tmp_path, code) == {"safe"}
