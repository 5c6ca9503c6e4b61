"""Installed libraries are read from the project's environment. Nothing is reported inside them, and their files do not
belong to the project."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loaderlint.engine import Workspace
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import MAX_CONTEXTS, MAX_OWN_CONTEXTS
from loaderlint.project.versions import library_folders
from loaderlint.sources import library_sources

SITE = ".venv/lib/python3.11/site-packages"
#: A dataset whose generator every worker copies: a finding as soon as a loader with workers is known to hold it.
NOISY = """
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return self.rng.random()

"""
JITTER = """
import numpy as np


class Jitter:
    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def __call__(self, x):
        return x + self.rng.normal()
"""
TORCH_LOADER = "from torch.utils.data import DataLoader\n"
SHARED = "shared-generator"


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return root


def project(root: Path, train: str, library: Mapping[str, str], site: str = SITE) -> Path:
    """A project with a script, and an environment with a library."""
    write(root, {"pyproject.toml": '[project]\nname = "demo"\n', ".venv/pyvenv.cfg": "version = 3.11.4\n"})
    write(root, {"train.py": train, f"{SITE}/torch-2.4.1.dist-info/METADATA": ""})
    return write(root, {f"{site}/{name}": text for name, text in library.items()})


def with_torch_before_1_9(root: Path) -> None:
    """A torch that leaves NumPy in the workers in the state of the main process."""
    (root / SITE / "torch-2.4.1.dist-info").rename(root / SITE / "torch-1.8.1.dist-info")


def found(root: Path) -> list[Diagnostic]:
    return [one for shown in Workspace([root]).check().values() for one in shown]


def names(root: Path) -> list[tuple[str, int]]:
    return [(one.name, one.span.line + 1) for one in found(root) if one.span is not None]


LOADERS: dict[str, tuple[Mapping[str, str], str]] = {
    "a re-export under another name": (
        {"somelib/__init__.py": "from torch.utils.data import DataLoader as Feed\n"},
        "from somelib import Feed\nloader = Feed(Noisy(), num_workers=4)",
    ),
    "a re-export of a re-export": (
        {"somelib/__init__.py": "from .data import Feed\n", "somelib/data.py": "from .feeds import Feed\n"}
        | {"somelib/feeds.py": "import torch.utils.data as data\nFeed = data.DataLoader\n"},
        "import somelib\nloader = somelib.Feed(Noisy(), num_workers=4)",
    ),
    "a star import in the library": (
        {"somelib/__init__.py": "from .feeds import *\n", "somelib/feeds.py": "from .more import *\n"}
        | {"somelib/more.py": "from torch.utils.data import DataLoader as Feed\n"},
        "from somelib import Feed\nloader = Feed(Noisy(), num_workers=4)",
    ),
    "a star import of the library": (
        {"somelib/__init__.py": "from torch.utils.data import DataLoader as PoolLoader\n"},
        "from somelib import *\nloader = PoolLoader(Noisy(), num_workers=4)",
    ),
    "a name that a function gives": (
        {
            "somelib/__init__.py": """
            def _loaders():
                if VERSION == "parrots":
                    from torch.utils.data import DataLoader, PoolLoader
                else:
                    from torch.utils.data import DataLoader
                    PoolLoader = DataLoader
                return DataLoader, PoolLoader

            Feed, Pool = _loaders()
            """
        },
        "from somelib import Feed\nloader = Feed(Noisy(), num_workers=4)",
    ),
    "one of two places": (
        {
            "somelib/__init__.py": """
            try:
                from fastlib import DataLoader
            except ImportError:
                from torch.utils.data import DataLoader
            """
        },
        "from somelib import DataLoader as Feed\nloader = Feed(Noisy(), num_workers=4)",
    ),
    "a subclass with defaults": (
        {
            "somelib/__init__.py": """
            from torch.utils.data import DataLoader
            class Feed(DataLoader):
                def __init__(self, dataset, workers=4, **kwargs):
                    super().__init__(dataset, num_workers=workers, **kwargs)
            """
        },
        "from somelib import Feed\nloader = Feed(Noisy(), batch_size=2)",
    ),
    "a function with defaults": (
        {
            "somelib/__init__.py": """
            from torch.utils.data import DataLoader
            def feed(dataset, workers=4):
                return DataLoader(dataset, num_workers=workers)
            """
        },
        "import somelib as lib\nloader = lib.feed(Noisy())",
    ),
    "an object that loads what it is given": (
        {
            "somelib/__init__.py": """
            from torch.utils.data import DataLoader
            class Queue:
                def __init__(self, dataset, num_workers=0):
                    self.dataset, self.workers = dataset, num_workers
                    self.items = self.load()
                def load(self):
                    return iter(DataLoader(self.dataset, num_workers=self.workers))
            """
        },
        "from somelib import Queue\nqueue = Queue(Noisy(), num_workers=4)  # a loader",
    ),
    "a function through another of another module": (
        {"somelib/__init__.py": "from .a import feed\n"}
        | {"somelib/a.py": "from somelib.b import make\ndef feed(data, n=4):\n    return make(data, n)  # loader\n"}
        | {"somelib/b.py": TORCH_LOADER + "def make(data, n):\n    return DataLoader(data, num_workers=n)\n"},
        "from somelib import feed\nloader = feed(Noisy())",
    ),
    "a method of an object": (
        {
            "somelib/__init__.py": """
            from torch.utils.data import DataLoader
            class Feeds:
                def __init__(self, dataset, workers):
                    self.dataset, self.workers = dataset, workers
                def epoch(self, shuffle=False):
                    return self._loader(shuffle)
                def _loader(self, shuffle):
                    return DataLoader(self.dataset, shuffle=shuffle, num_workers=self.workers)
            """
        },
        "from somelib import Feeds\ndef main():\n    feeds = Feeds(Noisy(), 4)\n    return feeds.epoch()  # loader\n",
    ),
    "a method that a class of the project inherits": (
        {
            "somelib/__init__.py": """
            from torch.utils.data import DataLoader
            class Trainer:
                def fit(self, train, valid=None, options={}):
                    train = self.make_dataloader(train, **options)
                    valid = self.make_dataloader(valid, **options)
                def make_dataloader(self, data, **options):
                    return DataLoader(data, **options)
            """
        },
        "import somelib as lib\nclass Own(lib.Trainer):\n    pass\ndef main():\n    own = Own()\n"
        '    own.fit(Noisy(), options={"num_workers": 4})  # loader\n',
    ),
    "a module under another name": (
        {"somelib/__init__.py": "", "somelib/api.py": "from somelib import _feeds as feeds\n"}
        | {"somelib/_feeds.py": "from torch.utils.data import DataLoader as Feed\n"},
        "from somelib import api\nloader = api.feeds.Feed(Noisy(), num_workers=4)",
    ),
    "a class with bound arguments": (
        {
            "somelib/__init__.py": "from functools import partial\n"
            + TORCH_LOADER
            + "feed = partial(DataLoader, num_workers=4)\n"
        },
        "from somelib import feed\nloader = feed(Noisy())",
    ),
    "a namespace package": (
        {"acme/feeds/__init__.py": "from torch.utils.data import DataLoader as Feed\n"},
        "from acme.feeds import Feed\nloader = Feed(Noisy(), num_workers=4)",
    ),
    "a single module": (
        {"somelib.py": "from torch.utils.data import DataLoader as Feed\n"},
        "from somelib import Feed\nloader = Feed(Noisy(), num_workers=4)",
    ),
}


@pytest.mark.parametrize("case", LOADERS)
def test_a_loader_of_a_library_is_seen(tmp_path: Path, case: str) -> None:
    library, code = LOADERS[case]
    assert names(project(tmp_path, NOISY + code, library)) == [(SHARED, 8)]


@pytest.mark.parametrize("case", LOADERS)
def test_what_is_not_installed_is_not_known(tmp_path: Path, case: str) -> None:
    _, code = LOADERS[case]
    assert names(project(tmp_path, NOISY + code, {})) == []


def test_a_method_that_the_project_overrides_is_its_own(tmp_path: Path) -> None:
    library, code = LOADERS["a method that a class of the project inherits"]
    own = code.replace("    pass", "    def fit(self, train, options=None):\n        print(train)")
    assert names(project(tmp_path, NOISY + own, library)) == []


def test_what_is_not_passed_to_a_method_makes_no_loader(tmp_path: Path) -> None:
    library, code = LOADERS["a method that a class of the project inherits"]
    loaders = Workspace([project(tmp_path.resolve(), NOISY + code, library)]).worker_map().loaders
    assert [[one.name for one in loader.datasets] for loader in loaders] == [["Noisy"]]


def test_a_default_of_no_workers_counts(tmp_path: Path) -> None:
    library = TORCH_LOADER + "def feed(data, workers=0):\n    return DataLoader(data, num_workers=workers)\n"
    root = project(tmp_path, NOISY + "from somelib import feed\nloader = feed(Noisy())", {"somelib.py": library})
    assert names(root) == []


@pytest.mark.parametrize(
    ("given", "passed_on", "place"),
    [("True", "persistent_workers", "True)"), ("False", "not persistent_workers", "Feed(Noisy(")],
)
def test_an_argument_is_blamed_only_if_the_library_passes_it_on(
    tmp_path: Path, given: str, passed_on: str, place: str
) -> None:
    library = TORCH_LOADER + (
        "class Feed(DataLoader):\n"
        "    def __init__(self, dataset, num_workers=0, persistent_workers=False):\n"
        f"        super().__init__(dataset, num_workers=num_workers, persistent_workers={passed_on})\n"
    )
    train = NOISY + f"from somelib import Feed\nloader = Feed(Noisy(), num_workers=0, persistent_workers={given})\n"
    (one,) = found(project(tmp_path, train, {"somelib/__init__.py": library}))
    assert one.name == "conflicting-loader-arguments" and one.span is not None
    assert train.splitlines()[one.span.line][one.span.column :].startswith(place)


def test_a_base_class_calls_what_the_project_defines(tmp_path: Path) -> None:
    library = """
    from torch.utils.data import Dataset
    class Base(Dataset):
        def __init__(self, files, transform=None):
            self.files, self.transform = files, transform
        def __len__(self): return len(self.files)
        def __getitem__(self, i): return self.transform(self.sample(self.files[i]))
    """
    train = """
    import numpy as np
    from somelib import Base
    from torch.utils.data import DataLoader
    class Own(Base):
        def __init__(self, files):
            super().__init__(files, lambda x: x)
            self.rng = np.random.default_rng(0)
        def sample(self, name): return self.rng.random()
    loader = DataLoader(Own(["a"]), num_workers=4)
    """
    assert names(project(tmp_path, train, {"somelib.py": library})) == [(SHARED, 8)]


# --- faults inside a library ------------------------------------------------------------------------------------------


def test_a_fault_inside_is_reported_where_the_project_leads_there(tmp_path: Path) -> None:
    train = """
    from somelib import Jitter
    from torch.utils.data import DataLoader, Dataset
    class Items(Dataset):
        def __init__(self, transform): self.transform = transform
        def __len__(self): return 8
        def __getitem__(self, i): return self.transform(i)
    loader = DataLoader(Items(Jitter(3)), num_workers=4)
    """
    root = project(tmp_path, train, {"somelib/__init__.py": JITTER})
    (finding,) = found(root)
    assert finding.path == root / "train.py" and finding.span is not None and finding.span.line == 7
    assert not finding.fixable
    evidence = finding.finding.evidence
    assert evidence[0].message == "inside an installed library: somelib.Jitter.__init__"
    assert {one.place.path for one in evidence} == {root / "train.py"}


#: What a helper of a library does to its argument or returns, what the project stores on its dataset, what a sample
#: consists of, and the rule with a finding (none for the near misses).
HELPERS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "it edits its argument": (
        "x[:2] = 0\n    return x",
        "np.load('a.npy')",
        "return somelib.helper(self.kept[i])",
        ("stored-data-mutation",),
    ),
    "it edits a copy": (
        "x = x.copy()\n    x[:2] = 0\n    return x",
        "np.load('a.npy')",
        "return somelib.helper(self.kept[i])",
        (),
    ),
    "it gives a view": (
        "return x[2:]",
        "np.load('a.npy')",
        "part = somelib.helper(self.kept[i])\n        part[:2] = 0\n        return part",
        ("stored-data-mutation",),
    ),
    "it gives a copy": (
        "return x[2:].copy()",
        "np.load('a.npy')",
        "part = somelib.helper(self.kept[i])\n        part[:2] = 0\n        return part",
        (),
    ),
    "it may give None": (
        "if len(x) < 3:\n        return None\n    return x",
        "np.load('a.npy')",
        "return somelib.helper(self.kept[i])",
        ("none-sample",),
    ),
    "it raises": (
        "if len(x) < 3:\n        raise ValueError(x)\n    return x",
        "np.load('a.npy')",
        "return somelib.helper(self.kept[i])",
        (),
    ),
    "it gives an open file": (
        "return open(x)",
        "somelib.helper('a.txt')",
        "self.kept.seek(i)\n        return self.kept.read(4)",
        ("handle-across-workers",),
    ),
    "it closes the file": (
        "with open(x) as file:\n        return file.read()",
        "somelib.helper('a.txt')",
        "return self.kept[i]",
        (),
    ),
}


@pytest.mark.parametrize("case", HELPERS)
def test_what_a_helper_of_a_library_does_is_known(tmp_path: Path, case: str) -> None:
    body, kept, sample, expected = HELPERS[case]
    train = f"""
import numpy as np
from torch.utils.data import DataLoader, Dataset

import somelib


class Items(Dataset):
    def __init__(self):
        self.kept = {kept}

    def __len__(self):
        return 8

    def __getitem__(self, i):
        {sample}


loader = DataLoader(Items(), num_workers=4)
"""
    root = project(tmp_path, train, {"somelib/__init__.py": f"def helper(x):\n    {body}\n"})
    assert tuple(name for name, _ in names(root)) == expected


def test_what_the_library_does_on_its_own_is_not_reported(tmp_path: Path) -> None:
    library = NOISY + "def demo():\n    return DataLoader(Noisy(), num_workers=4)\n"
    library += "class Made:\n    def __init__(self):\n        self.loader = demo()\n"
    train = "import somelib\nfrom torch.utils.data import DataLoader\nsomelib.demo()\nsomelib.Made()\n"
    assert names(project(tmp_path, train, {"somelib.py": library})) == []


def test_a_library_s_dataset_is_no_candidate_for_a_loader_out_of_sight(tmp_path: Path) -> None:
    train = "import somelib\nfrom torch.utils.data import DataLoader\ndef make(kind):\n"
    train += "    return DataLoader(registry.get(kind)(), num_workers=4)\n"
    assert names(project(tmp_path, train, {"somelib.py": NOISY})) == []


def test_no_fix_changes_a_call_of_a_library_s_function(tmp_path: Path) -> None:
    library = TORCH_LOADER + "def feed(data):\n    return DataLoader(data, num_workers=4)\n"
    train = """
    import numpy as np
    from somelib import feed
    from torch.utils.data import Dataset
    class Items(Dataset):
        def __len__(self): return 8
        def __getitem__(self, i): return np.random.normal()
    loader = feed(Items())
    """
    root = project(tmp_path, train, {"somelib.py": library})
    with_torch_before_1_9(root)
    (finding,) = [one for one in found(root) if one.name == "duplicate-numpy-randomness"]
    assert not finding.fixable


def test_libraries_that_the_tables_know_are_not_read(tmp_path: Path) -> None:
    """The NumPy that is installed here would make a loader."""
    library = "from torch.utils.data import DataLoader as Feed\n"
    train = NOISY + "from numpy import Feed\nfrom json import Other\nFeed(Noisy(), num_workers=4)\n"
    train += "Other(Noisy(), num_workers=4)  # loader"
    assert names(project(tmp_path, train, {"numpy/__init__.py": library, "json.py": library})) == []


@pytest.mark.parametrize(("top", "name", "is_read"), [("accelerate", "Accelerator", False), ("somelib", "Own", True)])
def test_classes_that_make_given_loaders_anew_are_not_read(tmp_path: Path, top: str, name: str, is_read: bool) -> None:
    library = f"{TORCH_LOADER}class {name}:\n    def prepare(self, data):\n"
    library += "        return DataLoader(data, num_workers=4)  # loader\n"
    train = NOISY + f"from {top} import {name}\ndef main():\n    return {name}().prepare(Noisy())  # loader\n"
    root = project(tmp_path, train, {f"{top}/__init__.py": library})
    assert names(root) == [(SHARED, 8)] * is_read


def test_the_project_s_own_module_comes_first(tmp_path: Path) -> None:
    library = {"somelib.py": "from torch.utils.data import DataLoader as Feed\n"}
    root = project(tmp_path, NOISY + "from somelib import Feed\nloader = Feed(Noisy(), num_workers=4)", library)
    assert names(root) == [(SHARED, 8)]
    write(root, {"somelib.py": "class Feed:\n    pass\n"})
    assert names(root) == []


# --- where it is looked for -------------------------------------------------------------------------------------------

FEED = {"somelib/__init__.py": "from torch.utils.data import DataLoader as Feed\n"}
TRAIN = NOISY + "from somelib import Feed\nloader = Feed(Noisy(), num_workers=4)\n"


def test_a_folder_that_a_pth_file_names(tmp_path: Path) -> None:
    root = project(tmp_path / "project", TRAIN, {"own.pth": f"# ours\nimport os\n{tmp_path / 'elsewhere'}\n"})
    write(tmp_path / "elsewhere", FEED)
    assert names(root) == [(SHARED, 8)]


@pytest.mark.parametrize("folder", ["", "src/"])
def test_an_editable_install(tmp_path: Path, folder: str) -> None:
    told = json.dumps({"url": (tmp_path / "elsewhere").as_uri(), "dir_info": {"editable": True}})
    root = project(tmp_path / "project", TRAIN, {"somelib-1.0.dist-info/direct_url.json": told})
    write(tmp_path / "elsewhere", {f"{folder}{name}": text for name, text in FEED.items()})
    assert names(root) == [(SHARED, 8)]


def test_an_install_from_a_folder_that_is_not_editable_leads_nowhere(tmp_path: Path) -> None:
    told = json.dumps({"url": (tmp_path / "elsewhere").as_uri(), "dir_info": {}})
    root = project(tmp_path / "project", TRAIN, {"somelib-1.0.dist-info/direct_url.json": told})
    write(tmp_path / "elsewhere", FEED)
    assert names(root) == []


def test_pythonpath(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path / "project", TRAIN, {})
    write(tmp_path / "elsewhere", FEED)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "relative", str(tmp_path / "elsewhere")]))
    assert names(root) == [(SHARED, 8)]


def test_an_environment_of_conda(tmp_path: Path) -> None:
    root = write(tmp_path, {"pyproject.toml": "", "train.py": TRAIN, "env/conda-meta/torch-2.4.1-0.json": "{}"})
    write(root, {f"env/lib/python3.11/site-packages/{name}": text for name, text in FEED.items()})
    assert names(root) == [(SHARED, 8)]


def test_the_project_s_environment_counts_without_torch(tmp_path: Path) -> None:
    root = project(tmp_path, TRAIN, FEED)
    (root / SITE / "torch-2.4.1.dist-info" / "METADATA").unlink()
    (root / SITE / "torch-2.4.1.dist-info").rmdir()
    assert names(root) == [(SHARED, 8)]


def test_another_environment_without_torch_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to a tool."""
    root = write(tmp_path / "project", {"pyproject.toml": "", "train.py": TRAIN})
    write(tmp_path / "tool", {"pyvenv.cfg": "", **{f"Lib/site-packages/{name}": text for name, text in FEED.items()}})
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "tool"))
    assert names(root) == []


def test_only_stubs_are_nothing(tmp_path: Path) -> None:
    library = {"somelib/__init__.pyi": FEED["somelib/__init__.py"]}
    assert names(project(tmp_path, TRAIN, library)) == []


def test_a_pth_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    root = project(tmp_path / "project", TRAIN, {})
    write(tmp_path / "elsewhere", FEED)
    (root / SITE / "x.pth").write_text(f"{tmp_path / 'elsewhere'}\n", encoding="utf-8-sig")
    assert names(root) == [(SHARED, 8)]


@pytest.mark.parametrize(
    "listed", [{"top_level.txt": "somelib\n"}, {"RECORD": "some_lib.py,,1\nsomelib/__init__.py,,2\n"}]
)
def test_explain_names_the_version_of_a_distribution_of_another_name(tmp_path: Path, listed: dict[str, str]) -> None:
    files = {f"Other.Lib-3.2.dist-info/{name}": text for name, text in listed.items()}
    near = {"another-9.0.dist-info/top_level.txt": "somelibs\n", "more-9.0.dist-info/RECORD": "somelibs/x.py,,\n"}
    root = project(tmp_path.resolve(), TRAIN, {**FEED, **files, **near})
    folders = library_folders.of_environment(root / ".venv", root)
    assert library_folders.release(folders, "somelib") == "other-lib 3.2"
    assert library_folders.release(folders, "some") == ""


@pytest.mark.parametrize(("base", "expected"), [("DataLoader", [(SHARED, 8)]), ("object", [])])
def test_a_class_that_calls_a_reader_makes_no_loader(
    tmp_path: Path, base: str, expected: list[tuple[str, int]]
) -> None:
    """`FileLoader()` may be something that reads files."""
    library = TORCH_LOADER + (
        f"class FileLoader({base}):\n    pass\n"
        "class Data:\n    def __init__(self, data):\n        self.files = FileLoader(data, num_workers=4)\n"
    )
    train = NOISY + "import somelib\ndata = somelib.Data(Noisy())\n"
    assert names(project(tmp_path, train, {"somelib.py": library})) == expected


# --- broken and hostile libraries -------------------------------------------------------------------------------------

LONG = 40
BROKEN: dict[str, Mapping[str, str]] = {
    "a syntax error": {"somelib/__init__.py": "def Feed(:\n    return (\n"},
    "no text": {"somelib/__init__.py": "# coding: utf-8\n\0\ud800".encode("utf-8", "replace").decode() + "\0Feed = \n"},
    "imports in a circle": {
        "somelib/__init__.py": "from .a import Feed\nfrom .b import *\n",
        "somelib/a.py": "from .b import Feed\nfrom somelib import *\n",
        "somelib/b.py": "from .a import Feed\nfrom somelib import *\n",
    },
    "a class that derives from itself": {
        "somelib/__init__.py": "from .a import Feed\n",
        "somelib/a.py": "from . import b\nclass Feed(b.Feed): pass\n",
        "somelib/b.py": "from . import a\nclass Feed(a.Feed): pass\n",
    },
    "a module that imports itself": {"somelib/__init__.py": "import somelib\nFeed = somelib.Feed\n"},
    "more dots than folders": {"somelib/__init__.py": "from ....... import Feed\n"},
    "a function that calls itself": {
        "somelib/__init__.py": "def Feed(data, **more):  # loader\n    return Feed(Feed(data), **more)\n"
    },
    "half of it installed": {"somelib/__init__.py": "from .feeds import Feed\nfrom ._compiled import *\n"},
    "only its metadata": {
        "somelib-1.0.dist-info/RECORD": "somelib/__init__.py,,\n",
        "somelib-1.0.dist-info/METADATA": "",
    },
    "nested deeper than a parser goes": {"somelib/__init__.py": f"Feed = {'(' * 5_000}{')' * 5_000}\n"},
    "a chain of calls without end": {"somelib/__init__.py": f"Feed = None{'.next()' * 5_000}\n"},
    "star imports of many modules": {
        "somelib/__init__.py": "".join(f"from .m{n} import *\n" for n in range(200)),
        **{f"somelib/m{n}.py": f"from .m{n + 1} import *\n" for n in range(200)},
    },
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_library_costs_one_name(tmp_path: Path, case: str) -> None:
    train = TRAIN + "other = DataLoader(Noisy(), num_workers=2)\n"
    assert names(project(tmp_path, train, BROKEN[case])) == [(SHARED, 8)]
    assert not Workspace([tmp_path]).problems


def test_a_module_that_is_too_large(tmp_path: Path) -> None:
    large = FEED["somelib/__init__.py"] + "#" * library_sources.SOURCE.size
    root = project(tmp_path, TRAIN, {"somelib/__init__.py": large})
    workspace = Workspace([root])
    assert not any(workspace.check().values()) and not workspace.problems


def test_a_module_of_a_hundred_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of it is read."""
    root = project(tmp_path, TRAIN, FEED)
    huge = root / SITE / "somelib/__init__.py"
    with huge.open("r+b") as file:
        file.truncate(100_000_000)
    monkeypatch.setattr(library_sources, "decode", lambda data: pytest.fail("it was read"))
    assert names(root) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_by_the_name_of_a_module(tmp_path: Path) -> None:
    """Reading it would wait for ever."""
    root = project(tmp_path, TRAIN, {"somelib/other.py": ""})
    os.mkfifo(root / SITE / "somelib/__init__.py")
    assert names(root) == []


def test_a_long_way_through_modules(tmp_path: Path) -> None:
    modules = {f"somelib/m{n}.py": f"from .m{n + 1} import Feed\n" for n in range(LONG)}
    library = {"somelib/__init__.py": "from .m0 import Feed\n", **modules}
    library[f"somelib/m{LONG}.py"] = FEED["somelib/__init__.py"]
    assert names(project(tmp_path, TRAIN, library)) == [(SHARED, 8)]


def test_no_more_modules_than_the_limit_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_sources, "MAX_MODULES", 3)
    modules = {f"somelib/m{n}.py": f"from .m{n + 1} import Feed\n" for n in range(LONG)}
    library = {"somelib/__init__.py": "from .m0 import Feed\n", **modules}
    library[f"somelib/m{LONG}.py"] = FEED["somelib/__init__.py"]
    assert names(project(tmp_path, TRAIN, library)) == []


def test_calls_inside_a_library_are_followed_a_few_deep(tmp_path: Path) -> None:
    deep = "".join(f"def f{n}(data):\n    return f{n + 1}(data)  # loader\n" for n in range(LONG))
    library = TORCH_LOADER + deep + f"def f{LONG}(data):\n    return DataLoader(data, num_workers=4)\n"
    train = NOISY + "import somelib\nloader = somelib.f0(Noisy())\n"
    assert names(project(tmp_path, train, {"somelib.py": library})) == []
    near = train.replace("f0", f"f{LONG - 2}")
    assert names(project(tmp_path, near, {"somelib.py": library})) == [(SHARED, 8)]


def chain(last: str) -> str:
    """A chain of functions that call each other, `f0` first, and the last one's use of the value that they pass on."""
    calls = "".join(f"def f{n}(data):\n    return f{n + 1}(data)\n" for n in range(LONG))
    return f"{calls}def f{LONG}(data):\n    {last}\n"


@pytest.mark.parametrize(("start", "is_followed"), [(LONG - 5, True), (LONG - 6, False), (0, False)])
def test_a_library_is_followed_with_what_the_project_gives_it(tmp_path: Path, start: int, is_followed: bool) -> None:
    train = NOISY + f"import somelib\nloader = DataLoader(somelib.f{start}(Noisy()), num_workers=4)\n"
    root = project(tmp_path.resolve(), train, {"somelib.py": chain("return data")})
    workspace = Workspace([root])
    (loader,) = workspace.worker_map().loaders
    assert [one.name for one in loader.datasets] == ["Noisy"] * is_followed
    assert ("library too deep" in loader.late) != is_followed
    workspace.check()
    assert not workspace.problems


@pytest.mark.parametrize(("start", "is_followed"), [(LONG - 1, True), (LONG - 2, False), (0, False)])
def test_the_own_business_of_a_library_is_hardly_followed(tmp_path: Path, start: int, is_followed: bool) -> None:
    train = NOISY.replace("self.rng.random()", f"somelib.f{start}(i)") + "import somelib\n"
    train += "loader = DataLoader(Noisy(), num_workers=4)\n"
    root = project(tmp_path, train, {"somelib.py": "import numpy as np\n" + chain("return np.random.normal()")})
    with_torch_before_1_9(root)
    assert ("duplicate-numpy-randomness" in [name for name, _ in names(root)]) == is_followed


@pytest.mark.parametrize(
    ("given", "most"), [("{n}", MAX_OWN_CONTEXTS + 1), ("Shift({n})", MAX_CONTEXTS)], ids=["its own", "the project's"]
)
def test_a_library_s_own_calls_are_told_apart_in_fewer_contexts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, most: int
) -> None:
    library = """
    from torch.utils.data import Dataset
    class Data(Dataset):
        def __init__(self, held): self.held = held
        def __len__(self): return 8
        def __getitem__(self, i): return self.read(self.held)
        def read(self, held): return held
    """
    train = "from somelib import Data\n" + TORCH_LOADER + "class Shift:\n    def __init__(self, n): self.n = n\n"
    train += "".join(f"DataLoader(Data({given.format(n=n)}), num_workers=4)\n" for n in range(20))
    seen: dict[Frame, str] = {}
    made = Evaluator.frame

    def noted(self: Evaluator, *parts: Any) -> Frame:
        frame = made(self, *parts)
        seen[frame] = frame.code.one.name if frame.code.one else ""
        return frame

    monkeypatch.setattr(Evaluator, "frame", noted)
    Workspace([project(tmp_path, train, {"somelib.py": library})]).check()
    told_apart = sum(name == "read" for name in seen.values())
    assert sum(name == "__getitem__" for name in seen.values()) == 20
    assert told_apart <= most and (told_apart == 20) == (most == MAX_CONTEXTS)


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
@pytest.mark.parametrize("linked", ["somelib", "somelib/feeds.py"])
def test_a_link_out_of_the_environment_is_not_followed(tmp_path: Path, linked: str) -> None:
    write(tmp_path / "outside", {"somelib/__init__.py": "", "somelib/feeds.py": FEED["somelib/__init__.py"]})
    root = project(tmp_path / "project", TRAIN.replace("from somelib", "from somelib.feeds"), {})
    if linked.endswith(".py"):
        write(root, {f"{SITE}/somelib/__init__.py": ""})
    os.symlink(tmp_path / "outside" / linked, root / SITE / linked)
    assert names(root) == []


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_a_circle_of_links(tmp_path: Path) -> None:
    root = project(tmp_path, TRAIN, {})
    os.symlink(root / SITE / "somelib", root / SITE / "somelib")
    assert names(root) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs files that cannot be read")
def test_a_module_that_cannot_be_read(tmp_path: Path) -> None:
    root = project(tmp_path, TRAIN, FEED)
    (root / SITE / "somelib/__init__.py").chmod(0)
    workspace = Workspace([root])
    assert not any(workspace.check().values()) and not workspace.problems


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_links_that_lead_to_each_other(tmp_path: Path) -> None:
    root = project(tmp_path, TRAIN, {"somelib/__init__.py": "from .a import Feed\n"})
    os.symlink(root / SITE / "somelib/b.py", root / SITE / "somelib/a.py")
    os.symlink(root / SITE / "somelib/a.py", root / SITE / "somelib/b.py")
    assert names(root) == []


def test_a_library_by_the_name_of_one_that_python_brings(tmp_path: Path) -> None:
    """The tables for `random` and `threading` apply, because the environment comes after the standard library."""
    train = """
import random
import threading
from torch.utils.data import DataLoader, Dataset
class Noisy(Dataset):
    def __init__(self):
        self.rng = random.Random(0)
        self.lock = threading.Lock()
    def __len__(self): return 8
    def __getitem__(self, i): return self.rng.random()
loader = DataLoader(Noisy(), num_workers=4)
"""
    hostile = {"random.py": "class Random:\n    def random(self): return 4\n", "threading.py": "Lock = list\n"}
    assert names(project(tmp_path, train, hostile)) == names(write(tmp_path / "bare", {"train.py": train})) != []


def test_nothing_is_read_in_the_place_of_a_module_that_python_brings(tmp_path: Path) -> None:
    """No table describes `sched`."""
    train = NOISY + "from sched import scheduler\nloader = scheduler(Noisy(), num_workers=4)\n"
    hostile = {"sched.py": "from torch.utils.data import DataLoader as scheduler\n"}
    assert not names(project(tmp_path, train, hostile))
    assert names(project(tmp_path, train.replace("sched ", "schedule "), {"schedule.py": hostile["sched.py"]}))


def test_a_folder_by_the_name_of_a_module(tmp_path: Path) -> None:
    assert names(project(tmp_path, TRAIN, {"somelib/__init__.py/x.txt": ""})) == []


# --- changes ----------------------------------------------------------------------------------------------------------


def test_another_version_of_a_library_is_seen(tmp_path: Path) -> None:
    root = project(tmp_path.resolve(), TRAIN, {**FEED, "somelib-1.0.dist-info/METADATA": ""})
    workspace = Workspace([root])
    assert any(workspace.check().values())
    links = workspace.project(root).links
    workspace.check()
    assert workspace.project(root).links == links
    write(root, {f"{SITE}/somelib/__init__.py": "class Feed:\n    pass\n"})
    assert not any(workspace.check().values())
    write(root, {f"{SITE}/somelib/__init__.py": FEED["somelib/__init__.py"]})
    assert any(workspace.check().values())


def test_a_library_that_is_installed_later_is_seen(tmp_path: Path) -> None:
    root = project(tmp_path.resolve(), TRAIN, {})
    workspace = Workspace([root])
    assert not any(workspace.check().values())
    write(root, {f"{SITE}/{name}": text for name, text in FEED.items()})
    assert any(workspace.check().values())


def test_nothing_of_a_library_is_a_file_of_the_project(tmp_path: Path) -> None:
    root = project(tmp_path.resolve(), TRAIN, FEED)
    workspace = Workspace([root])
    assert list(workspace.check()) == [root / "train.py"]
    assert workspace.project(root).store.paths() == (root / "train.py",)


def test_the_worker_map_lists_nothing_of_a_library(tmp_path: Path) -> None:
    library = """
from torch.utils.data import DataLoader, Dataset
class Base(Dataset):
    def __getitem__(self, index): return self.one(index)
class Other(Base):
    def one(self, index): return index
DataLoader(Other(), num_workers=2)
"""
    train = NOISY.replace("(Dataset)", "(Base)").replace("__getitem__", "one")
    train = "from somelib import Base\n" + train + "from torch.utils.data import DataLoader\n"
    root = project(tmp_path.resolve(), train + "loader = DataLoader(Noisy(), num_workers=4)\n", {"somelib.py": library})
    (loader,) = Workspace([root]).worker_map().loaders
    assert [one.name for one in loader.datasets] == ["Noisy"]
    assert [one.name for one in loader.functions] == ["Noisy.one"]
    assert names(root) == [(SHARED, 9)]


def test_explain_says_where_it_was_read(tmp_path: Path) -> None:
    library = {"somelib/__init__.py": "from .feeds import Feed\n", "somelib-1.2.dist-info/METADATA": ""}
    library["somelib/feeds.py"] = TORCH_LOADER + "\n\nclass Feed(DataLoader):\n    pass\n"
    root = project(tmp_path.resolve(), TRAIN, library)
    line = TRAIN.splitlines().index("loader = Feed(Noisy(), num_workers=4)")
    told = Workspace([root]).explain(root / "train.py", line).environment
    assert "Feed as installed: somelib 1.2 (somelib/feeds.py:4)" in told


def test_explain_says_that_a_table_was_asked(tmp_path: Path) -> None:
    library = {"monai/data/__init__.py": "", "monai/__init__.py": "", "monai-1.6.1.dist-info/METADATA": ""}
    train = NOISY + "from monai.data import DataLoader, worker_init_fn\n"
    train += "worker_init_fn(0)\nloader = DataLoader(Noisy(), num_workers=4)\n"
    root = project(tmp_path.resolve(), train, library)
    last = len(train.splitlines()) - 1
    workspace = Workspace([root])
    assert "DataLoader as measured: monai 0.3.0, 0.4.0, 1.6.1" in workspace.explain(root / "train.py", last).environment
    assert "worker_init_fn as measured" in workspace.explain(root / "train.py", last - 1).environment


def test_parts_that_are_linked_in_processes(tmp_path: Path) -> None:
    """Each part finds the libraries of its own environment."""
    root = tmp_path.resolve()
    for part in ("one", "two"):
        project(root / part, NOISY + "from .feeds import loader\n", FEED)
        (root / part / "pyproject.toml").unlink()
        write(root, {f"{part}/__init__.py": "", f"{part}/feeds.py": "", f"{part}/train.py": TRAIN})
    write(root, {"pyproject.toml": '[project]\nname = "demo"\n'})
    alone, apart = Workspace([root]), Workspace([root], jobs=2)
    assert [len(shown) for shown in alone.check().values()] == [0, 0, 1, 0, 0, 1]
    assert {path: list(shown) for path, shown in apart.check().items()} == {
        path: list(shown) for path, shown in alone.check().items()
    }
