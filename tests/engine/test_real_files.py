"""Edits of real code: the standard library's modules, with a loader on top."""

from __future__ import annotations

import random
import shutil
import sysconfig
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from tests.engine.projects import cold, edited, parses, shown

_TRAIN = """\
import numpy as np
import {name} as module
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.file = open("data")

    def __getitem__(self, index):
        return module.{function}(self.file.read(), self.rng.random(), np.random.rand())


loader = DataLoader(Samples(), num_workers=4)
"""


@pytest.mark.parametrize(("name", "function"), [("textwrap", "dedent"), ("colorsys", "rgb_to_hls"), ("csv", "Sniffer")])
def test_edits_of_real_code(tmp_path: Path, name: str, function: str) -> None:
    chance = random.Random(name)
    root = tmp_path.resolve()
    path = root / f"real_{name}.py"
    shutil.copy(Path(sysconfig.get_path("stdlib")) / f"{name}.py", path)
    (root / "train.py").write_text(_TRAIN.format(name=path.stem, function=function), "utf-8")
    original = path.read_text("utf-8")
    workspace = Workspace([root])
    assert sum(map(len, workspace.check().values())) >= 2
    text, good, compared = original, original, 0
    for _ in range(40):
        text = good if text != good and chance.random() < 0.5 else edited(text, chance)
        workspace.set_text(path, text)
        found = shown(workspace.check(), root)
        assert len(found["train.py"]) >= 2  # whatever is typed, the findings of the other file stay
        if parses(workspace, path):
            assert found == cold(root, {path: text})
            good, compared = text, compared + 1
    assert compared >= 10
