"""The configurations of a project are searched for a word: which files, within which limits, and when again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loaderlint.sources import setting_files
from loaderlint.sources.setting_files import SettingFiles
from tests.engine.test_yaml_configurations import write

WORD = "worker_init_fn"


@pytest.mark.parametrize("name", ["train.yaml", "conf/deep/train.yml", "a.json", "a.toml", "run.sh", "a.ini"])
def test_a_configuration_has_the_word(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: f"loader: {WORD}", "other.yaml": "loader: none"})
    assert SettingFiles(tmp_path).mention(WORD)
    assert not SettingFiles(tmp_path).mention("collate_fn")


@pytest.mark.parametrize("name", ["README.md", "rows.csv", ".cache/a.yaml", "node_modules/a/a.json", "venv/a.toml"])
def test_files_that_configure_nothing(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: WORD})
    assert not SettingFiles(tmp_path).mention(WORD)


def test_large_files_are_data(tmp_path: Path) -> None:
    write(tmp_path, {"a.json": WORD + " " * 100_000})
    assert not SettingFiles(tmp_path).mention(WORD)


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_a_file_outside_the_project_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"outside.yaml": WORD, "project/a.yaml": ""})
    (tmp_path / "project/b.yaml").symlink_to(tmp_path / "outside.yaml")
    assert not SettingFiles(tmp_path / "project").mention(WORD)


@pytest.mark.parametrize(("limit", "most"), [("_MAX_FILES", 2), ("_MAX_FOLDERS", 1), ("_MAX_BYTES", 2)])
def test_what_is_not_read_may_have_the_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    write(tmp_path, {"a.yaml": "a: 1", "b.yaml": "b: 1", "c/c.yaml": "c: 1"})
    assert not SettingFiles(tmp_path).mention(WORD)
    monkeypatch.setattr(setting_files, limit, most)
    assert SettingFiles(tmp_path).mention(WORD)


def test_a_change_is_seen(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "a: 1"})
    files = SettingFiles(tmp_path)
    assert not files.changed()
    files.mention(WORD)
    assert not files.changed()
    write(tmp_path, {"b.yaml": WORD})
    assert files.changed()
    files = SettingFiles(tmp_path)
    assert files.mention(WORD)
    write(tmp_path, {"b.yaml": "a longer text than before"})
    assert files.changed()
