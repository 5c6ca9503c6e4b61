"""A check computes the same in every run, although the order of sets of strings and objects differs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_SERVER = Path(__file__).parents[2] / "server"

#: More callables than distinguished contexts of a def, so that their order decides which ones are dropped.
_PROJECT = """
import random
from torch.utils.data import DataLoader, Dataset


def scaled(by):
    def scale(x):
        return use(scale, by, x)
    return scale


def use(op, by, x):
    return helper([op, by, x])


def helper(x):
    return x


{ops}

OPS = [{names}]


class Pictures(Dataset):
    def __init__(self):
        self.op = random.choice(OPS)
        self.ops = {{"a": OPS[0], **{{str(one): one for one in OPS}}}}

    def __len__(self):
        return 8

    def __getitem__(self, index):
        for op in self.ops[index]:
            op
        for op in OPS:
            op.size
        for op in reversed(OPS):
            op[index]
        return self.op(self.ops[index](self.op.size))


loader = DataLoader(Pictures(), num_workers=4)
"""

_CONTEXTS = """
import sys
from pathlib import Path
from loaderlint.engine.workspace import Workspace

workspace = Workspace([Path(sys.argv[1])])
def show(model):
    for place, known in model.ev._defs.items():
        print(place, [frame.order for frame in known.frames.values()])
workspace.project(Path(sys.argv[1]) / "train.py").on_linked(show)
print(len(workspace.check()))
"""


def test_the_contexts_are_the_same_for_every_hash_seed(tmp_path: Path) -> None:
    size = "    @property\n    def size(self):\n        return use(self, 1, self)"
    item = "    def __getitem__(self, n):\n        return use(self, 2, n)"
    ops = "\n\n".join(
        f"class Op{n}:\n    def __call__(self, x):\n        return use(self, {n}, x)\n{size}\n{item}" for n in range(30)
    )
    names = ", ".join([f"Op{n}()" for n in range(30)] + [f"scaled({n})" for n in range(10)])
    (tmp_path / "train.py").write_text(_PROJECT.format(ops=ops, names=names), "utf-8")
    first, *others = [_contexts(tmp_path, seed) for seed in ("0", "1", "2", "3")]
    assert first.count("train.py") > 100
    assert all(one == first for one in others)


def _contexts(root: Path, seed: str) -> str:
    """The contexts of all defs, in the order in which they were created."""
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(_SERVER)}
    return subprocess.run(
        [sys.executable, "-c", _CONTEXTS, str(root)], env=env, capture_output=True, text=True, check=True
    ).stdout
