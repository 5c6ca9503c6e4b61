"""YAML configurations that programs name: edits of them are noticed, and hostile ones do no harm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.project.versions.declaration import Malformed
from loaderlint.project.versions.yaml_text import REPEATED, parsed
from loaderlint.sources import configuration_files
from loaderlint.sources.configuration_files import ConfigurationFiles

TRAIN = """
import hydra
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.integers(3)


@hydra.main(config_path="configs", config_name="train")
def main(cfg):
    for batch in DataLoader(hydra.utils.instantiate(cfg.dataset), num_workers=cfg.workers):
        print(batch)


main()
"""
CONFIGURATION = """
dataset: {_target_: train.Crops}
workers: 2
"""


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def project(root: Path) -> Path:
    return write(root, {"pyproject.toml": "", "train.py": TRAIN, "configs/train.yaml": CONFIGURATION})


def check(workspace: Workspace) -> list[Diagnostic]:
    return [one for found in workspace.check().values() for one in found]


def certainties(root: Path) -> set[str]:
    return {one.certainty for one in check(Workspace([root]))}


def test_an_edit_is_seen(tmp_path: Path) -> None:
    root, workspace = project(tmp_path.resolve()), Workspace([tmp_path.resolve()])
    assert {one.certainty for one in check(workspace)} == {"proven"}
    write(root, {"configs/train.yaml": CONFIGURATION.replace("2", "0")})
    assert check(workspace) == []


def test_a_configuration_that_is_written_later_is_seen(tmp_path: Path) -> None:
    root, workspace = project(tmp_path.resolve()), Workspace([tmp_path.resolve()])
    (root / "configs/train.yaml").unlink()
    assert {one.certainty for one in check(workspace)} == {"possible"}
    write(root, {"configs/train.yaml": CONFIGURATION})
    assert {one.certainty for one in check(workspace)} == {"proven"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x: " * 3_000, id="nested too deep"),
        pytest.param(f"{CONFIGURATION}\nrest: {'x' * 256_000}", id="too long"),
        pytest.param(f"{CONFIGURATION}\nrest: [", id="broken"),
        pytest.param("a: &a [x, x]\n" + "".join(f"b{n}: [*a, *a]\n" for n in range(99)), id="repeated"),
        pytest.param("defaults: [train, train, train]\n", id="takes itself in"),
        pytest.param("defaults: {train: train}\ndataset: ${workers}\nworkers: ${dataset}\n", id="goes in a circle"),
        pytest.param("!!python/object/apply:os.system [touch seen]", id="makes an object"),
    ],
)
def test_a_hostile_configuration_says_nothing(tmp_path: Path, text: str) -> None:
    root = project(tmp_path)
    write(root, {"configs/train.yaml": text})
    assert certainties(root) == {"possible"}
    assert not (root / "seen").exists()


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in folders")
def test_a_named_pipe_is_not_opened(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "configs/train.yaml").unlink()
    os.mkfifo(root / "configs/train.yaml")
    assert certainties(root) == {"possible"}


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_a_file_outside_the_project_is_not_read(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    (root / "configs/train.yaml").rename(tmp_path / "train.yaml")
    (root / "configs/train.yaml").symlink_to(tmp_path / "train.yaml")
    assert certainties(root) == {"possible"}


def test_a_project_may_be_a_whole_disk(tmp_path: Path) -> None:
    write(tmp_path, {"train.yaml": "a: 1"})
    assert ConfigurationFiles(Path(tmp_path.anchor)).document(tmp_path / "train.yaml") == {"a": 1}


def test_no_more_than_the_limits_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {f"{n}.yaml": "a: 1" for n in range(4)})
    monkeypatch.setattr(configuration_files, "_MAX_FILES", 3)
    files = ConfigurationFiles(tmp_path)
    assert [files.document(tmp_path / f"{n}.yaml") for n in range(4)] == [{"a": 1}] * 3 + [None]
    monkeypatch.setattr(configuration_files, "_MAX_BYTES", 6)
    files = ConfigurationFiles(tmp_path)
    assert [files.document(tmp_path / f"{n}.yaml") for n in range(3)] == [{"a": 1}] * 2 + [None]


def test_what_plain_words_are() -> None:
    text = "[4, -1, '4', 0.5, 1e-3, true, No, null, ~, 007, 1_0, 3.10.1, on, x, &a y, *a, {a: [1]}]"
    expected = [4, -1, "4", 0.5, 0.001, True, False, None, None, "007", "1_0", "3.10.1", "on", "x", "y", REPEATED]
    assert parsed(text, typed=True) == [*expected, {"a": [1]}]
    with pytest.raises(Malformed):
        parsed("{", typed=True)
