"""While the user types, a project is linked again only after a pause."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.runtime.internal_errors import Postponed

TEXT = """import numpy as np
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.zeros(3)


loader = DataLoader(Data(), num_workers=2)
"""
DRAWS = TEXT.replace("np.zeros(3)", "np.random.rand(3)")
COMMENTED = TEXT.replace("        return np", "        # zeros\n        return np")


class Typing:
    """A project with one file that is open in an editor."""

    def __init__(self, folder: Path) -> None:
        (folder / "pyproject.toml").write_text('[project]\nname = "demo"\ndependencies = ["torch==1.8"]\n')
        self.path = folder / "data.py"
        self.path.write_text(TEXT)
        self.workspace = Workspace([folder])
        self.check(typing=True)

    def check(self, *, typing: bool) -> list[str]:
        return [one.name for one in self.workspace.check([self.path], typing=typing)[self.path]]

    def type(self, text: str) -> None:
        self.workspace.set_text(self.path, text)


@pytest.fixture
def typing(tmp_path: Path) -> Typing:
    return Typing(tmp_path)


def test_the_first_linking_waits_for_nothing(typing: Typing) -> None:
    assert typing.workspace.links == 1


def test_while_somebody_types_nothing_is_linked_again(typing: Typing) -> None:
    typing.type(DRAWS)
    with pytest.raises(Postponed) as postponed:
        typing.check(typing=True)
    assert typing.workspace.links == 1
    assert postponed.value.took > 0, "the last linking took some time"


def test_after_a_pause_it_is_linked(typing: Typing) -> None:
    typing.type(DRAWS)
    with pytest.raises(Postponed):
        typing.check(typing=True)
    assert typing.check(typing=False) == ["duplicate-numpy-randomness"]
    assert typing.workspace.links == 2


def test_what_is_typed_and_taken_back_before_the_pause_links_nothing(typing: Typing) -> None:
    typing.type(DRAWS)
    with pytest.raises(Postponed):
        typing.check(typing=True)
    typing.type(TEXT)
    assert typing.check(typing=True) == []
    assert typing.workspace.links == 1


def test_an_edit_that_changes_no_answer_waits_for_nothing(typing: Typing) -> None:
    typing.type(COMMENTED)
    assert typing.check(typing=True) == []
    assert typing.workspace.links == 1
