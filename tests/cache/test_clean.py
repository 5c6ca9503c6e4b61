"""`loaderlint clean`, and where the cache is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loaderlint import cli
from loaderlint.cache import cache_folder
from loaderlint.cache.database import NAME, Database


def test_show_and_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv(cache_folder.VARIABLE, str(folder))
    assert cli.main(["clean", "--show"]) == 0
    assert capsys.readouterr().out == f"{folder} (empty)\n"
    Database(folder).put([(b"key", b"value")])
    (folder / "mine.txt").touch()
    assert cli.main(["clean", "--show"]) == 0
    assert capsys.readouterr().out.startswith(f"{folder} (")
    assert (folder / NAME).exists()
    assert cli.main(["clean"]) == 0
    assert "Removed" in capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "mine.txt"], "only what is ours"
    assert cli.main(["clean"]) == 0
    assert capsys.readouterr().out == f"Nothing to remove in {folder}.\n"


def test_the_flag_wins_over_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache_folder.VARIABLE, str(tmp_path / "variable"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    assert cli.main(["check", "a.py", "--cache-dir", "flag"]) == 0
    assert (tmp_path / "flag" / NAME).exists() and not (tmp_path / "variable").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="each platform has its own place")
def test_the_place_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cache_folder.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder.folder() == tmp_path / "loaderlint"


def test_tests_keep_nothing_in_the_home() -> None:
    folder = cache_folder.folder()
    assert folder is not None and not folder.is_relative_to(Path.home())
