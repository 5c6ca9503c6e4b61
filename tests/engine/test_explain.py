"""`Workspace.explain` and `Workspace.worker_map`: what they link, and that their answers move with the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.engine import Workspace

DATA = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(42)

    def __getitem__(self, index):
        return self.rng.integers(4)


loader = DataLoader(Crops(), num_workers=2)
"""
DRAW = 9


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "data.py").write_text(DATA)
    return Workspace([tmp_path], {"platforms": ["linux"], "target-python": "3.11"})


@pytest.fixture
def path(workspace: Workspace, tmp_path: Path) -> Path:
    return tmp_path.resolve() / "data.py"


def links(workspace: Workspace, path: Path) -> int:
    return workspace.project(path).links


def test_one_linking_answers_everything(workspace: Workspace, path: Path) -> None:
    workspace.explain(path, DRAW)
    workspace.explain(path, DRAW - 1)
    workspace.worker_map()
    workspace.check()
    assert links(workspace, path) == 1


def test_a_check_gathers_nothing_to_tell(workspace: Workspace, path: Path) -> None:
    workspace.check()
    workspace.explain(path, DRAW)
    assert links(workspace, path) == 2


def test_a_question_about_one_file_does_not_forget_another_that_is_named(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("drafts/\n")
    (tmp_path / "drafts").mkdir()
    data, draft = tmp_path.resolve() / "data.py", tmp_path.resolve() / "drafts" / "own.py"
    data.write_text(DATA)
    draft.write_text("import torch\n")
    editor = Workspace([tmp_path], {"platforms": ["linux"], "target-python": "3.11"}, tells=True)
    editor.check([data, draft])
    editor.set_text(data, f"# a comment\n{DATA}")
    editor.explain(data, DRAW + 1)
    editor.set_text(data, DATA)
    editor.check([data, draft])
    assert links(editor, data) == 1


def test_answers_move_with_the_text(workspace: Workspace, path: Path) -> None:
    before = workspace.explain(path, DRAW)
    workspace.set_text(path, "# a comment\n\n" + DATA)
    after = workspace.explain(path, DRAW + 2)
    assert links(workspace, path) == 1
    assert before.subjects == after.subjects
    (loader,) = workspace.worker_map().loaders
    assert loader.place is not None
    span = workspace.locate(loader.place)
    assert span is not None and span.line == 14


#: The argument of a loader, and what the map shows as its dataset.
PLAIN_DATA = {
    "[1, 2, 3]": ["a list"],
    "[item for item in range(3)]": ["a list"],
    "torch.zeros(3)": ["torch.zeros(...)"],
    "elsewhere.Pairs(1).with_epoch(2)": ["elsewhere.Pairs.with_epoch(...)"],
    "TensorDataset(torch.zeros(3))": ["torch.utils.data.TensorDataset(...)"],
    "some": [],
    "(1, 2)": [],
}


@pytest.mark.parametrize("given", PLAIN_DATA)
def test_plain_data_is_told(given: str, tmp_path: Path) -> None:
    head = "import elsewhere, torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
    (tmp_path / "train.py").write_text(f"{head}def main(some):\n    loader = DataLoader({given})\n")
    (loader,) = Workspace([tmp_path], {}, tells=True).worker_map().loaders
    assert [(one.name, one.certainty) for one in loader.datasets] == [(name, "proven") for name in PLAIN_DATA[given]]


def test_an_edit_that_matters_is_told(workspace: Workspace, path: Path) -> None:
    workspace.explain(path, DRAW)
    workspace.set_text(path, DATA.replace("num_workers=2", "num_workers=0"))
    (subject,) = workspace.explain(path, DRAW).subjects
    assert subject.notes == ("runs in the main process: the loaders that reach it have no workers",)


def test_explaining_does_not_change_what_is_found(workspace: Workspace, path: Path, tmp_path: Path) -> None:
    workspace.explain(path, DRAW)
    fresh = Workspace([tmp_path], {"platforms": ["linux"], "target-python": "3.11"})
    assert workspace.check() == fresh.check()
