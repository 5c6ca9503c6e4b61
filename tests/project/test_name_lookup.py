"""Names across files: how an import finds its file, and what a name may then be."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import Lib, Literal_
from tests.project.linking import link

DATASET = """
from torch.utils.data import Dataset
class Images(Dataset):
    def __getitem__(self, index):
        return self.read(index)
    def read(self, index):
        return index
"""

#: How the dataset's module may be reached: (its file, further files, the import in train.py, the expression).
WAYS = {
    "a neighbour": ("data.py", "", "from data import Images", "Images()"),
    "a module": ("data.py", "", "import data", "data.Images()"),
    "an alias": ("data.py", "", "import data as d", "d.Images()"),
    "a package": ("pkg/data.py", "--- pkg/__init__.py\n", "from pkg.data import Images", "Images()"),
    "a dotted module": ("pkg/data.py", "--- pkg/__init__.py\n", "import pkg.data", "pkg.data.Images()"),
    "a namespace package": ("pkg/data.py", "", "from pkg.data import Images", "Images()"),
    "a re-export": (
        "pkg/data.py",
        "--- pkg/__init__.py\nfrom .data import Images\n",
        "from pkg import Images",
        "Images()",
    ),
    "a re-export of all": ("pkg/data.py", "--- pkg/__init__.py\nfrom .data import *\n", "import pkg", "pkg.Images()"),
    "a submodule that its package imports": (
        "pkg/data.py",
        "--- pkg/__init__.py\nfrom . import data\n",
        "import pkg",
        "pkg.data.Images()",
    ),
    "a submodule that its package imports by its full name": (
        "pkg/data.py",
        "--- pkg/__init__.py\nfrom pkg import data as sets\n",
        "import pkg",
        "pkg.sets.Images()",
    ),
    "a submodule that imports its package": (
        "pkg/data.py",
        "--- pkg/__init__.py\nfrom . import data, more\n--- pkg/more.py\nimport pkg\nImages = pkg.data.Images\n",
        "from pkg import more",
        "more.Images()",
    ),
    "a star import": ("data.py", "", "from data import *", "Images()"),
    "the src layout": ("src/pkg/data.py", "--- src/pkg/__init__.py\n", "from pkg.data import Images", "Images()"),
    "an import that may fail": (
        "data.py",
        "",
        "try:\n    from fast import Images\nexcept ImportError:\n    from data import Images",
        "Images()",
    ),
    "one of two imports": (
        "data.py",
        "--- other.py\nclass Images: pass\n",
        "import sys\nif sys.argv:\n    from data import Images\nelse:\n    from other import Images",
        "Images()",
    ),
    "an import in a function": (
        "data.py",
        "",
        "def make():\n    from data import Images\n    return Images()",
        "make()",
    ),
    "importlib": ("data.py", "", "import importlib", "importlib.import_module('data').Images()"),
    "the dict of a module": ("data.py", "", "import data", "data.__dict__['Images']()"),
    "vars() of a module": ("data.py", "", "import data", "vars(data)['Images']()"),
    "getattr with a constant": ("data.py", "", "import data", "getattr(data, 'Images')()"),
    "a name bound twice": ("data.py", "", "Images = None\nfrom data import Images", "Images()"),
    "a folder on the path": (
        "sets/data.py",
        "",
        "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'sets'))\nfrom data import Images",
        "Images()",
    ),
    "a package that its module is named like": (
        "pkg/data.py",
        "--- pkg/pkg.py\ndef main(): pass\n--- pkg/train.py\nfrom pkg.data import Images\n",
        "from pkg.train import Images",
        "Images()",
    ),
    "a package further out than one of its name": (
        "pkg/data.py",
        "--- tools/pkg/__init__.py\n--- tools/train.py\nfrom pkg.data import Images\n",
        "from tools.train import Images",
        "Images()",
    ),
    "a package further out than a folder of its name": (
        "pkg/data.py",
        "--- tools/pkg/show.py\n--- tools/train.py\nimport pkg.data as sets\n",
        "from tools.train import sets",
        "sets.Images()",
    ),
    "a package in a folder of its name": (
        "pkg/pkg/data.py",
        "--- pkg/pkg/__init__.py\n--- pkg/setup.py\n",
        "from pkg.data import Images",
        "Images()",
    ),
    "a package in a folder of its name that is a package too": (
        "pkg/pkg/data.py",
        "--- pkg/__init__.py\n--- pkg/pkg/__init__.py\n",
        "from pkg.data import Images",
        "Images()",
    ),
    "a folder in a folder of its name": ("pkg/pkg/data.py", "", "import pkg.data as sets", "sets.Images()"),
    "a module of a package in a folder of its name": (
        "pkg/pkg/data.py",
        "--- pkg/pkg/__init__.py\n--- pkg/setup.py\n",
        "from pkg import data",
        "data.Images()",
    ),
    "a package in a folder of its name, by the folder": (
        "pkg/pkg/data.py",
        "--- pkg/pkg/__init__.py\n",
        "from pkg.pkg import data",
        "data.Images()",
    ),
    "scripts beside a package in a folder of its name": (
        "pkg/pkg/data.py",
        "--- pkg/pkg/__init__.py\n--- scripts/run.py\nfrom pkg.data import Images\n",
        "from scripts.run import Images",
        "Images()",
    ),
    "a folder named like a library": ("datasets/data.py", "", "from datasets.data import Images", "Images()"),
    "a module in a folder named like a library": ("datasets/data.py", "", "from datasets import data", "data.Images()"),
    "a package in a folder named like a library": (
        "datasets/sets/data.py",
        "--- datasets/sets/__init__.py\nfrom .data import Images\n",
        "from datasets import sets as own",
        "own.Images()",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_dataset_is_found_through(way: str, tmp_path: Path) -> None:
    file, more, statement, expression = WAYS[way]
    linked = link(
        tmp_path,
        f"--- {file}\n{DATASET}{more}--- train.py\nfrom torch.utils.data import DataLoader\n{statement}\n"
        f"loader = DataLoader({expression}, num_workers=2)\n",
    )
    assert linked.reached("loader") == ["Images.__getitem__", "Images.read"]
    assert linked.guessed() == []


def test_relative_imports_count_their_dots(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""--- pkg/__init__.py
--- pkg/data.py
{DATASET}--- pkg/train/__init__.py
--- pkg/train/run.py
from torch.utils.data import DataLoader
from ..data import Images
loader = DataLoader(Images(), num_workers=2)
""",
    )
    assert linked.datasets() == ["Images"]


def test_an_import_for_type_checking_gives_no_reach(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""--- data.py
{DATASET}--- train.py
from typing import TYPE_CHECKING
from torch.utils.data import DataLoader
if TYPE_CHECKING:
    from data import Images
loader = DataLoader(Images(), num_workers=2)
""",
    )
    assert linked.datasets() == []
    assert linked.loader().late == "only imported for type checking"


@pytest.mark.parametrize(
    ("file", "module", "name"),
    [
        ("torch/nn.py", "torch", "nn"),  # the tables know the library's own
        ("torch/utils/__init__.py", "torch", "utils"),
        ("datasets/data.py", "datasets", "load_dataset"),
    ],
)
def test_what_only_the_library_has_is_the_librarys(file: str, module: str, name: str, tmp_path: Path) -> None:
    linked = link(tmp_path, f"--- {file}\nimages = 1\n--- train.py\nfrom {module} import {name}\n")
    found = linked.model.ev.names.lookup(tmp_path / "train.py", name)
    assert found.atoms == {Lib(f"{module}.{name}")}


def test_a_cycle_of_imports_ends(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""--- a.py
from b import Images, helper
from torch.utils.data import DataLoader
loader = DataLoader(Images(), num_workers=2)
--- b.py
from a import loader
from c import *
{DATASET}--- c.py
from b import *
helper = loader
""",
    )
    assert linked.datasets() == ["Images"]


def test_a_name_of_an_unknown_star_import_is_no_builtin_of_ours(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        from torch.utils.data import DataLoader
        from somewhere import *
        loader = DataLoader(Images(), num_workers=2)
        """,
    )
    assert linked.loader().late == "star import"


def test_a_file_named_like_a_standard_module_is_not_it(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        --- random.py
        def random(): pass
        --- train.py
        import random
        from torch.utils.data import DataLoader, Dataset
        class Images(Dataset):
            def __getitem__(self, index):
                return random.random()
        loader = DataLoader(Images(), num_workers=2)
        """,
    )
    assert linked.reached() == ["Images.__getitem__"]


def test_the_nearest_of_two_modules_wins(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""--- one/data.py
{DATASET}--- one/train.py
from torch.utils.data import DataLoader
from data import Images
loader = DataLoader(Images(), num_workers=2)
--- data.py
class Images: pass
""",
    )
    assert linked.reached("loader") == ["Images.__getitem__", "Images.read"]


def test_the_nearest_package_that_has_the_module_wins(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""--- one/pkg/data.py
{DATASET}--- one/train.py
from torch.utils.data import DataLoader
from pkg.data import Images
loader = DataLoader(Images(), num_workers=2)
--- pkg/data.py
class Images: pass
""",
    )
    assert linked.reached("loader") == ["Images.__getitem__", "Images.read"]


def test_a_missing_name_of_a_module_is_not_searched_further_out(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""--- pkg/data.py
{DATASET}--- one/pkg/data.py
class Other: pass
--- one/train.py
from torch.utils.data import DataLoader
from pkg.data import Images
loader = DataLoader(Images(), num_workers=2)
""",
    )
    assert linked.datasets("loader") == []


def test_a_root_that_is_a_package_is_known_by_its_name(tmp_path: Path) -> None:
    root = tmp_path / "pkg"
    linked = link(
        root,
        f"""--- __init__.py
--- data.py
{DATASET}--- train.py
from torch.utils.data import DataLoader
from pkg.data import Images
loader = DataLoader(Images(), num_workers=2)
""",
    )
    assert linked.datasets() == ["Images"]


@pytest.mark.parametrize("statement", ["from monai.utils import optional_import", "def optional_import(module): pass"])
def test_an_optional_import_is_an_import(statement: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""--- data.py
{statement}
lmdb, has_lmdb = optional_import("lmdb")
""",
    )
    assert linked.model.ev.names.lookup(tmp_path / "data.py", "lmdb").atoms == {Lib("lmdb")}


@pytest.mark.parametrize(
    ("default", "test", "stays"),
    [
        (None, "size", False),
        (0, "size", False),
        (8, "size", True),
        (None, "size and not quick", False),
        (None, "size is not None", False),
        (0, "size is not None", True),
        (None, "not (size is None)", False),
        (None, "size is not None or quick", True),
        (None, "size != 3", True),
        (None, "not size", True),
        (None, "quick", True),
    ],
)
def test_a_global_under_a_test_of_its_new_value(default: int | None, test: str, stays: bool, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""--- train.py
SIZE = 64

def configure(size={default}, quick=False):
    global SIZE
    if {test}:
        SIZE = size
""",
    )
    found = linked.model.ev.names.lookup(tmp_path / "train.py", "SIZE").atoms
    assert {atom.value for atom in found if isinstance(atom, Literal_)} == {64} | ({default} if stays else set())
