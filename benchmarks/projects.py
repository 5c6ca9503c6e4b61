"""Projects to type into: real files with a training script around them, and generated ones with any number of files."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import libcst

from benchmarks.measures import EVERY_RULE

_DECLARED = f'[project]\nname = "demo"\ndependencies = ["torch==1.8"]\n\n{EVERY_RULE}'

_TRAIN = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset

import {module}


class Samples(Dataset):
    def __init__(self, path):
        self.data = np.load(path)
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        image = self.data[index]
        image -= self.rng.random()
        return {module}.{function}(image)


train_loader = DataLoader(Samples("a.npy"), num_workers=4)
"""

#: Appended to a file, this code gives the file findings of its own.
TRAINING = """

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self, path):
        self.data = np.load(path)
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        image = self.data[index]
        image -= self.rng.random()
        return image


train_loader = DataLoader(Samples("a.npy"), num_workers=4)
"""

TRANSFORMS = '''\
"""How an image is taken, and what is done to it."""

import numpy as np


def take(images, index):
    """One of the images."""
    return images[index]


def centred(image):
    """Around zero."""
    return (image - 127.5) / 127.5


def flipped(image):
    """Turned around."""
    return np.ascontiguousarray(image[:, ::-1])
'''

#: It edits the result of `take` in place: stored data, unless `take` copies.
DATASETS = '''\
"""The images."""

import numpy as np
from torch.utils.data import Dataset

from transforms import centred, flipped, take


class Images(Dataset):
    """Images with their labels."""

    def __init__(self, path):
        self.images = np.load(path)
        self.labels = list(range(len(self.images)))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = take(self.images, index)
        image -= image.std()
        return flipped(centred(image)), self.labels[index]
'''

LOADERS = """\
from torch.utils.data import DataLoader

from datasets import Images


def make_loader(path, workers=4):
    return DataLoader(Images(path), batch_size=8, num_workers=workers)


train_loader = make_loader("train.npy")
"""

#: One of the other files: a dataset, a helper and a loader of its own, and a model that no loader reaches.
_OTHER = '''\
"""Part {number}."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def prepare_{number}(values, scale={number}):
    """Scale and clip."""
    values = np.asarray(values, dtype=np.float32)
    return np.clip(values / max(scale, 1), 0, 1)


class Samples{number}(Dataset):
    def __init__(self, folder):
        self.rows = sorted(folder.iterdir())

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return prepare_{number}(np.load(self.rows[index]))


class Model{number}(torch.nn.Module):
    def __init__(self, width={number}):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def loader_{number}(folder):
    return DataLoader(Samples{number}(folder), batch_size=4, num_workers=2)
'''


def around_installed(folder: Path, size: int) -> Iterator[Path]:
    """Put some installed files of about `size` lines each into a project that calls it. Yields the files' paths."""
    for source in installed(size):
        yield around(source, folder / f"{size}-{source.stem}")


def around(source: Path, project: Path) -> Path:
    """Create a project with a copy of a file and a training script that calls it. Returns the path of the copy."""
    project.mkdir(parents=True)
    (project / "pyproject.toml").write_text(_DECLARED, encoding="utf-8")
    tree = libcst.parse_module(source.read_bytes())
    functions = [one.name.value for one in tree.body if isinstance(one, libcst.FunctionDef)]
    called = functions[len(functions) // 2] if functions else "__name__"
    (project / "train.py").write_text(_TRAIN.format(module=source.stem, function=called), encoding="utf-8")
    return Path(shutil.copy(source, project / source.name))


def of_many_files(folder: Path, files: int = 200) -> Path:
    """A project in which transforms.py has a helper that the workers of a loader run through datasets.py; the other
    files are datasets, models and loaders of their own, in packages of ten."""
    folder.mkdir(parents=True, exist_ok=True)
    fixed = {
        "pyproject.toml": _DECLARED,
        "transforms.py": TRANSFORMS,
        "datasets.py": DATASETS,
        "loaders.py": LOADERS,
    }
    for name, text in fixed.items():
        (folder / name).write_text(text, encoding="utf-8")
    for number in range(files - 3):
        package = folder / f"package_{number // 10}"
        package.mkdir(exist_ok=True)
        (package / f"part_{number}.py").write_text(_OTHER.format(number=number), encoding="utf-8")
    return folder


def installed(size: int, count: int = 4) -> list[Path]:
    """Files of the standard library and of installed packages whose length is nearest to `size` lines."""
    roots = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")}
    found = []
    for path in {path for root in roots for path in root.rglob("*.py") if "test" not in str(path)}:
        try:
            lines = path.read_bytes().count(b"\n")
        except OSError:
            continue
        if path.stem.isidentifier() and abs(lines - size) < size / 5 and b"\ndef " in path.read_bytes():
            found.append((abs(lines - size), path.name, path))
    chosen: list[Path] = []
    for _, name, path in sorted(found):
        if name not in {one.name for one in chosen}:
            chosen.append(path)
    return chosen[:count]
