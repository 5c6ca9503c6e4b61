"""Each fault that the tool speaks of is there when real PyTorch runs the program, and gone after the tool's own fix."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.truth import harness
from tests.truth.catalogue import CLEAN, FAULTY, Case, Run
from tests.truth.catalogue.random_numbers import GENERATOR
from tests.truth.programs import Programs
from tests.truth.tool import Tool
from tests.truth.verdicts import Phase, Verdicts

if reason := harness.why_not():
    pytest.skip(reason, allow_module_level=True)

FIXED = [case for case in FAULTY if case.fix]


def _label(value: object) -> str | None:
    if isinstance(value, Case):
        return f"{value.rule}-{value.name}"
    return value.name if isinstance(value, Run) else None


def _runs(cases: Iterable[Case]) -> list[tuple[Case, Run]]:
    return [(case, run) for case in cases for run in case.runs]


def _symptoms(programs: Programs, case: Case, run: Run, phase: Phase) -> frozenset[str]:
    if reason := harness.lacking(case.modules):
        pytest.skip(reason)
    return programs.symptoms(case, run, phase)


@pytest.mark.parametrize(("case", "run"), _runs(FAULTY), ids=_label)
def test_the_fault_shows(case: Case, run: Run, programs: Programs, verdicts: Verdicts) -> None:
    symptoms = _symptoms(programs, case, run, "before")
    assert symptoms == run.shows
    verdicts.note(case, run, "before", symptoms)


@pytest.mark.parametrize("case", FAULTY, ids=_label)
def test_the_tool_finds_it(case: Case, tool: Tool) -> None:
    found = tool.found(case)
    assert {finding["name"] for finding in found} == {case.rule}
    assert {finding["fix"] and finding["fix"]["safety"] for finding in found} == {case.fix}


@pytest.mark.parametrize("case", FIXED, ids=_label)
def test_the_tool_fixes_it(case: Case, tool: Tool) -> None:
    assert harness.texts(tool.fixed(case)) != harness.texts(case.folder)
    assert tool.left(case) == []


@pytest.mark.parametrize(("case", "run"), _runs(FIXED), ids=_label)
def test_the_fix_removes_it(case: Case, run: Run, programs: Programs, verdicts: Verdicts) -> None:
    symptoms = _symptoms(programs, case, run, "after")
    assert symptoms == frozenset()
    verdicts.note(case, run, "after", symptoms)


@pytest.mark.parametrize("case", [case for case in FIXED if case.rule == GENERATOR], ids=_label)
def test_a_fixed_generator_obeys_the_seed(case: Case, tool: Tool, programs: Programs) -> None:
    """Runs with the same `torch.manual_seed` draw the same, those with another one draw differently."""
    arguments = [{**case.common, "seed": seed} for seed in (0, 0, 1)]
    first, again, other = (
        programs.measure(tool.fixed(case), case.oracle, case.runs[0].loader, chosen)["digest"] for chosen in arguments
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("case", CLEAN, ids=_label)
def test_the_tool_is_silent_on_clean_programs(case: Case, tool: Tool) -> None:
    assert tool.found(case) == []


@pytest.mark.parametrize(("case", "run"), _runs(CLEAN), ids=_label)
def test_clean_programs_show_nothing(case: Case, run: Run, programs: Programs, verdicts: Verdicts) -> None:
    symptoms = _symptoms(programs, case, run, "clean")
    assert symptoms == frozenset()
    verdicts.note(case, run, "clean", symptoms)


def test_every_program_is_run() -> None:
    there = {path.parent for path in harness.CASES.glob("*/*/train.py")}
    assert there == {case.folder for case in (*FAULTY, *CLEAN)}
