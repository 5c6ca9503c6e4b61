"""Made-up repositories."""

from __future__ import annotations

from pathlib import Path

NOISY = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __getitem__(self, index):
        return index + np.random.randn()

    def __len__(self):
        return 8


class Quiet(Dataset):
    def __getitem__(self, index):
        return index

    def __len__(self):
        return 8


train_loader = DataLoader(Noisy(), num_workers=4)
val_loader = DataLoader(Quiet())
"""
PLAIN = """\
def add(a, b):
    return a + b
"""


def repository(root: Path, name: str, files: dict[str, str]) -> Path:
    """A folder `name` in `root` with these files."""
    folder = root / name
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def three(root: Path) -> Path:
    """A folder of three repositories: one whose torch is old, one that declares none, one without a loader."""
    repository(root, "old", {"train.py": NOISY, "requirements.txt": "torch==1.8.1\n"})
    repository(root, "open", {"train.py": NOISY})
    repository(root, "plain", {"add.py": PLAIN})
    return root
