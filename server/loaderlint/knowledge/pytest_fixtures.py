"""What pytest calls, and what it passes."""

from __future__ import annotations

import re

#: Decorators that make a function a fixture. Source: pytest `fixtures.py`; `yield_fixture` is its name before 6.2, and
#: pytest-asyncio's `plugin.py` has one for async functions.
FIXTURE_DECORATORS = frozenset({"pytest.fixture", "pytest.yield_fixture", "pytest_asyncio.fixture"})

#: The file whose fixtures all tests in its folder and below have.
CONFTEST = "conftest.py"

#: The modules in which pytest looks for tests by default (`python_files`), and conftest modules.
_TEST_MODULES = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")


def is_test_module(name: str) -> bool:
    """Whether pytest looks for tests in a file of this name, or takes fixtures from it."""
    return _TEST_MODULES.fullmatch(name) is not None


def is_test(name: str) -> bool:
    """Whether pytest runs a function of this name in such a file (`python_functions`)."""
    return name.startswith("test")
