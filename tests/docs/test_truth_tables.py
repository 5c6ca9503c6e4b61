"""The verdicts that the documentation shows are those of the programs that are there. Needs no PyTorch."""

from __future__ import annotations

import json

import pytest

from scripts import truth_tables
from scripts.generate_docs import ROOT
from tests.truth import verdicts
from tests.truth.catalogue import CLEAN, FAULTY, Case


@pytest.mark.parametrize("case", FAULTY, ids=lambda case: f"{case.rule}-{case.name}")
def test_every_faulty_program_has_its_verdicts(case: Case) -> None:
    kept = verdicts.read(case.rule)["faulty"][case.name]
    assert list(kept) == [run.name for run in case.runs]
    for run in case.runs:
        assert set(kept[run.name]) == ({"before", "after"} if case.fix else {"before"})
        assert frozenset(kept[run.name]["before"]) == run.shows
        assert not kept[run.name].get("after")
    assert any(run.shows for run in case.runs), "a fault that never shows is no fault"


@pytest.mark.parametrize("case", CLEAN, ids=lambda case: f"{case.rule}-{case.name}")
def test_every_clean_program_has_its_verdicts(case: Case) -> None:
    kept = verdicts.read(case.rule)["clean"][case.name]
    assert kept == {run.name: {"clean": []} for run in case.runs}


def test_nothing_else_is_kept() -> None:
    for path in verdicts.FOLDER.iterdir():
        kept = json.loads(path.read_text("utf-8"))
        assert set(kept["faulty"]) == {case.name for case in FAULTY if case.rule == path.stem}
        assert set(kept["clean"]) == {case.name for case in CLEAN if case.rule == path.stem}


def test_every_word_has_its_phrase() -> None:
    words = {word for case in FAULTY for run in case.runs for word in run.shows}
    assert {word for word in words if word[:1].islower()} <= set(truth_tables.PHRASES)


def test_a_page_shows_what_is_kept() -> None:
    name = FAULTY[0].rule
    text = truth_tables.section(ROOT, name)
    runs = [run for case in FAULTY if case.rule == name for run in case.runs]
    assert text.startswith(truth_tables.HEADING)
    assert text.count("\n| `") >= len(runs)
