"""The facts of a half-typed piece are those of its last good version, if it is still the same kind of piece."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaderlint.engine import Workspace
from loaderlint.project.modules.dependencies import fits, outline
from loaderlint.sources.open_file import OpenFile
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.source import Source, decode

DATASET = """import numpy as np
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    {}

    def __len__(self):
        return 8


loader = DataLoader(Data(), num_workers=2)
"""
GETITEM = "def __getitem__(self, i): return np.random.rand(3)[::-1]"

#: Statements of every kind of piece, inside and outside classes, complete and half-typed.
LINES = st.sampled_from(
    [
        "x = 1",
        "x = f(",
        "def f(a): return a",
        "def f(a",
        "def g(a): return (",
        "@f",
        "@f(",
        "async def f(a): return a",
        "class C:",
        "class C(",
        "class D(f): pass",
        "if x:",
        "if x",
        "else: x = (",
        "else:",
        "    y = 2",
        "    y = (",
        "    def f(self): pass",
        "    def f(self",
        "    @property",
        "from a import *",
        "",
    ]
)
TEXTS = st.lists(LINES, max_size=8).map("\n".join)


def source_of(text: str) -> Source:
    return decode(text.encode())


@given(st.lists(TEXTS, min_size=2, max_size=5))
def test_the_facts_that_are_shown_fit_the_piece(versions: list[str]) -> None:
    file = OpenFile(Path("a.py"), source_of(versions[0]), cut(versions[0]))
    for text in versions[1:]:
        for index in range(len(file.pieces)):
            file.facts(index)
        file = file.changed(source_of(text))
        for index, piece in enumerate(file.pieces):
            shown, is_present = file.shown_piece(index)
            facts = file.facts(index)
            assert outline(shown) == outline(piece)
            assert facts is None or fits(facts, outline(piece))
            assert is_present or facts == OpenFile(Path("a.py"), b"", (shown,)).facts(0), "the facts of what is shown"


@pytest.mark.parametrize("before", ["x = 1", "x: int", "pass", "def __len__(self): return 2", "@property"])
def test_typing_a_method_over_something_else(tmp_path: Path, before: str) -> None:
    """Every keystroke until the method is complete is checked, and never uses the facts of another piece."""
    path = tmp_path / "data.py"
    path.write_text(DATASET.format(before))
    workspace = Workspace([tmp_path])
    workspace.check()
    for end in range(1, len(GETITEM) + 1):
        workspace.set_text(path, DATASET.format(GETITEM[:end]))
        workspace.check()
    assert "negative-stride-sample" in [one.name for one in workspace.check()[path.resolve()]]


def test_a_half_typed_head_keeps_what_it_had(tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_text(DATASET.format(GETITEM))
    workspace = Workspace([tmp_path])
    assert workspace.check()[path.resolve()]
    workspace.set_text(path, DATASET.format(GETITEM.replace("(self, i)", "(self, i, ")))
    loader = DATASET.format(GETITEM).replace("num_workers=2)", "num_workers=2, ")
    workspace.check()
    workspace.set_text(path, loader)
    assert workspace.check()[path.resolve()], "the last good loader counts"
