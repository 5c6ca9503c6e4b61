"""GitHub's annotations: the syntax of the commands, and that no text in a finding can escape from one."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.cli import projects
from tests.cli.conftest import Run

COMMAND = re.compile(r"::(error|warning|notice) ([^\n]*?)::([^\n]*)\n")


def _read(out: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands as GitHub's runner parses them. Every line on stdout must be one."""
    assert COMMAND.sub("", out) == ""
    return [
        (kind, {key: unquote(value) for key, value in (one.split("=", 1) for one in listed.split(","))}, unquote(data))
        for kind, listed, data in COMMAND.findall(out)
    ]


def test_commands(project: Path, run: Run) -> None:
    (project / "a.py").write_text("x = BAD\ny = WORSE\nMAYBE\nMURMUR\n")
    bad, worse, maybe = _read(run("check", "--output-format", "github").out)
    assert bad == (
        "error",
        {"file": "a.py", "line": "1", "endLine": "1", "col": "5", "endColumn": "8", "title": "LDR999 BAD"},
        "the word BAD stands here\n"
        "runs in the workers of `train_loader` in train.py (num_workers=4): A > B (a.py:1)\n"
        "fix (safe): Replace BAD by GOOD",
    )
    assert (worse[0], maybe[0]) == ("warning", "notice")
    assert maybe[2] == "possible: the word MAYBE stands here"
    with_hints = _read(run("check", "--output-format", "github", "--hints").out)
    assert [kind for kind, _, _ in with_hints] == ["error", "warning", "notice", "notice"]


def test_names_are_escaped(project: Path, run: Run) -> None:
    (project / "50%, a:b.py").write_text("BAD\n")
    out = run("check", "--output-format", "github").out
    assert "file=50%25%2C a%3Ab.py,line=1" in out
    ((_, properties, _),) = _read(out)
    assert properties["file"] == "50%, a:b.py"


def test_statistics_go_to_stderr(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD\nMURMUR\n")
    result = run("check", "--output-format", "github", "--statistics")
    assert len(_read(result.out)) == 1
    assert result.err == "    1  LDR999 BAD  (1 fixable)\n"


def test_a_notebook_s_cell_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    text = projects.write_notebook(tmp_path)
    assert projects.run("check", "--select", "shared-generator", "--output-format", "github") == 1
    ((_, properties, message),) = _read(capsys.readouterr().out)
    assert properties["file"] == "é train.ipynb"
    assert "default_rng" in text.split("\n")[int(properties["line"]) - 1]
    assert message.startswith("cell 2, line 3: every worker")
    assert re.search(r"é train\.ipynb:cell 3, line 1\)", message)


def test_files_are_named_from_the_repository_s_root(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a.py").write_text("BAD\n")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.parent))
    ((_, properties, _),) = _read(run("check", "--output-format", "github").out)
    assert properties["file"] == "project/a.py"
