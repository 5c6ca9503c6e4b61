"""After edits, a workspace reports the same as a new one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from tests.engine.projects import FILES, cold, edited, parses, restructured, shown, write

_PYTHON = [name for name in FILES if name.endswith(".py") and FILES[name]]


@pytest.mark.parametrize("seed", range(12))
def test_after_any_edits_the_findings_are_those_of_a_cold_check(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = write(tmp_path.resolve())
    workspace = Workspace([root])
    assert sum(map(len, workspace.check().values())) >= 5
    texts: dict[Path, str] = {}
    good: dict[Path, str] = {}
    compared = 0
    for step in range(30):
        broken = [path for path in texts if not parses(workspace, path)]
        if broken and chance.random() < 0.7:  # undo edits that do not parse, as users do
            path = chance.choice(broken)
            texts[path] = good.get(path, FILES[path.relative_to(root).as_posix()])
        else:
            path = root / chance.choice(_PYTHON)
            texts[path] = edited(texts.get(path, FILES[path.relative_to(root).as_posix()]), chance)
        workspace.set_text(path, texts[path])
        if step % 3 == 0:
            workspace.check([path])
        if all(parses(workspace, one) for one in texts):
            assert shown(workspace.check(), root) == cold(root, texts), f"step {step}"
            good = dict(texts)
            compared += 1
    for name in _PYTHON:
        workspace.set_text(root / name, FILES[name])
    assert shown(workspace.check(), root) == cold(root, {})
    assert compared >= 4


@pytest.mark.parametrize("seed", range(30))
def test_pieces_that_come_go_and_move(tmp_path: Path, seed: int) -> None:
    """The findings and the explanations, with the exact numbers of pieces."""
    chance = random.Random(seed)
    root = write(tmp_path.resolve())
    workspace = Workspace([root], tells=True)
    texts: dict[Path, str] = {}
    assert answered(workspace, root)[0]
    kept = 0
    for step in range(25):
        path = root / chance.choice(_PYTHON)
        before = texts.get(path, FILES[path.relative_to(root).as_posix()])
        texts[path] = restructured(before, chance) if chance.random() < 0.8 else before.replace("\n\n", "\n# x\n\n", 1)
        workspace.set_text(path, texts[path])
        if not parses(workspace, path):  # then its last good version is shown
            texts[path] = before
            workspace.set_text(path, before)
        if step % 4 == 3:
            continue  # two edits at once
        links = workspace.project(root).links
        found = answered(workspace, root)
        kept += workspace.project(root).links == links
        fresh = Workspace([root], tells=True)
        for one, text in texts.items():
            fresh.set_text(one, text)
        assert found == answered(fresh, root), f"step {step}"
    assert kept, "every edit linked anew"


def answered(workspace: Workspace, root: Path) -> tuple[object, object]:
    """The findings of a workspace, as the rules made them, and the explanations."""
    found = workspace.check()
    linked = workspace.project(root)._linking.last
    assert linked is not None
    return [one.finding for path in sorted(found) for one in found[path]], linked.told


@pytest.mark.parametrize("seed", range(8))
def test_files_that_come_go_and_change_on_disk(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = write(tmp_path.resolve())
    workspace = Workspace([root])
    workspace.check()
    texts: dict[Path, str] = {}
    for _ in range(12):
        path = root / chance.choice([*_PYTHON, "demo/more.py", "random.py", "demo/numpy.py"])
        match chance.randrange(5):
            case 0:
                path.write_text(FILES.get(path.relative_to(root).as_posix(), FILES["demo/datasets.py"]), "utf-8")
                workspace.forget([path])
            case 1 if path.exists():
                path.unlink()
                workspace.forget([path])
            case 2:
                texts[path] = "from demo.transforms import *\n" + (path.read_text("utf-8") if path.exists() else "")
                workspace.set_text(path, texts[path])
            case 3:
                texts.pop(path, None)
                workspace.set_text(path, None)
            case 4 if path.exists():
                moved = path.with_name(chance.choice(["moved.py", "datasets.py", "models.py"]))
                path.rename(moved)
                workspace.forget([path, moved])
        assert shown(workspace.check(), root) == cold(root, texts)


@pytest.mark.parametrize(
    ("good", "broken"),
    [
        ("prepare = 1", "def prepare(x): return x("),
        ("@prepare\nclass prepare: pass", "@prepare\ndef prepare(x): return x("),
        ("def prepare(x): return x", "prepare = x("),
        ("class prepare:\n    def run(self): pass", "def prepare(x): return x("),
        ("def prepare(x): return x", "class prepare(:\n    def run(self): pass"),
        ("if x:\n    prepare = 1", "def prepare(x): return x("),
    ],
)
def test_a_half_typed_definition_in_place_of_something_else(tmp_path: Path, good: str, broken: str) -> None:
    path = tmp_path.resolve() / "data.py"
    text = (
        "from torch.utils.data import DataLoader, Dataset\n{}\n"
        "class Rows(Dataset):\n    def __getitem__(self, index):\n        return prepare(index)\n\n\n"
        "DataLoader(Rows(), num_workers=prepare(2), worker_init_fn=prepare)\n"
    )
    workspace = Workspace([tmp_path])
    for one in (good, broken):
        workspace.set_text(path, text.format(one))
        assert list(workspace.check([path])) == [path]
    workspace.set_text(path, text.format(good))
    assert shown(workspace.check([path]), path.parent) == cold(path.parent, {path: text.format(good)})


def test_a_requirements_file_that_changes_renews_the_findings(tmp_path: Path) -> None:
    root = write(tmp_path.resolve())
    workspace = Workspace([root])
    before = workspace.check()
    (root / "pyproject.toml").write_text('[project]\nname = "demo"\ndependencies = ["torch==2.4"]\n')
    workspace.forget([root / "pyproject.toml"])
    after = shown(workspace.check(), root)
    assert after != shown(before, root)
    assert after == cold(root, {})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.4.1"\n'),
        ("conda-lock.yml", "package:\n- name: pytorch\n  version: 2.4.1\n  platform: linux-64\n"),
        ("environment.yaml", "dependencies:\n- pytorch=2.4\n"),
        ("requirements/train.txt", "torch==2.4.1\n"),
        ("setup.py", "setup(install_requires=['torch>=2'])\n"),
    ],
)
def test_every_file_that_tells_a_version_renews_the_findings(tmp_path: Path, name: str, text: str) -> None:
    root = without_torch(write(tmp_path.resolve()))
    workspace = Workspace([root], {"platforms": ["linux"]})
    data = root / "demo" / "transforms.py"
    before = shown(workspace.check([data]), root)
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    workspace.forget([path])
    assert shown(workspace.check([data]), root) != before
    path.unlink()
    workspace.forget([path])
    assert shown(workspace.check([data]), root) == before


def without_torch(root: Path) -> Path:
    """The project without declared versions."""
    (root / "pyproject.toml").write_text('[project]\nname = "demo"\n')
    return root


def test_another_torch_in_the_environment_renews_the_findings(tmp_path: Path) -> None:
    root = without_torch(write(tmp_path.resolve()))
    site = root / ".venv" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").write_text("version = 3.11.4\n")
    (site / "torch-1.8.1.dist-info").mkdir()
    workspace = Workspace([root])
    old = shown(workspace.check(), root)
    (site / "torch-1.8.1.dist-info").rename(site / "torch-2.4.1.dist-info")
    assert old != shown(workspace.check(), root) == cold(root, {})  # nobody told the workspace
    links = workspace.project(root).links
    workspace.check()
    assert workspace.project(root).links == links


def test_the_editor_s_interpreter_tells_the_version(tmp_path: Path) -> None:
    root = without_torch(write(tmp_path.resolve() / "project"))
    for version in ("1.8.1", "2.4.1"):
        (tmp_path / version / "Lib" / "site-packages" / f"torch-{version}.dist-info").mkdir(parents=True)
    workspace = Workspace([root], {"interpreter": str(tmp_path / "1.8.1" / "Scripts" / "python.exe")})
    old = shown(workspace.check(), root)
    workspace.configure({"interpreter": str(tmp_path / "2.4.1" / "Scripts" / "python.exe")})
    assert shown(workspace.check(), root) != old
    assert not workspace.problems
