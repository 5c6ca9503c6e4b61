"""For all tests: what is installed where the tests run is no business of the projects in them, and nothing is kept in
the home of who runs them. No test asserts a time, so no example of hypothesis has one either."""

from __future__ import annotations

import compileall
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import loaderlint
from loaderlint.engine import project_state
from loaderlint.findings.diagnostics import Problem
from loaderlint.runtime.internal_errors import Failure

for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"):
    os.environ.pop(name, None)

_CACHE = tempfile.TemporaryDirectory(prefix="loaderlint-tests-", ignore_cleanup_errors=True)
os.environ["LOADERLINT_CACHE_DIR"] = _CACHE.name

settings.register_profile("any-time", deadline=None)
settings.load_profile("any-time")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the program once. Otherwise, where PYTHONDONTWRITEBYTECODE is set, each of the many processes that tests
    start compiles it again, which takes longer than most of them work."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(loaderlint.__file__).parent, quiet=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of one case of a page come one after another. They share what is found in the case, which each process
    computes for itself, and pytest-xdist gives each process consecutive tests."""
    begun: dict[object, int] = {}
    order = {item: begun.setdefault(_case(item), number) for number, item in enumerate(items)}
    items.sort(key=order.__getitem__)


def _case(item: pytest.Item) -> object:
    """What stands for the case that a test is about; the test itself if it is about none."""
    parameters = getattr(item, "callspec", None)
    return (item.path, parameters.id) if parameters is not None and "case" in parameters.params else item


@pytest.fixture(autouse=True)
def no_internal_errors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """An internal error costs a rule its findings, and no test shall pass for that."""
    if "internal_errors" not in request.keywords:
        monkeypatch.setattr(project_state, "internal_problem", _raise)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Programs that the test starts can be interrupted. Where pytest runs in the background, SIGINT is ignored, and
    they would inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _raise(failure: Failure) -> Problem:
    raise AssertionError(failure.traceback)
