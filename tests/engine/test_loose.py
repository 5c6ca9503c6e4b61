"""Files outside a project, and the files that are read with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loaderlint import cli
from loaderlint.engine import Workspace
from loaderlint.settings import settings
from loaderlint.sources import import_neighbours
from loaderlint.sources.discovery import Budget

DATA = """import numpy as np
from torch.utils.data import Dataset


class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rng.integers(9)
"""
TRAIN = "from torch.utils.data import DataLoader\n{}\nloader = DataLoader(Crops(), num_workers=2)\n"


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def _read(root: Path, workspace: Workspace) -> list[str]:
    (project, _), *_ = workspace.answered()
    return sorted(path.relative_to(root).as_posix() for path in project.store.paths())


@pytest.mark.parametrize(
    ("line", "module", "also"),
    [
        ("from lib.data import Crops", "lib/data.py", []),
        ("from lib.inner.data import Crops", "lib/inner/data.py", ["lib/__init__.py"]),
        ("from lib import (\n    data,  # a\n)\nCrops = data.Crops", "lib/data.py", ["lib/__init__.py"]),
        ("import os, lib.data as d; Crops = d.Crops", "lib/data.py", []),
        ("from \\\n    lib.data import \\\n    Crops", "lib/data.py", []),
        ("from .lib.data import Crops", "lib/data.py", []),
        ("from lib.data import Crops", "lib/lib/data.py", ["lib/lib/__init__.py", "lib/__init__.py"]),
        ("from lib.data import Crops", "lib/lib/data.py", []),
        ("if True: from lib.data import Crops", "lib/data.py", []),
        ("from data import Crops", "src/data.py", []),
        ("import sys\nsys.path.append('vendor/x')\nfrom data import Crops", "vendor/x/data.py", []),
        ("from importlib import import_module\nCrops = import_module('lib.data').Crops", "lib/data.py", []),
    ],
)
def test_what_imports_lead_to_is_read_and_nothing_else(line: str, module: str, also: list[str], tmp_path: Path) -> None:
    _write(
        tmp_path, {"train.py": TRAIN.format(line), module: DATA, "beside.py": "", "other/deep/a.py": "", "z/b.py": ""}
    )
    _write(tmp_path, dict.fromkeys(also, ""))
    settings.clear()
    workspace = Workspace([], around=[tmp_path])
    found = workspace.check([tmp_path / "train.py", tmp_path / module])
    assert _read(tmp_path, workspace) == sorted(["beside.py", "train.py", module, *also])
    assert [one.name for one in found[tmp_path / module]] == ["shared-generator"]


def test_the_files_follow_edits(tmp_path: Path) -> None:
    _write(tmp_path, {"train.py": "", "lib/data.py": DATA, "lib/more.py": ""})
    settings.clear()
    workspace, train = Workspace([]), tmp_path / "train.py"
    workspace.check([train])
    assert _read(tmp_path, workspace) == ["train.py"]
    workspace.set_text(train, TRAIN.format("from lib.data import Crops"))
    workspace.check([train])
    assert _read(tmp_path, workspace) == ["lib/data.py", "train.py"]
    (tmp_path / "lib" / "data.py").write_text(f"import lib.more\n{DATA}")
    workspace.forget([tmp_path / "lib" / "data.py"])
    workspace.check([train])
    assert _read(tmp_path, workspace) == ["lib/data.py", "lib/more.py", "train.py"]
    _write(tmp_path, {"lib/new.py": "", "lib/more.py": "from lib import new\n"})
    workspace.forget([tmp_path / "lib" / "more.py", tmp_path / "lib" / "new.py"])
    workspace.check([train])
    assert _read(tmp_path, workspace) == ["lib/data.py", "lib/more.py", "lib/new.py", "train.py"]
    (tmp_path / "lib" / "new.py").unlink()
    workspace.forget([tmp_path / "lib" / "new.py"])
    workspace.check([train])
    assert _read(tmp_path, workspace) == ["lib/data.py", "lib/more.py", "train.py"]
    workspace.set_text(train, "")
    workspace.check([train])
    assert _read(tmp_path, workspace) == ["train.py"]


@pytest.mark.parametrize("how", ["marker", "workspace", "asked"])
def test_a_folder_that_is_meant_is_read_as_a_whole(how: str, tmp_path: Path) -> None:
    _write(tmp_path, {"a.py": "", "deep/er/b.py": ""})
    if how == "marker":
        (tmp_path / "setup.cfg").touch()
    settings.clear()
    workspace = Workspace([tmp_path] if how == "workspace" else [])
    workspace.check([tmp_path / "a.py"])
    if how == "asked":
        assert _read(tmp_path, workspace) == ["a.py"]
        workspace.check([tmp_path])
    assert _read(tmp_path, workspace) == ["a.py", "deep/er/b.py"]


def test_the_budget_ends_the_search_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = {f"p{n}/m{n}.py": f"import p{n + 1}.m{n + 1}\n" for n in range(30)}
    _write(tmp_path, {"train.py": "import p0.m0\n", **chain})
    monkeypatch.setattr(import_neighbours.Reachable.__init__, "__defaults__", (Budget(1_000, 5),))
    settings.clear()
    workspace = Workspace([])
    workspace.check([tmp_path / "train.py"])
    assert len(_read(tmp_path, workspace)) == 5
    (problem,) = workspace.problems
    assert (problem.path, problem.fatal) == (tmp_path, False)
    assert "stopped after 5 Python files that imports lead to" in problem.message


def test_the_cache_tells_a_file_from_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, {"lib/data.py": DATA, "train.py": TRAIN.format("from lib.data import Crops")})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOADERLINT_CACHE_DIR", os.fspath(tmp_path / ".cache"))

    def out(*arguments: str) -> str:
        settings.clear()
        cli.main(["check", *arguments])
        return capsys.readouterr().out

    cold = {name: out("--no-cache", name) for name in ("lib/data.py", ".")}
    assert cold["lib/data.py"] != cold["."]  # the loader that uses it is not known
    for name in (".", "lib/data.py", ".", "lib/data.py"):
        assert out(name) == cold[name]
    (tmp_path / "lib" / "user.py").write_text(TRAIN.format("from data import Crops"))
    assert "shared-generator" in out("lib/data.py")  # a new file in the same folder
