"""While somebody types, a project is linked again only after a pause."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint.engine import Cancelled, Workspace

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
    """A project of one file that an editor holds."""

    def __init__(self, folder: Path) -> None:
        (folder / "pyproject.toml").write_text('[project]\nname = "demo"\ndependencies = ["torch==1.8"]\n')
        self.path = folder / "data.py"
        self.path.write_text(TEXT)
        self.workspace = Workspace([folder])
        self.check(lambda: True)

    def check(self, edited: Callable[[], bool] | None) -> list[str]:
        return [one.name for one in self.workspace.check([self.path], edited=edited)[self.path]]

    def type(self, text: str) -> None:
        self.workspace.set_text(self.path, text)


@pytest.fixture
def typing(tmp_path: Path) -> Typing:
    return Typing(tmp_path)


def test_the_first_linking_waits_for_nothing(typing: Typing) -> None:
    assert typing.workspace.links == 1


def test_an_edit_in_the_pause_puts_the_linking_off(typing: Typing) -> None:
    typing.type(DRAWS)
    asked = iter((False, False, True))
    with pytest.raises(Cancelled):
        typing.check(lambda: next(asked))
    assert typing.workspace.links == 1
    assert next(asked, None) is None, "it waited until somebody typed"


def test_after_a_pause_it_is_linked(typing: Typing) -> None:
    typing.type(DRAWS)
    with pytest.raises(Cancelled):
        typing.check(lambda: True)
    assert typing.check(lambda: False) == ["duplicate-numpy-randomness"]
    assert typing.workspace.links == 2


def test_an_edit_that_changes_no_answer_waits_for_nothing(typing: Typing) -> None:
    typing.type(COMMENTED)
    assert typing.check(lambda: True) == []
    assert typing.workspace.links == 1


def test_who_does_not_type_waits_for_nothing(typing: Typing, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(seconds: float) -> None:
        raise AssertionError(f"it waits {seconds} s")

    monkeypatch.setattr("loaderlint.engine.linking.time.sleep", never)
    typing.type(DRAWS)
    assert typing.check(None) == ["duplicate-numpy-randomness"]
