"""The whole command on real projects: faults across files, fixes on disk, and input that must not stop it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import loaderlint

DATA = """import numpy as np
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return self._noise(index)

    def _noise(self, index):
        return index + np.random.rand()  # keep this comment
"""
TRAIN = """from torch.utils.data import DataLoader

from data import Noisy


def main():
    train_loader = DataLoader(Noisy(), num_workers=4)
    for batch in train_loader:
        print(batch)


if __name__ == "__main__":
    main()
"""


def _run(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(loaderlint.__file__).parents[1]), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "loaderlint", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, cwd=folder, env=environment, timeout=120)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A training script and its dataset on an old torch."""
    (tmp_path / "pyproject.toml").write_text('[tool.loaderlint]\ntarget-torch = "1.8.1"\nplatforms = ["linux"]\n')
    (tmp_path / "data.py").write_text(DATA)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def test_a_fault_in_two_files_is_found_shown_and_fixed(project: Path) -> None:
    found = _run(project, "check", "data.py")
    assert found.returncode == 1, found.stderr
    text = found.stdout.decode()
    assert text.startswith("data.py:13:24: error: ")
    assert "[LDR101 duplicate-numpy-randomness]" in text
    assert "runs in the workers of `train_loader` in train.py (num_workers=4): Noisy.__getitem__ > Noisy._noise" in text
    assert "13 |         return index + np.random.rand()  # keep this comment\n" in text
    assert "   |                        ^^^^^^^^^^^^^^^^\n" in text
    assert "= fix (safe): " in text

    shown = _run(project, "check", "--diff")
    assert shown.returncode == 1
    assert b"+++ b/train.py\n" in shown.stdout and b"worker_init_fn=seed_worker" in shown.stdout
    assert (project / "train.py").read_text() == TRAIN

    fixed = _run(project, "check", "--fix")
    assert fixed.returncode == 0, fixed.stdout
    assert (project / "data.py").read_text() == DATA
    assert (
        "num_workers=4,\n                              worker_init_fn=seed_worker)"
        in (project / "train.py").read_text()
    )
    assert _run(project, "check", "--diff").returncode == 0


def test_flags_change_what_is_found(project: Path) -> None:
    assert _run(project, "check", "--target-torch", "2.4").returncode == 0
    assert _run(project, "check", "--ignore", "LDR1").returncode == 0
    assert _run(project, "check", "--severity", "LDR101=hint").returncode == 0


def test_the_editor_s_text_comes_from_stdin(project: Path) -> None:
    changed = TRAIN.replace("num_workers=4", "num_workers=0").encode()
    assert _run(project, "check", "-", "--stdin-filename", "train.py", stdin=changed).returncode == 0


def test_nothing_that_lies_around_stops_it(project: Path) -> None:
    """One process checks everything that has stopped such tools before: it continues and finds the fault."""
    (project / "binary.py").write_bytes(bytes(range(256)) * 50)
    (project / "old.py").write_text("print 'Python 2'\nexec 'x'\n")
    (project / "latin.py").write_bytes("# coding: nonsense\nx = 'é'\n".encode("latin-1"))
    (project / "broken.py").write_bytes(b"x = '\xff'\n")
    (project / "huge.py").write_text("# DataLoader\n" + "x = 1\n" * 1_700_000)
    (project / "nested.py").write_text("from torch.utils.data import DataLoader\nx = " + "(" * 5000 + ")" * 5000 + "\n")
    (project / "chained.py").write_text("from torch.utils.data import DataLoader\nx = " + "1 + " * 50_000 + "1\n")
    (project / "half.py").write_text("from torch.utils.data import DataLoader\nDataLoader(Noisy(, num_workers=4\nif\n")
    (project / "empty.py").touch()
    (project / "folder.py").mkdir()
    (project / "loop").symlink_to(".")
    (project / "gone.py").symlink_to("nowhere.py")
    (project / "itself.py").symlink_to("itself.py")
    os.mkfifo(project / "pipe.py")
    found = _run(project, "check", "--output-format", "json")
    assert found.returncode == 1, found.stderr.decode()
    named = [(each["path"], each["name"]) for each in json.loads(found.stdout)]
    unread = ["chained.py", "half.py", "nested.py", "old.py"]
    assert named == sorted([("data.py", "duplicate-numpy-randomness"), *((name, "unread-code") for name in unread)])
    assert b"Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\0\0", b"binary"), (b"x = '\xff'\n", b"not valid utf-8"), (b"# coding: utf-16\n", b"utf-16")],
)
def test_a_named_file_that_cannot_be_read_is_a_failure(project: Path, content: bytes, message: bytes) -> None:
    (project / "odd.py").write_bytes(content)
    result = _run(project, "check", "odd.py", "data.py")
    assert result.returncode == 2
    assert b"loaderlint: odd.py: " in result.stderr and message in result.stderr
    assert b"data.py:13:24: error" in result.stdout


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_a_failure(project: Path) -> None:
    (project / "secret.py").touch(mode=0o000)
    result = _run(project, "check", "secret.py")
    assert result.returncode == 2
    assert b"secret.py: cannot be read" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["old"], 0),
        (["old/old.py"], 1),
        (["old/old.py", "--fail-on", "error"], 1),
        (["old/old.py", "--severity", "unread-code=hint"], 0),
        (["old", "--select", "unread-code"], 1),
        (["old", "--extend-select", "LDR002"], 1),
        (["old", "--select", "LDR"], 0),
        (["old", "--ignore", "LDR002"], 0),
    ],
)
def test_unread_code_counts_where_it_is_asked_for(project: Path, arguments: list[str], code: int) -> None:
    (project / "old").mkdir()
    (project / "old" / "old.py").write_text("print 'Python 2'\n")
    for _ in range(2):  # the second answer comes from the cache
        result = _run(project, "check", *arguments)
        assert (result.returncode, result.stderr) == (code, b"")
        assert (b"LDR002" in result.stdout) == {"--ignore", "unread-code=hint"}.isdisjoint(arguments)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_unread_code_counts_in_a_link_that_is_named(project: Path) -> None:
    (project / "old.py").write_text("print 'Python 2'\n")
    (project / "link.py").symlink_to("old.py")
    assert _run(project, "check", "link.py").returncode == 1


def test_unread_code_counts_in_standard_input(project: Path) -> None:
    assert _run(project, "check", "-", "--stdin-filename", "old.py", stdin=b"print 'Python 2'\n").returncode == 1
    assert _run(project, "check", "-", "--stdin-filename", "old.py", stdin=b"print('Python 3')\n").returncode == 0


def test_a_file_that_stops_to_parse_is_told_from_the_cache(project: Path) -> None:
    (project / "notes.py").write_text("x = 1\n")
    assert b"LDR002" not in _run(project, "check").stdout
    (project / "notes.py").write_text("x = (1\n")
    assert b"notes.py:1:5: information: this part of the file was not checked" in _run(project, "check").stdout
    (project / "notes.py").write_text("x = (1)\n")
    assert b"LDR002" not in _run(project, "check").stdout


def test_wrong_settings_are_said_and_the_rest_applies(project: Path) -> None:
    settings = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(settings + 'igonre = ["LDR101"]\n')
    result = _run(project, "check")
    assert result.returncode == 2
    assert b"pyproject.toml: unknown setting 'igonre'; did you mean 'ignore'?" in result.stderr
    assert b"data.py:13:24: error" in result.stdout


def test_the_examples_show_what_their_table_says() -> None:
    folder = Path(__file__).parents[2] / "examples"
    table = set(re.findall(r"\| `(\w+\.py)`, .* \| ([a-z-]+) \|", (folder / "README.md").read_text("utf-8")))
    result = _run(folder, "check", "--output-format", "json")
    shown = [found for found in json.loads(result.stdout) if found["severity"] != "hint"]
    assert {(found["path"], found["name"]) for found in shown} == table
    assert len({rule for _, rule in table}) == 8


LISTING = """\
import os

from torch.utils.data import DataLoader, Dataset


class Names(Dataset):
    def __init__(self, root):
        self.names = os.listdir(root)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.names[index]


loader = DataLoader(Names("images"), num_workers=2)
"""


def test_hints_are_fixed_where_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text(LISTING)
    assert _run(tmp_path, "check", "--fix").returncode == 0
    assert (tmp_path / "names.py").read_text() == LISTING
    told = _run(tmp_path, "check", "--hints").stdout
    assert told.endswith(b"No findings in 1 file. 1 hint, 1 fixable with --fix --hints.\n")
    assert _run(tmp_path, "check").stdout == b"No findings in 1 file. 1 hint not shown (--hints).\n"
    diff = _run(tmp_path, "check", "--diff", "--hints").stdout
    assert b"+        self.names = sorted(os.listdir(root))" in diff
    assert _run(tmp_path, "check", "--fix", "--hints").returncode == 0
    assert "sorted(os.listdir(root))" in (tmp_path / "names.py").read_text()


def test_a_fix_for_a_torch_that_nothing_declares_is_unsafe(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.loaderlint]\nplatforms = ["linux"]\n')  # torch may be old or new
    assert _run(project, "check", "--fix", "--hints", "--select", "LDR101").returncode == 0
    assert (project / "train.py").read_text() == TRAIN
    assert _run(project, "check", "--fix", "--hints", "--unsafe-fixes", "--select", "LDR101").returncode == 0
    assert "worker_init_fn=seed_worker" in (project / "train.py").read_text()


def test_a_folder_that_is_named_and_left_out_is_told(project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".gitignore").write_text("build/\n")
    for name in ("build/lib", "empty"):
        (project / name).mkdir(parents=True)
    (project / "build/lib/data.py").write_text(DATA)
    told = (
        b"build: nothing in it is checked, because .gitignore, the setting exclude or its own name excludes it. "
        b"To check a file in it anyway, name the file: loaderlint check build/lib/data.py\n"
    )
    for _ in range(2):  # the second answer comes from the cache
        result = _run(project, "check", "build")
        assert (result.returncode, result.stdout, result.stderr) == (0, b"No Python files to check.\n", told)
    assert _run(project, "check", "build", "empty").stderr == told
    assert _run(project, "check", "empty", ".").stderr == b""
    assert b"1 file" in _run(project, "check", "build/lib/data.py").stdout


def test_the_files_that_would_be_checked_are_shown(project: Path) -> None:
    (project / "build").mkdir()
    (project / "build/data.py").write_text(DATA)
    listed = _run(project, "check", "--show-files", "--exclude", "build")
    assert (listed.returncode, listed.stdout, listed.stderr) == (0, b"data.py\ntrain.py\n", b"")
    assert _run(project, "check", "--show-files", "build/data.py", "--exclude", "build").stdout == b"build/data.py\n"


def test_the_settings_that_apply_are_shown(project: Path) -> None:
    shown = _run(project, "check", "--show-settings", "--start-method", "spawn", "data.py").stdout.decode()
    assert shown.startswith("data.py:\n  settings:\n    from ")
    assert "    start-method: spawn\n" in shown
    assert "  runs on:\n    torch 1.8.1" in shown


def test_what_is_shown_in_place_of_findings_excludes_the_other(project: Path) -> None:
    assert _run(project, "check", "--show-files", "--show-settings").returncode == 2


def test_a_fix_stays_within_the_named_files(project: Path) -> None:
    told = b"data.py: 1 finding is not fixed: its fix edits train.py, which --only-named leaves alone\n"
    for flag in ("--diff", "--fix"):
        result = _run(project, "check", flag, "--only-named", "data.py")
        assert (result.returncode, told in result.stderr) == (1, True)
        assert (project / "train.py").read_text() == TRAIN
    result = _run(project, "check", "--fix", "--only-named", "data.py", "train.py")
    assert (result.returncode, b"not fixed" in result.stderr) == (0, False)
    assert "worker_init_fn=seed_worker" in (project / "train.py").read_text()


def test_the_arguments_that_loaders_got_are_listed(project: Path) -> None:
    (project / "test.py").write_text(f"{TRAIN}{TRAIN}")
    assert _run(project, "check", "--fix").stderr.decode() == (
        "Fixed 3 files.\n"
        "  data.py: 1 fixed (duplicate-numpy-randomness)\n"
        "  test.py: 2 fixed (worker_init_fn at 2 loaders)\n"
        "  train.py: 1 fixed (worker_init_fn at 1 loader)\n"
    )


def test_the_arguments_that_loaders_got_are_listed_beside_findings(project: Path) -> None:
    (project / "train.py").write_text(DATA + TRAIN.replace("from data import Noisy\n", ""))
    (project / "data.py").unlink()
    assert b"  train.py: 1 fixed (duplicate-numpy-randomness; worker_init_fn at 1 loader)\n" in (
        _run(project, "check", "--fix").stderr
    )


def test_the_arguments_of_a_file_that_was_not_named_are_listed(project: Path) -> None:
    assert _run(project, "check", "--fix", "data.py").stderr.decode().splitlines()[1:] == [
        "  data.py: 1 fixed (duplicate-numpy-randomness)",
        "  train.py: also edited (it was not named; worker_init_fn at 1 loader)",
    ]


def test_a_folder_that_is_named_may_be_fixed(project: Path) -> None:
    assert _run(project, "check", "--fix", "--only-named", ".").returncode == 0


def test_what_was_fixed_is_shown(project: Path) -> None:
    diff = _run(project, "check", "--diff").stdout
    result = _run(project, "check", "--fix", "--show-fixes", "--output-format", "json")
    assert diff in result.stderr
    assert json.loads(result.stdout) == []


def test_flags_without_effect_are_told(project: Path) -> None:
    for flag in ("--only-named", "--show-fixes"):
        assert f"{flag} has no effect alone; add --fix".encode() in _run(project, "check", flag).stderr


def test_isolated_ignores_all_settings_files(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.loaderlint]\nignore = ["ALL"]\nwrong = 1\n')
    assert _run(project, "check").returncode == 2
    result = _run(project, "check", "--isolated", "--target-torch", "1.8")
    assert (result.returncode, b"LDR101" in result.stdout, result.stderr) == (1, True, b"")


def test_another_file_of_settings(project: Path) -> None:
    (project / "ci").mkdir()
    (project / "ci" / "strict.toml").write_text('target-torch = "1.8"\nexclude = ["data.py"]\n')
    (project / "ci" / "pyproject.toml").write_text('[tool.loaderlint]\nignore = ["ALL"]\n')
    _run(project, "check")  # fills the cache with the results of the project's own settings
    for _ in range(2):  # the second answer comes from the cache
        assert _run(project, "check", "--config", "ci/pyproject.toml").stdout == b"No findings in 2 files.\n"
        assert b"in 1 file" in _run(project, "check", "--config", "ci/strict.toml").stdout
    (project / "ci" / "strict.toml").write_text('target-torch = "1.8"\n')
    assert _run(project, "check", "--config", "ci/strict.toml").returncode == 1
    shown = _run(project, "check", "--config", "ci/strict.toml", "--show-settings").stdout
    assert f"from {project / 'ci' / 'strict.toml'}".encode() in shown


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--config", "strcit.toml"], b"--config: strcit.toml: no such file; did you mean strict.toml?"),
        (["--config", "bad.toml"], b"bad.toml: unknown setting 'selct'; did you mean 'select'?"),
        (["--config", "other/pyproject.toml"], b"other/pyproject.toml: contains no loaderlint settings"),
        (["--config", "strict.toml", "--isolated"], b"not allowed with argument"),
    ],
)
def test_a_file_of_settings_that_cannot_be_used(project: Path, flags: list[str], message: bytes) -> None:
    (project / "strict.toml").write_text("")
    (project / "bad.toml").write_text('selct = ["ALL"]\n')
    (project / "other").mkdir()
    (project / "other" / "pyproject.toml").write_text("[project]\n")
    result = _run(project, "check", *flags)
    assert result.returncode == 2
    assert message in result.stderr


def test_verbose_tells_files_versions_and_times(project: Path) -> None:
    result = _run(project, "check", "-v", "data.py", "--output-format", "json")
    assert len(json.loads(result.stdout)) == 1
    told = result.stderr.decode().splitlines()
    assert told[1:3] == ["  data.py", "  train.py"]
    assert "    torch 1.8.1, from the setting target-torch" in told
    phases = [re.sub(r"[\d.]+ s", "N s", line) for line in told[next(i for i, s in enumerate(told) if "Time" in s) :]]
    assert phases == [
        "Time: N s",
        "  N s finding files",
        "  N s linking and asking the rules",
        "  N s reading files",
        "  N s placing findings",
        "  N s reporting",
    ]
