"""A project that names no platform: a user is told once how to see findings for other platforms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import projects

TRAIN = """from torch.utils.data import DataLoader

if __name__ == "__main__":
    loader = DataLoader([1, 2], num_workers=2)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is checked in a terminal, with a cache of its own."""
    monkeypatch.setenv("LOADERLINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("loaderlint.engine.file_settings.sys.platform", "linux")
    monkeypatch.setenv("COLUMNS", "300")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    (project / "train.py").write_text(TRAIN)
    monkeypatch.chdir(project)
    return project


def _told(capsys: pytest.CaptureFixture[str], *arguments: str, terminal: bool = True) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
        projects.run("check", *arguments)
    return (
        "The check assumes Linux, as on this machine. To see findings for macOS and Windows too: loaderlint check"
        " --platforms linux,macos,windows (or the setting platforms). This tip is shown once.\n"
    ) in capsys.readouterr().err


def test_it_is_told_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _told(capsys)
    assert not _told(capsys)
    (folder / "train.py").write_text(TRAIN.replace("num_workers=2", "num_workers=4"))
    assert not _told(capsys)


@pytest.mark.parametrize(
    "arguments", [("--platforms", "linux"), ("--no-cache",), ("--quiet",)], ids=["named", "not remembered", "quiet"]
)
def test_it_is_not_told(folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    assert not _told(capsys, *arguments)
    (folder / "train.py").write_text(TRAIN.replace("num_workers=2", "num_workers=4"))
    assert _told(capsys)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[project]\nclassifiers = ["Operating System :: MacOS"]\n'),
        ("pyproject.toml", '[tool.loaderlint]\nplatforms = ["linux"]\n'),
        ("train.py", "print(1)\n"),
    ],
    ids=["classifier", "setting", "no workers"],
)
def test_it_does_not_concern_every_project(
    folder: Path, capsys: pytest.CaptureFixture[str], file: str, text: str
) -> None:
    (folder / file).write_text(text)
    assert not _told(capsys)


def test_it_is_for_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not _told(capsys, terminal=False)
