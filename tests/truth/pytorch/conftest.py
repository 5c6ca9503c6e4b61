"""What the programs show, and what the tool says and makes of them: asked for in the background, ahead of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.truth.catalogue import CLEAN, FAULTY, Case
from tests.truth.programs import Programs
from tests.truth.tool import Tool
from tests.truth.verdicts import Phase, Verdicts

#: What the tests ask of the programs.
PHASES: dict[str, Phase] = {
    "test_the_fault_shows": "before",
    "test_the_fix_removes_it": "after",
    "test_clean_programs_show_nothing": "clean",
}


@pytest.fixture(scope="session", autouse=True)
def tool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tool]:
    """The tool's word on the cases of this session; it is asked in the background while programs run."""
    parameters = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    cases = [case for case in (each.get("case") for each in parameters) if isinstance(case, Case)]
    with Tool(tmp_path_factory.mktemp("tool"), cases) as asked:
        yield asked


@pytest.fixture(scope="session")
def programs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tool: Tool
) -> Iterator[Programs]:
    """The runs that the tests of this session ask for."""
    wanted = [
        (item.callspec.params["case"], item.callspec.params["run"], PHASES[item.originalname])
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.originalname in PHASES
    ]
    with Programs(tmp_path_factory.mktemp("programs"), tool, wanted) as running:
        yield running


@pytest.fixture(scope="session")
def verdicts() -> Iterator[Verdicts]:
    """What is measured, compared with what is kept."""
    measured = Verdicts()
    yield measured
    measured.write(FAULTY, CLEAN)
