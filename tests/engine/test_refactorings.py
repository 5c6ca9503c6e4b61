"""Where the refactoring of a loader is offered, and its edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.syntax.positions import apply_edits

HEAD = "import torch\nfrom torch.utils.data import DataLoader\n\n"


def refactored(folder: Path, call: str, head: str = HEAD) -> str | None:
    """The file with a loader made by `call` after the refactoring; None if it is not offered."""
    path = folder / "train.py"
    text = f"{head}loader = {call}\n"
    path.write_text(text)
    workspace = Workspace([folder])
    fixes = workspace.refactorings(path, text.count("\n") - 1)
    repair = workspace.repair(path, fixes[0]) if fixes else None
    return apply_edits(text, repair.files[0].edits) if repair else None


def test_what_it_writes(tmp_path: Path) -> None:
    after = refactored(tmp_path, "DataLoader(range(9), num_workers=4)  # nine")
    assert after is not None and after.endswith(
        "loader = DataLoader(range(9), num_workers=4, worker_init_fn=seed_worker,"
        " generator=torch.Generator().manual_seed(0))  # nine\n"
    )
    assert "def seed_worker(worker_id):" in after and "import numpy as np\n" in after


@pytest.mark.parametrize(
    "call",
    [
        "DataLoader(range(9), generator=g)",
        "DataLoader(range(9), worker_init_fn=f)",
        "DataLoader(range(9), **options)",
        "list(range(9))",
    ],
)
def test_not_where_the_call_says_it_or_may_say_it(tmp_path: Path, call: str) -> None:
    assert refactored(tmp_path, call) is None


def test_not_where_the_constructor_may_not_take_it(tmp_path: Path) -> None:
    head = HEAD + "class Own(DataLoader):\n    def __init__(self, data):\n        super().__init__(data)\n\n"
    assert refactored(tmp_path, "Own(range(9))", head) is None
    assert refactored(tmp_path, "DataLoader([1])", "from monai.data import DataLoader\n\n") is None


def test_beside_a_dict_that_holds_neither(tmp_path: Path) -> None:
    call = "DataLoader(range(9), **OPTIONS)"
    head = f'{HEAD}OPTIONS = {{"num_workers": 4}}\nprint(OPTIONS)\n'
    after = refactored(tmp_path, call, head)
    assert after is not None and after.endswith(
        "loader = DataLoader(range(9), worker_init_fn=seed_worker,"
        " generator=torch.Generator().manual_seed(0), **OPTIONS)\n"
    )
    assert refactored(tmp_path, call, f'{head}print("generator")\n') is None
