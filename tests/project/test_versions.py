"""Versions as sets: what requirement files say, and on which side of a border that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.environment import VersionSet, version_set
from loaderlint.project.requirements import declared_versions


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("1.8", "yes"),
        ("==1.8.1", "yes"),
        ("1.9.0", "no"),
        (">=2.0", "no"),
        (">=1.7,<1.9", "yes"),
        (">=1.7,<2", "maybe"),
        (">=1.8", "unknown"),
        ("<1.9", "yes"),
        ("<=1.9", "maybe"),
        ("~=1.8", "maybe"),
        ("==1.8.*", "maybe"),
        (">1.4,!=1.7.1", "unknown"),
        ("", "unknown"),
        ("nonsense", "unknown"),
    ],
)
def test_before_torch_1_9(text: str, answer: str) -> None:
    assert version_set(text, "x").before("1.9") == answer


def test_nothing_declared_is_unknown() -> None:
    assert VersionSet().before("1.9") == "unknown"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("requirements.txt", "numpy\ntorch==1.8.1  # old\n", "1.8.1"),
        ("requirements.txt", "# torch==1.0\n-r more.txt\ntorch[extra] == 2.1\n", "2.1"),
        ("pyproject.toml", "[project]\ndependencies = [\"torch==2.4.0; python_version > '3'\"]\n", "2.4.0"),
        ("setup.py", "setup(install_requires=['torch==1.7'])", "1.7"),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.5.1"\n', "2.5.1"),
    ],
)
def test_a_pin_is_read(name: str, content: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    found = declared_versions(tmp_path, tmp_path)["torch"]
    assert (str(found.exact), found.source) == (expected, name)


def test_a_lock_file_wins_over_a_range_and_the_nearest_file_over_others(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==1.0\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "requirements.txt").write_text("torch>=1.4\n")
    assert str(declared_versions(inner, tmp_path)["torch"].range) == ">=1.4"
    (tmp_path / "poetry.lock").write_text('[[package]]\nname = "torch"\nversion = "2.0.0"\n')
    assert str(declared_versions(inner, tmp_path)["torch"].exact) == "2.0.0"


def test_unreadable_files_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\x00[broken")
    (tmp_path / "requirements.txt").mkdir()
    assert declared_versions(tmp_path, tmp_path) == {}
