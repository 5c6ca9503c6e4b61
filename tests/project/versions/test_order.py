"""Which source of a version counts more, and which files are the project's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loaderlint.project.versions.project_versions import Versions

LINUX = ("linux",)
LOCK = '[[package]]\nname = "torch"\nversion = "{}"\n'


def told(folder: Path, root: Path | None = None, name: str = "torch", interpreter: str | None = None) -> str:
    return Versions(root or folder, interpreter).at(folder, LINUX)[name].described


def environment(prefix: Path, *packages: str, python: str = "3.12.3") -> Path:
    """An environment of which only the names of its files are there."""
    site = prefix / "lib" / f"python{python.rpartition('.')[0]}" / "site-packages"
    site.mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {python}\n")
    for package in packages:
        (site / f"{package}.dist-info").mkdir()
    return site


def test_each_source_gives_way_to_a_surer_one(tmp_path: Path) -> None:
    steps = [
        ("requirements-dev.txt", "torch==1.0", "1.0, from requirements-dev.txt"),
        ("setup.py", "setup(install_requires=['torch>=1.1'])", ">=1.1, from setup.py"),
        (".venv", "torch-1.2.0", "1.2.0, from .venv"),
        ("pyproject.toml", '[project]\ndependencies = ["torch==1.3"]', "1.3, from pyproject.toml"),
        ("requirements.txt", "torch==1.4", "1.4, from requirements.txt"),
        ("uv.lock", LOCK.format("1.5"), "1.5, from uv.lock"),
    ]
    for name, text, expected in steps:
        if name == ".venv":
            environment(tmp_path / name, text)
        else:
            (tmp_path / name).write_text(text)
        assert told(tmp_path) == expected


def test_what_is_installed_counts_if_the_range_admits_it(tmp_path: Path) -> None:
    environment(tmp_path / ".venv", "torch-2.4.1+cu121")
    requirements = tmp_path / "requirements.txt"
    for text, expected in [
        ("torch>=2,<3", "2.4.1+cu121, from .venv"),
        ("torch", "2.4.1+cu121, from .venv"),
        ("torch<2", "<2, from requirements.txt"),
        ("torch==1.8", "1.8, from requirements.txt"),
    ]:
        requirements.write_text(text)
        assert told(tmp_path) == expected


def test_files_that_disagree_make_a_set(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==1.8.1")
    (tmp_path / "requirements-gpu.txt").write_text("torch==2.1")
    found = Versions(tmp_path).at(tmp_path, LINUX)["torch"]
    assert found.described == "1.8.1 or 2.1, from requirements-gpu.txt and requirements.txt"
    assert found.before("1.9") == "maybe"


@pytest.mark.parametrize(
    "name",
    "docs/requirements.txt tests/requirements.txt other/poetry.lock other/requirements.txt ../requirements.txt "
    "torch_requirements.md requirements/notes.md requirements.txt.bak myrequirements.txt environment.json "
    "package-lock.yml".split(),
)
def test_files_that_are_not_the_project_s(name: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("torch==1.0" if path.suffix != ".lock" else LOCK.format("1.0"))
    assert "torch" not in Versions(root).at(root / "src", LINUX)


@pytest.mark.parametrize(
    "name",
    "requirement.txt requirements_train.txt train-requirements.txt requirements/base.txt requirements.in "
    "REQUIREMENTS.txt src/requirements.txt conda/environment.yml".split(),
)
def test_files_that_are_the_project_s(name: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("torch==1.0" if path.suffix != ".yml" else "dependencies: [pytorch==1.0]")
    assert told(tmp_path / "src", tmp_path) == f"1.0, from {name}"


def test_the_nearest_file_wins_and_rules_farther_ones_out(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==1.0\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "requirements.txt").write_text("torch>=1.4\n")
    assert told(inner, tmp_path) == ">=1.4, from inner/requirements.txt"
    (tmp_path / "poetry.lock").write_text(LOCK.format("2.0.0"))
    assert told(inner, tmp_path) == "2.0.0, from poetry.lock"
    (inner / "requirements.txt").write_text("torch==1.8\n")
    assert told(inner, tmp_path) == "1.8, from inner/requirements.txt"
    assert told(tmp_path) == "2.0.0, from poetry.lock"


def test_includes_are_followed_inside_of_the_project(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("numpy==1.0\n")
    (root / "requirements.txt").write_text("-r train.txt\n-c limits.txt\n-r ../outside.txt\n-r missing.txt\ntorch\n")
    (root / "train.txt").write_text("--requirement=requirements.txt\nmonai==0.8\nalbumentations>=1\n")
    (root / "limits.txt").write_text("torch==1.8.1\nalbumentations<1.4\nkornia==0.5\n")
    found = Versions(root).at(root, LINUX)
    assert {name: one.described for name, one in found.items()} == {
        "monai": "0.8, from train.txt",
        "albumentations": ">=1,<1.4, from train.txt and limits.txt",
        "torch": "1.8.1, from limits.txt",
        "kornia": "0.5, from limits.txt",
    }


def test_only_what_is_for_users_counts_where_there_is_any(tmp_path: Path) -> None:
    (tmp_path / "requirements-test.txt").write_text("torch==1.0\nnumpy==1.19\n")
    (tmp_path / "requirements.txt").write_text("torch>=1.4\nnumpy\n-r requirements-lint.txt\n")
    (tmp_path / "requirements-lint.txt").write_text("torch==1.1\n")
    assert told(tmp_path) == ">=1.4, from requirements.txt"
    assert told(tmp_path, name="numpy") == "1.19, from requirements-test.txt"


def test_python_decides_which_markers_hold(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "torch==1.8; python_version < '3.9'\ntorch==2.1; python_version >= '3.9'\n"
        "torch==2.9; python_version >= '3.14'\n"
    )
    for python, expected in [("3.8", "1.8"), ("3.10.4", "2.1"), ("3.14", "2.1 or 2.9"), ("", "1.8 or 2.1")]:
        (tmp_path / ".python-version").write_text(python)
        assert told(tmp_path) == f"{expected}, from requirements.txt"


def test_the_number_of_a_wheel_counts_where_it_can_be_installed(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "https://x/torch-1.8.1%2Bcu111-cp38-cp38-linux_x86_64.whl ; sys_platform == 'linux'\n"
        "https://x/torch-1.9.0%2Bcu111-cp38-cp38-win_amd64.whl\n"
    )
    assert told(tmp_path) == "1.8.1+cu111, from requirements.txt"
    both = Versions(tmp_path).at(tmp_path, ("linux", "windows"))["torch"]
    assert both.described == "1.8.1+cu111 or 1.9.0+cu111, from requirements.txt"


def test_a_member_of_a_workspace_is_locked_by_the_workspace(tmp_path: Path) -> None:
    for name in ("packages/a", "packages/b"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2"]\n')
    lock = '[[package]]\nname = "a"\nversion = "0"\nsource = { editable = "packages/a" }\n\n' + LOCK.format("2.4.1")
    (tmp_path / "uv.lock").write_text(lock)
    assert told(tmp_path / "packages" / "a") == "2.4.1, from uv.lock"
    assert told(tmp_path / "packages" / "b") == ">=2, from pyproject.toml"


def test_the_python_that_a_lock_was_made_for_is_no_locked_one(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text('requires-python = "==3.12.*"\n\n' + LOCK.format("2.4.1"))
    assert told(tmp_path, name="python") == "3.12, from uv.lock"
    (tmp_path / "requirements.txt").write_text("python==3.12.1")
    assert told(tmp_path, name="python") == "3.12 or 3.12.1, from requirements.txt and uv.lock"


# --- environments -----------------------------------------------------------------------------------------------------


def test_an_environment_is_read_by_the_names_of_its_files(tmp_path: Path) -> None:
    site = environment(tmp_path / ".venv", "torch-2.4.1", "Albumentations-1.3.0", "ruamel.yaml-0.18.6", "broken", "x-y")
    (site / "imgaug-0.4.0-py3.12.egg-info").touch()
    (site / "torch.py").write_text("raise SystemExit('never run')")
    found = Versions(tmp_path).at(tmp_path, LINUX)
    assert {name: one.described for name, one in found.items()} == {
        "python": "3.12.3, from .venv",
        "torch": "2.4.1, from .venv",
        "albumentations": "1.3.0, from .venv",
        "ruamel-yaml": "0.18.6, from .venv",
        "imgaug": "0.4.0, from .venv",
    }


def test_an_environment_of_windows_and_one_of_conda(tmp_path: Path) -> None:
    site = tmp_path / "venv" / "Lib" / "site-packages"
    (site / "torch-2.1.0.dist-info").mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").write_text("home = C:\\Python\nversion_info = 3.11.2.final.0\n")
    assert told(tmp_path) == "2.1.0, from venv"
    assert told(tmp_path, name="python") == "3.11.2, from venv"
    meta = tmp_path / "conda" / "envs" / "train" / "conda-meta"
    meta.mkdir(parents=True)
    (meta / "pytorch-1.8.1-py3.8_cuda10.2_0.json").touch()
    (meta / "python-3.8.13-h12debd9_0.json").touch()
    (meta / "history").touch()
    interpreter = str(meta.parent / "bin" / "python")
    assert told(tmp_path, interpreter=interpreter) == "1.8.1, from conda/envs/train"
    assert told(tmp_path, name="python", interpreter=str(meta.parent / "python.exe")) == "3.8.13, from conda/envs/train"


def test_which_environment_is_selected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "project"
    for name, folder in (("conda", tmp_path / "base"), (".venv", root / ".venv"), ("active", tmp_path / "active")):
        environment(folder, {"conda": "torch-2.0", ".venv": "torch-2.1", "active": "torch-2.2"}[name])
    environment(tmp_path / "editor", "torch-2.3")
    environment(tmp_path / "tool", "loaderlint-1.0")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "base"))
    assert told(root) == "2.1, from .venv"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    assert told(root) == "2.2, from the environment active"
    assert told(root, interpreter=str(tmp_path / "editor" / "bin" / "python")) == "2.3, from the environment editor"
    # one in which no loader can run is that of a tool
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "tool"))
    assert told(root) == "2.1, from .venv"
    (root / ".venv" / "pyvenv.cfg").unlink()
    assert told(root) == "2.0, from the environment base"


def test_the_environment_of_another_project_is_none_of_this_one_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(tmp_path / "other", "torch-2.9", "numpy-2.3", python="3.14.0")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "other"))
    root = tmp_path / "project"
    root.mkdir()
    (root / "requirements.txt").write_text("torch==1.8\n")
    found = Versions(root).at(root, LINUX)
    assert dict(found).keys() == {"torch"}


def test_an_environment_that_sees_the_packages_around_it(tmp_path: Path) -> None:
    outer = tmp_path / "usr" / "lib" / "python3.10" / "dist-packages"
    (outer / "torch-1.12.0a0+git12.egg-info").mkdir(parents=True)
    root = tmp_path / "project"
    environment(root / ".venv", "numpy-1.21", python="3.10.2")
    configuration = f"home = {tmp_path / 'usr' / 'bin'}\nversion = 3.10.2\ninclude-system-site-packages = "
    (root / ".venv" / "pyvenv.cfg").write_text(configuration + "false\n")
    assert "torch" not in Versions(root).at(root, LINUX)
    (root / ".venv" / "pyvenv.cfg").write_text(configuration + "true\n")
    assert told(root) == "1.12.0a0+git12, from .venv"
    assert told(root, name="numpy") == "1.21, from .venv"


def test_a_system_with_several_pythons(tmp_path: Path) -> None:
    for python, torch in (("3.9", "torch-1.8.1"), ("3.12", "torch-2.4.1")):
        (tmp_path / "usr" / "lib" / f"python{python}" / "dist-packages" / f"{torch}.dist-info").mkdir(parents=True)
    root = tmp_path / "project"
    root.mkdir()
    interpreter = tmp_path / "usr" / "bin" / "python3"
    assert "torch" not in Versions(root, str(interpreter)).at(root, LINUX)
    interpreter.parent.mkdir()
    interpreter.symlink_to("python3.12")
    assert told(root, interpreter=str(interpreter)) == "2.4.1, from the environment usr"
    assert told(root, name="python", interpreter=str(interpreter)) == "3.12, from the environment usr"


def test_an_environment_that_is_a_link(tmp_path: Path) -> None:
    environment(tmp_path / "elsewhere", "torch-2.4.1")
    root = tmp_path / "project"
    root.mkdir()
    (root / ".venv").symlink_to(tmp_path / "elsewhere")
    assert told(root) == "2.4.1, from .venv"


def test_an_installation_is_noticed(tmp_path: Path) -> None:
    site = environment(tmp_path / ".venv", "torch-2.0")
    versions = Versions(tmp_path)
    assert versions.at(tmp_path, LINUX)["torch"].described == "2.0, from .venv"
    assert not versions.changed()
    (site / "torch-2.0.dist-info").rename(site / "torch-2.1.dist-info")
    os.utime(site, (1, 1))
    assert versions.changed()


# --- size -------------------------------------------------------------------------------------------------------------


def test_a_folder_full_of_data_is_not_listed_to_its_end(tmp_path: Path) -> None:
    for number in range(2_100):
        (tmp_path / f"{number}.jpg").touch()
    (tmp_path / "requirements-gpu.txt").write_text("torch==1.0")
    (tmp_path / "requirements.txt").write_text("torch==1.8")
    assert told(tmp_path) == "1.8, from requirements.txt"


def test_a_file_that_is_far_too_long_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==1.8\n" + "#" * 2_000_000)
    assert "torch" not in Versions(tmp_path).at(tmp_path, LINUX)
