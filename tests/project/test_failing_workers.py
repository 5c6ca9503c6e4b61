"""Loaders that give no batch, because the code of their workers always fails, and loaders that may give one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

HEAD = "--- train.py\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\n"
#: The loader of another program, without which nothing is said to fail.
OTHER = "--- other.py\nfrom torch.utils.data import DataLoader\nother = DataLoader(range(9), num_workers=4)\n"
MASKS = "--- masks.py\ndef mask(x): return x\n"
COMPOSE = "from torchvision.transforms import Compose, RandomApply\n"
TURN = "class Turn:\n    def __call__(self, x):\n        return np.rot90(x)\n"
KEEP = "class Keep:\n    def __call__(self, x):\n        return x\n"


def dataset(*sample: str, given: str = "", options: str = "") -> str:
    """A dataset whose samples these lines make, with the attribute `given`, and a loader of it with `options`."""
    lines = "".join(f"        {line}\n" for line in sample)
    return (
        "class Rows(Dataset):\n"
        "    def __init__(self, given, mode='train'):\n        self.given = given\n        self.mode = mode\n"
        f"    def __getitem__(self, index):\n        x = torch.zeros(3)\n{lines}        return x\n"
        f"loader = DataLoader(Rows({given or 'None'}), num_workers=4{options})\nfor batch in loader: print(batch)\n"
    )


FAILS = {
    "a module that is not imported": HEAD + dataset("x = random.random()"),
    "one whose name is an option's value": HEAD + "print('random')\n" + dataset("x = random.random()"),
    "one with which another name begins": HEAD + "from lib import np_rows\n" + dataset("x = np.zeros(3)"),
    "a function of another module": HEAD + dataset("x = mask(x)") + MASKS,
    "a call that is refused": HEAD + "def crop(x): return x\n" + dataset("x = crop(x, 3)"),
    "an import of a missing name": HEAD + dataset("from masks import cut", "x = cut(x)") + MASKS,
    "in a branch that always runs": HEAD + dataset("if self.mode == 'train':", "    x = random.random()"),
    "in a loop": HEAD + dataset("for row in x:", "    random.random()"),
    "in a with block": HEAD + dataset("with torch.no_grad():", "    random.random()"),
    "in a function that it calls": HEAD + "def draw(): return random.random()\n" + dataset("x = draw()"),
    "in a transform": HEAD + TURN + dataset("x = self.given(x)", given="Turn()"),
    "in a transform that it has": HEAD + TURN + dataset("if self.given:", "    x = self.given(x)", given="Turn()"),
    "in a step of a pipeline": (
        HEAD + COMPOSE + TURN + KEEP + dataset("x = self.given(x)", given="Compose([Keep(), Turn()])")
    ),
    "in the collate function": (
        HEAD + "def pad(rows): return np.stack(rows)\n" + dataset("x = 1", options=", collate_fn=pad")
    ),
}

MAY_GIVE_ONE = {
    "nothing that fails": HEAD + dataset("x = x + 1"),
    "a function that nobody has written yet": HEAD + dataset("x = mask(x)"),
    "a name that somebody may still be typing": HEAD + "from lib import random_rows\n" + dataset("x = random"),
    "a name of a star import": HEAD + "from lib import *\n" + dataset("x = np.zeros(3)"),
    "in a branch that may not run": HEAD + dataset("if index:", "    x = random.random()"),
    "in a branch that never runs": HEAD + dataset("if self.mode == 'test':", "    x = random.random()"),
    "after a return": HEAD + dataset("if index:", "    return x", "x = random.random()"),
    "in a loop over nothing": HEAD + dataset("for row in range(0):", "    random.random()"),
    "tried": HEAD + dataset("try:", "    x = random.random()", "except NameError:", "    x = 1"),
    "an exception on purpose": HEAD + "def end(x): raise IndexError(x)\n" + dataset("x = end(index)"),
    "in a generator that nothing goes through": (
        HEAD + "def draw():\n    yield random.random()\n" + dataset("rows = draw()")
    ),
    "in a transform that is one of two": (
        HEAD + TURN + KEEP + dataset("x = self.given(x)", given="Turn() if torch.rand(1) > 0.5 else Keep()")
    ),
    "in a step that is chosen": (
        HEAD + COMPOSE + TURN + KEEP + dataset("x = self.given(x)", given="RandomApply([Keep(), Turn()])")
    ),
    "in a transform with a length": (
        HEAD
        + TURN
        + "    def __len__(self): return 0\n"
        + dataset("if self.given:", "    x = self.given(x)", given="Turn()")
    ),
    "in a transform of which a library may know more": (
        HEAD
        + "from lib import Step\n"
        + TURN.replace("Turn", "Turn(Step)")
        + dataset("if self.given:", "    x = self.given(x)", given="Turn()")
    ),
}


def _gives_no_batch(folder: Path, text: str) -> bool:
    linked = link(folder, text)
    loader = linked.loader()
    frames = [frame for one in linked.model.entries if one.loader.index == loader.index for frame in one.frames]
    exposures = [linked.model.exposure(frame, 1) for frame in frames]
    assert exposures
    return all(one is not None and one.presumed for one in exposures)


@pytest.mark.parametrize("code", FAILS.values(), ids=FAILS)
def test_the_workers_always_fail(code: str, tmp_path: Path) -> None:
    assert _gives_no_batch(tmp_path, code + OTHER)


@pytest.mark.parametrize("code", MAY_GIVE_ONE.values(), ids=MAY_GIVE_ONE)
def test_the_workers_may_give_a_batch(code: str, tmp_path: Path) -> None:
    assert not _gives_no_batch(tmp_path, code + OTHER)


def test_the_only_loader_is_not_said_to_fail(tmp_path: Path) -> None:
    """Whoever is still writing it gets the findings."""
    assert not _gives_no_batch(tmp_path, FAILS["a module that is not imported"])
