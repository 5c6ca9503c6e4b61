"""The page about performance says what was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import kept, page
from benchmarks.goals import GOALS, Goal
from benchmarks.kept import Part
from benchmarks.measures import Measure
from benchmarks.parts import PARTS

DOCS = Path(__file__).parents[2] / "docs"


def measured(value: float, *, quick: bool = False) -> dict[str, Part]:
    """One part with one measure that has a goal: at most 1.5."""
    one = Measure("p50, 1,000 lines", "ms", (value, value + 1, value - 1))
    return {"keystrokes": Part("keystrokes", {"date": "2026-01-01"}, quick, {one.name: one})}


def number(value: float) -> Measure:
    return Measure("", "", (value,))


def test_every_goal_is_of_a_part() -> None:
    assert {goal.part for goal in GOALS} <= set(PARTS)
    assert all((goal.most is None) != (goal.least is None) for goal in GOALS)


def test_the_page_tells_what_is_met() -> None:
    assert "| <= 1.5 | 1.4 | met |" in page.render(measured(1.4))
    assert "| <= 1.5 | 1.65 | **not met**, by a factor of 1.1 |" in page.render(measured(1.65))


def test_the_distance_from_a_goal() -> None:
    most, least = Goal("", "", "", "", most=2.0), Goal("", "", "", "", least=2.0)
    assert (most.distance(number(8.0)), least.distance(number(0.5))) == (4.0, 4.0)
    assert (Goal("", "", "", "", most=0).distance(number(1.0)), least.distance(number(0.0))) == (None, None)


def test_the_page_holds_what_is_written_by_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "remains.md").write_text("The parser.\n", encoding="utf-8")
    monkeypatch.setattr(page, "_REMAINS", tmp_path / "remains.md")
    assert "## What remains\n\nThe parser.\n\n## How to repeat it\n" in page.render({})


def test_a_quick_look_meets_no_goal() -> None:
    assert "| <= 1.5 | not measured |" in page.render(measured(1.4, quick=True))


def test_what_was_measured_is_read_as_it_was_written(tmp_path: Path) -> None:
    parts = measured(1.25)
    kept.write(tmp_path / "kept.json", parts.values())
    assert kept.read(tmp_path / "kept.json") == parts
    assert kept.read(tmp_path / "none.json") == {}


@pytest.mark.skipif(not (DOCS / "performance.json").exists(), reason="nothing was measured: python -m benchmarks")
def test_the_page_is_not_stale() -> None:
    text = page.render(kept.read(DOCS / "performance.json"))
    assert (DOCS / "performance.md").read_text("utf-8") == text, "run: python -m benchmarks --draw"
