"""Files that nobody meant: whatever they hold, reading them ends, soon, and nothing is raised."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loaderlint.project.versions import version_files
from loaderlint.project.versions.project_versions import Versions
from tests.project.versions import test_files as kinds

SAMPLES = [
    *((name, text) for name, text, *_ in kinds.LOCKS),
    *(("requirements.txt", text) for text, _ in kinds.REQUIREMENTS),
    *(("environment.yml", f"dependencies:\n{text}\n") for text, _ in kinds.CONDA),
    *(("pyproject.toml", text) for text, _ in kinds.PYPROJECT),
    *(("setup.cfg", text) for text, _ in kinds.SETUP_CFG),
    *(("setup.py", text) for text, _ in kinds.SETUP_PY),
]
LONG = [
    "torch==1" + " " * 100_000 + "x",
    "torch" + "=" * 100_000,
    "torch==" + "1." * 50_000,
    "torch; " + "(" * 50_000,
    "torch; python_version < '" + "3." * 20_000 + "'",
    "-r " * 30_000,
    "torch " + "\\\n" * 50_000,
    "require" * 10_000 + ".txt",
    "x = " + "1+" * 20_000 + "1",
    "setup(install_requires=" + "[" * 20_000,
    "dependencies: " + "[" * 100_000,
    "dependencies:\n" + "- " * 50_000 + "pytorch=1.8",
    "dependencies:\n- pytorch" + " " * 100_000 + "=1.8",
    "a: &a [x]\n" + "\n".join(f"b{n}: &b{n} [*a,*a,*a,*a]" for n in range(500)) + "\ndependencies: *a",
    "x = " + "[" * 20_000,
    "a." * 20_000 + "b = 1",
    '{"default":' * 20_000,
    '[[package]]\nname = "' + "a" * 100_000,
    '[[package]]\nname = "torch"\nversion = "not a version"\n',
    '[[package]]\nname = "torch"\nversion = "1.8"\nmarker = "' + "(" * 3_000 + '"\n',
    "- conda: " + "/a-b" * 50_000,
    "- name: pytorch\n  version: " + "9" * 100_000,
    "torch==" + "9" * 4_301,
    "torch==1." + "9" * 4_299,
    "torch>=1.8,<" + "9" * 5_000,
    "[tool.poetry.dependencies]\ntorch = '^" + "9" * 4_500 + "'",
    "[packages]\ntorch = " + "9" * 4_900,
    "python=" + "9" * 5_000,
    "3." + "9" * 5_000,
]
NAMES = sorted({name for name, _ in SAMPLES} | {"Pipfile", "cog.yaml", ".python-version", "pixi.toml"})


def read(folder: Path) -> None:
    found = Versions(folder).at(folder, ("linux", "macos", "windows"))
    for name in (*found, "torch", "python"):
        if name in found:
            assert found[name].described
            assert found[name].before("1.9")


@pytest.mark.parametrize("name", NAMES)
def test_texts_that_take_long_or_go_deep(name: str, tmp_path: Path) -> None:
    for text in LONG:
        (tmp_path / name).write_text(text)
        read(tmp_path)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(SAMPLES), st.data())
def test_files_that_are_half_written(sample: tuple[str, str], data: st.DataObject) -> None:
    name, text = sample
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        to = data.draw(st.integers(at, min(len(text), at + 40)))
        text = text[:at] + data.draw(st.text("[]{}=\"'\n\\#;,<>!~|*@-. \x00torch19é", max_size=12)) + text[to:]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(text, encoding="utf-8", errors="replace")
        read(Path(folder))


def test_files_that_take_each_other_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"requirements-{number}.txt" for number in range(30)]
    for name in names:
        (tmp_path / name).write_text("".join(f"-r {other}\n" for other in names) + "torch==1.8\n")
    read_files: list[object] = []
    monkeypatch.setattr(version_files, "_text", lambda path, kind, unread: read_files.append(path) or path.read_text())
    read(tmp_path)
    assert len(read_files) == 200


def test_an_environment_whose_version_is_endless(tmp_path: Path) -> None:
    (tmp_path / ".venv/lib/python3.11/site-packages/torch-1.8.1.dist-info").mkdir(parents=True)
    (tmp_path / ".venv/pyvenv.cfg").write_text("version = 3." + "9" * 5_000 + "\n")
    read(tmp_path)
    found = Versions(tmp_path).at(tmp_path, ("linux",))
    assert found["torch"].described == "1.8.1, from .venv"
