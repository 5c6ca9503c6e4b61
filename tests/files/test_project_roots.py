"""Where a project begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.files.project_roots import project_root


@pytest.mark.parametrize(
    ("files", "root"),
    [
        (["setup.py", "demo/__init__.py", "demo/utils/__init__.py", "demo/utils/setup.py"], "."),
        (["setup.cfg", "demo/__init__.py", "demo/utils/__init__.py", "demo/utils/setup.cfg"], "."),
        (["setup.py", "demo/utils/setup.py"], "demo/utils"),
        (["setup.py", ".git/HEAD", "demo/utils/setup.py"], "."),
        (["pyproject.toml", "demo/setup.cfg"], "."),
        (["pyproject.toml", "demo/setup.cfg", "demo/loaderlint.toml"], "demo"),
        (["setup.py", "demo/utils/__init__.py", "demo/utils/pyproject.toml"], "demo/utils"),
        (["pyproject.toml", "demo/__init__.py"], "."),
        ([".git/HEAD", "demo/requirements.txt"], "."),
    ],
)
def test_project_root(files: list[str], root: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "demo" / "utils").mkdir(parents=True, exist_ok=True)
    assert project_root(tmp_path / "demo" / "utils") == (tmp_path / root).resolve()
