"""Each fault that the tool speaks of is there when real PyTorch runs the program, and gone after the tool's own fix."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.truth import harness
from tests.truth.catalogue import CLEAN, FAULTY, Case, Run
from tests.truth.catalogue.base import label
from tests.truth.catalogue.random_numbers import GENERATOR
from tests.truth.programs import Programs
from tests.truth.tool import FixedPrograms
from tests.truth.verdicts import Verdicts

FIXED = [case for case in FAULTY if case.fix]


def _runs(cases: Iterable[Case]) -> list[tuple[Case, Run]]:
    return [(case, run) for case in cases for run in case.runs]


@pytest.fixture(autouse=True)
def needed_modules(case: Case) -> None:
    """What the program imports is there, or the test is skipped."""
    if reason := harness.lacking(case.modules):
        pytest.skip(reason)


@pytest.mark.parametrize(("case", "run"), _runs(FAULTY), ids=label)
def test_the_fault_shows(case: Case, run: Run, programs: Programs, verdicts: Verdicts) -> None:
    symptoms = programs.symptoms(case, run, "before")
    assert symptoms == run.shows
    verdicts.note(case, run, "before", symptoms)


@pytest.mark.parametrize(("case", "run"), _runs(FIXED), ids=label)
def test_the_fix_removes_it(case: Case, run: Run, programs: Programs, verdicts: Verdicts) -> None:
    symptoms = programs.symptoms(case, run, "after")
    assert symptoms == frozenset()
    verdicts.note(case, run, "after", symptoms)


@pytest.mark.parametrize("case", [case for case in FIXED if case.rule == GENERATOR], ids=label)
def test_a_fixed_generator_obeys_the_seed(case: Case, fixed_programs: FixedPrograms, programs: Programs) -> None:
    """Runs with the same `torch.manual_seed` draw the same, those with another one draw differently."""
    folder, loader = fixed_programs.folder(case), case.runs[0].loader
    arguments = [{**case.common, "seed": seed} for seed in (0, 0, 1)]
    first, again, other = (
        programs.measure(folder, case.oracle, loader, chosen, needs=case.modules)["digest"] for chosen in arguments
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize(("case", "run"), _runs(CLEAN), ids=label)
def test_clean_programs_show_nothing(case: Case, run: Run, programs: Programs, verdicts: Verdicts) -> None:
    symptoms = programs.symptoms(case, run, "clean")
    assert symptoms == frozenset()
    verdicts.note(case, run, "clean", symptoms)
