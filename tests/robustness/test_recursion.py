"""Answers do not depend on how deep the stack is when they are asked for, nor on Python's recursion limit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from loaderlint.engine import Workspace
from loaderlint.facts import lower
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation import evaluator
from loaderlint.project.evaluation.values import Val
from loaderlint.runtime.call_stack import FRAMES, on_own_stack, with_room
from loaderlint.sources.open_file import OpenFile
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.nesting_depth import MAX_LEVELS
from tests.project.linking import link

_Answer = TypeVar("_Answer")

DATA = """import numpy as np
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index): return np.random.rand(3)[::-1]
"""
LOADER = "loader = DataLoader(Data(), num_workers={})\n"
#: Names, functions and classes that lead to each other, longer than any stack of Python's usual size.
LONG = 1_500
CHAINS = {
    "aliases": DATA
    + "a0 = 2\n"
    + "".join(f"a{n} = a{n - 1}\n" for n in range(1, LONG))
    + LOADER.format(f"a{LONG - 1}"),
    "classes": DATA
    + "class C0(Data): pass\n"
    + "".join(f"class C{n}(C{n - 1}): pass\n" for n in range(1, LONG))
    + f"last = C{LONG - 1}()\n"
    + LOADER.format(2),
    "attributes": DATA
    + "class Options:\n    def __init__(self):\n        self.a0 = 2\n"
    + "".join(f"        self.a{n} = self.a{n - 1}\n" for n in range(1, LONG))
    + LOADER.format(f"Options().a{LONG - 1}"),
}


@pytest.fixture(autouse=True)
def usual_limit() -> Iterator[None]:
    """pytest's plugins may have changed it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


def from_below(work: Callable[[], _Answer], left: int) -> _Answer:
    """Call `work` where so many frames are left, about."""
    depth = len(list(frames()))
    return _deeper(work, sys.getrecursionlimit() - depth - left)


def frames() -> Iterator[object]:
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back  # type: ignore[assignment]


def _deeper(work: Callable[[], _Answer], count: int) -> _Answer:
    return work() if count <= 0 else _deeper(work, count - 1)


def checked(folder: Path) -> list[tuple[str, str]]:
    return [(one.name, one.message) for found in Workspace([folder]).check().values() for one in found]


@pytest.mark.parametrize("name", CHAINS)
def test_a_long_chain_is_followed_to_its_end(tmp_path: Path, name: str) -> None:
    (tmp_path / "data.py").write_text(CHAINS[name])
    workspace = Workspace([tmp_path])
    (loader,) = workspace.worker_map().loaders
    assert loader.workers == "num_workers=2"
    assert "negative-stride-sample" in [one.name for found in workspace.check().values() for one in found]


def test_a_chain_through_many_files(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        DATA + f"from m{LONG // 2} import x\nfrom s{LONG // 2} import y\n" + LOADER.format("x + y")
    )
    (tmp_path / "m0.py").write_text("x = 2\n")
    (tmp_path / "s0.py").write_text("y = 1\n")
    for n in range(1, LONG // 2 + 1):
        (tmp_path / f"m{n}.py").write_text(f"from m{n - 1} import x\n")
        (tmp_path / f"s{n}.py").write_text(f"from s{n - 1} import *\n")
    (loader,) = Workspace([tmp_path]).worker_map().loaders
    assert loader.workers == "num_workers=3"


def test_modules_that_import_all_of_each_other(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(DATA + "from a import *\n" + LOADER.format("x + missing"))
    (tmp_path / "a.py").write_text("from b import *\nfrom c import *\n")
    (tmp_path / "b.py").write_text("from a import *\n")
    (tmp_path / "c.py").write_text("x = 2\n")
    assert "negative-stride-sample" in [name for name, _ in checked(tmp_path)]


def test_objects_that_make_objects_without_end(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        DATA
        + "".join(
            f"class T{n}:\n    def __init__(self, x):\n        self.x = x\n"
            "    def a(self): return T0(self.b().x)\n    def b(self): return T1(self.c().x)\n"
            "    def c(self): return T2(self.a().x)\n"
            for n in range(3)
        )
        + LOADER.format("T0(2).a().x")
    )
    assert "negative-stride-sample" in [name for name, _ in checked(tmp_path)]


@pytest.mark.parametrize("left", [120, 200, 400])
def test_findings_are_the_same_from_deep_down(tmp_path: Path, left: int) -> None:
    (tmp_path / "data.py").write_text(CHAINS["aliases"])
    assert from_below(lambda: checked(tmp_path), left) == checked(tmp_path) != []


@pytest.mark.parametrize("limit", [400, 1_000, 50_000])
def test_findings_are_the_same_with_any_recursion_limit(tmp_path: Path, limit: int) -> None:
    (tmp_path / "data.py").write_text(CHAINS["attributes"])
    expected = checked(tmp_path)
    sys.setrecursionlimit(limit)
    assert checked(tmp_path) == expected != []
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("left", [30, 60, 120, 300])
@pytest.mark.parametrize(
    "code",
    [
        "x = " + "+".join(["a"] * 150),
        "x = " + "f(" * 80 + ")" * 80,
        "x = " + "lambda: " * 80 + "1",
        "def f(a):\n" + "".join(" " * n + "if a:\n" for n in range(1, 60)) + " " * 60 + "pass",
    ],
)
def test_facts_are_the_same_from_deep_down(code: str, left: int) -> None:
    def facts() -> PieceFacts | None:
        lower.said.cache_clear()
        file = OpenFile(Path("a.py"), code.encode(), cut(code))
        found = file.facts(0)
        assert found is None or found.anchors
        return found

    assert from_below(facts, left) == facts() is not None


def test_a_question_that_fails_halfway_is_no_cycle_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = link(tmp_path, "--- a.py\na = 2\nb = a\nc = b\n").model.ev.names
    path = tmp_path.resolve() / "a.py"
    lookup = names._lookup
    failing = [True]

    def fails_once(path: Path, name: str, before: int | None) -> Val:
        if name == "a" and failing:
            failing.clear()
            raise ValueError("broken")
        return lookup(path, name, before)

    monkeypatch.setattr(names, "_lookup", fails_once)
    with pytest.raises(ValueError, match="broken"):
        names.lookup(path, "c")
    found = names.lookup(path, "c").literal
    assert found is not None and found.value == 2


def test_the_limits_leave_room_for_each_other() -> None:
    assert 25 * evaluator.MAX_NESTED + 25 * MAX_LEVELS < FRAMES


def test_an_error_on_the_own_stack_is_raised_here_and_the_limit_restored() -> None:
    before = sys.getrecursionlimit()
    with pytest.raises(ValueError, match="broken"):
        on_own_stack(lambda: int("broken"))
    assert sys.getrecursionlimit() == before
    assert on_own_stack(lambda: on_own_stack(sys.getrecursionlimit)) >= FRAMES


def test_what_has_no_end_is_an_error_and_no_crash() -> None:
    def endless(n: int) -> int:
        return endless(n + 1)

    with pytest.raises(RecursionError):
        with_room(lambda: endless(0))
