"""A process that runs command lines; counts what the campaigns did, and says so at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.robustness.bounded import Runner


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """What runs command lines under limits; Linux only."""
    made = Runner()
    yield made
    made.close()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [one for ended in terminalreporter.stats.values() for one in ended if isinstance(one, pytest.TestReport)]
    total: Counter[str] = Counter()
    for report in reports:
        if report.when == "call" and "tests/robustness/" in report.nodeid:
            total.update({name: value for name, value in report.user_properties if isinstance(value, int)})
    if total:
        counted = ", ".join(f"{count:,} {name}" for name, count in sorted(total.items()))
        failures = sum(report.failed for report in reports if "tests/robustness/" in report.nodeid)
        terminalreporter.write_line(f"robustness: {counted}, {failures} failures")
