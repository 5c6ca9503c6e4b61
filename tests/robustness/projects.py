"""Small projects full of loaders, put together from the cases of the rules' pages."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from tests.engine.projects import FILES
from tests.rules.cases import PAGES

SETTINGS = """\
[project]
name = "demo"
dependencies = ["torch==2.4", "numpy"]

[tool.loaderlint]
platforms = ["linux"]
target-python = "3.11"
"""
#: Other versions and settings that a project may come to have.
OTHER_SETTINGS = (
    SETTINGS.replace("2.4", "1.8.1"),
    SETTINGS + 'ignore = ["LDR1"]\n',
    SETTINGS + 'start-method = "spawn"\n',
    SETTINGS.replace("linux", "windows"),
    '[project]\nname = "demo"\n',
)

_CASES = [
    {block.name: block.text for block in case.files}
    for page in PAGES
    for case in page.cases
    if all(block.name.endswith(".py") for block in case.files) and case.expects(page.rule)
]
#: The text of every Python file of every case with a finding.
TEXTS = [text for case in _CASES for text in case.values()]


#: A fault under all of these settings; the cases of a random project may have none.
CERTAIN = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.zeros(8)), persistent_workers=True)
"""


def project(chance: random.Random) -> dict[str, str]:
    """The texts of a project by their names: a case of several files, one or two files that hold several cases each,
    at times the example with every kind of link between files, and a file with a fault for certain."""
    several = [case for case in _CASES if len(case) > 1]
    files = {"pyproject.toml": SETTINGS, **chance.choice(several)}
    if chance.random() < 0.4:
        files |= {name: text for name, text in FILES.items() if text and name.endswith(".py")}
    for name in ("mixed.py", "more.py")[: chance.randint(1, 2)]:
        files[name] = "\n\n".join(chance.sample(TEXTS, chance.randint(1, 3)))
    files["certain.py"] = CERTAIN
    return files


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write the files below `folder` with the line ends that they have. The folder, with links followed."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    return folder.resolve()
