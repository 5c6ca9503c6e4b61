"""What a project's files say of the platforms that it runs on, and what looks like it and says nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.project.versions.project_versions import Versions

WINDOWS = "Operating System :: Microsoft :: Windows"
MACOS = "Operating System :: MacOS :: MacOS X"
LINUX = "Operating System :: POSIX :: Linux"
LISTED = f'["Programming Language :: Python :: 3", "{WINDOWS}", "{MACOS}"]'

FILES = [
    ("pyproject.toml", f"[project]\nclassifiers = {LISTED}\n", "macos windows"),
    ("pyproject.toml", f"[tool.poetry]\nclassifiers = {LISTED}\n", "macos windows"),
    ("pyproject.toml", f"[tool.flit.metadata]\nclassifiers = {LISTED}\n", "macos windows"),
    ("pyproject.toml", f'[project]\nclassifiers = ["{WINDOWS} :: Windows 11"]\n', "windows"),
    ("pyproject.toml", f'[project]\nclassifiers = ["{LINUX}"]\n', "linux"),
    ("pyproject.toml", '[project]\nclassifiers = ["Operating System :: Unix"]\n', "linux"),
    ("pyproject.toml", '[tool.pixi.workspace]\nplatforms = ["linux-64", "osx-arm64"]\n', "linux macos"),
    ("pixi.toml", '[project]\nplatforms = ["win-64"]\n', "windows"),
    ("setup.cfg", f"[metadata]\nclassifiers =\n    Topic :: Utilities\n    {WINDOWS}\n    {MACOS}\n", "macos windows"),
    ("setup.py", f"from setuptools import setup\nsetup(name='x', classifiers={LISTED})\n", "macos windows"),
    ("setup.py", f"KNOWN = {LISTED}\nsetup(name='x', classifiers=KNOWN)\n", "macos windows"),
    # near misses
    ("pyproject.toml", '[project]\nclassifiers = ["Operating System :: OS Independent"]\n', ""),
    ("pyproject.toml", '[project]\nclassifiers = ["Environment :: Win32 (MS Windows)"]\n', ""),
    ("pyproject.toml", f'[project]\nkeywords = ["{WINDOWS}"]\nclassifiers = "{WINDOWS}"\n', ""),
    ("pyproject.toml", f"[project]\n# classifiers = {LISTED}\nclassifiers = [3, true]\n", ""),
    ("pixi.toml", '[workspace]\nplatforms = "win-64"\n', ""),
    ("setup.cfg", f"[options]\nclassifiers =\n    {WINDOWS}\n", ""),
    ("setup.py", f"# {WINDOWS}\nsetup(name='x', description='For Windows and macOS')\n", ""),
    ("requirements.txt", f"# {WINDOWS}\ntorch==2.1\n", ""),
]


@pytest.mark.parametrize(("name", "text", "expected"), FILES)
def test_what_a_file_says(name: str, text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    platforms, sources = Versions(tmp_path).platforms(tmp_path)
    assert " ".join(platforms) == expected
    assert sources == ((name,) if expected else ())


def test_a_platform_is_no_package(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["torch"]\nclassifiers = {LISTED}\n')
    assert [*Versions(tmp_path).at(tmp_path, ("linux",))] == ["torch"]


def test_the_nearest_file_decides(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(f"setup(classifiers={LISTED})\n")
    inner = tmp_path / "packages" / "one"
    inner.mkdir(parents=True)
    versions = Versions(tmp_path)
    assert versions.platforms(inner)[0] == ("macos", "windows")
    (inner / "pyproject.toml").write_text(f'[project]\nclassifiers = ["{LINUX}"]\n')
    assert Versions(tmp_path).platforms(inner)[0] == ("linux",)


CODE = """\
from torch.utils.data import DataLoader

loader = DataLoader([1, 2], num_workers=2, collate_fn=lambda batch: batch)


def main():
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main()
"""


def names_found(folder: Path, **settings: object) -> list[str]:
    (folder / "train.py").write_text(CODE)
    return [one.name for found in Workspace([folder], settings).check().values() for one in found]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are spawned anyway")
def test_what_breaks_on_windows_is_found_where_the_project_names_it(tmp_path: Path) -> None:
    silent = '[project]\nname = "x"\nrequires-python = ">=3.10,<3.14"\n'
    (tmp_path / "pyproject.toml").write_text(silent)
    assert names_found(tmp_path) == []
    (tmp_path / "pyproject.toml").write_text(f'{silent}classifiers = ["{WINDOWS}"]\n')
    assert names_found(tmp_path) == ["unpicklable-callable"]
    assert names_found(tmp_path, platforms=["linux"]) == [], "a setting wins"


@pytest.mark.skipif(sys.platform != "linux", reason="names this machine")
def test_where_the_platforms_come_from_is_said(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(CODE)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    said = Workspace([tmp_path], {}).environment(path)
    assert "platform linux (this machine; the setting platforms adds others)" in said
    (tmp_path / "pyproject.toml").write_text(f'[project]\nclassifiers = ["{WINDOWS}"]\n')
    said = Workspace([tmp_path], {}).environment(path)
    assert "platforms linux, windows (this machine and pyproject.toml)" in said
