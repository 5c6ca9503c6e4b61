"""Flags about the output and the exit code of `check`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loaderlint.report import terminal
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("text", "level", "code"),
    [
        ("BAD", "error", 1),
        ("WORSE", "error", 0),
        ("WORSE", "warning", 1),
        ("MAYBE", "warning", 0),
        ("MAYBE", "information", 1),
        ("MURMUR", "information", 0),
    ],
)
def test_fail_on(project: Path, run: Run, text: str, level: str, code: int) -> None:
    (project / "a.py").write_text(text)
    assert run("check", "--fail-on", level).code == code


def test_exit_zero_is_for_findings_and_not_for_failures(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD")
    assert run("check", "--exit-zero").code == run("check", "--exit-zero", "--diff").code == 0
    assert run("check", "--exit-zero", "gone.py").code == 2


def test_quiet_prints_findings_only(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD")
    concise = run("check", "-q", "--output-format", "concise")
    assert concise.out == "a.py:1:1: error: the word BAD stands here [LDR999 BAD]\n"
    (project / "a.py").write_text("")
    assert run("check", "--quiet").out == ""


def test_full_is_the_text_with_single_findings(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD\nWORSE")
    assert run("check", "--output-format", "full").out == run("check").out


def test_gitlab(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (project / "a.py").write_text("\nBAD\nMURMUR")
    assert json.loads(run("check", "--output-format", "gitlab").out) == [
        {
            "description": "LDR999 BAD: the word BAD stands here",
            "check_name": "BAD",
            "fingerprint": "print-of-BAD",
            "severity": "major",
            "location": {"path": "a.py", "lines": {"begin": 2, "end": 2}},
        }
    ]


def test_color(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD")
    assert "\x1b[" in run("check", "--color", "always").out
    assert "\x1b[" not in run("check", "--color", "never").out


def test_force_color_gives_way_to_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert terminal.colors(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.colors(io.StringIO())


def test_flags_that_contradict_each_other_are_told(project: Path, run: Run) -> None:
    (project / "a.py").write_text("")
    both = run("check", "--baseline", "--no-baseline")
    assert (both.code, both.out) == (2, "")
    assert "--no-baseline: not allowed with argument --baseline" in both.err
    alone = run("check", "--unsafe-fixes")
    assert alone.code == 0
    assert "--unsafe-fixes has no effect alone; add --fix" in alone.err


def test_junit(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (project / "a.py").write_text("\nBAD\nMURMUR")
    (project / "b.py").write_text("WORSE BAD")
    root = ElementTree.fromstring(run("check", "--output-format", "junit").out)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "3", "0")
    assert [(suite.get("name"), suite.get("tests")) for suite in root] == [("a.py", "1"), ("b.py", "2")]
    (case,) = root[0]
    assert (case.get("name"), case.get("file"), case.get("line")) == ("LDR999 BAD at 2:1", "a.py", "2")
    assert case[0].attrib == {"type": "error", "message": "the word BAD stands here"}
    assert (case[0].text or "").startswith("a.py:2:1: the word BAD stands here")


def test_junit_without_findings_is_one_test_that_passed(project: Path, run: Run) -> None:
    (project / "a.py").write_text("")
    root = ElementTree.fromstring(run("check", "--output-format", "junit").out)
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_junit_with_a_name_that_xml_cannot_hold(project: Path, run: Run) -> None:
    (project / "a\x1b<&.py").write_text("BAD")
    root = ElementTree.fromstring(run("check", "--output-format", "junit").out)
    assert root[0].get("name") == "a?<&.py"


@pytest.mark.parametrize("layout", ["text", "json", "junit"])
def test_output_file_holds_what_would_be_printed(project: Path, run: Run, layout: str) -> None:
    (project / "a.py").write_text("BAD")
    printed = run("check", "--output-format", layout)
    written = run("check", "--output-format", layout, "--output-file", "report.txt", "--color", "always")
    assert (written.code, written.out) == (1, "")
    assert (project / "report.txt").read_text() == printed.out


def test_output_file_that_cannot_be_written(project: Path, run: Run) -> None:
    (project / "a.py").write_text("")
    result = run("check", "--output-file", "missing/report.txt")
    assert result.code == 2
    assert "missing/report.txt: cannot be written (No such file or directory); name another file" in result.err
    assert run("check", "--diff", "--output-file", "report.txt").code == 2
    assert not (project / "report.txt").exists()


def test_fixes_are_listed_by_file_and_rule(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD BAD WORSE")
    (project / "b.py").write_text("x = 1")
    assert run("check", "--fix", "--unsafe-fixes").err == "Fixed 1 file.\n  a.py: 3 fixed (2 BAD, WORSE)\n"
    assert run("check", "--fix").err == ""


def test_grouped(project: Path, run: Run) -> None:
    (project / "a.py").write_text("\nBAD\n MAYBE")
    (project / "b.py").write_text("WORSE")
    assert run("check", "--output-format", "grouped", "-q").out == (
        "a.py:\n"
        "  2:1: error: the word BAD stands here [LDR999 BAD]\n"
        "  3:2: information (possible): the word MAYBE stands here [LDR999 MAYBE]\n"
        "\n"
        "b.py:\n"
        "  1:1: warning: the word WORSE stands here [LDR999 WORSE]\n"
        "\n"
    )
