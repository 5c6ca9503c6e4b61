"""A small project with findings for every kind of link between files, and edits of it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from loaderlint.engine import Workspace
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.syntax.cutter import cut

FILES: Mapping[str, str] = {
    "pyproject.toml": '[project]\nname = "demo"\ndependencies = ["torch==1.8.1", "numpy"]\n',
    "demo/__init__.py": "",
    "demo/transforms.py": '''\
"""Transforms."""

import numpy as np
import random


def jitter(image, amount=0.1):
    """Move the values."""
    return image + np.random.randn(*image.shape) * amount


class Noise:
    def __init__(self, seed=None):
        self.rng = np.random.default_rng(seed)

    def __call__(self, image):
        return image + self.rng.normal(size=image.shape)


class Plain:
    def __call__(self, image):
        return image * 2


def unused(values):
    return [value for value in values if value]
''',
    "demo/datasets.py": '''\
import os

import numpy as np
from torch.utils.data import Dataset

from .transforms import Noise, jitter

SIZE = 16


class Images(Dataset):
    """Pictures."""

    def __init__(self, path, transform=None):
        self.data = np.load(path)
        self.file = open(path, "rb")
        self.transform = transform or Noise()

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image = self.data[index]
        image -= image.std()
        self.file.seek(index)
        return self.transform(jitter(image))

    def describe(self):
        return f"{len(self)} of {SIZE}"


class Numbers(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return np.random.rand(3)


def listing(folder):
    return sorted(os.listdir(folder))
''',
    "demo/train.py": """\
import argparse

import numpy as np
from torch.utils.data import DataLoader

from demo.datasets import Images, Numbers
from demo import models

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=4)


def seed(worker_id):
    np.random.seed(0)


def main():
    args = parser.parse_args()
    train_loader = DataLoader(Images("a.npy"), batch_size=8, num_workers=args.workers)
    test_loader = DataLoader(Numbers(10), num_workers=2, worker_init_fn=seed)
    for batch in train_loader:
        models.step(batch)


if __name__ == "__main__":
    main()
""",
    "demo/models.py": """\
class Model:
    def forward(self, x):
        return x


def step(batch):
    model = Model()
    return model.forward(batch)
""",
}

#: Texts that may be typed anywhere.
_SNIPPETS = (
    " ",
    "\n",
    "\n\n",
    "# note\n",
    "x",
    "(",
    ")",
    "]",
    '"',
    '"""',
    "\\",
    ":",
    "def ",
    "class Numbers(Dataset):\n    pass\n",
    "import random\n",
    "from demo.datasets import *\n",
    "    image = image.copy()\n",
    "np.random.seed(1)\n",
    "num_workers=0",
    "@property\n",
    "SIZE = 3\n",
    "if True:\n    ",
    "return ",
    "self.rng = None\n",
    "loader = DataLoader(Images('b'), num_workers=3)\n",
    "é\N{SNAKE}",
)


def write(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """Write the files below `folder`. Returns the root of the project."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def edited(text: str, chance: random.Random) -> str:
    """The text after one random edit: something is typed, deleted or moved, or a name is changed."""
    start = chance.randrange(len(text) + 1)
    match chance.randrange(6):
        case 0 | 1:
            return text[:start] + chance.choice(_SNIPPETS) + text[start:]
        case 2:
            return text[:start] + text[start + chance.randrange(1, 12) :]
        case 3:
            lines = text.splitlines(keepends=True)
            if not lines:
                return text
            at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines.insert(to, lines.pop(at) if chance.random() < 0.5 else lines[at])
            return "".join(lines)
        case 4:
            lines = text.splitlines(keepends=True)
            if lines:
                del lines[chance.randrange(len(lines))]
            return "".join(lines)
    old, new = chance.choice(
        (("num_workers=2", "num_workers=0"), ("rng", "gen"), ("Noise", "Plain"), ("np.", "numpy."), ("-=", "="))
    )
    return text.replace(old, new, 1)


#: Statements that may be added to a module, and members that may be added to a class.
_STATEMENTS = (
    "def helper(value):\n    return value + 1\n",
    "def jitter(image):\n    return image\n",
    "def seed(worker_id):\n    np.random.seed(worker_id)\n",
    "class Helper:\n    def run(self):\n        return 1\n",
    "class Numbers(Images):\n    pass\n",
    "class Noise:\n    def __call__(self, image):\n        return image\n",
    "import json\n",
    "from .transforms import *\n",
    "from demo.models import step as jitter\n",
    "if SIZE > 3:\n    def helper(value):\n        return value\n",
    "try:\n    from .fast import jitter\nexcept ImportError:\n    pass\n",
    "SIZE = 3\n",
    "np = None\n",
    "def later():\n    return DataLoader(Images('b'), num_workers=3)\n",
    "later()\n",
)
_MEMBERS = (
    "    def helper(self):\n        return 1\n",
    "    def __getitem__(self, index):\n        return index\n",
    "    def __init__(self, *args):\n        self.data = []\n",
    "    def __getstate__(self):\n        return {}\n",
    "    def reset(self):\n        self.rng = None\n",
    "    def describe(self):\n        return self.transform\n",
    "    SIZE = 4\n",
    "    @property\n    def data(self):\n        return [1]\n",
)


def restructured(text: str, chance: random.Random) -> str:
    """The text after an edit of whole pieces: one is added, removed, moved, duplicated or renamed."""
    pieces = cut(text)
    if not pieces:
        return chance.choice(_STATEMENTS)
    lines = text.splitlines(keepends=True)
    tops = [piece.line for piece in pieces if piece.parent < 0 and piece.keyword not in ("elif", "else", "except")]
    members = [piece.line for piece in pieces if piece.parent >= 0 and pieces[piece.parent].kind == "class"]
    match chance.randrange(7):
        case 0 | 1:
            lines.insert(chance.choice([*tops, len(lines)]), f"{chance.choice(_STATEMENTS)}\n")
        case 2 if members:
            lines.insert(chance.choice(members), f"{chance.choice(_MEMBERS)}\n")
        case 3 | 4 | 5:
            piece = chance.choice([one for one in pieces if one.kind == "statement"])
            own = piece.text.splitlines(keepends=True)
            if chance.random() < 0.7:
                del lines[piece.line : piece.line + len(own)]
            if chance.random() < 0.7:
                places = members if piece.text[:1] == " " else tops
                at = chance.choice(places)
                lines.insert(at, "".join([*own, "\n"]))
        case _:
            names = [name for name in ("helper", "jitter", "Noise", "describe", "listing", "seed") if name in text]
            if names:
                return text.replace(f"{chance.choice(names)}(", f"{chance.choice(('helper', 'other', 'jitter'))}(", 1)
    return "".join(lines)


def shown(found: Mapping[Path, tuple[Diagnostic, ...]], root: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that users or editors see of the findings, per file."""
    return {
        path.relative_to(root).as_posix(): [
            (
                d.code,
                d.severity,
                d.certainty,
                d.message,
                d.span,
                d.fingerprint,
                d.fixable,
                tuple((note.path.relative_to(root).as_posix(), note.span, note.message) for note in d.evidence),
                tuple(fix.title for fix in d.finding.fixes),
            )
            for d in diagnostics
        ]
        for path, diagnostics in found.items()
    }


def cold(root: Path, texts: Mapping[Path, str]) -> dict[str, list[tuple[object, ...]]]:
    """The findings of a new workspace."""
    workspace = Workspace([root])
    for path, text in texts.items():
        workspace.set_text(path, text)
    return shown(workspace.check(), root)


def parses(workspace: Workspace, path: Path) -> bool:
    """Whether every piece of the file parses."""
    opened = workspace.project(path).store.open(path)
    return opened is not None and all(opened.own_facts(i) is not None for i in range(len(opened.pieces)))
