"""`loaderlint check`: exit codes, formats, fixes, standard input, and what is said about bad arguments."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from loaderlint.commands.command_inputs import folders_around
from loaderlint.findings.diagnostics import Problem
from tests.cli import fake
from tests.cli.conftest import Run

# --- exit codes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [("x = 1\n", 0), ("x = MURMUR\n", 0), ("x = MAYBE\n", 0), ("x = WORSE\n", 1), ("x = BAD\n", 1), ("", 0)],
)
def test_exit_code(project: Path, run: Run, text: str, code: int) -> None:
    (project / "a.py").write_text(text)
    assert run("check").code == code


def test_no_python_files_is_no_failure(project: Path, run: Run) -> None:
    result = run("check", ".")
    assert (result.code, result.out) == (0, "No Python files to check.\n")


def test_a_missing_path_is_named_and_the_others_are_checked(project: Path, run: Run) -> None:
    (project / "train.py").write_text("BAD\n")
    result = run("check", "trian.py", "train.py", "no/such.py")
    assert result.code == 2
    assert "trian.py: no such file or folder; did you mean train.py?" in result.err
    assert "no/such.py: no such file or folder; the folder no does not exist either" in result.err
    assert "train.py:1:1: error" in result.out


def test_only_missing_paths(project: Path, run: Run) -> None:
    result = run("check", "gone.py")
    assert (result.code, result.out) == (2, "")
    assert not fake.Workspace.made


@pytest.mark.skipif(os.name == "nt", reason="no named pipes")
def test_a_named_pipe_is_not_waited_for(project: Path, run: Run) -> None:
    os.mkfifo(project / "pipe.py")
    (project / "itself.py").symlink_to("itself.py")
    result = run("check", "pipe.py", "itself.py")
    assert result.code == 2
    assert "pipe.py: neither a file nor a folder; use - with --stdin-filename" in result.err
    assert "itself.py: a broken link to itself.py" in result.err


def test_an_unreadable_named_file_is_a_failure(project: Path, run: Run) -> None:
    (project / "data.py").write_bytes(b"\0\0")
    (project / "good.py").write_text("BAD\n")
    result = run("check", "data.py", "good.py")
    assert result.code == 2
    assert result.err.startswith("loaderlint: data.py: binary")
    assert "good.py:1:1" in result.out
    assert run("check", ".").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "nonsense"], "--select: no rule is called 'nonsense'"),
        (["--select", ""], "--select names no rule; leave it out"),
        (["--severity", "LDR1=warn"], "not 'warn'; did you mean 'warning'?"),
        (["--target-torch", "new"], "--target-torch: must be a version"),
        (["--platforms", "linux,osx"], "--platforms: 'osx' is not a platform"),
        (["--start-method", "frok"], "--start-method: 'frok' is not a start method; did you mean 'fork'?"),
        (["--severity", "LDR1"], "'LDR1' cannot be read; write --severity RULE=LEVEL"),
        (["--per-file-ignores", "x"], "'x' cannot be read; write --per-file-ignores PATTERN:RULE"),
        (
            ["--output-format", "xml"],
            "--output-format: 'xml' is not a choice; choose from text, concise, full, grouped",
        ),
        (["--output-format", "sarf"], "--output-format: 'sarf' is not a choice; did you mean 'sarif'?"),
        (["--fail-on", "hint"], "--fail-on: 'hint' is not a choice; choose from error, warning, information\n"),
        (["--selct=LDR1", "a.py"], "unknown flag --selct; did you mean --select?"),
        (["--fxi"], "For more information: loaderlint check --help\n"),
        (["--zzz"], "unknown flag --zzz\n"),
        (["--jobs", "0"], "--jobs: '0' is not a number of at least 1"),
        (["--loaders", "a b"], "--loaders: 'a b' is not a name; put commas between names: --loaders a,b"),
        (["-"], "add --stdin-filename"),
        (["-", "a.py", "--stdin-filename", "b.py"], "- cannot be combined with files"),
    ],
)
def test_bad_arguments(project: Path, run: Run, arguments: list[str], message: str) -> None:
    result = run("check", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_flags_become_settings(project: Path, run: Run) -> None:
    (project / "a.py").write_text("")
    flags = "--select LDR1,LDR4 --ignore LDR101 --severity LDR1=hint --per-file-ignores t/*:LDR1,t/*:LDR4,a:ALL"
    flags += " --target-torch >=2.0,<2.5 --target-python 3.12 --platforms linux,macos --start-method spawn --loaders f"
    assert run("check", *flags.split(), "--no-cache").code == 0
    assert fake.Workspace.made[0].overrides == {
        "select": ["LDR1", "LDR4"],
        "ignore": ["LDR101"],
        "severity": {"LDR1": "hint"},
        "per-file-ignores": {"t/*": ["LDR1", "LDR4"], "a": ["ALL"]},
        "target-torch": ">=2.0,<2.5",
        "target-python": "3.12",
        "platforms": ["linux", "macos"],
        "start-method": "spawn",
        "loaders": ["f"],
    }


# --- formats ----------------------------------------------------------------------------------------------------------


def test_text(project: Path, run: Run) -> None:
    (project / "pkg").mkdir()
    (project / "pkg" / "a.py").write_text("x = 1\n\tx = BAD + 1\ny = WORSE  # MURMUR\n")
    assert run("check").out.splitlines() == [
        "pkg/a.py:2:6: error: the word BAD stands here [LDR999 BAD]",
        "2 |     x = BAD + 1",
        "  |         ^^^",
        "  = runs in the workers of `train_loader` in train.py (num_workers=4): A > B (pkg/a.py:1)",
        "  = fix (safe): Replace BAD by GOOD",
        "",
        "pkg/a.py:3:5: warning: the word WORSE stands here [LDR999 WORSE]",
        "3 | y = WORSE  # MURMUR",
        "  |     ^^^^^",
        "  = fix (unsafe): Replace WORSE by GOOD",
        "",
        "2 findings in 1 file (1 error, 1 warning); 1 file checked. 1 hint not shown (--hints). "
        "1 fixable with --fix, 1 more with --fix --unsafe-fixes.",
    ]


def test_hints_and_possible_ones(project: Path, run: Run) -> None:
    (project / "a.py").write_text("MURMUR\nMAYBE\n")
    out = run("check", "--hints").out
    assert "a.py:1:1: hint: the word" in out
    assert "a.py:2:1: information (possible): the word" in out
    assert out.endswith("1 finding in 1 file (1 information); 1 file checked. 1 hint.\n")


def test_statistics_count_instead(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD\nBAD WORSE\nMURMUR\n")
    lines = run("check", "--statistics").out.splitlines()
    assert lines[:2] == ["    2  LDR999 BAD  (2 fixable)", "    1  LDR999 WORSE  (1 fixable)"]
    assert len(lines) == 3


def test_statistics_beside_json_go_to_stderr(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD\n")
    result = run("check", "--statistics", "--output-format", "json")
    assert len(json.loads(result.out)) == 1
    assert "1  LDR999 BAD" in result.err


def test_json(project: Path, run: Run) -> None:
    (project / "other.py").write_text("")
    (project / "a.py").write_text("é = 1\nx = ACROSS\n# MURMUR BAD\n", encoding="utf-8")
    across, murmur, bad = json.loads(run("check", "--output-format", "json").out)
    assert across == {
        "code": "LDR999",
        "name": "ACROSS",
        "severity": "error",
        "certainty": "proven",
        "message": "the word ACROSS stands here",
        "path": "a.py",
        "line": 2,
        "column": 5,
        "end_line": 2,
        "end_column": 11,
        "fingerprint": "print-of-ACROSS",
        "evidence": [],
        "fix": {
            "title": "Replace ACROSS by ",
            "safety": "safe",
            "edits": [
                {"path": "a.py", "line": 2, "column": 5, "end_line": 2, "end_column": 11, "text": ""},
                {"path": "other.py", "line": 1, "column": 1, "end_line": 1, "end_column": 1, "text": "fixed = 1\n"},
            ],
        },
        "audit": None,
        "cause": "print-of-ACROSS",
        "related": [],
    }
    assert (murmur["severity"], murmur["fix"]) == ("hint", None)
    assert bad["evidence"][0] == {
        "path": "a.py",
        "line": 1,
        "column": 5,
        "message": "runs in the workers of `train_loader` in train.py (num_workers=4): A > B",
    }


def test_json_without_findings_is_an_empty_array(project: Path, run: Run) -> None:
    (project / "a.py").write_text("")
    assert json.loads(run("check", "--output-format", "json").out) == []


def test_paths_are_relative_to_the_current_folder(
    project: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.py").write_text("BAD\n")
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    assert run("check", "../a.py").out.startswith("../a.py:1:1: error")


def test_colors_only_where_they_are_wanted(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a.py").write_text("BAD\n")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in run("check").out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b[1;31merror\x1b[0m" in run("check").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("check").out


# --- fixes ------------------------------------------------------------------------------------------------------------


def test_fix_writes_safe_fixes_and_reports_the_rest(project: Path, run: Run) -> None:
    (project / "a.py").write_text("x = BAD\ny = WORSE\n")
    result = run("check", "--fix")
    assert (project / "a.py").read_text() == "x = GOOD\ny = WORSE\n"
    assert result.code == 1
    assert "WORSE" in result.out and "word BAD" not in result.out
    assert result.err == "Fixed 1 file.\n  a.py: 1 fixed (BAD)\n"


def test_unsafe_fixes_are_asked_for(project: Path, run: Run) -> None:
    (project / "a.py").write_text("x = BAD\ny = WORSE\n")
    assert run("check", "--fix", "--unsafe-fixes").code == 0
    assert (project / "a.py").read_text() == "x = GOOD\ny = GOOD\n"


def test_without_fix_nothing_is_written(project: Path, run: Run) -> None:
    (project / "a.py").write_text("BAD\n")
    run("check", "--unsafe-fixes")
    run("check", "--diff")
    run("check", "--fix", "--diff")
    assert (project / "a.py").read_text() == "BAD\n"


def test_a_fix_may_change_a_file_that_was_not_named(project: Path, run: Run) -> None:
    (project / "a.py").write_text("x = 1 ACROSS\n")
    (project / "other.py").write_text("y = 2\n")
    result = run("check", "--fix", "a.py")
    assert (project / "other.py").read_text() == "fixed = 1\ny = 2\n"
    assert result.err == "Fixed 2 files.\n  a.py: 1 fixed (ACROSS)\n  other.py: also edited (it was not named)\n"


def test_the_file_keeps_all_but_the_fix(project: Path, run: Run) -> None:
    path = project / "a.py"
    path.write_bytes("# coding: latin-1\r\nx = 'é' BAD\r\n".encode("latin-1"))
    path.chmod(0o750)
    (project / "marked.py").write_bytes(b"\xef\xbb\xbfBAD")
    (project / "link.py").symlink_to("a.py")
    assert run("check", "--fix").code == 0
    assert path.read_bytes() == "# coding: latin-1\r\nx = 'é' GOOD\r\n".encode("latin-1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert (project / "marked.py").read_bytes() == b"\xef\xbb\xbfGOOD"
    assert (project / "link.py").is_symlink()
    assert sorted(entry.name for entry in project.iterdir()) == ["a.py", "link.py", "marked.py"]


def test_a_write_that_fails_leaves_the_file_and_is_said(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.py").write_text("BAD\n")
    (project / "b.py").write_text("BAD\n")
    replace = os.replace

    def broken(source: str, target: Path) -> None:
        if Path(target).name == "a.py":
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", broken)
    result = run("check", "--fix")
    assert result.code == 2
    assert "a.py: cannot be written (Permission denied)" in result.err
    assert (project / "a.py").read_text() == "BAD\n"
    assert "a.py:1:1: error" in result.out
    assert (project / "b.py").read_text() == "GOOD\n"
    assert len(list(project.iterdir())) == 2


def test_a_file_that_changed_meanwhile_is_not_overwritten(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "a.py"
    path.write_text("BAD\n")
    set_text = fake.Workspace.set_text

    def slow(self: fake.Workspace, path: Path, text: str | None) -> None:
        set_text(self, path, text)
        path.write_text("typed in the meantime\n")

    monkeypatch.setattr(fake.Workspace, "set_text", slow)
    result = run("check", "--fix")
    assert result.code == 2
    assert "a.py: changed while it was being checked" in result.err
    assert path.read_text() == "typed in the meantime\n"


@pytest.mark.parametrize("flag", ["--fix", "--diff"])
def test_what_does_not_converge_is_not_written(project: Path, run: Run, flag: str) -> None:
    (project / "a.py").write_text("x = PING\ny = BAD\n")
    (project / "b.py").write_text("BAD\n")
    result = run("check", flag)
    assert result.code == 2
    assert "a.py: not fixed: its fixes undo each other" in result.err
    assert (project / "a.py").read_text() == "x = PING\ny = BAD\n"
    assert (project / "b.py").read_text() == ("GOOD\n" if flag == "--fix" else "BAD\n")
    assert ("+++ b/b.py" in result.out) == (flag == "--diff") and "b/a.py" not in result.out


@pytest.mark.parametrize("flag", ["--fix", "--diff"])
def test_what_is_python_stays_python(project: Path, run: Run, flag: str) -> None:
    """A fix of several files that would break one of them is applied to none."""
    (project / "a.py").write_text("x = 1  # ACROSS\n")
    (project / "other.py").write_text("from __future__ import annotations\n")
    (project / "b.py").write_text("BAD\n")
    (project / "no.py").write_text("is no Python = BAD\n")
    result = run("check", flag)
    assert result.code == 2
    assert "other.py: not fixed: its fixes would leave code that is not Python" in result.err
    assert (project / "a.py").read_text() == "x = 1  # ACROSS\n"
    assert (project / "other.py").read_text() == "from __future__ import annotations\n"
    shown = {"b.py": "GOOD\n", "no.py": "is no Python = GOOD\n"}
    for name, text in shown.items():
        assert (f"+++ b/{name}" in result.out) if flag == "--diff" else ((project / name).read_text() == text)


def test_diff(project: Path, run: Run) -> None:
    (project / "a.py").write_bytes(b"x = 1\r\ny = BAD")
    (project / "clean.py").write_text("z = 1\n")
    result = run("check", "--diff")
    assert result.code == 1
    assert result.out == (
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\r\n"
        "-y = BAD\n\\ No newline at end of file\n+y = GOOD\n\\ No newline at end of file\n"
    )
    assert result.err == "1 file would change.\n"


def test_diff_shows_all_rounds_at_once(project: Path, run: Run) -> None:
    (project / "a.py").write_text("TWICE\n")
    assert run("check", "--diff").out.splitlines()[3:] == ["-TWICE", "+GOOD"]


def test_diff_of_unsafe_fixes(project: Path, run: Run) -> None:
    (project / "a.py").write_text("WORSE\n")
    assert run("check", "--diff").err == "Nothing would change. 1 finding without such a fix: run it without --diff.\n"
    result = run("check", "--diff", "--unsafe-fixes")
    assert (result.code, result.err) == (1, "1 file would change.\n")
    assert result.out.endswith("-WORSE\n+GOOD\n")


def test_diff_without_fixes(project: Path, run: Run) -> None:
    (project / "a.py").write_text("MURMUR\n")
    result = run("check", "--diff")
    assert (result.code, result.out, result.err) == (0, "", "Nothing would change.\n")
    (project / "a.py").write_text("MAYBE\n")
    result = run("check", "--diff")
    assert (result.code, result.out) == (0, "")
    assert result.err == "Nothing would change. 1 finding without such a fix: run it without --diff.\n"


# --- standard input ---------------------------------------------------------------------------------------------------


def test_stdin_is_checked_under_its_name(project: Path, run: Run) -> None:
    (project / "a.py").write_text("saved = 1\n")
    result = run("check", "-", "--stdin-filename", "a.py", stdin=b"x = BAD\n")
    assert result.code == 1
    assert "a.py:1:5: error" in result.out


def test_stdin_fixed_goes_to_stdout_alone(project: Path, run: Run) -> None:
    result = run("check", "-", "--fix", "--stdin-filename", "new.py", stdin=b"\xef\xbb\xbfx = BAD\r\ny = WORSE")
    assert result.out == "\ufeffx = GOOD\r\ny = WORSE"
    assert result.code == 1
    assert "word WORSE" in result.err
    assert not (project / "new.py").exists()


def test_stdin_without_fixes_comes_back(project: Path, run: Run) -> None:
    result = run("check", "-", "--fix", "--stdin-filename", "new.py", stdin=b"x = 1")
    assert (result.code, result.out) == (0, "x = 1")


def test_stdin_diff(project: Path, run: Run) -> None:
    result = run("check", "-", "--diff", "--stdin-filename", "new.py", stdin=b"BAD\n")
    assert result.code == 1
    assert "+GOOD\n" in result.out


def test_a_fix_in_two_files_is_not_half_made_in_a_pipe(project: Path, run: Run) -> None:
    (project / "other.py").write_text("y = 2\n")
    result = run("check", "-", "--fix", "--stdin-filename", "a.py", stdin=b"x = 1 ACROSS\n")
    assert result.out == "x = 1 ACROSS\n"
    assert "the fixes also change other.py" in result.err
    assert (project / "other.py").read_text() == "y = 2\n"


def test_a_diff_of_two_files_is_whole_from_a_pipe_too(project: Path, run: Run) -> None:
    (project / "other.py").write_bytes(b"# coding: latin-1\r\n")
    result = run("check", "-", "--diff", "--stdin-filename", "a.py", stdin=b"x = 1 ACROSS\n")
    assert result.code == 1
    assert result.out == (
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1 ACROSS\n+x = 1 \n"
        "--- a/other.py\n+++ b/other.py\n@@ -1 +1,2 @@\n+fixed = 1\n # coding: latin-1\r\n"
    )
    assert result.err == "2 files would change.\n"


def test_an_excluded_file_comes_back_from_a_pipe(project: Path, run: Run) -> None:
    result = run(
        "check", "-", "--fix", "--force-exclude", "--exclude", "a.py", "--stdin-filename", "a.py", stdin=b"BAD\n"
    )
    assert (result.code, result.out, result.err) == (0, "BAD\n", "No Python files to check.\n")


def test_binary_stdin(project: Path, run: Run) -> None:
    result = run("check", "-", "--stdin-filename", "a.py", stdin=b"\0")
    assert result.code == 2
    assert "standard input: binary" in result.err


# --- what is read around the paths ------------------------------------------------------------------------------------


def _tree(folder: Path, *files: str) -> None:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_the_folder_around_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    _tree(tmp_path, "home/loose/z.py", "here/deep/w.py", "plain/pkg/__init__.py", "plain/pkg/sub/__init__.py")
    _tree(tmp_path, "plain/pkg/sub/m.py", "lib/site-packages/pkg/__init__.py", "alone/x.py")
    expected = {
        "here/deep/w.py": "here",
        "here": "here",
        "plain/pkg/sub/m.py": "plain",
        "plain/pkg": "plain/pkg",
        "lib/site-packages/pkg": "lib/site-packages/pkg",
        "alone/x.py": "alone",
    }
    monkeypatch.chdir(tmp_path / "here")
    found = {name: folders_around([tmp_path / name])[0].relative_to(tmp_path).as_posix() for name in expected}
    assert found == expected
    monkeypatch.chdir(tmp_path / "home")
    assert folders_around([tmp_path / "home/loose/z.py"]) == [tmp_path / "home/loose"]


def test_wrong_settings_are_a_failure(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a.py").write_text("BAD\n")
    problem = Problem(project / "pyproject.toml", "unknown setting 'x'", True)
    monkeypatch.setattr(fake.Workspace, "first_problems", [problem, problem])
    result = run("check")
    assert result.code == 2
    assert result.err == "loaderlint: pyproject.toml: unknown setting 'x'\n"
    assert "a.py:1:1: error" in result.out
