"""`check --suppress`: its comments silence what was found, and nothing else in the files changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import projects
from tests.cli.conftest import Run


def changed(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that differ."""
    pairs = zip(before.split("\n"), after.split("\n"), strict=True)
    return [(old, new) for old, new in pairs if old != new]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = BAD", "x = BAD  # loaderlint: ignore[BAD]"),
        ("x = BAD   ", "x = BAD   # loaderlint: ignore[BAD]"),
        ("x = BAD\t# why", "x = BAD\t# why  # loaderlint: ignore[BAD]"),
        ("x = BAD, BAD, WORSE", "x = BAD, BAD, WORSE  # loaderlint: ignore[BAD, WORSE]"),
        ("x = BAD  # loaderlint: ignore[other]", "x = BAD  # loaderlint: ignore[other, BAD]"),
        ("x = BAD; 'MURMUR'", "x = BAD; 'MURMUR'  # loaderlint: ignore[BAD]"),
    ],
)
def test_the_comment_goes_behind_the_line(project: Path, run: Run, line: str, expected: str) -> None:
    (project / "a.py").write_bytes(f"\ufeffdef f():\r\n    {line}\r\n\r\n".encode())
    result = run("check", "--suppress")
    assert (project / "a.py").read_bytes() == f"\ufeffdef f():\r\n    {expected}\r\n\r\n".encode()
    assert result.err.startswith("Suppressed ")


@pytest.mark.parametrize("text", ['x = """\nBAD\n"""\n', "x = \\\n  BAD \\\n  + 1\n", 'x = f"""{\nBAD\n}"""\n'])
def test_where_no_comment_can_stand_nothing_is_written(project: Path, run: Run, text: str) -> None:
    (project / "a.py").write_text(text)
    result = run("check", "--suppress")
    assert (project / "a.py").read_text() == text
    assert result.code == 1
    assert result.err == "Nothing was suppressed.\n  a.py:2: BAD is not suppressed: no comment can be written there\n"


def test_what_remains_after_fixes_is_suppressed(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD\nWORSE\n")
    result = run("check", "--fix", "--suppress")
    assert (project / "a.py").read_text() == "GOOD\nWORSE  # loaderlint: ignore[WORSE]\n"
    assert "Suppressed 1 finding in 1 file.\n  a.py: WORSE\n" in result.err


@pytest.mark.parametrize("flags", [("--diff",), ("--write-baseline",), ("-", "--stdin-filename", "a.py")])
def test_it_goes_with_files_only(project: Path, run: Run, flags: tuple[str, ...]) -> None:
    (project / "a.py").write_text("BAD")
    assert run("check", "--suppress", *flags).code == 2
    assert (project / "a.py").read_text() == "BAD"


def test_a_project_is_silent_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    projects.write(tmp_path)
    projects.write_notebook(tmp_path)
    before = (tmp_path / "data.py").read_text()
    assert projects.run("check") == 1
    assert projects.run("check", "--suppress") == 0
    ((old, new),) = changed(before, (tmp_path / "data.py").read_text())
    assert new == f"{old}  # loaderlint: ignore[shared-generator]"
    cells = json.loads((tmp_path / "é train.ipynb").read_text("utf-8"))["cells"]
    assert sum("ignore[shared-generator]" in "".join(cell["source"]) for cell in cells) == 1
    written = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
    assert projects.run("check", "--suppress") == projects.run("check", "--extend-select", "unused-suppression") == 0
    assert written == {path: path.read_bytes() for path in written}


def test_a_link_out_of_the_project_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    projects.write(project)
    (project / "data.py").rename(tmp_path / "data.py")
    (project / "data.py").symlink_to(tmp_path / "data.py")
    assert projects.run("check", "--suppress") == 1
    assert (tmp_path / "data.py").read_text() == projects.DATA
