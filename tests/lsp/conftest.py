from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lsp import wire

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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _used.pop(f"{Path(report.nodeid.partition('::')[0]).name}::{report.nodeid.rpartition('::')[2]}", None)


def pytest_sessionfinish() -> None:
    if wire.RECORDS and _used:
        wire.keep(_used)
