"""A package of the project that has the name of a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import ClassRef
from tests.project.linking import link

CODE = """
from torch.utils.data import DataLoader, Dataset


class D(Dataset):
    def __getitem__(self, i):
        return i


loader = DataLoader(D())
"""

SEEN = {
    "a package beside": "--- pipelines/__init__.py\n\n--- pipelines/torch/__init__.py\nX = 1\n--- pipelines/train.py\n",
    "a package further out": (
        "--- pipelines/__init__.py\n\n--- pipelines/torch/__init__.py\n\n--- pipelines/data/__init__.py\n\n"
        "--- pipelines/data/train.py\n"
    ),
    "in the package": "--- pipelines/__init__.py\n\n--- pipelines/torch/__init__.py\n\n--- pipelines/torch/train.py\n",
    "a module beside": "--- pipelines/__init__.py\n\n--- pipelines/torch.py\nX = 1\n--- pipelines/train.py\n",
}


@pytest.mark.parametrize("files", SEEN.values(), ids=SEEN)
def test_a_module_of_a_package_means_the_library(files: str, tmp_path: Path) -> None:
    assert link(tmp_path, files + CODE).datasets() == ["D"]


OWN = {
    "with dots": "from .torch import Made",
    "by its full name": "from pipelines.torch import Made",
}


@pytest.mark.parametrize("line", OWN.values(), ids=OWN)
def test_the_package_itself_is_still_found(line: str, tmp_path: Path) -> None:
    files = """--- pipelines/__init__.py

--- pipelines/torch/__init__.py
from torch.utils.data import Dataset


class Made(Dataset):
    pass
--- pipelines/train.py
from torch.utils.data import DataLoader
"""
    assert link(tmp_path, files + line + "\n\nloader = DataLoader(Made())\n").datasets() == ["Made"]


@pytest.mark.parametrize("package", [True, False])
def test_a_package_called_datasets_is_often_meant(package: bool, tmp_path: Path) -> None:
    files = "--- run/__init__.py\n\n" if package else ""
    files += """--- run/datasets/__init__.py
from torch.utils.data import Dataset


class Made(Dataset):
    pass
--- run/train.py
from datasets import Made
from torch.utils.data import DataLoader

loader = DataLoader(Made())
"""
    assert link(tmp_path, files).datasets() == ["Made"]


def test_the_library_itself_is_found_in_its_own_source(tmp_path: Path) -> None:
    """In the repository of the library, its package is at the top, and that folder is no package."""
    files = """--- torch/__init__.py

--- torch/utils/__init__.py
class Loader:
    pass
--- torch/utils/train.py
from torch.utils import Loader
"""
    names = link(tmp_path, files).model.ev.names
    assert names.lookup(tmp_path / "torch/utils/train.py", "Loader").only(ClassRef)
