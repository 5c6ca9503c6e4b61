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
)
