"""Files behind links: what is outside of a project is never written, what is inside is written once and whole, and a
killed `--fix` leaves every file in its old or its new version."""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import loaderlint
from loaderlint import cli
from loaderlint.engine import Workspace
from loaderlint.files import atomic_write
from loaderlint.files.symlinks import known_as, written_for
from loaderlint.settings import settings
from tests.robustness.faulty import FAULTY, GENERATOR, LOADER, SETTINGS
from tests.robustness.scale import factor

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")

#: `make fuzz` asks for more.
TIMES = factor()

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in a folder: its exit code, output and messages."""

    def go(folder: Path, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(folder)
        settings.clear()
        code = cli.main([*arguments, "--no-cache"])
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return go


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _link(folder: Path, links: Mapping[str, str]) -> None:
    for name, target in links.items():
        (folder / name).symlink_to(target)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with `project`, which holds links of all kinds, `way`, a link to it, and `outside`, where links lead."""
    _write(
        tmp_path,
        {
            "outside/t.py": FAULTY,
            "outside/hard.py": FAULTY,
            "outside/folder/t.py": FAULTY,
            "outside/settings.toml": SETTINGS,
            "project/own.py": FAULTY,
            "project/crops.py": GENERATOR,
            "project/train.py": LOADER.format(module="alias"),
            "project/package/__init__.py": "",
            "project/package/inner.py": FAULTY,
            "project/.git/annex/object.py": FAULTY,
        },
    )
    _link(
        tmp_path,
        {
            "way": "project",
            "project/pyproject.toml": "../outside/settings.toml",
            "project/alias.py": "crops.py",
            "project/same.py": "own.py",
            "project/again.py": "same.py",
            "project/absolute.py": str(tmp_path / "way" / "own.py"),
            "project/out.py": "../outside/t.py",
            "project/far.py": "out.py",
            "project/hidden.py": ".git/annex/object.py",
            "project/inner.py": "package/inner.py",
            "project/dangling.py": "nowhere.py",
            "project/circle.py": "round.py",
            "project/round.py": "circle.py",
            "project/linked": "../outside/folder",
            "project/shortcut": "package",
            "project/up": "..",
        },
    )
    os.link(tmp_path / "outside/hard.py", tmp_path / "project/hard.py")
    return tmp_path


OUT = ("far.py", "hidden.py", "out.py")
FIXED = {"own.py", "crops.py", "hard.py", "package/inner.py"}


def _state(folder: Path) -> dict[str, str | bytes | None]:
    """Everything below a folder: the bytes of files, the targets of links, None for folders."""
    found: dict[str, str | bytes | None] = {}
    for at, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(at, name)
            relative = path.relative_to(folder).as_posix()
            found[relative] = os.readlink(path) if path.is_symlink() else path.read_bytes() if name in files else None
    return found


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


# --- fixes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["project", "way"])
def test_files_of_the_project_are_fixed_once_and_no_others(tree: Path, run: Run, root: str) -> None:
    before = _state(tree)
    code, _, said = run(tree / root, "check", "--fix", "--unsafe-fixes", ".")
    after = _state(tree)
    assert _changed(before, after) == {f"project/{name}" for name in FIXED}
    for name in FIXED:
        text = (tree / "project" / name).read_text()
        ast.parse(text)
        assert text.count("def seed_worker") == text.count("worker_init_fn=") == (name != "crops.py")
    assert code == 2
    for name in OUT:
        assert f"loaderlint: {name}: not fixed: it is a link to " in said
    assert "dangling.py" not in said and "circle.py" not in said
    assert run(tree / root, "check", "--diff", "--unsafe-fixes", ".")[:2] == (2, "")


def test_diff_shows_what_fix_writes(tree: Path, run: Run) -> None:
    before = _state(tree)
    code, shown, said = run(tree / "project", "check", "--diff", "--unsafe-fixes")
    assert _state(tree) == before
    assert {line[6:] for line in shown.splitlines() if line.startswith("+++ b/")} == FIXED
    assert code == 2
    assert all(f"{name}: not fixed: it is a link to" in said for name in OUT)


def test_one_file_under_several_names_that_are_named(tree: Path, run: Run) -> None:
    before = _state(tree)
    code, _, said = run(tree / "project", "check", "--fix", "same.py", "own.py", "again.py", "../way/absolute.py")
    assert (code, said) == (
        0,
        "Fixed 1 file.\n  own.py: 1 fixed (duplicate-numpy-randomness; worker_init_fn at 1 loader)\n",
    )
    assert _changed(before, _state(tree)) == {"project/own.py"}
    assert (tree / "project/own.py").read_text().count("def seed_worker") == 1


@pytest.mark.parametrize("name", OUT)
def test_a_link_out_of_the_project_that_is_named(tree: Path, run: Run, name: str) -> None:
    before = _state(tree)
    code, found, said = run(tree / "project", "check", "--fix", name)
    assert code == 2
    assert f"{name}: not fixed: it is a link to {os.path.realpath(name)}" in said
    assert f"{name}:10:24: error" in found and "fix (" not in found and "fixable" not in found
    assert _state(tree) == before


@pytest.mark.parametrize("name", ["dangling.py", "circle.py"])
def test_a_link_to_nothing_that_is_named(tree: Path, run: Run, name: str) -> None:
    code, _, said = run(tree / "project", "check", name)
    assert code == 2
    assert f"{name}: a broken link to " in said and "fix or remove it" in said


def test_a_linked_folder_that_is_named_is_that_folder(tree: Path, run: Run) -> None:
    _write(tree, {"outside/folder/pyproject.toml": SETTINGS})
    assert run(tree / "project", "check", "--fix", "linked")[0] == 0
    assert (tree / "outside/folder/t.py").read_text().count("def seed_worker") == 1


def test_a_module_that_is_imported_by_the_name_of_a_link(tmp_path: Path, run: Run) -> None:
    """The finding is in the link's module, which nobody imports by its own name; the fix is in the file."""
    _write(tmp_path, {"pyproject.toml": "", "lib/crops.py": GENERATOR, "app/train.py": LOADER.format(module="alias")})
    _link(tmp_path, {"app/alias.py": "../lib/crops.py"})
    code, found, _ = run(tmp_path, "check")
    assert code == 1 and "app/alias.py:7:20: error" in found and "lib/crops.py:7:20: error" not in found
    code, _, said = run(tmp_path, "check", "--fix", "--unsafe-fixes")
    assert (code, said) == (0, "Fixed 1 file.\n  lib/crops.py: 1 fixed (shared-generator)\n")
    assert (tmp_path / "app/alias.py").is_symlink()
    ast.parse((tmp_path / "lib/crops.py").read_text())
    assert (tmp_path / "lib/crops.py").read_text() != GENERATOR


def test_a_hard_link_is_split(tree: Path, run: Run) -> None:
    """The other name may lie outside of the project, and keeps its text."""
    run(tree / "project", "check", "--fix", "hard.py")
    assert "seed_worker" in (tree / "project/hard.py").read_text()
    assert (tree / "outside/hard.py").read_text() == FAULTY


def test_a_file_that_becomes_a_link_meanwhile(tree: Path) -> None:
    from loaderlint.commands.write_fixes import CannotWrite, fixed, write

    settings.clear()
    own = tree / "project/own.py"
    workspace = Workspace([tree / "project"])
    (change,) = fixed(workspace, [own], unsafe=False).changes
    own.unlink()
    own.symlink_to("../outside/t.py")
    with pytest.raises(CannotWrite, match="became a link"):
        write(change)
    assert (tree / "outside/t.py").read_text() == FAULTY


def test_a_project_in_a_project(tmp_path: Path, run: Run) -> None:
    """Both read the files of the inner one, and a fix is made in one text."""
    _write(tmp_path, {"pyproject.toml": SETTINGS, "inner/pyproject.toml": SETTINGS, "inner/own.py": FAULTY})
    _link(tmp_path, {"link.py": "inner/own.py"})
    code, found, said = run(tmp_path, "check", "--fix")
    assert (code, said) == (
        0,
        "Fixed 1 file.\n  inner/own.py: 1 fixed (duplicate-numpy-randomness; worker_init_fn at 1 loader)\n",
    ), found
    assert (tmp_path / "inner/own.py").read_text().count("def seed_worker") == 1


def test_an_editors_text_of_a_project_in_a_project(tmp_path: Path) -> None:
    settings.clear()
    _write(tmp_path, {"pyproject.toml": SETTINGS, "inner/pyproject.toml": SETTINGS, "inner/own.py": FAULTY})
    workspace, own = Workspace([tmp_path]), known_as(tmp_path / "inner/own.py")
    assert len(workspace.check()[own]) == 1
    workspace.set_text(own, "\n\n" + FAULTY)
    assert [found.span.line for found in workspace.check()[own]] == [11]
    workspace.set_text(own, None)
    assert [found.span.line for found in workspace.check()[own]] == [9]
    own.write_text("x = 1\n")
    workspace.forget([own])
    assert workspace.check()[own] == ()


# --- names ------------------------------------------------------------------------------------------------------------


def test_the_name_of_a_file(tree: Path) -> None:
    tree = Path(os.path.realpath(tree))
    project = tree / "project"
    assert known_as(tree / "way" / "own.py") == known_as(project / "up" / "way" / "own.py") == project / "own.py"
    assert known_as(project / "shortcut" / "inner.py") == project / "package" / "inner.py"
    assert known_as(project / "shortcut") == project / "package"
    assert known_as(project / "up" / ".." / "x.py") == tree.parent / "x.py"
    for name in ("same.py", "out.py", "dangling.py", "circle.py", "pyproject.toml", "no/such.py"):
        assert known_as(tree / "way" / name) == project / name
    for name in ("own.py", "same.py", "again.py", "absolute.py"):
        assert written_for(project / name, project) == project / "own.py"
    for name in OUT:
        assert written_for(project / name, project) is None


def test_an_editors_text_of_a_link_is_the_links(tree: Path) -> None:
    settings.clear()
    project = tree / "project"
    workspace = Workspace([project])
    for name in ("same.py", "out.py"):
        workspace.set_text(tree / "way" / name, "x = 1\n")
        assert workspace.text(project / name) == "x = 1\n"
        assert workspace.check([project / name]) == {known_as(project / name): ()}
    assert [found.code for found in workspace.check([project / "own.py"])[known_as(project / "own.py")]] == ["LDR101"]


def test_a_file_that_changes_on_disk_changes_under_all_its_names(tree: Path) -> None:
    settings.clear()
    project = tree / "project"
    workspace = Workspace([project])
    names = [known_as(project / name) for name in ("own.py", "same.py", "again.py")]
    assert all(len(found) == 1 for found in workspace.check(names).values())
    (project / "own.py").write_text("x = 1\n")
    workspace.forget([project / "own.py"])
    assert not any(workspace.check(names).values())
    out = known_as(project / "out.py")
    assert len(workspace.check([out])[out]) == 1
    (tree / "outside/t.py").write_text("x = 1\n")
    workspace.forget([tree / "outside/t.py"])
    assert not workspace.check([out])[out]
    (project / "same.py").unlink()
    (project / "same.py").symlink_to("package/inner.py")
    workspace.forget([project / "same.py"])
    assert [len(found) for found in workspace.check(names[:2]).values()] == [0, 1]


def test_the_fixes_of_two_names_are_not_made_in_one_round(tree: Path) -> None:
    settings.clear()
    workspace = Workspace([tree / "project"])
    files = [known_as(file.path) for file in workspace.fix_all([tree / "project"], unsafe=True)]
    written = [workspace.file(path) for path in files]
    assert len(set(written)) == len(written) and None not in written


# --- a killed process -------------------------------------------------------------------------------------------------

#: Kills itself before the N-th line that it runs in the modules that write; prints how many there were if it ends.
_KILLED = """\
import os, signal, sys
last = int(sys.argv.pop(1))
lines = 0
def line(frame, event, about):
    global lines
    if event == "line":
        lines += 1
        if lines == last:
            os.kill(os.getpid(), signal.SIGKILL)
    return line
def call(frame, event, about):
    name = frame.f_code.co_filename
    writes = name.endswith("atomic_write.py") or (name.endswith("write_fixes.py") and frame.f_code.co_name == "write")
    return line if writes else None
from loaderlint import cli
sys.settrace(call)
code = cli.main(sys.argv[1:])
sys.settrace(None)
print(lines)
sys.exit(code)
"""


def _killed_at(line: int, folder: Path) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(loaderlint.__file__).parents[1])}
    command = [
        sys.executable,
        "-c",
        _KILLED,
        str(line),
        "check",
        "--fix",
        "--unsafe-fixes",
        "--no-cache",
        "--statistics",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, env=environment, timeout=300)


@pytest.mark.slow
def test_a_killed_fix_leaves_whole_files_and_the_next_one_nothing_else(
    tree: Path, record_property: Callable[[str, object], None]
) -> None:
    before = _state(tree)
    ended = _killed_at(0, tree / "project")
    assert ended.returncode == 2, ended.stderr.decode()
    lines = int(ended.stdout.splitlines()[-1])
    after = _state(tree)
    assert _changed(before, after) == {f"project/{name}" for name in FIXED}
    choose = random.Random(20)
    moments = {choose.randint(1, lines) for _ in range(3 * TIMES)}
    for moment in sorted(moments):
        for name in FIXED:
            content = before[f"project/{name}"]
            assert isinstance(content, bytes)
            (tree / "project" / name).write_bytes(content)
        killed = _killed_at(moment, tree / "project")
        assert killed.returncode == -signal.SIGKILL, (moment, killed.stderr.decode())
        now = _state(tree)
        for name, content in now.items():
            if name in before:
                assert content in (before[name], after[name]), (moment, name)
            else:
                assert atomic_write.is_leftover(Path(name).name), (moment, name)
        assert before.keys() <= now.keys()
        assert _killed_at(0, tree / "project").returncode == 2
        assert _state(tree) == after, moment
    record_property("killed fixes", len(moments))


def test_leftovers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    import fcntl

    left, busy = tmp_path / ".loaderlint-abcd_123.tmp", tmp_path / ".loaderlint-00000000.tmp"
    others = [tmp_path / name for name in (".loaderlint-abc.tmp", "loaderlint-abcd_123.tmp", ".loaderlint-abcd_124.py")]
    for path in (left, busy, *others):
        path.write_text("x")
    left.chmod(0o444)
    (tmp_path / ".loaderlint-abcd_125.tmp").symlink_to(others[0])
    (tmp_path / ".loaderlint-abcd_126.tmp").mkdir()
    os.mkfifo(tmp_path / ".loaderlint-abcd_127.tmp")
    with busy.open("w") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        before = set(os.listdir(tmp_path))
        atomic_write.remove_leftovers([tmp_path, tmp_path / "no such folder"])
        assert before - set(os.listdir(tmp_path)) == {left.name}
    atomic_write.remove_leftovers([tmp_path])
    assert before - set(os.listdir(tmp_path)) == {left.name, busy.name}


def test_a_file_whose_name_is_as_long_as_names_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 252 + ".py")
    path.write_text("old")
    path.chmod(0o640)
    atomic_write.replace(path, b"new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)
    assert os.listdir(tmp_path) == [path.name]
