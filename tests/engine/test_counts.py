"""Counts the work that is done. Unlike times, these numbers are the same on every machine, so a test can compare them.

A number that has grown means more work for all users: find out why before you raise it. If one has shrunk, lower its
limit, so that the gain stays. Limits of pieces and files are exact; those of frames, which change a little with every
improvement of the model, have a margin of about five per cent."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks import projects, relinking
from loaderlint import cli
from loaderlint.engine import Workspace
from loaderlint.engine.repairs import Repairs
from loaderlint.facts import lower
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Val
from loaderlint.project.modules.project_files import ProjectFile, SeenPiece
from loaderlint.rules.unsorted_listing import class_numbers
from loaderlint.sources.store import Store
from loaderlint.syntax import libcst_tree, places
from tests.engine import instructions
from tests.engine import projects as small

ROOT = Path(__file__).parents[2]
FILES = 20

GROWN = "more work than before: find out why, and raise the number in this test only if it has to be"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """The number of pieces that are parsed by Python, numbered for their places, parsed by libcst and lowered, of
    frames (a function in a context) that are created, of files that are read, of expressions that are evaluated (most
    are known then), of values that are created, and of questions to pieces."""
    counts: Counter[str] = Counter()
    lower.said.cache_clear()

    def count(owner: object, name: str, what: str) -> None:
        original: Callable[..., object] = getattr(owner, name)

        def counting(*arguments: object, **named: object) -> object:
            counts[what] += 1
            return original(*arguments, **named)

        monkeypatch.setattr(owner, name, counting)

    count(lower, "bare", "read")
    count(lower, "preorder", "numbered")
    count(places, "preorder", "numbered")
    count(libcst_tree, "parse_piece", "parsed")
    count(lower, "lowered", "lowered")
    count(Frame, "__init__", "frames")
    count(Store, "file", "files")
    count(Evaluator, "eval", "evaluated")
    count(Val, "__init__", "values")
    count(SeenPiece, "ask", "asked")
    yield counts


def over(counts: Counter[str], most: dict[str, int]) -> dict[str, tuple[int, int]]:
    """The counts above their limits, as (count, limit)."""
    return {what: (counts[what], limit) for what, limit in most.items() if counts[what] > limit}


def test_a_cold_check_of_the_examples(counted: Counter[str]) -> None:
    Workspace([ROOT / "examples"]).check()
    assert counted["read"] and counted["numbered"], "the counters count nothing: what they wrap was renamed"
    assert over(counted, {"read": 48, "numbered": 29, "parsed": 0, "lowered": 63, "frames": 83, "files": 6}) == {}, (
        GROWN
    )


def test_a_cold_check_of_a_project(counted: Counter[str], tmp_path: Path) -> None:
    Workspace([projects.of_many_files(tmp_path, FILES)]).check()
    assert (
        over(
            counted,
            {"read": 94, "numbered": 21, "parsed": 0, "lowered": 113, "frames": 194, "evaluated": 2808, "files": 20},
        )
        == {}
    ), GROWN


#: Nearly everything that rules look for, done right, so that there are no findings.
GOOD = """
import multiprocessing
import threading

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

try:
    import cv2
except ImportError:
    cv2 = None

MEANS = np.zeros(3)
TRANSFORM_RNG = np.random.default_rng()


class Crops(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = None
        self.seen = 0
        self.cache = {}
        self.lengths = [3, 4]
        self.transform = Scale(2)

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
            self.rng = np.random.default_rng(torch.initial_seed() % 2**32)
        self.seen += 1
        sample = self.file["data"][index].copy()
        sample[0] = self.rng.random()
        sample += MEANS / 2
        if sample.std() > 0:
            sample = sample / sample.std()
        sample.sort()
        sample = cv2.resize(sample, (3, 3))
        return self.transform(torch.from_numpy(sample)), next(iter(self.lengths), None)


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, tensor):
        return tensor.clone().mul_(self.by)


class Lines(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for number in range(first, 100, step):
            yield number


def seed_worker(worker_id):
    cv2.setNumThreads(0)
    np.random.seed(torch.initial_seed() % 2**32)


def read_line(number):
    return str(number)


def main():
    lock = threading.Lock()
    train = DataLoader(Crops("a.h5"), num_workers=2, shuffle=True, worker_init_fn=seed_worker)
    lines = DataLoader(Lines(), num_workers=2, persistent_workers=True)
    means = []
    with multiprocessing.Pool(4) as pool:
        pool.map(read_line, range(4))
    for epoch in range(2):
        torch.manual_seed(epoch)
        for batch, _ in train:
            with lock:
                means.append(float(batch.mean()))
        for line in lines:
            means.append(line.item())


if __name__ == "__main__":
    main()
"""


def test_a_check_that_finds_nothing_looks_for_no_places(counted: Counter[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(GOOD, "utf-8")
    (findings,) = Workspace([tmp_path], {"select": ["ALL"]}).check().values()
    assert counted["lowered"] and not findings
    assert counted["numbered"] == counted["parsed"] == 0, (
        "a rule asks for a place that it does not show (see rules/shared/unresolved_places.py)"
    )


def test_only_the_fix_that_a_check_shows_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    repair = Repairs.repair
    monkeypatch.setattr(Repairs, "repair", lambda self, fix, *rule: made.append(fix.title) or repair(self, fix, *rule))
    path = ROOT / "examples"
    workspace = Workspace([path], {"select": ["opencv-threads-in-workers"]})
    ((finding,),) = (found for found in workspace.check().values() if found)
    offered = workspace.repairs(finding)
    assert len(offered) == 2 and made == [fix.title for fix in offered]
    made.clear()
    assert workspace.preferred_repair(finding) == offered[0]
    assert made == [offered[0].title]
    made.clear()
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        cli.main(["check", "--no-cache", "--select", "opencv-threads-in-workers", str(path)])
    assert made == [offered[0].title] and offered[0].title in shown.getvalue()


READ = """
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self):
        self.seen = 0

    def __getitem__(self, index):
        self.seen += 1
        return index


class Meter:
    def __init__(self, name):
        self.seen = 0


class Page:
    name = "page"

    def show(self, batch):
        meter = Meter(self.name)
        print(meter.seen, batch)


def show_all(page):
    for batch in DataLoader(Numbers(), num_workers=2):
        page.show(batch)


show_all(Page())
"""


def test_who_reads_another_object_is_not_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: set[str] = set()
    find = Callers.frames

    def frames(self: Callers, path: Path, piece: int, def_: int, depth: int = 0) -> tuple[Frame, ...]:
        found = find(self, path, piece, def_, depth)
        asked.update(one.facts.ir.defs[one.def_].name for one in found if one.facts)
        return found

    (tmp_path / "train.py").write_text(READ, "utf-8")
    workspace = Workspace([tmp_path], {"select": ["lost-worker-state"]})
    monkeypatch.setattr(Callers, "frames", frames)
    assert not any(workspace.check().values())
    assert asked and "show" not in asked


OPTIONS = """
import argparse

from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--batch", type=int, default=2)
parser.add_argument("--drop", action="store_true")
args = parser.parse_args()
DataLoader(list(range(9)), args.batch, num_workers=args.workers, drop_last=args.drop)
"""


def test_options_are_looked_up_in_calls_that_are_found_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    searched: list[str] = []
    mentioning = ProjectFile.mentioning

    def counting(self: ProjectFile, word: str) -> Iterator[int]:
        searched.append(word)
        return mentioning(self, word)

    (tmp_path / "train.py").write_text(OPTIONS, "utf-8")
    workspace = Workspace([tmp_path], {"select": ["ALL"]})
    monkeypatch.setattr(ProjectFile, "mentioning", counting)
    workspace.check()
    assert searched.count("add_argument") == 1


#: A def that makes many datasets and loaders: each question about the def is asked once.
MANY_DATASETS = """
import os
import numpy as np
from torch.utils.data import DataLoader, Dataset
{classes}
def main():
{loaders}
main()
"""
_CLASS = """
class D{n}(Dataset):
    def __init__(self):
        self.names = os.listdir("images")
    def __getitem__(self, i):
        return np.random.rand(3)
"""


def _many_datasets(folder: Path, count: int = 30) -> Path:
    classes = "".join(_CLASS.format(n=n) for n in range(count))
    loaders = "".join(f"    l{n} = DataLoader(D{n}(), num_workers=2)\n" for n in range(count))
    path = folder / "train.py"
    path.write_text(MANY_DATASETS.format(classes=classes, loaders=loaders), "utf-8")
    return path


def test_what_a_def_of_many_datasets_counts_is_asked_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Frame] = []
    counted = class_numbers._counted
    monkeypatch.setattr(class_numbers, "_counted", lambda frame, model: asked.append(frame) or counted(frame, model))
    _many_datasets(tmp_path)
    Workspace([tmp_path], {"select": ["ALL"]}).check()
    assert len(asked) == len(set(asked)) == 31  # main(), and each __init__


def test_the_places_of_a_worker_map_are_found_together(counted: Counter[str], tmp_path: Path) -> None:
    path = _many_datasets(tmp_path)
    workspace = Workspace([tmp_path])
    known = workspace.worker_map()
    counted.clear()
    lines = [span.line for loader in known.loaders for place in loader.places() if (span := workspace.locate(place))]
    assert path.read_text("utf-8").count("DataLoader(D") == len(known.loaders) == 30
    assert len(set(lines)) == 60 and counted["numbered"] == 0


def test_a_line_of_a_def_of_many_defs_is_explained_with_one_look_at_their_places(
    counted: Counter[str], tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    inner = "".join(
        f"    class D{n}(Dataset):\n        def __getitem__(self, i):\n            return i\n"
        f"    if name == {n}:\n        return DataLoader(D{n}(), num_workers=2)\n"
        for n in range(30)
    )
    path.write_text(f"from torch.utils.data import DataLoader, Dataset\ndef main(name):\n{inner}main(1)\n", "utf-8")
    workspace = Workspace([tmp_path], {"select": ["ALL"]})
    workspace.check()
    counted.clear()
    told = workspace.explain(path, 99)
    assert [one.standing.name for one in told.subjects] == ["main.D19.__getitem__"]
    assert counted["numbered"] <= 6


def test_a_keystroke_in_what_no_finding_rests_on(counted: Counter[str], tmp_path: Path) -> None:
    root = projects.of_many_files(tmp_path.resolve(), FILES)
    workspace = Workspace([root])
    workspace.check()
    counted.clear()
    edited = root / "package_0" / "part_5.py"
    workspace.set_text(edited, edited.read_text("utf-8").replace("torch.relu(layer(x))", "torch.relu(layer(x)) + 1"))
    workspace.check([edited])
    assert over(counted, {"read": 0, "numbered": 0, "lowered": 0, "frames": 0, "files": 0}) == {}, GROWN


def test_a_keystroke_that_changes_the_findings_of_another_file(counted: Counter[str], tmp_path: Path) -> None:
    root = projects.of_many_files(tmp_path.resolve(), FILES)
    workspace = Workspace([root])
    other = root / "datasets.py"
    before = workspace.check()[other]
    counted.clear()
    workspace.set_text(root / "transforms.py", next(relinking.states(1)))
    assert workspace.check([other])[other] != before
    most = {"read": 1, "numbered": 0, "parsed": 0, "lowered": 1, "frames": 16, "files": 3}
    assert over(counted, {**most, "evaluated": 216, "values": 56, "asked": 56}) == {}, GROWN


#: An edit of the small project, and how often it links the project again.
EDITS = (
    ("a function", "demo/datasets.py", "class Images", "def helper(value):\n    return value\n\n\nclass Images", 0),
    ("a function at the end", "demo/train.py", "    main()\n", "    main()\n\n\ndef later(value):\n    pass\n", 0),
    (
        "a function less",
        "demo/transforms.py",
        "def unused(values):\n    return [value for value in values if value]",
        "",
        0,
    ),
    ("a function by another name", "demo/transforms.py", "def unused", "def used_by_nobody", 0),
    (
        "a method",
        "demo/datasets.py",
        "    def __len__",
        "    def helper(self):\n        return 1\n\n    def __len__",
        0,
    ),
    ("a method by another name", "demo/datasets.py", "def describe", "def tell", 0),
    ("a class", "demo/models.py", "class Model", "class Other:\n    pass\n\n\nclass Model", 0),
    ("a constant", "demo/datasets.py", "SIZE = 16", "SIZE = 16\nLIMIT = 3", 0),
    ("an import", "demo/transforms.py", "import random", "import json\nimport random", 0),
    (
        "a name from the standard library",
        "demo/transforms.py",
        "import random",
        "from json import dumps\nimport random",
        0,
    ),
    (
        "a local by another name",
        "demo/train.py",
        "for batch in train_loader:\n        models.step(batch)",
        "for images in train_loader:\n        models.step(images)",
        1,
    ),
    (
        "a local of a function that nobody asks for",
        "demo/datasets.py",
        "    return sorted(os.listdir(folder))",
        "    names = os.listdir(folder)\n    return sorted(names)",
        0,
    ),
    ("a method that is looked for", "demo/datasets.py", "    def describe", "    def __getstate__", 1),
    ("a function in place of another", "demo/transforms.py", "def unused", "def jitter", 1),
)


@pytest.mark.parametrize(("name", "old", "new", "most"), [one[1:] for one in EDITS], ids=[one[0] for one in EDITS])
def test_how_many_edits_link_anew(tmp_path: Path, name: str, old: str, new: str, most: int) -> None:
    root = small.write(tmp_path.resolve())
    workspace = Workspace([root])
    found = small.shown(workspace.check(), root)
    links = workspace.project(root).links
    text = small.FILES[name].replace(old, new, 1)
    assert text != small.FILES[name]
    workspace.set_text(root / name, text)
    assert small.shown(workspace.check(), root) == small.cold(root, {root / name: text})
    assert workspace.project(root).links - links == most, GROWN
    workspace.set_text(root / name, small.FILES[name])
    assert small.shown(workspace.check(), root) == found


NAMED = """
from torch.utils.data import DataLoader, Dataset


def crop(image):
    return image[1:]


class Images(Dataset):
    def __init__(self, images):
        self.images = images

    def __getitem__(self, index):
        return self.images[index], crop.__name__, self.describe.__name__

    def describe(self, image):
        return image.shape


loader = DataLoader(Images(list(range(9))), num_workers=2)
"""


@pytest.mark.parametrize("body", ["image[1:]", "image.shape"], ids=["a function", "a method"])
def test_what_stands_in_a_function_that_is_named_and_never_called_links_nothing_anew(tmp_path: Path, body: str) -> None:
    path = tmp_path.resolve() / "train.py"
    path.write_text(NAMED)
    workspace = Workspace([path.parent])
    workspace.check()
    links = workspace.project(path.parent).links
    workspace.set_text(path, NAMED.replace(body, "image[2:], image"))
    workspace.check()
    assert workspace.project(path.parent).links == links, GROWN


# --- instructions -----------------------------------------------------------------------------------------------------

#: The ratio between a keystroke in 3,000 lines and one in 1,000: 2.6. It may be three, as the number of lines, but not
#: more.
LONG_TO_SHORT = 3.0
#: The ratio between a keystroke in 1,000 lines and a bare parse of them: 0.032 on Python 3.11. The parser is native
#: code, the same for all Pythons. The margin is for Pythons that need more instructions for the same work.
KEYSTROKE_TO_PARSE = 0.045


def _callgrind(folder: Path) -> list[int]:
    """The instructions of the last three threads of `instructions.py`."""
    script = Path(instructions.__file__)
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join((str(ROOT / "server"), str(ROOT))),
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    for number, before in enumerate(([], ["valgrind", "--tool=callgrind", "--separate-threads=yes"])):
        # The first run compiles the modules, which takes longer than all the rest under valgrind.
        options = [f"--callgrind-out-file={folder / 'out'}"] if before else []
        (folder / str(number)).mkdir()
        command = [*before, *options, sys.executable, str(script), str(folder / str(number))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    written = [path.read_text("utf-8") for path in sorted(folder.glob("out-*"))]
    return [int(number) for text in written[-3:] for number in re.findall(r"^totals: (\d+)", text, re.MULTILINE)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is missing: apt-get install valgrind")
def test_instructions_of_a_keystroke(tmp_path: Path) -> None:
    short, long, parse_of_short = _callgrind(tmp_path)
    keys = len(instructions.TYPED)
    assert long / short <= LONG_TO_SHORT, "a keystroke costs more than in proportion to the length of the file"
    assert short / keys / parse_of_short <= KEYSTROKE_TO_PARSE, GROWN
