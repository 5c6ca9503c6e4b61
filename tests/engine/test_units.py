"""The parts of a project are linked separately: an edit links those whose answers it changes, and the findings equal
those of a fresh start, even if parts are joined or separated."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.runtime.internal_errors import Cancelled
from tests.engine.projects import cold, shown

DATA = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset

SIZE = 16


class Images(Dataset):
    def __len__(self):
        return SIZE

    def __getitem__(self, index):
        return noisy(index)


def noisy(index):
    return index + np.random.rand()


def load():
    return DataLoader(Images(), num_workers=2)
"""
FILES = {
    "pyproject.toml": '[project]\nname = "demo"\ndependencies = ["torch==1.8.1"]\n',
    "one/data.py": DATA,
    "one/run.py": "from one.data import load\n\nfor batch in load():\n    print(batch)\n",
    "two/data.py": DATA,
    "three/late.py": "from torch.utils.data import DataLoader\n\n\ndef load(args):\n    return DataLoader(args.data)\n",
    "four/models.py": "def step(batch):\n    return batch\n",
    "script.py": "from two.data import Images\n\nimages = Images()\n",
}
EDITS = (
    ("two/data.py", "SIZE = 16", "SIZE = 17"),
    ("two/data.py", "np.random.rand()", "np.random.randint(3)"),
    ("two/data.py", "np.random.rand()", "calm(index)"),
    ("two/data.py", "num_workers=2", "num_workers=0"),
    ("two/data.py", "SIZE = 16\n", "from one.data import noisy as SIZE\n"),
    ("one/data.py", "def load():\n", "def load():\n    import three.late\n"),
    ("one/run.py", "from one.data", "from two.data"),
    ("three/late.py", "def load", "import four.models\n\n\ndef load"),
    ("four/models.py", "def step", "import sys\nsys.path.append('..')\n\n\ndef step"),
    ("script.py", "images = Images()", "from one.data import load\nload()"),
    ("script.py", "from two.data import Images", "from one.data import Images"),
)


def written(root: Path) -> Path:
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


@pytest.mark.parametrize("seed", range(6))
def test_after_any_edits_the_findings_are_those_of_a_cold_check(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = written(tmp_path.resolve())
    workspace = Workspace([root])
    texts: dict[Path, str] = {}
    assert {path.parent.name for path, found in workspace.check().items() if found} == {"one", "two"}
    for _ in range(20):
        name, old, new = chance.choice(EDITS)
        path = root / name
        text = texts.get(path, FILES[name])
        texts[path] = text.replace(old, new) if old in text else text.replace(new, old)
        workspace.set_text(path, texts[path])
        if chance.random() < 0.7:
            assert shown(workspace.check(), root) == cold(root, texts)
            assert workspace.worker_map() == _fresh(root, texts).worker_map()


def _fresh(root: Path, texts: dict[Path, str]) -> Workspace:
    workspace = Workspace([root])
    for path, text in texts.items():
        workspace.set_text(path, text)
    return workspace


@pytest.mark.parametrize(
    ("name", "old", "new", "linked"),
    [
        ("two/data.py", "np.random.rand()", "1", 1),
        ("two/data.py", "SIZE = 16", "SIZE = 16\nMORE = 1", 0),
        ("two/data.py", "SIZE = 16", "SIZE = 16\nnp = None", 1),
        ("four/models.py", "return batch", "return DataLoader(batch)", 1),
        ("four/models.py", "return batch", "return batch + 1", 0),
        ("two/data.py", "SIZE = 16", "from one.data import SIZE", 1),
        ("script.py", "from two.data import Images", "from numpy import Images", 1),
        ("three/late.py", "def load", "import four.models\n\n\ndef load", 1),
        ("four/models.py", "return batch", "import sys\n    sys.path.append('..')", 1),
    ],
)
def test_an_edit_links_the_parts_that_it_changes(tmp_path: Path, name: str, old: str, new: str, linked: int) -> None:
    """Four parts: one, two with the script, three, and four, which has no loader."""
    root = written(tmp_path.resolve())
    workspace = Workspace([root])
    workspace.check()
    assert workspace.links == 3
    workspace.set_text(root / name, FILES[name].replace(old, new))
    workspace.check()
    assert workspace.links == 3 + linked


def test_a_linking_that_is_broken_off_leaves_what_was_there(tmp_path: Path) -> None:
    """An edit is undone while the first of two changed parts is linked: the intermediate findings do not stay."""
    root = written(tmp_path.resolve())
    workspace = Workspace([root])
    before = shown(workspace.check(), root)
    for name in ("one/data.py", "two/data.py"):
        workspace.set_text(root / name, FILES[name].replace("np.random.rand()", "1"))
    links = workspace.links
    with pytest.raises(Cancelled):
        workspace.check(stop=lambda: workspace.links > links + 1)
    assert workspace.links == links + 2
    for name in ("one/data.py", "two/data.py"):
        workspace.set_text(root / name, FILES[name])
    assert shown(workspace.check(), root) == before
