"""The order of the questions changes no answer: neither that of the rules, nor that of the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.question_orders import answers, orders
from loaderlint.project.evaluation.limits import MAX_CONTEXTS
from loaderlint.rules import RULES
from loaderlint.sources import store
from tests.engine import projects
from tests.rules.cases import PAGES

#: One function makes all loaders, in as many contexts as are told apart; what it is called with decides what is wrong.
_FACTORY = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __init__(self, draw, offset):
        self.draw, self.offset = draw, offset
        self.rng = np.random.default_rng(offset)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return helped(self.draw, self.offset) + self.rng.normal()


def helped(draw, offset):
    return draw(offset)


def drawn(offset):
    return np.random.rand(offset)


def plain(offset):
    return np.zeros(offset)


def loader(draw, offset, workers):
    return DataLoader(Data(draw, offset), num_workers=workers)
"""


def _made_project(root: Path) -> None:
    projects.write(root)


def _factory(root: Path) -> None:
    files = {"loaders.py": _FACTORY}
    for n in range(MAX_CONTEXTS - 2):
        call = f"loader({('drawn', 'plain')[n % 2]}, {n}, {n % 3})"
        files[f"use{n}.py"] = f"from loaders import *\n\n\nfor batch in {call}:\n    print(batch)\n"
    projects.write(root, files)


def _bad_cases(root: Path) -> None:
    """The first case of each page that has a finding, side by side."""
    for page in PAGES:
        case = next(one for one in page.cases if one.expects(page.rule))
        for block in case.files:
            if block.name.endswith(".py"):
                path = root / page.rule.replace("-", "_") / block.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, "utf-8")


@dataclass(frozen=True, slots=True)
class _Backwards:
    """A key by which paths are sorted backwards."""

    key: Sequence[str]

    def __lt__(self, other: _Backwards) -> bool:
        return list(other.key) < list(self.key)


@pytest.mark.parametrize("make", [_made_project, _factory, _bad_cases])
def test_no_order_of_the_questions_changes_an_answer(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    findings, loaders = answers(tmp_path, RULES)
    assert findings and loaders
    for name, order in orders(RULES):
        assert answers(tmp_path, order) == (findings, loaders), name
    in_order = store._in_order
    monkeypatch.setattr(store, "_in_order", lambda path: _Backwards(in_order(path)))
    assert answers(tmp_path, RULES) == (findings, loaders), "files backwards"
    assert answers(tmp_path, RULES[::-1]) == (findings, loaders), "all backwards"
