"""Markers of requirements: whether one may hold on the platforms and Pythons of the project."""

from __future__ import annotations

import pytest

from loaderlint.project.versions.environment import VersionSet, version_set
from loaderlint.project.versions.markers import may_hold

#: A marker, the Pythons of the project, and whether it may hold.
MARKERS = [
    ("python_version < '3.11'", "3.10", True),
    ("python_version < '3.11'", "3.11", False),
    ("python_version >= '3.15'", "3.15", True),
    ("python_version < '3.6'", "3.5", True),
    ("python_full_version >= '3.11.4'", "3.11.4", True),
    ("python_full_version >= '3.11.4'", "==3.11.2", False),
    ("python_version >= '3.14'", ">=3.11", False),
    ("python_version >= '3.14'", ">=3.11,<3.15", True),
    ("python_version >= '3.14'", ">=3.14", True),
    ("python_version < '3.10'", ">=3.10,<3.12", False),
    ("python_version >= '3.12'", ">=3.10,<3.12", False),
    ("python_version < '3.11' or python_version >= '3.12'", ">=3.11,<3.12", False),
    ("python_full_version < '3.11.4'", ">=3.11.4", False),
    ("python_full_version < '3.11'", ">=3.11.4,<3.12", False),
    ("python_version >= '3.10'", "<3.11", True),
    ("python_version >= '3.11'", "<3.11", False),
    ("python_version == '3.8'", "3.8 || 3.12", True),
    ("python_version == '3.10'", "3.8 || 3.12", False),
    ("sys_platform == 'linux' and platform_machine == 'aarch64'", "3.11", True),
    ("sys_platform == 'win32'", "3.11", False),
    ("extra == 'gpu'", "3.11", True),
    ("extra == 'gpu' and sys_platform == 'darwin'", "3.11", False),
    ("this is no marker", "3.11", True),
]


@pytest.mark.parametrize(("marker", "pythons", "expected"), MARKERS)
def test_whether_a_marker_may_hold(marker: str, pythons: str, expected: bool) -> None:
    assert may_hold(marker, ("linux",), version_set(pythons, "a test")) is expected


def test_any_of_the_platforms_will_do() -> None:
    assert may_hold("sys_platform == 'darwin'", ("linux", "macos"), version_set("3.11", "a test"))
    assert not may_hold("sys_platform == 'darwin'", ("linux", "windows"), version_set("3.11", "a test"))


def test_a_project_that_names_no_python() -> None:
    assert may_hold("python_version < '3.7'", ("linux",), VersionSet())
    assert not may_hold("python_version >= '3.14'", ("linux",), VersionSet())
