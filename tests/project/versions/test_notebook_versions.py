"""The versions that a notebook records: that of Python, and those that its cells install."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loaderlint.engine.file_settings import Configuration
from loaderlint.engine.workspace import Workspace
from loaderlint.project.versions.environment import VersionSet

CODE = """\
import albumentations as A
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, images):
        self.images = images
        self.transform = A.Compose([A.RandomCrop(32, 32)])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.transform(image=self.images[index])["image"]


for batch in DataLoader(Images([]), num_workers=4):
    print(batch)
"""


def _write(folder: Path, metadata: dict[str, Any], printed: str = "", before: str = "") -> Path:
    output = {"output_type": "stream", "name": "stdout", "text": [printed]}
    cell = {"cell_type": "code", "source": before + CODE, "metadata": {}, "outputs": [output] if printed else []}
    path = folder / "train.ipynb"
    written = {"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(written), encoding="utf-8")
    return path


def _kernel(version: object, name: str = "python") -> dict[str, Any]:
    return {"kernelspec": {"language": "python"}, "language_info": {"name": name, "version": version}}


def _python(folder: Path, path: Path) -> str:
    return Configuration(folder, {}, None).environment(path).python.described


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (_kernel("3.7.10"), "3.7.10, from the notebook's kernel"),
        (_kernel("3.10"), "3.10, from the notebook's kernel"),
        (_kernel("3.7.10", "julia"), "not known"),
        (_kernel(3.7), "not known"),
        (_kernel("3.x"), "not known"),
        ({"language_info": []}, "not known"),
        ({}, "not known"),
    ],
)
def test_recorded(tmp_path: Path, metadata: dict[str, Any], said: str) -> None:
    assert _python(tmp_path, _write(tmp_path, metadata)) == said


def test_output_records_nothing(tmp_path: Path) -> None:
    path = _write(tmp_path, {}, printed=json.dumps({"metadata": _kernel("3.7.10")}))
    assert _python(tmp_path, path) == "not known"


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (">=3.6", "3.7.10, from the notebook's kernel"),
        ("==3.11.*", "3.11, from pyproject.toml"),
        (">=3.9", ">=3.9, from pyproject.toml"),
    ],
)
def test_declared_comes_first(tmp_path: Path, declared: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\nversion = "1"\nrequires-python = "{declared}"\n')
    assert _python(tmp_path, _write(tmp_path, _kernel("3.7.10"))) == said


def test_changes_are_seen(tmp_path: Path) -> None:
    path = _write(tmp_path, _kernel("3.7.10"))
    configuration = Configuration(tmp_path, {}, None)
    assert configuration.environment(path).python.described.startswith("3.7.10")
    path.unlink()
    assert configuration.environment(path).python.described == "not known"


def test_other_files_of_the_folder_have_their_own(tmp_path: Path) -> None:
    _write(tmp_path, _kernel("3.7.10"))
    assert _python(tmp_path, tmp_path / "train.py") == "not known"


def _names(folder: Path) -> list[str]:
    workspace = Workspace([folder], {"platforms": ["linux"]})
    return [one.name for each in workspace.check([folder]).values() for one in each]


@pytest.mark.parametrize(("metadata", "found"), [(_kernel("3.7.10"), 0), (_kernel("3.10.2"), 1), ({}, 1)])
def test_library_that_needs_a_later_python(tmp_path: Path, metadata: dict[str, Any], found: int) -> None:
    _write(tmp_path, metadata)
    assert _names(tmp_path) == ["frozen-augmentation-state"] * found


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("!pip install albumentations==1.3.1", "1.3.1, from a cell of the notebook"),
        ("%pip install -q 'albumentations==1.3.1'", "1.3.1, from a cell of the notebook"),
        ('import os\n!python -m pip install "albumentations==1.3.1" timm', "1.3.1, from a cell of the notebook"),
        ("  !pip install albumentations==1.3.1  # the last one", "1.3.1, from a cell of the notebook"),
        ("!pip -q install \\\n  timm \\\n  albumentations==1.3.1", "1.3.1, from a cell of the notebook"),
        ("!pip install albumentations", "not known"),
        ('"""\npip install albumentations==1.3.1\n"""', "not known"),
        ("!pip install albumentations>=1.3.1", "not known"),
        ("# !pip install albumentations==1.3.1", "not known"),
        ("!pip install albumentations-extra==1.3.1", "not known"),
    ],
)
def test_the_versions_that_cells_install(command: str, said: str, tmp_path: Path) -> None:
    path = _write(tmp_path, {}, before=f"{command}\n")
    packages = Configuration(tmp_path, {}, None).environment(path).packages or {}
    assert packages.get("albumentations", VersionSet()).described == said


def test_a_version_that_the_project_declares_comes_first(tmp_path: Path) -> None:
    path = _write(tmp_path, {}, before="!pip install torch==1.8.1 albumentations==1.3.1\n")
    (tmp_path / "requirements.txt").write_text("torch==2.1.0\nalbumentations>=1.2\n", encoding="utf-8")
    environment = Configuration(tmp_path, {}, None).environment(path)
    assert environment.torch.described == "2.1.0, from requirements.txt"
    assert (environment.packages or {})["albumentations"].described == "1.3.1, from a cell of the notebook"


@pytest.mark.parametrize(("command", "found"), [("", 1), ("!pip install albumentations==1.3.1\n", 0)])
def test_an_old_version_draws_from_another_state(command: str, found: int, tmp_path: Path) -> None:
    _write(tmp_path, {}, before=command)
    assert _names(tmp_path) == ["frozen-augmentation-state"] * found
