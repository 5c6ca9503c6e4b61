from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loaderlint.lsp import analysis
from tests.lsp import wire
from tests.lsp.session import PATIENCE

_used: dict[str, dict[str, set[str]]] = {}


@pytest.fixture(autouse=True)
def methods(request: pytest.FixtureRequest) -> Iterator[None]:
    """Watch which methods of the protocol the test uses."""
    wire.received.clear()
    wire.sent.clear()
    yield
    name = f"{request.path.name}::{request.node.name}"
    if wire.RECORDS:
        _used[name] = wire.seen()
    elif missing := wire.missing(name):
        pytest.fail(
            f"it no longer uses {', '.join(missing)}, for which {wire.FILE.name} names it;"
            " run LOADERLINT_RECORD=1 python -m pytest tests/lsp, then make docs"
        )


@pytest.fixture
def answers_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the engine answer before its last findings are shown again, however slow the machine is. For tests that
    count what is shown, or wait for the engine's answer."""
    monkeypatch.setattr(analysis, "STANDING", 10 * PATIENCE)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _used.pop(f"{Path(report.nodeid.partition('::')[0]).name}::{report.nodeid.rpartition('::')[2]}", None)


def pytest_sessionfinish() -> None:
    if wire.RECORDS and _used:
        wire.keep(_used)
