"""Small projects with faults, and the real command line on them, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from loaderlint import cli
from loaderlint.settings import settings
from tests.cli.conftest import Result
from tests.syntax.test_notebook import made

DATA = """import numpy as np
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.integers(index + 1)
"""
TRAIN = """from torch.utils.data import DataLoader

from data import Crops

loader = DataLoader(Crops(), num_workers=2)
"""

Check = Callable[..., Result]


def write(folder: Path) -> None:
    """Write a project with a fault in `data.py` because of a loader in `train.py`, and one in a notebook's second code
    cell."""
    (folder / "pyproject.toml").write_text('[tool.loaderlint]\nselect = ["shared-generator"]\n')
    (folder / "data.py").write_text(DATA)
    (folder / "train.py").write_text(TRAIN)


def write_notebook(folder: Path, indent: int | None = 1) -> str:
    """Write a notebook with the same fault in its second code cell. Returns its text."""
    imports, _, rest = DATA.partition("\n\n\n")
    cells = ("%matplotlib inline\n" + imports, [f"{line}\n" for line in rest.splitlines()], TRAIN.splitlines()[-1])
    text = made(*cells, indent=indent)
    (folder / "é train.ipynb").write_text(text, encoding="utf-8")
    return text


def run(*arguments: str) -> int:
    """The exit code of the command line, without any cached state."""
    settings.clear()
    return cli.main(arguments)
