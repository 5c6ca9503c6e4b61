"""The pytest plugin: the fixture `loaderlint_audit` and the marker of the same name.

pytest imports this at every start, even if nobody uses it, so nothing slow is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from loaderlint.audit.report import Report

NAME = "loaderlint_audit"

_MARKER = (
    f"{NAME}(*fixtures, epochs=2, batches=8, timeout=60.0): audit the loaders that these fixtures give before the test"
    f" runs, and fail it if one has a fault; the options are also those of the fixture {NAME}"
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture(name=NAME)
def fixture(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """`loaderlint_audit(loader, epochs=2, batches=8, timeout=60.0)` audits a loader, fails the test if it has a fault,
    and returns the report. Options that are not given are those of the marker."""
    marker = request.node.get_closest_marker(NAME)
    return _auditing(dict(marker.kwargs) if marker is not None else {})


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Audit the loaders that the marker names."""
    marker = item.get_closest_marker(NAME)
    if marker is None or not isinstance(item, pytest.Function):
        return
    for name in marker.args:
        _auditing(dict(marker.kwargs))(item._request.getfixturevalue(name), name=name)


def _auditing(defaults: dict[str, Any]) -> Callable[..., Report]:
    def audited(loader: Any, **options: Any) -> Report:
        __tracebackhide__ = True
        from loaderlint.audit import audit

        report = audit(loader, **{**defaults, **options})
        if report.faults:
            pytest.fail(str(report), pytrace=False)
        return report

    return audited
