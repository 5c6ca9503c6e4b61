"""What random edits found once, as small as it could be made. Each is played in each run of the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.robustness.edits import Change, Open, Pause, Replace, Step
from tests.robustness.player import Way


@dataclass(frozen=True, slots=True)
class Replay:
    """Steps in a project with these files, after which a server shows what a fresh one shows. `xfail`: why it does not
    do so yet, '' if it does."""

    name: str
    way: Way
    files: Mapping[str, str]
    steps: tuple[Step, ...]
    xfail: str = ""


_TWO = "class Two:\n    def __init__(self):\n        self.rng = np.random.default_rng(0)\n"
_LENGTH = "    def __len__(self):\n        return 8\n"
_DRAW = "    def __getitem__(self, index):\n        return self.rng.random()\nimport numpy as np\n"

REPLAYS: tuple[Replay, ...] = (
    Replay(
        "a def within a half-typed statement",
        Way(encoding="utf-8", pulls=True),
        {
            "train.py": "import datasets\n"
            "from torch.utils.data import DataLoader\n"
            "def build(config):\n"
            "    dataset = getattr(datasets, config.name)(config.path)\n"
            "    return DataLoader(dataset, num_workers=4)\n"
        },
        (
            Open(name="datasets.py", text="import torch\n"),
            Pause(),
            Change(
                name="datasets.py",
                changes=(Replace(start=13, end=13, text="    def prepare(self):\n lambda x: x y\n"),),
            ),
        ),
    ),
    Replay(
        "a method that moves to the class above it",
        Way(encoding="utf-8", pulls=True),
        {
            "train.py": "from data import Two\n"
            "from torch.utils.data import DataLoader\n"
            "loader = DataLoader(Two(), num_workers=2)\n"
        },
        (
            Open(name="data.py", text=f"class One:\n    size = 1\n{_TWO}{_LENGTH}{_DRAW}"),
            Pause(),
            Change(
                name="data.py",
                changes=(
                    Replace(start=24 + len(_TWO), end=24 + len(_TWO + _LENGTH), text=""),
                    Replace(start=24, end=24, text=_LENGTH),
                ),
            ),
        ),
    ),
)
