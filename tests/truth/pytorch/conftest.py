"""What the programs show, before and after the tool's fix: run in the background, ahead of the tests that ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.truth import harness
from tests.truth.catalogue import CLEAN, FAULTY
from tests.truth.programs import Programs
from tests.truth.tool import FixedPrograms
from tests.truth.verdicts import Phase, Verdicts

#: What the tests ask of the programs.
PHASES: dict[str, Phase] = {
    "test_the_fault_shows": "before",
    "test_the_fix_removes_it": "after",
    "test_clean_programs_show_nothing": "clean",
}


@pytest.fixture(scope="session", autouse=True)
def pytorch() -> None:
    """Every test here is skipped where the programs cannot run."""
    if reason := harness.why_not():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def fixed_programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FixedPrograms]:
    """The programs after the tool's own fix."""
    with FixedPrograms(tmp_path_factory.mktemp("fixed")) as fixed:
        yield fixed


@pytest.fixture(scope="session")
def programs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, fixed_programs: FixedPrograms
) -> Iterator[Programs]:
    """The runs that the tests of this session ask for."""
    wanted = [
        (item.callspec.params["case"], item.callspec.params["run"], PHASES[item.originalname])
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.originalname in PHASES
    ]
    with Programs(tmp_path_factory.mktemp("programs"), fixed_programs, wanted) as running:
        yield running


@pytest.fixture(scope="session")
def verdicts() -> Iterator[Verdicts]:
    """What is measured, compared with what is kept."""
    measured = Verdicts()
    yield measured
    measured.write(FAULTY, CLEAN)
