"""Which files import a module, and which imports are followed to tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.file_imports import imported_files
from loaderlint.project.modules import import_resolution
from loaderlint.project.modules.module_refs import FolderRef, ModuleRef
from loaderlint.project.modules.project_files import Files
from tests.project.linking import link

#: Files that import each other in all ways, and hold the names of others without importing them.
FILES = """
--- package/__init__.py
--- package/data.py
import os
--- package/whole.py
import package.data
--- package/beside.py
from . import data
--- package/own.py
from . import nothing  # of the package
--- package/deep/inner.py
from ..data import x
--- package/deep/above.py
def f():
    from .. import data as other
--- package/taken.py
from package import data
--- package/named.py
import os
data = 1  # package
--- scripts/run.py
if 1:
    import package as p, json
--- scripts/data.py
import package.other
--- scripts/near.py
import data
"""


def test_importers_are_the_files_that_hold_its_name_and_whose_imports_lead_there(tmp_path: Path) -> None:
    model = link(tmp_path, FILES).model
    led = {path: set(imported_files(model.ev, path)) for path in model.files.paths()}
    for path in led:
        name = path.parent.name if path.name == "__init__.py" else path.stem
        expected = [one for one in led if one != path and path in led[one] and name in one.read_text()]
        assert model.scripts.importers(path) == tuple(expected), path
    found = {path.name for path in model.scripts.importers(tmp_path / "package/data.py")}
    assert found == {"whole.py", "beside.py", "inner.py", "above.py", "taken.py"}


def test_a_star_import_leads_to_its_module(tmp_path: Path) -> None:
    files = """
--- package/__init__.py
from .data import *
--- package/data.py
x = 1
--- package/other.py
from data import *
--- package/deep/inner.py
from ..data import *
from .. import *
"""
    scripts = link(tmp_path, files).model.scripts
    found = {path.relative_to(tmp_path).as_posix() for path in scripts.importers(tmp_path / "package/data.py")}
    assert found == {"package/__init__.py", "package/other.py", "package/deep/inner.py"}
    assert scripts.importers(tmp_path / "package/__init__.py") == ()
    assert scripts.leads_to(tmp_path / "package/deep/inner.py", [tmp_path / "package/__init__.py"])


def test_imports_of_other_names_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = link(tmp_path, FILES).model
    followed: set[str] = set()
    original = import_resolution.resolve

    def following(files: Files, importer: Path, module: str, level: int) -> ModuleRef | FolderRef | None:
        followed.add(module)
        return original(files, importer, module, level)

    monkeypatch.setattr(import_resolution, "resolve", following)
    assert model.scripts.importers(tmp_path / "scripts/data.py")
    assert followed == {"", "data", "package", "package.data"}
