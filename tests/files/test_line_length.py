"""What ruff's and black's settings say of the length of lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.files.line_length import line_length

TOLD = [
    ("pyproject.toml", "[tool.black]\nline-length = 100\n", 100),
    ("pyproject.toml", "[tool.ruff]\nline-length = 120\n[tool.black]\nline-length = 100\n", 120),
    ("pyproject.toml", '[tool.ruff.lint]\nselect = ["E"]\n[tool.black]\nline-length = 100\n', 100),
    ("pyproject.toml", "[tool.black]\n", 88),
    ("ruff.toml", "line-length = 99\n", 99),
    (".ruff.toml", "", 88),
    ("pyproject.toml", "[project]\nname = 'a'\n", None),
    ("pyproject.toml", "[tool.ruff\n", None),
    ("pyproject.toml", "tool = 1\n", None),
    ("pyproject.toml", "[tool.black]\nline-length = true\n", 88),
    ("pyproject.toml", "[tool.black]\nline-length = -1\n", 88),
    ("pyproject.toml", "[tool.isort]\nline_length = 100\n", None),
    ("pyproject.toml", "[tool.isort]\nprofile = 'black'\n", 88),
    ("pyproject.toml", "[tool.isort]\nprofile = 'black'\nline_length = 100\n", 100),
    ("pyproject.toml", "[tool.black]\n[tool.isort]\nprofile = 'black'\nline_length = 100\n", 100),
    ("setup.cfg", "[flake8]\n", None),
    ("setup.cfg", "[isort]\nprofile = black\n", 88),
    ("setup.cfg", "[isort]\nprofile = google\n", None),
    (".isort.cfg", "[settings]\nprofile=black\nline_length=120\n", 120),
    ("tox.ini", "no section\n", None),
    (".pre-commit-config.yaml", "repos:\n- repo: a\n  hooks:\n  - id: black\n", 88),
    (".pre-commit-config.yaml", "repos:\n- repo: a\n  hooks:\n  - id: black\n    args: [--line-length=100]\n", 100),
    (".pre-commit-config.yaml", "- repo: a\n  hooks:\n    - id: black\n      args: ['-l', '79']\n", 79),
    (
        ".pre-commit-config.yaml",
        "- repo: a\n  hooks:\n    - id: black\n      args:\n        - --line-length\n        - '99'\n",
        99,
    ),
    (".pre-commit-config.yaml", "- repo: a\n  hooks:\n  - id: ruff\n  - id: ruff-format\n", 88),
    (".pre-commit-config.yaml", "- repo: a\n  hooks:\n  - id: black\n  - id: flake8\n    args: [-l 120]\n", 88),
    (".pre-commit-config.yaml", "- repo: a\n  hooks:\n  - id: ruff\n  - id: blacken-docs\n  # - id: black\n", None),
]


@pytest.mark.parametrize(("name", "text", "length"), TOLD)
def test_what_the_project_says(tmp_path: Path, name: str, text: str, length: int | None) -> None:
    (tmp_path / name).write_text(text)
    assert line_length(tmp_path / "package" / "data", tmp_path) == length


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "ruff.toml").write_text("line-length = 100")
    (tmp_path / "ruff.toml").write_text("line-length = 120")
    assert line_length(tmp_path / "a", tmp_path) == 100
    assert line_length(tmp_path, tmp_path) == 120
    assert line_length(tmp_path, tmp_path / "a") is None
