"""Every setting is also a flag with the same effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loaderlint import cli
from loaderlint.commands.command_inputs import given_settings
from loaderlint.settings import settings

#: For each key, the flag with its value, and the line of loaderlint.toml.
SAME = {
    "select": ("--select=LDR1,shared-generator", 'select = ["LDR1", "shared-generator"]'),
    "ignore": ("--ignore=LDR4", 'ignore = ["LDR4"]'),
    "extend-select": ("--extend-select=ALL", 'extend-select = ["ALL"]'),
    "per-file-ignores": (
        "--per-file-ignores=tests/*:LDR1,tests/*:LDR4,*.ipynb:ALL",
        'per-file-ignores = { "tests/*" = ["LDR1", "LDR4"], "*.ipynb" = ["ALL"] }',
    ),
    "severity": (
        "--severity=LDR1=hint,shared-generator=error",
        'severity = { LDR1 = "hint", shared-generator = "error" }',
    ),
    "exclude": ("--exclude=old/,*_pb2.py", 'exclude = ["old/", "*_pb2.py"]'),
    "target-torch": ("--target-torch=>=2.0,<2.5", 'target-torch = ">=2.0,<2.5"'),
    "target-python": ("--target-python=3.12", 'target-python = "3.12"'),
    "platforms": ("--platforms=linux,windows", 'platforms = ["linux", "windows"]'),
    "start-method": ("--start-method=spawn", 'start-method = "spawn"'),
    "loaders": ("--loaders=make_loader,pkg.other", 'loaders = ["make_loader", "pkg.other"]'),
    "baseline": ("--baseline=known.json", 'baseline = "known.json"'),
}


def test_none_is_left_out() -> None:
    assert list(SAME) == list(settings.KEYS)


@pytest.mark.parametrize("key", SAME)
def test_the_flag_says_what_the_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    flag, line = SAME[key]
    by_flag, by_file = tmp_path / "flag", tmp_path / "file"
    by_flag.mkdir()
    by_file.mkdir()
    monkeypatch.chdir(by_flag)
    settings.clear()
    overrides = given_settings(cli._parser().parse_args(["check", flag]))
    (by_file / "loaderlint.toml").write_text(line)
    asked, wrong = settings.load(by_flag / "a.py", overrides)
    said, wrong_too = settings.load(by_file / "a.py")
    assert wrong == wrong_too == ()
    assert getattr(said, key.replace("-", "_")) is not None
    assert said.directory == by_file
    if key == "baseline":  # a flag's path is relative to the current folder, wherever the settings file is
        assert asked.baseline == str(by_flag / "known.json")
        asked = replace(asked, baseline="known.json")
    assert replace(asked, directory=by_file) == said


def test_settings_of_single_folders(tmp_path: Path) -> None:
    one, inner = tmp_path / "one", tmp_path / "one" / "inner"
    inner.mkdir(parents=True)
    overrides = {"ignore": ["LDR1"], settings.FOLDERS: {one: {"target-torch": "2.4"}, inner: {"ignore": ["LDR2"]}}}

    def found(folder: Path) -> tuple[object, object]:
        asked, wrong = settings.load(folder / "a.py", overrides)
        assert not wrong
        return asked.ignore, asked.target_torch

    assert found(tmp_path) == (("LDR1",), None)
    assert found(one) == (None, "2.4")
    assert found(inner) == (("LDR2",), None), "the nearest folder alone"
