"""Notebooks on the command line, with the real engine: findings by cell, fixes that change only their cell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.syntax.test_notebook import made

IMPORTS = "%matplotlib inline\nimport numpy as np\nfrom torch.utils.data import DataLoader, Dataset"
DATASET = """\
class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.integers(index + 1)  # é"""
LOADER = "!nvidia-smi\nloader = DataLoader(Crops(), num_workers=2)\nfor batch in loader:\n    %time print(batch)"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A notebook with a shared generator in its second code cell."""
    path = tmp_path / "train.ipynb"
    path.write_text(made(IMPORTS, [f"{line}\n" for line in DATASET.split("\n")], LOADER), encoding="utf-8")
    return path


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "loaderlint", "check", "--select", "shared-generator", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_findings_name_their_cell(notebook: Path) -> None:
    shown = check(notebook.parent)
    assert shown.returncode == 1, shown.stderr
    assert "train.ipynb:cell 2:3:20: error" in shown.stdout
    assert "3 |         self.rng" in shown.stdout
    assert "(train.ipynb:cell 3:2)" in shown.stdout
    (found,) = json.loads(check(notebook.parent, "--output-format", "json").stdout)
    assert (found["path"], found["cell"], found["line"]) == ("train.ipynb", 2, 6)
    assert {note["cell"] for note in found["evidence"]} <= {2, 3}
    assert all("cell" in edit for edit in found["fix"]["edits"])


def test_a_fix_changes_its_cells_only(notebook: Path) -> None:
    before = notebook.read_text("utf-8")
    patch = check(notebook.parent, "--diff")
    assert notebook.read_text("utf-8") == before
    assert check(notebook.parent, "--fix").returncode == 0
    after = notebook.read_text("utf-8")
    cells = ["".join(cell["source"]) for cell in json.loads(after)["cells"]]
    assert cells[0] == "# import torch"
    assert cells[1] == IMPORTS.replace("from torch", "import torch\nfrom torch", 1)
    assert "self._get_rng().integers(index + 1)  # é" in cells[2]
    assert cells[3] == LOADER
    rest = [line for line in before.split("\n") if line not in after.split("\n")]
    assert all("self.rng.integers" in line or "DataLoader, Dataset" in line for line in rest)
    notebook.write_text(before, encoding="utf-8")
    subprocess.run(["git", "apply", "-"], cwd=notebook.parent, input=patch.stdout, text=True, check=True)
    assert notebook.read_text("utf-8") == after


def test_what_is_no_notebook_stops_nothing(notebook: Path) -> None:
    (notebook.parent / "broken.ipynb").write_text("{", encoding="utf-8")
    found = check(notebook.parent)
    assert found.returncode == 1
    assert "broken.ipynb: not a notebook" in found.stderr
    assert check(notebook.parent, "broken.ipynb").returncode == 2


def test_a_notebook_cannot_be_piped_in(notebook: Path) -> None:
    piped = check(notebook.parent, "-", "--stdin-filename", "x.ipynb")
    assert piped.returncode == 2
    assert "check the file itself" in piped.stderr


def test_settings_name_notebooks_like_other_files(notebook: Path) -> None:
    assert check(notebook.parent, "--per-file-ignores", "*.py:ALL").returncode == 1
    assert check(notebook.parent, "--per-file-ignores", "*.ipynb:LDR1").returncode == 0
    assert check(notebook.parent, "--exclude", "*.ipynb").returncode == 0
    assert check(notebook.parent, "--exclude", "*.ipynb", notebook.name).returncode == 1
    assert check(notebook.parent, "--exclude", "*.ipynb", "--force-exclude", notebook.name).returncode == 0


def test_a_baseline_keeps_what_is_in_a_notebook(notebook: Path) -> None:
    assert check(notebook.parent, "--write-baseline").returncode == 0
    moved = notebook.read_text("utf-8").replace('"class Crops', '"# more\\n",\n    "class Crops')
    notebook.write_text(moved, encoding="utf-8")
    kept = check(notebook.parent, "--baseline")
    assert (kept.returncode, kept.stderr) == (0, "")
    assert "train.ipynb:cell 2:4:20" in check(notebook.parent).stdout
