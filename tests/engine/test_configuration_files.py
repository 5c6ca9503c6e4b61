"""Configuration files whose values reach loaders: edits of them are noticed, and only files of the project count."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.sources import configuration_files
from loaderlint.sources.configuration_files import ConfigurationFiles
from loaderlint.sources.discovery import Budget
from tests.engine.test_yaml_configurations import write

TRAIN = """
import sys
import numpy as np
import yaml
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.integers(3)


def main(path):
    with open(path) as file:
        config = yaml.safe_load(file)
    for batch in DataLoader(Crops(), num_workers=config["data"]["num_workers"]):
        print(batch)


main(sys.argv[1])
"""
LARGE = "data:\n  num_workers: 4\n"
NONE = LARGE.replace("4", "0")


def project(root: Path, files: Mapping[str, str]) -> Path:
    return write(root, {"pyproject.toml": "", "train.py": TRAIN, **files})


def certainties(workspace: Workspace) -> set[str]:
    return {one.certainty for found in workspace.check().values() for one in found}


def found(root: Path) -> set[str]:
    return certainties(Workspace([root]))


def test_an_edit_is_seen(tmp_path: Path) -> None:
    root = project(tmp_path.resolve(), {"configs/train.yaml": LARGE})
    workspace = Workspace([root])
    assert certainties(workspace) == {"proven"}
    write(root, {"configs/train.yaml": NONE})
    assert certainties(workspace) == set()


def test_a_file_that_comes_or_goes_is_seen(tmp_path: Path) -> None:
    root = project(tmp_path.resolve(), {"configs/train.yaml": NONE})
    workspace = Workspace([root])
    assert certainties(workspace) == set()
    write(root, {"configs/large/train.yaml": LARGE})
    assert certainties(workspace) == {"proven"}
    (root / "configs/large/train.yaml").unlink()
    assert certainties(workspace) == set()
    (root / "configs/train.yaml").unlink()
    assert certainties(workspace) == {"possible"}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="there is none"),
        pytest.param({".gitignore": "configs\n", "configs/train.yaml": LARGE}, id="ignored"),
        pytest.param({"configs/train.yaml": f"{LARGE}# {'x' * 256_000}"}, id="too large"),
        pytest.param({"configs/train.yaml": f"{LARGE}rest: ["}, id="broken"),
        pytest.param({"configs/train.txt": LARGE}, id="another kind of file"),
        pytest.param({"configs/train.json": '{"data": {"num_workers": 4}}'}, id="not what YAML reads"),
        pytest.param({"../train.yaml": LARGE}, id="outside of the project"),
        pytest.param({"venv/train.yaml": LARGE}, id="of an environment"),
    ],
)
def test_other_files_say_nothing(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert found(project(tmp_path / "project", files)) == {"possible"}


@pytest.mark.parametrize("value", ["[1, 2]", "{a: 1}", "", "'8'", ".nan", "1.5"])
@pytest.mark.parametrize("name", ["num_workers", "batch_size", "shuffle"])
def test_a_value_of_another_kind_says_nothing(tmp_path: Path, name: str, value: str) -> None:
    code = TRAIN.replace('num_workers=config["data"]["num_workers"]', f'num_workers=2, {name}=config["data"]["{name}"]')
    code = code.replace("num_workers=2, num_workers", "num_workers")
    files = {"train.py": code, "configs/train.yaml": f"data:\n  {name}: {value}\n", "configs/more.yaml": LARGE}
    files["configs/other.yaml"] = f"data:\n  {name}: [3]\n"
    assert found(project(tmp_path, files)) == {"proven"}


def test_the_files_nearest_to_the_code_count(tmp_path: Path) -> None:
    files = {"first/train.py": TRAIN, "first/train.yaml": NONE, "second/train.yaml": LARGE, "pyproject.toml": ""}
    assert found(write(tmp_path, files)) == set()


def test_a_constant_path_is_that_of_its_file(tmp_path: Path) -> None:
    code = TRAIN.replace("main(sys.argv[1])", 'main("configs/train.yaml")')
    files = {"train.py": code, "configs/train.yaml": NONE, "configs/large.yaml": LARGE}
    assert found(project(tmp_path, files)) == set()


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    root = project(tmp_path / "project", {})
    write(tmp_path, {"train.yaml": LARGE})
    (root / "train.yaml").symlink_to(tmp_path / "train.yaml")
    assert found(root) == {"possible"}


def test_no_more_than_the_limits_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.yaml": "a: 1", "b.json": '{"a": 1}', "c.toml": "a = 1"})
    assert [one.name for one in ConfigurationFiles(tmp_path).naming("a")] == ["a.yaml", "b.json", "c.toml"]
    monkeypatch.setattr(configuration_files, "_MAX_SEARCHED", 10)
    assert [one.name for one in ConfigurationFiles(tmp_path).naming("a")] == ["a.yaml", "c.toml"]
    assert ConfigurationFiles(tmp_path, lambda: False).naming("a") == ()


def test_documents_of_each_kind(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "a: 1", "b.json": '{"a": 1}', "c.toml": "a = 1", "d.json": "[" * 9_000, "e.toml": "="})
    files = ConfigurationFiles(tmp_path)
    documents = [files.document(tmp_path / name) for name in ("a.yaml", "b.json", "c.toml", "d.json", "e.toml")]
    assert documents == [{"a": 1}, {"a": 1}, {"a": 1}, None, None]


WORD = "worker_init_fn"


@pytest.mark.parametrize("name", ["train.yaml", "conf/deep/train.yml", "a.json", "a.toml", "run.sh", "a.ini"])
def test_a_configuration_names_a_word(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: f"loader: {WORD}", "other.yaml": "loader: none"})
    assert ConfigurationFiles(tmp_path).may_name(WORD)
    assert not ConfigurationFiles(tmp_path).may_name("collate_fn")


@pytest.mark.parametrize("name", ["README.md", "rows.csv", ".cache/a.yaml", "node_modules/a/a.json", "venv/a.toml"])
def test_files_that_configure_nothing(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: WORD})
    assert not ConfigurationFiles(tmp_path).may_name(WORD)


def test_large_files_are_data(tmp_path: Path) -> None:
    write(tmp_path, {"a.json": WORD + " " * 256_000})
    assert not ConfigurationFiles(tmp_path).may_name(WORD)


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_a_file_outside_the_project_is_not_searched(tmp_path: Path) -> None:
    write(tmp_path, {"outside.yaml": WORD, "project/a.yaml": ""})
    (tmp_path / "project/b.yaml").symlink_to(tmp_path / "outside.yaml")
    assert not ConfigurationFiles(tmp_path / "project").may_name(WORD)


@pytest.mark.parametrize(
    ("limit", "most"), [("_BUDGET", Budget(entries=9, files=2)), ("_MAX_SEARCHED", 2), ("_BUDGET", Budget(2, 9))]
)
def test_what_was_not_searched_may_name_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: object
) -> None:
    write(tmp_path, {"a.yaml": "a: 1", "b.yaml": "b: 1", "c/c.yaml": "c: 1"})
    assert not ConfigurationFiles(tmp_path).may_name(WORD)
    monkeypatch.setattr(configuration_files, limit, most)
    assert ConfigurationFiles(tmp_path).may_name(WORD)


def test_a_folder_that_is_no_project_may_name_every_word(tmp_path: Path) -> None:
    assert ConfigurationFiles(tmp_path, lambda: False).may_name(WORD)


def test_a_change_of_what_was_searched_is_seen(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "a: 1"})
    files = ConfigurationFiles(tmp_path)
    assert not files.changed()
    files.may_name(WORD)
    assert not files.changed()
    write(tmp_path, {"run.sh": WORD})
    assert files.changed()
    files = ConfigurationFiles(tmp_path)
    assert files.may_name(WORD)
    write(tmp_path, {"run.sh": "a longer text than before"})
    assert files.changed()
