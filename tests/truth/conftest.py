"""The process that runs the programs, and what the tool says and makes of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.truth.catalogue import CLEAN, FAULTY, Case
from tests.truth.harness import Zygote
from tests.truth.tool import Tool
from tests.truth.verdicts import Verdicts


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """The process that has imported PyTorch."""
    process = Zygote()
    yield process
    process.close()


@pytest.fixture(scope="session", autouse=True)
def tool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tool]:
    """The tool's word on the cases of this session; it is asked in the background while programs run."""
    parameters = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    cases = [case for case in (each.get("case") for each in parameters) if isinstance(case, Case)]
    with Tool(tmp_path_factory.mktemp("tool"), cases) as asked:
        yield asked


@pytest.fixture(scope="session")
def verdicts() -> Iterator[Verdicts]:
    """What is measured, compared with what is kept."""
    measured = Verdicts()
    yield measured
    measured.write(FAULTY, CLEAN)
