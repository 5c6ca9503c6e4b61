"""Folders of a root of which none imports another are linked for themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaderlint.cache import linking_answers
from loaderlint.cache.linking_answers import Answers
from loaderlint.project.modules.components import reach_alike, reached
from loaderlint.project.modules.project_files import Part
from loaderlint.project.reach.model import Model
from loaderlint.project.versions.environment import Environment
from loaderlint.sources.open_file import OpenFile, around
from loaderlint.sources.snapshot import Search, Snapshot
from loaderlint.sources.store import Store
from loaderlint.syntax.byte_search import imported
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.source import decode

MAKES = "from torch.utils.data import DataLoader\n\n\ndef make(data, workers):\n    return DataLoader(data, {})\n"
TWO = {
    "one/one/loading.py": MAKES.format("batch_size=2, num_workers=workers"),
    "one/one/train.py": "from one.loading import make\n\nloader = make([], 3)\n",
    "two/two/run.py": "from elsewhere import make\n\n"
    + "\n".join(f"def f{n}():\n    make([], 1)\n" for n in range(80)),
}


def snapshot_of(root: Path, files: dict[str, str]) -> tuple[Store, Snapshot]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    store = Store(root)
    for name, text in files.items():
        store.set_text(root / name, text)
    store.settled()
    return store, Snapshot(store, lambda: False, lambda: None)


def part_of(store: Store, path: Path) -> Part:
    return store.searching().part_of(path)


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("from a.b.c import d", {"a.b"}),
        ("import a.b.c as d, e", {"a.b", "e"}),
        ("import a, \\\n    b", {"a", "b"}),
        ("from a \\\n  import b", {"a"}),
        ("import a;import b", {"a", "b"}),
        ("x = 1; from a import b; import c\nimport d", {"a", "c", "d"}),
        ("x = 1\r\nfrom a \\\r\n  \\\r\n  import b\r\nimport c\r\n", {"a", "c"}),
        ("def f(): import a\r    from b import c", {"a", "b"}),
        ("'how to import it:' \\\nimport a\nimport b", {"a", "b"}),
        ("if a: from ... import b", {"..."}),
        ("\tfrom ...c import b", {"..."}),
        ("# as in from ... import b", set()),
        ("`from ... import ...` and `import ...`", set()),
        ("from . import a", {"."}),
        ("from ..a import b", {".."}),
        ("from.a import(b)", {"."}),
        ("from é.b import c", {"é.b"}),
        ("from a import datasets, b", {"a"}),
        ("import_module('a.b.c')", {"a.b"}),
        ("import_module( 'a')", {"a"}),
        ("import_module(f'a.{name}')", {"a"}),
        ("name = 'a.b'\nmode = 'train'\nimport_module(name)", {"a.b"}),
        ("\ufeffimport a\rimport b\r", {"a", "b"}),
        ("# how to import a, b", set()),
        ("x = 'a.b'  # imports nothing", set()),
    ],
)
def test_what_a_file_imports(text: str, modules: set[str]) -> None:
    assert imported(text.encode()) == modules


_LINES = ["import a\n", "# imports b\n", "x = 1\n", "from .c import d\n", "import e, \\\n    f\n", "if x: import g\r\n"]


@pytest.mark.parametrize(
    ("was", "now", "alike"),
    [
        ("# what follows\nimport a\n\nx = 1\ny = 2\n", "# what follows\nimport a\n\nx = 12\ny = 2\n", True),
        ("# what follows\nimport a\ny = 2\n", "# what follows\nimport ab\ny = 2\n", False),
        ("# what follows\nimport a\ny = 2\n", "# what follows\nimport a  # why\ny = 2\n", True),
        ("# what follows\n# import a\ny = 2\n", "# what follows\nimport a\ny = 2\n", False),
        ("# what\n'import'\nimport a \\\n, b\ny = 2\n", "# what\n'import'\nimport a \n, b\ny = 2\n", False),
        ("# what follows\nimport a,\\\n b\ny = 2\n", "# what follows\nimport a,\\\n bc\ny = 2\n", False),
        ("# what follows\nimport a\nx = 1\n", "# what follows\nimport a\nx = sys.path\n", False),
        ("# what follows\nimport a\nx = 1\n", "# what follows\nimport a\nx = DataLoader\n", False),
        ("# what follows\nimport a\nx = DataLoade\n", "# what follows\nimport a\nx = DataLoader\n", False),
    ],
)
def test_whether_an_edit_is_seen_to_import_the_same(was: str, now: str, alike: bool) -> None:
    assert reach_alike(was, now, around) is alike


@settings(max_examples=300)
@given(st.data())
def test_an_edit_that_is_seen_to_import_the_same_does(data: st.DataObject) -> None:
    text = st.lists(st.sampled_from([*_LINES, "import ", "from", "\\\n", "\n", ";", "sys.path", "Dataset"]), max_size=8)
    before, gone, come, after = ("".join(data.draw(text)) for _ in range(4))
    was, now = before + gone + after, before + come + after
    if reach_alike(was, now, around):
        for path in ("/r/a.py", "/r/s/a.py", "/r/s/b/a.py"):
            assert reached(was.encode(), ("/r", "s"), path) == reached(now.encode(), ("/r", "s"), path)


def test_callers_are_those_of_the_own_part(tmp_path: Path) -> None:
    """80 calls of another function of that name, more than are looked at, do not hide the one that counts."""
    folder = {f"a{name}": text for name, text in TWO.items() if name.startswith("two")}
    store, _ = snapshot_of(tmp_path, {**folder, **TWO})
    part = part_of(store, tmp_path / "one/one/train.py")
    assert part == (str(tmp_path / "one/one"),)
    assert list(store.searching().units()) == [(str(tmp_path / name),) for name in ("atwo/two", "one/one", "two/two")]
    model = Model(Snapshot(store, lambda: False, lambda: None, part), lambda path: Environment())
    (loader,) = model.loaders
    assert loader.workers_text == "num_workers=3"
    assert {site.path.name for site in model.callers.sites("make")} == {"train.py"}
    assert [path.name for path in model.files.paths()] == ["loading.py", "train.py"]


@pytest.mark.parametrize(
    ("added", "joined"),
    [
        ("import one.loading", True),
        ("from one import loading", True),
        ("import importlib\nimportlib.import_module('one.loading')", True),
        ("import torch", False),
        ("from . import one", False),
        ("from .one import two", False),
        ("from ...one import two", True),
        ("import alone", False),
    ],
)
def test_what_is_imported_belongs_together(tmp_path: Path, added: str, joined: bool) -> None:
    files = {**TWO, "two/two/run.py": f"{added}\n{TWO['two/two/run.py']}"}
    store, _ = snapshot_of(tmp_path, files)
    one, two = tmp_path / "one/one/train.py", tmp_path / "two/two/run.py"
    assert (part_of(store, one) == part_of(store, two)) is joined
    store.set_text(two, TWO["two/two/run.py"])
    assert part_of(store, one) != part_of(store, two)
    store.set_text(two, files["two/two/run.py"])
    assert (part_of(store, one) == part_of(store, two)) is joined


@pytest.mark.parametrize(
    ("name", "text", "joined"),
    [
        ("data/a.py", "class A(Dataset): ...", True),
        ("data/a.py", "@PIPELINES.register\nclass A: ...", True),
        ("data/a.py", "class A: ...", False),
        ("data/a.py", "class A(Dataset): ...\n\nDataLoader(A())", False),
        ("shelf/data/a.py", "class A(Dataset): ...", True),
        ("shelf/a.py", "class A(Dataset): ...", True),
    ],
)
def test_datasets_without_a_loader_join_the_scripts_that_have_one(
    tmp_path: Path, name: str, text: str, joined: bool
) -> None:
    """A configuration names them."""
    files = {"train.py": "DataLoader(build(config))\n", "other/b.py": "x = 1\n", name: f"{text}\n"}
    store, _ = snapshot_of(tmp_path, files)
    data, script, other = (part_of(store, tmp_path / one) for one in (name, "train.py", "other/b.py"))
    assert (data == script) is joined
    assert other not in (data, script)
    store.set_text(tmp_path / name, "x = 1\n")
    assert part_of(store, tmp_path / name) != script
    store.set_text(tmp_path / name, f"{text}\n")
    assert (part_of(store, tmp_path / name) == script) is joined


def test_a_text_far_from_the_word_that_imports_joins_too(tmp_path: Path) -> None:
    """What `import_module` is given may be written anywhere in the file."""
    name, far = "two/two/run.py", "\n" * 5_000
    files = {**TWO, name: f"import importlib\nload = importlib.import_module(NAME){far}NAME = 'one.loading'\n"}
    store, _ = snapshot_of(tmp_path, files)
    one, two = tmp_path / "one/one/train.py", tmp_path / name
    assert part_of(store, one) == part_of(store, two)
    store.set_text(two, files[name].replace("one.loading", "elsewhere"))
    assert part_of(store, one) != part_of(store, two)


@pytest.mark.parametrize(
    "files",
    [
        {"__init__.py": ""},
        {"one/start.py": "import sys\nsys.path.append('../two')\n"},
        {"train.py": "import one.train\nfrom two import run\n"},
        {"three/three/x.py": "import one, two\n"},
    ],
)
def test_what_may_reach_another_folder_joins_it(tmp_path: Path, files: dict[str, str]) -> None:
    store, _ = snapshot_of(tmp_path, {**TWO, **files})
    one, two = part_of(store, tmp_path / "one/one/train.py"), part_of(store, tmp_path / "two/two/run.py")
    assert one == two


SHELF = {"packages/one/a.py": "x = 1\n", "packages/two/b.py": "x = 1\n", "train.py": "import torch\n"}


@pytest.mark.parametrize(
    ("name", "text", "joined"),
    [
        ("packages/one/c.py", "import torch", False),
        ("packages/one/c.py", "import two", True),
        ("packages/one/c.py", "from . import a", False),
        ("packages/one/c.py", "from ..two import b", True),
        ("packages/one/inner/c.py", "from .. import a", False),
        ("packages/one/inner/c.py", "import sys\nsys.path.append('two')", False),
        ("packages/one/c.py", "import sys\nsys.path.append('two')", True),
        ("packages/one/c.py", "hydra.utils.instantiate(config)", False),
        ("packages/c.py", "hydra.utils.instantiate(config)", True),
        ("train.py", "# we instantiate", False),
        ("packages/three/c.py", "import one, two", True),
        ("packages/three/c.py", "import one", False),
        ("train.py", "import two, one", False),
        ("train.py", "from packages import two", True),
        ("train.py", "import packages.two", True),
        ("train.py", "hydra.utils.instantiate(config)", True),
        ("packages/__init__.py", "", True),
        ("packages.py", "import torch", False),
        ("src.py", "import one, two", False),
    ],
)
def test_folders_of_a_folder_that_is_no_package_are_told_apart(
    tmp_path: Path, name: str, text: str, joined: bool
) -> None:
    store, _ = snapshot_of(tmp_path, {**SHELF, name: f"{text}\n"})
    one, two = (part_of(store, tmp_path / path) for path in ("packages/one/a.py", "packages/two/b.py"))
    assert (one == two) is joined


@pytest.mark.parametrize(
    ("source", "importer", "joined"),
    [
        ("src/model/a.py", "train.py", True),
        ("src/model/a.py", "tests/unit/test_a.py", True),
        ("src/model/__init__.py", "src/train.py", True),
        ("project/src/model/a.py", "project/tests/test_a.py", True),
        ("project/src/model/a.py", "train.py", False),
        ("project/model/a.py", "other/model_of/b.py", False),
    ],
)
def test_what_an_import_finds_on_a_shelf(tmp_path: Path, source: str, importer: str, joined: bool) -> None:
    store, _ = snapshot_of(tmp_path, {source: "x = 1\n", importer: "from model import a\n", "c/c/c.py": ""})
    parts = [part_of(store, tmp_path / path) for path in (source, importer, "c/c/c.py")]
    assert (parts[0] == parts[1]) is joined
    assert parts[2] not in parts[:2]


def test_a_file_is_called_like_the_folder_beside_it(tmp_path: Path) -> None:
    files = {"utils.py": "x = 1\n", "utils/a.py": "x = 1\n", "train.py": "import utils\n", "c/c.py": "x = 1\n"}
    store, _ = snapshot_of(tmp_path, files)
    file, folder, script, other = (part_of(store, tmp_path / name) for name in files)
    assert file == folder == script != other


def test_a_folder_called_like_a_library_is_entered_by_what_is_in_it(tmp_path: Path) -> None:
    files = {"timm/timm/a.py": "x = 1\n", "own/own/a.py": "import timm\n", "near/near/a.py": "import timm.timm\n"}
    store, _ = snapshot_of(tmp_path, files)
    own, near, timm = (part_of(store, tmp_path / f"{name}/{name}/a.py") for name in ("own", "near", "timm"))
    assert near == timm
    assert own == (str(tmp_path / "own/own"),)


@pytest.mark.parametrize(
    ("name", "old", "new", "holds"),
    [
        ("two/two/run.py", "from elsewhere", "import one.loading\nfrom elsewhere", False),
        ("two/two/run.py", "from elsewhere", "import torch\nfrom elsewhere", True),
        ("two/two/run.py", "make([], 1)", "pass", True),
        ("one/one/train.py", "make([], 3)", "pass", False),
    ],
)
def test_what_is_kept_of_a_part_holds_until_it_is_searched_differently(
    tmp_path: Path, name: str, old: str, new: str, holds: bool
) -> None:
    store, _ = snapshot_of(tmp_path, TWO)
    snapshot = Snapshot(store, lambda: False, lambda: None, part_of(store, tmp_path / "one/one/train.py"))
    assert snapshot.calling("make")
    snapshot.release()
    searches: dict[Search, Mapping[str, tuple[Path, ...]]] = {**snapshot.searches()}
    searches["importing", store.searching().layout] = store.searching().importing()
    contents: dict[bytes, bytes] = {}
    kept: Answers = linking_answers.loaded(linking_answers.dumped(searches, (), {}, contents.update))
    data = TWO[name].replace(old, new).encode()
    source = decode(data)
    path = tmp_path / name
    assert (kept.hold(str(path), data, OpenFile(path, source, cut(source.text)), contents.get) is not None) is holds
