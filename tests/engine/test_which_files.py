"""Which files are read and which are reported: ignore files as in git, `exclude`, and named files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.settings import settings
from loaderlint.sources.discovery import python_files


def _tree(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _repository(root: Path, files: dict[str, str]) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    _tree(root, files)


def _ours(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in python_files(root).files)


def _by_git(root: Path) -> list[str]:
    """The Python files that `git add` would add."""
    command = ["git", "-c", "core.excludesFile=", "ls-files", "-co", "--exclude-standard", "--", "*.py"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return sorted(listed.stdout.split())


NAMES = ["a.py", "keep.py", "old/a.py", "old/keep.py", "old/deep/a.py", "src/old/b.py", "src/gen/c.py", "src/gen/d.py"]


@pytest.mark.parametrize(
    "ignores",
    [
        {".gitignore": "old/\n"},
        {".gitignore": "/old/\n"},
        {".gitignore": "a.py\n!/a.py\n"},
        {".gitignore": "*.py\n!keep.py\n"},
        {".gitignore": "old/*\n!old/keep.py\n"},
        {".gitignore": "old\n", "old/.gitignore": "!keep.py\n"},
        {".gitignore": "*.py\n", "old/.gitignore": "!keep.py\n", "src/.gitignore": "!gen/*.py\ngen/d.py\n"},
        {".gitignore": "!c.py\n", "src/gen/.gitignore": "*\n!d.py\n"},
        {".gitignore": "src/**/c.py\n# old/\n\\#x\n\n"},
        {".git/info/exclude": "old/\nkeep.py\n", ".gitignore": "!keep.py\n"},
        {".gitignore": "[invalid\n**/gen\n"},
        {".gitignore": "\ufeffold/\n"},
    ],
    ids=range(12),
)
def test_ignore_files_are_read_as_git_reads_them(tmp_path: Path, ignores: dict[str, str]) -> None:
    _repository(tmp_path, dict.fromkeys(NAMES, "") | ignores)
    found = _ours(tmp_path)
    assert found == _by_git(tmp_path)
    assert found != sorted(NAMES)


def test_a_project_inside_a_repository(tmp_path: Path) -> None:
    files = {"projects/one/gen/a.py": "", "projects/one/b.py": "", "projects/one/pyproject.toml": ""}
    _repository(tmp_path, files | {".gitignore": "gen/\n"})
    assert _ours(tmp_path / "projects" / "one") == _by_git(tmp_path / "projects" / "one") == ["b.py"]
    (tmp_path / "projects" / ".gitignore").write_text("!gen/\n/one/b.py\n")
    assert _ours(tmp_path / "projects" / "one") == _by_git(tmp_path / "projects" / "one") == ["gen/a.py"]


def test_an_ignored_folder_that_is_asked_for(tmp_path: Path) -> None:
    _repository(tmp_path, {"vendor/one/a.py": "", "vendor/one/gen/b.py": "", ".gitignore": "vendor/\n"})
    (tmp_path / "vendor" / "one" / ".gitignore").write_text("gen/\n")
    assert _ours(tmp_path / "vendor" / "one") == ["a.py"]


FAULT = """import numpy as np
from torch.utils.data import DataLoader, Dataset

class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rng.integers(9)

loader = DataLoader(Crops(), num_workers=2)
"""


def _reported(root: Path, *paths: Path) -> dict[str, int]:
    """The reported files, each with its number of findings."""
    settings.clear()
    found = Workspace([root]).check(paths or [root])
    return {path.relative_to(root).as_posix(): len(diagnostics) for path, diagnostics in found.items()}


def test_what_is_named_is_reported_though_it_is_left_out(tmp_path: Path) -> None:
    rules = 'select = ["shared-generator"]\nexclude = ["old/"]\n'
    _repository(tmp_path, {"loaderlint.toml": rules, "old/a.py": FAULT, "gen/b.py": FAULT, ".gitignore": "gen/\n"})
    (tmp_path / "c.py").write_text(FAULT)
    assert _reported(tmp_path) == {"c.py": 1}
    assert _reported(tmp_path, tmp_path / "old" / "a.py", tmp_path / "gen" / "b.py") == {"gen/b.py": 1, "old/a.py": 1}


def test_what_is_excluded_is_read_all_the_same(tmp_path: Path) -> None:
    dataset, loader = FAULT.split("loader = ")
    files = {
        "loaderlint.toml": 'select = ["shared-generator"]\nexclude = ["scripts/"]\n',
        "data.py": dataset,
        "scripts/train.py": f"from torch.utils.data import DataLoader\nfrom data import Crops\nloader = {loader}",
    }
    _tree(tmp_path, files)
    assert _reported(tmp_path) == {"data.py": 1}


def test_settings_above_the_project_hold(tmp_path: Path) -> None:
    files = {"pyproject.toml": '[tool.loaderlint]\nignore = ["LDR1"]\n', "one/a.py": FAULT}
    _tree(tmp_path, files)
    _repository(tmp_path / "one", {})
    assert _reported(tmp_path / "one") == {"a.py": 0}


def test_each_file_has_the_settings_nearest_to_it(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[tool.loaderlint]\nselect = ["shared-generator"]\n',
        "one/a.py": FAULT,
        "two/b.py": FAULT,
        "two/loaderlint.toml": 'select = ["LDR5"]\n[per-file-ignores]\n"*.py" = ["ALL"]\n',
    }
    _tree(tmp_path, files)
    assert _reported(tmp_path) == {"one/a.py": 1, "two/b.py": 0}


def test_wrong_settings_are_told_wherever_they_stand(tmp_path: Path) -> None:
    _tree(tmp_path, {"a.py": "", "deep/er/b.py": "", "deep/er/loaderlint.toml": "selct = []\n"})
    settings.clear()
    workspace = Workspace([tmp_path])
    workspace.check()
    (problem,) = workspace.problems
    assert problem.path == tmp_path / "deep" / "er" / "loaderlint.toml"
    assert "did you mean 'select'?" in problem.message


def test_a_whole_disk_is_asked_about(tmp_path: Path) -> None:
    _tree(tmp_path, {"pyproject.toml": "", "a.py": "x = 1\n"})
    state = Workspace([tmp_path]).project(tmp_path / "a.py")
    assert state.files([Path(tmp_path.anchor)]) == [tmp_path / "a.py"]
