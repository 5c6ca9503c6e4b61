"""Baselines: kept findings are not reported; new, more severe and missing ones are."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli import projects
from tests.cli.conftest import Result

FILE = "loaderlint-baseline.json"


class Folder:
    """A project with one fault, in the current folder."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self._capsys = capsys

    def check(self, *arguments: str) -> Result:
        self._capsys.readouterr()
        code = projects.run("check", *arguments)
        out, err = self._capsys.readouterr()
        return Result(code, out, err)

    def json(self, *arguments: str) -> list[str]:
        """The paths of the findings."""
        return [found["path"] for found in json.loads(self.check("--output-format", "json", *arguments).out)]

    @property
    def file(self) -> Path:
        return self.path / FILE

    def entries(self) -> list[dict[str, str]]:
        entries: list[dict[str, str]] = json.loads(self.file.read_text())["findings"]
        return entries


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Folder:
    monkeypatch.chdir(tmp_path)
    projects.write(tmp_path)
    return Folder(tmp_path, capsys)


OTHER = projects.DATA.replace("Crops", "Flips").replace("default_rng(0)", "default_rng(1)")


def _add(folder: Folder) -> None:
    """Add a second fault, in `more.py`."""
    (folder.path / "more.py").write_text(OTHER + "\n\nloader = DataLoader(Flips(), num_workers=2)\n")


def test_what_is_kept_is_not_reported_and_what_is_new_is(folder: Folder) -> None:
    written = folder.check("--write-baseline")
    assert (written.code, written.out) == (0, "")
    used = "Use it with: loaderlint check --baseline"
    assert written.err == f"Wrote 1 finding to {FILE} (1 new, 0 gone). {used}\n"
    clean = folder.check("--baseline")
    assert (clean.code, clean.err) == (0, "")
    assert clean.out == "No findings in 2 files. 1 more in the baseline (--no-baseline).\n"
    assert folder.json("--baseline") == []
    _add(folder)
    assert folder.json("--baseline") == ["more.py"]
    assert folder.check("--baseline").code == 1
    assert folder.json() == ["data.py", "more.py"]


def test_the_file_is_for_people_and_for_diffs(folder: Folder) -> None:
    folder.check("--write-baseline")
    before = folder.file.read_text()
    (entry,) = folder.entries()
    assert list(entry) == ["path", "code", "name", "message", "severity", "fingerprint"]
    assert (entry["path"], entry["code"], entry["severity"]) == ("data.py", "LDR102", "error")
    folder.check("--write-baseline")
    assert folder.file.read_text() == before
    _add(folder)
    folder.check("--write-baseline")
    was = [line.rstrip(",") for line in before.splitlines()]
    (new,) = [line for line in folder.file.read_text().splitlines() if line.rstrip(",") not in was]
    assert '"path": "more.py"' in new


def test_lines_may_move(folder: Folder) -> None:
    folder.check("--write-baseline")
    (folder.path / "data.py").write_text("# more\n\n" + projects.DATA)
    assert folder.check("--baseline").code == 0


def test_a_def_may_be_rewritten(folder: Folder) -> None:
    folder.check("--write-baseline")
    (folder.path / "data.py").write_text(projects.DATA.replace("def __init__(self):", "def __init__(self, size=8):"))
    (entry,) = folder.entries()
    assert folder.check("--output-format", "json").out.count(entry["fingerprint"]) == 0
    result = folder.check("--baseline")
    assert (result.code, result.err) == (0, "")


def test_a_file_may_be_renamed(folder: Folder) -> None:
    folder.check("--write-baseline")
    (folder.path / "data.py").rename(folder.path / "crops.py")
    (folder.path / "train.py").write_text(projects.TRAIN.replace("from data", "from crops"))
    result = folder.check("--baseline")
    assert (result.code, result.err) == (0, "")


def test_one_entry_keeps_one_finding(folder: Folder) -> None:
    """Two findings with the same message, one of them kept."""
    folder.check("--write-baseline")
    (folder.path / "data.py").write_text(
        projects.DATA.replace(
            "        self.rng = np.random.default_rng(0)\n",
            "        self.rng = np.random.default_rng(0)\n        self.gen = np.random.default_rng(0)\n",
        ).replace("self.rng.integers(index + 1)", "self.rng.integers(index + 1) + self.gen.integers(9)")
    )
    assert folder.json() == ["data.py", "data.py"]
    assert folder.json("--baseline") == ["data.py"]


def test_what_is_louder_is_reported(folder: Folder) -> None:
    folder.check("--write-baseline", "--severity", "LDR102=warning")
    assert folder.check("--baseline", "--severity", "LDR102=warning").code == 0
    assert folder.check("--baseline", "--severity", "LDR102=information").code == 0
    louder = folder.check("--baseline")
    assert louder.code == 1
    assert "gone" not in louder.err
    assert "more in the baseline" not in louder.out


def test_what_is_gone_is_told_and_fails_nothing(folder: Folder) -> None:
    _add(folder)
    folder.check("--write-baseline")
    (folder.path / "more.py").unlink()
    gone = folder.check("--baseline")
    assert gone.code == 0
    assert gone.err == (f"1 finding of {FILE} is gone: write it again with: loaderlint check --write-baseline\n")
    (folder.path / "data.py").write_text(projects.DATA.replace("self.rng.integers(index + 1)", "index"))
    assert folder.check("--baseline").err.startswith(f"2 findings of {FILE} are gone: ")
    assert "(0 new, 2 gone)" in folder.check("--write-baseline").err
    assert folder.entries() == []
    assert folder.check("--baseline").code == 0


def test_what_was_not_looked_at_is_neither_gone_nor_lost(folder: Folder) -> None:
    _add(folder)
    folder.check("--write-baseline")
    assert folder.check("--baseline", "--", "train.py").err == ""
    assert folder.check("--baseline", "--select", "LDR5").err == ""
    before = folder.file.read_text()
    folder.check("data.py", "--write-baseline")
    assert folder.file.read_text() == before
    folder.check("--select", "LDR5", "--write-baseline")
    assert folder.file.read_text() == before


def test_a_file_that_does_not_parse_loses_nothing(folder: Folder) -> None:
    folder.check("--write-baseline")
    before = folder.file.read_text()
    (folder.path / "data.py").write_text(
        projects.DATA.replace("return self.rng.integers(", "return self.rng.integers((")
    )
    broken = folder.check("--baseline")
    assert (broken.code, broken.err) == (0, "")
    folder.check("--write-baseline")
    assert folder.file.read_text() == before


def test_hints_are_not_kept(folder: Folder) -> None:
    folder.check("--write-baseline", "--severity", "LDR102=hint")
    assert folder.entries() == []
    assert folder.check("--baseline").code == 1


def test_it_is_a_setting_too(folder: Folder) -> None:
    settings = folder.path / "pyproject.toml"
    (folder.path / "ci").mkdir()
    settings.write_text(settings.read_text() + 'baseline = "ci/known.json"\n')
    missing = folder.check()
    assert missing.code == 2
    assert "ci/known.json: there is no such baseline; write it with: loaderlint check --write-baseline" in missing.err
    assert "data.py:7:20: error" in missing.out
    assert folder.check("--write-baseline").err == "Wrote 1 finding to ci/known.json (1 new, 0 gone).\n"
    (entry,) = json.loads((folder.path / "ci" / "known.json").read_text())["findings"]
    assert entry["path"] == "../data.py"
    assert folder.check().code == 0
    assert folder.check("--no-baseline").code == 1
    assert folder.check("--baseline", "none.json").code == 2


@pytest.mark.parametrize("named", ["{relative}/out.json", "{outside}/out.json", "link.json", "folder/out.json"])
def test_settings_do_not_name_a_file_outside_of_the_project_to_write(
    folder: Folder, tmp_path_factory: pytest.TempPathFactory, named: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    relative = os.path.relpath(outside, folder.path)
    (folder.path / "link.json").symlink_to(outside / "out.json")
    (folder.path / "folder").symlink_to(outside)
    settings = folder.path / "pyproject.toml"
    settings.write_text(settings.read_text() + f'baseline = "{named.format(outside=outside, relative=relative)}"\n')
    result = folder.check("--write-baseline")
    assert result.code == 2
    assert f"outside of the project; to write there, name it: --write-baseline={relative}/out.json" in result.err
    assert not list(outside.iterdir())
    assert folder.check(f"--write-baseline={relative}/out.json").code == 0
    assert [path.name for path in outside.iterdir()] == ["out.json"]


def test_a_link_in_the_place_of_the_default_is_not_followed_out(
    folder: Folder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    folder.file.symlink_to(outside / "out.json")
    assert folder.check("--write-baseline").code == 2
    assert not list(outside.iterdir())


def test_it_holds_from_any_folder(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = folder.path / "pyproject.toml"
    settings.write_text(settings.read_text() + f'baseline = "{FILE}"\n')
    (folder.path / "sub").mkdir()
    monkeypatch.chdir(folder.path / "sub")
    assert folder.check("..", "--write-baseline").code == 0
    assert folder.entries()[0]["path"] == "data.py"
    assert folder.check("../data.py").code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not a baseline ("),
        ("[]", "is not a baseline (no version and findings in it)"),
        ('{"version": 2, "findings": []}', "was written by a newer loaderlint"),
        ('{"version": 1, "findings": [7]}', "finding 1 in it is not an object"),
        ('{"version": 1, "findings": [{"path": "a.py"}]}', "finding 1 in it cannot be read ('code')"),
    ],
)
def test_a_bad_baseline_is_said_and_stays(folder: Folder, content: str, message: str) -> None:
    folder.file.write_text(content)
    result = folder.check("--baseline")
    assert result.code == 2
    assert f"loaderlint: {FILE}: {message}" in result.err
    assert "data.py:7:20: error" in result.out
    assert folder.check("--write-baseline").code == 2
    assert folder.file.read_text() == content


@pytest.mark.parametrize("value", [".", "data.py"])
@pytest.mark.parametrize("flag", ["--baseline", "--write-baseline"])
def test_a_path_is_not_taken_for_a_baseline(folder: Folder, flag: str, value: str) -> None:
    result = folder.check(flag, value)
    assert result.code == 2
    assert f"'{value}' is taken as the baseline file; write PATH before {flag}" in result.err
    assert re.search(r"import", (folder.path / "data.py").read_text())


def test_fixes_leave_what_is_kept(folder: Folder) -> None:
    folder.check("--write-baseline")
    assert folder.check("--baseline", "--diff").code == 0
    folder.check("--baseline", "--fix")
    assert (folder.path / "data.py").read_text() == projects.DATA
    assert folder.check("--write-baseline", "--diff").code == 2
    folder.check("--fix", "--write-baseline")
    assert folder.entries() == []
