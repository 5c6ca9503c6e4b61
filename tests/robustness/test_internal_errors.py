"""An internal error costs the part of the work that it happens in. All else is checked, and every format reports it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from loaderlint import cli, rules
from loaderlint.engine import Workspace, linking
from loaderlint.explanations import explanation
from loaderlint.fixes import apply
from loaderlint.runtime.internal_errors import Cancelled, Failure, Postponed, contained
from loaderlint.sources import open_file, search_index, store
from tests.robustness.faulty import TWO_FAULTS as DATA

pytestmark = pytest.mark.internal_errors

BOTH = {"duplicate-numpy-randomness", "negative-stride-sample"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two parts that do not import each other."""
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "__init__.py").touch()
        (tmp_path / part / "data.py").write_text(DATA)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOADERLINT_DEBUG", raising=False)
    return tmp_path.resolve()


def break_rule(monkeypatch: pytest.MonkeyPatch, name: str, in_part: str = "") -> None:
    """Let a rule fail, for subjects in one part or in all."""

    def broken(rule: Any) -> Any:
        def find(subject: Any, model: Any) -> Iterator[Any]:
            if subject.path.parent.name.startswith(in_part):
                raise IndexError("tuple index\nout of range")
            yield from rule.find(subject, model)

        return replace(rule, find=find)

    monkeypatch.setattr(rules, "RULES", tuple(broken(one) if one.name == name else one for one in rules.RULES))


def found(root: Path) -> tuple[dict[str, set[str]], Workspace]:
    workspace = Workspace([root])
    shown = workspace.check()
    return {
        path.parent.name: {one.name for one in of} for path, of in shown.items() if path.name == "data.py"
    }, workspace


def test_a_rule_that_fails_at_a_subject(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, "negative-stride-sample", "one")
    by_part, workspace = found(project)
    assert by_part == {"one": BOTH - {"negative-stride-sample"}, "two": BOTH}
    (problem,) = workspace.problems
    assert (problem.path, problem.rule, problem.fatal) == (project / "one/data.py", "negative-stride-sample", True)
    assert "IndexError: tuple index out of range, test_internal_errors.py:" in problem.message
    assert "\n" not in problem.message


def test_a_part_that_cannot_be_linked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = linking.Linking._asked

    def fails(self: Any, snapshot: Any, *about: Any) -> Any:
        if "one" in str(snapshot.part):
            raise KeyError("gone")
        return asked(self, snapshot, *about)

    monkeypatch.setattr(linking.Linking, "_asked", fails)
    by_part, workspace = found(project)
    assert by_part == {"one": set(), "two": BOTH}
    assert [one.path for one in workspace.problems] == [project / "one"]


def test_a_piece_that_cannot_be_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = open_file._lowered

    def fails(piece: Any) -> Any:
        if "odd" in piece.text:
            raise TypeError("not this one")
        return lowered(piece)

    path = project / "one/data.py"
    path.write_text(DATA + "odd = 1\nx = odd\nother = DataLoader(Data(), num_workers=odd)\n")
    monkeypatch.setattr(open_file, "_lowered", fails)
    by_part, workspace = found(project)
    assert by_part == {"one": BOTH, "two": BOTH}
    assert {one.path for one in workspace.problems} == {path}
    workspace.set_text(path, DATA)
    workspace.check()
    assert workspace.problems == []


def test_the_next_edit_tries_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        break_rule(broken, "negative-stride-sample")
        by_part, workspace = found(project)
        assert by_part["one"] == by_part["two"] == BOTH - {"negative-stride-sample"}
    workspace.set_text(project / "one/data.py", DATA + "# edited\n")
    shown = workspace.check()
    assert all({one.name for one in of} == BOTH for path, of in shown.items() if path.name == "data.py")
    assert workspace.problems == []


def test_a_failing_part_is_linked_again_once_until_something_that_it_read_changes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_rule(monkeypatch, "negative-stride-sample")
    (project / "one/notes.py").write_text("x = 1\n")
    by_part, workspace = found(project)
    for number in range(20):
        workspace.set_text(project / "one/notes.py", "x = 1\n" * number)
        workspace.check()
        assert {one.rule for one in workspace.problems} == {"negative-stride-sample"}
    assert workspace.links == 2 * 2, "each part twice"
    workspace.set_text(project / "one/data.py", DATA.replace("num_workers=2", "num_workers=3"))
    workspace.check()
    assert workspace.links == 2 * 2 + 1


@pytest.mark.parametrize("what", ["cut", "decode", "reached"])
def test_a_file_that_cannot_be_read(project: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Nothing is linked before all files are read."""
    module = search_index if what == "reached" else store
    usual = getattr(module, what)

    def fails(content: Any, *about: Any) -> Any:
        if b"odd" in (content if isinstance(content, bytes) else content.encode()):
            raise IndexError("list index out of range")
        return usual(content, *about)

    path = project / "one/odd.py"
    path.write_text(DATA + "odd = 1\n")
    monkeypatch.setattr(module, what, fails)
    by_part, workspace = found(project)
    assert by_part == {"one": BOTH, "two": BOTH}
    (problem,) = workspace.problems
    assert (problem.path, problem.fatal) == (path, True) and problem.is_internal
    workspace.set_text(path, DATA)
    workspace.check()
    assert workspace.problems == []


def test_a_project_that_cannot_be_walked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = store.Walk

    def fails(root: Path, *about: Any) -> Any:
        if root.name == "one":
            raise KeyError("gone")
        return walk(root, *about)

    for part in ("one", "two"):
        (project / part / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    monkeypatch.setattr(store, "Walk", fails)
    workspace = Workspace([project / "one", project / "two"])
    assert {path.parent.name for path, of in workspace.check().items() if of} == {"two"}
    assert [one.path for one in workspace.problems] == [project / "one"]


def break_fixes(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Let fixes of files below a folder of this name fail."""
    draft = apply.Draft

    def fails(path: Path, *about: Any) -> Any:
        if path.parent.name == where:
            raise AttributeError("no such node")
        return draft(path, *about)

    monkeypatch.setattr(apply, "Draft", fails)


def test_a_fix_that_cannot_be_made(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_fixes(monkeypatch, "one")
    workspace = Workspace([project])
    strides = [one for of in workspace.check().values() for one in of if one.name == "negative-stride-sample"]
    assert [bool(workspace.preferred_repair(one)) for one in strides] == [False, True]
    assert [bool(workspace.repairs(one)) for one in strides] == [False, True]
    (problem,) = workspace.problems
    assert (problem.path, problem.rule, problem.cost) == (
        project / "one/data.py",
        "negative-stride-sample",
        "fix",
    )
    assert {edit.path for edit in workspace.fix_all([project])} == {project / "two/data.py"}


def test_fixes_that_fail_together(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each can be planned; the edits of one of them cannot be made."""
    checked = apply._checked

    def fails(draft: Any, changes: Any) -> Any:
        if draft.path.parent.name == "one":
            raise AttributeError("no such node")
        return checked(draft, changes)

    monkeypatch.setattr(apply, "_checked", fails)
    workspace = Workspace([project])
    assert {edit.path for edit in workspace.fix_all([project])} == {project / "two/data.py"}
    assert {one.path for one in workspace.problems} == {project / "one/data.py"}


def test_what_cannot_be_told_costs_no_finding(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(model: Any) -> Any:
        raise KeyError("gone")

    monkeypatch.setattr(explanation, "worker_map", fails)
    workspace = Workspace([project], tells=True)
    shown = workspace.check()
    assert {one.name for of in shown.values() for one in of} == BOTH
    assert {one.cost for one in workspace.problems} == {"answer"}
    assert workspace.worker_map().loaders == ()
    assert {one.name for one in workspace.explain(project / "one/data.py", 5).findings} == BOTH


@pytest.mark.parametrize("error", [Cancelled(), Postponed(0.1), MemoryError(), KeyboardInterrupt()])
def test_what_is_no_error_of_a_part_is_raised(error: BaseException) -> None:
    failures: list[Failure] = []
    with pytest.raises(type(error)), contained(failures.append, None):
        raise error
    assert not failures


# --- the command ------------------------------------------------------------------------------------------------------


def test_one_line_says_what_failed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_rule(monkeypatch, "negative-stride-sample", "one")
    assert cli.main(["check", "--no-cache"]) == 2
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert line.startswith("loaderlint: one/data.py: internal error in negative-stride-sample: IndexError")
    assert "https://" in line and "LOADERLINT_DEBUG" in line
    assert "1 finding " in out
    monkeypatch.setenv("LOADERLINT_DEBUG", "1")
    assert cli.main(["check", "--no-cache"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_many_errors_are_not_told_one_by_one(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(30):
        (project / f"more{number}.py").write_text(DATA)
    break_rule(monkeypatch, "negative-stride-sample")
    assert cli.main(["check", "--no-cache"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11 and lines[-1] == "loaderlint: and 22 more internal errors"


def test_the_formats_carry_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_rule(monkeypatch, "negative-stride-sample", "one")

    def shown(name: str) -> str:
        assert cli.main(["check", "--no-cache", "--output-format", name]) == 2
        return capsys.readouterr().out

    *findings, error = json.loads(shown("json"))
    assert len(findings) == 3 and all(one["code"] for one in findings)
    assert (error["code"], error["name"], error["path"]) == (None, "internal-error", "one/data.py")
    assert error.keys() == findings[0].keys()
    (run,) = json.loads(shown("sarif"))["runs"]
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["level"] == "error" and "internal error in negative-stride-sample" in told["message"]["text"]
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "one/data.py"
    assert run["invocations"][0]["executionSuccessful"] is False and len(run["results"]) == 1
    command = shown("github").splitlines()[-1]
    assert command.startswith("::error file=one/data.py,title=loaderlint internal error::internal error in")


def test_such_a_run_is_not_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = ["check", "--cache-dir", str(tmp_path / ".cache")]
    with monkeypatch.context() as broken:
        break_rule(broken, "negative-stride-sample")
        assert cli.main(command) == 2
    capsys.readouterr()
    assert cli.main(command) == 1
    out, err = capsys.readouterr()
    assert "2 findings" in out and not err


@pytest.mark.parametrize("options", [["--fix"], ["--diff"], []])
def test_a_fix_that_fails_costs_no_other(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    break_fixes(monkeypatch, "one")
    assert cli.main(["check", "--no-cache", *options]) == 2
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if "internal error" in line]
    assert 1 <= len(lines) <= 2, "a line for each fix"
    for line in lines:
        assert line.startswith("loaderlint: one/data.py: internal error in a fix of ")
        assert "AttributeError: no such node" in line and "https://" in line
    fixed = {part for part in ("one", "two") if (project / part / "data.py").read_text() != DATA}
    assert fixed == ({"two"} if "--fix" in options else set())
    assert "--diff" not in options or "+++ b/two/data.py" in out
    assert options or "2 findings" in out and "2 hints" in out


@pytest.mark.parametrize("command", [["workers"], ["explain", "one/data.py:6"]])
def test_what_cannot_be_told_is_said(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    def fails(model: Any) -> Any:
        raise KeyError("gone")

    monkeypatch.setattr(explanation, "worker_map", fails)
    assert cli.main(command) == 2
    out, err = capsys.readouterr()
    assert "internal error: KeyError" in err and "its code is not explained" in err
    assert out


def test_parts_in_processes_of_their_own(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a process sends back carries its errors."""
    from loaderlint.engine import parallel_linking
    from loaderlint.engine.file_settings import Configuration
    from loaderlint.sources.store import Store

    break_rule(monkeypatch, "negative-stride-sample")
    files = Store(project)
    files.find()
    for path in files.paths():
        files.searching().learn(path)
    monkeypatch.setattr(parallel_linking, "_project", (files, Configuration(project, {}, None)))
    part = next(part for part in files.searching().units() if "one" in str(part))
    noted = parallel_linking._link(part)
    assert [one.rule for one in noted.failures] == ["negative-stride-sample"]
    assert {one.rule for of in noted.findings.values() for one in of} == BOTH - {"negative-stride-sample"}
