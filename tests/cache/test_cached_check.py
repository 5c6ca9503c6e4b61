"""A check from the cache reports the same as a fresh one, whatever changed in between."""

from __future__ import annotations

import contextlib
import os
import random
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint import cli
from loaderlint.cache import linking_answers, manifest
from loaderlint.cache.database import NAME
from loaderlint.commands import cached_check, check
from loaderlint.files.file_accesses import content, stamp
from loaderlint.project.modules.project_files import Files, Read
from loaderlint.settings import settings
from tests.engine.projects import FILES

Check = Callable[..., tuple[str, str, int]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "around" / "project"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "data").mkdir()
    (root / ".gitignore").write_text("old.py\n")
    (root / "requirements.txt").write_text("numpy\n")
    for path in sorted(root.rglob("*"), reverse=True):
        long_ago(path)
    for folder in (root, root.parent, tmp_path):
        long_ago(folder)
    monkeypatch.setenv("LOADERLINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(root)
    # Files that changed a moment ago would be read again, which only one test is about.
    monkeypatch.setattr(manifest, "RACY", -(10**18))
    return root


def long_ago(path: Path) -> None:
    os.utime(path, (time.time() - 5000, time.time() - 5000))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list with one entry for each check that was not answered from the cache."""
    runs: list[bool] = []
    real = check.check

    def counted(chosen: object) -> int:
        runs.append(True)
        return real(chosen)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "check", counted)
    return runs


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], ran: list[bool]) -> Check:
    def go(*arguments: str) -> tuple[str, str, int]:
        settings.clear()
        code = cli.main(["check", *arguments])
        said = capsys.readouterr()
        return said.out, said.err, code

    return go


def same_as_fresh(run: Check, ran: list[bool], *arguments: str, answered: bool) -> None:
    """Check that the output is the same with and without the cache, and whether the cache answered."""
    ran.clear()
    found = run(*arguments)
    assert bool(ran) is not answered
    assert found == run(*arguments, "--no-cache")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (".",),
        ("--output-format", "json"),
        ("--output-format", "sarif"),
        ("--output-format", "github", "--statistics"),
        ("--hints",),
        ("--select", "ALL", "--platforms", "linux,windows"),
        ("demo/datasets.py", "demo"),
        ("--target-torch", "2.4", "--severity", "LDR1=hint"),
    ],
)
def test_the_same_command_again(project: Path, run: Check, ran: list[bool], arguments: tuple[str, ...]) -> None:
    first = run(*arguments)
    assert ran == [True] and first[0]
    same_as_fresh(run, ran, *arguments, answered=True)


def test_other_formats_and_parts_of_what_was_checked(project: Path, run: Check, ran: list[bool]) -> None:
    run()
    same_as_fresh(run, ran, "--output-format", "json", answered=True)
    same_as_fresh(run, ran, "demo", answered=True)
    same_as_fresh(run, ran, "demo/datasets.py", answered=True)
    same_as_fresh(run, ran, "demo/transforms.py", "demo/datasets.py", "--hints", answered=True)


def test_what_several_processes_found(project: Path, run: Check, ran: list[bool]) -> None:
    """The processes return what the result depends on, and what they read: for example, the environment of a part
    without findings."""
    for name, text in FILES.items():
        if name.startswith("demo/"):
            write(f"apart/{name.replace('demo', 'other')}", text.replace("demo", "other"))(project)
    packages = project / "apart/.venv/lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    write("apart/.venv/pyvenv.cfg", "version = 3.12.0\n")(project)
    for path in (*sorted(project.rglob("*"), reverse=True), project):
        long_ago(path)
    run("demo", "--jobs", "2")
    same_as_fresh(run, ran, "demo", answered=True)
    write("demo/datasets.py", "# Data.\n" + FILES["demo/datasets.py"])(project)
    same_as_fresh(run, ran, "demo", answered=True)
    (packages / "torch-2.4.0.dist-info").mkdir()
    same_as_fresh(run, ran, "demo", answered=False)


SITE = ".venv/lib/python3.12/site-packages"
FEED = "from torch.utils.data import DataLoader as Feed\n"


def test_what_an_installed_library_says(project: Path, run: Check, ran: list[bool]) -> None:
    """A check depends on the library modules that it read, and on the places where they were searched."""
    (project / SITE).mkdir(parents=True)
    write(".venv/pyvenv.cfg", "version = 3.12.0\n")(project)
    write(f"{SITE}/somelib/__init__.py", "from .feeds import Feed\n")(project)
    write(f"{SITE}/somelib/feeds.py", FEED)(project)
    write(f"{SITE}/somelib/other.py", "")(project)
    train = "from somelib import Feed\nfrom demo.datasets import *\nloader = Feed(Crops(), num_workers=4)\n"
    write("demo/feeding.py", train)(project)
    for path in (*sorted(project.rglob("*"), reverse=True), project):
        long_ago(path)
    run()
    same_as_fresh(run, ran, answered=True)
    write(f"{SITE}/somelib/other.py", "x = 1\n")(project)
    same_as_fresh(run, ran, answered=True)
    write("demo/feeding.py", "# Feeds.\n" + train)(project)
    same_as_fresh(run, ran, answered=True)
    write(f"{SITE}/somelib/feeds.py", "class Feed:\n    pass\n")(project)
    same_as_fresh(run, ran, answered=False)
    (project / SITE / "somelib/feeds.py").unlink()
    same_as_fresh(run, ran, answered=False)
    write(f"{SITE}/own.pth", f"{project.parent / 'elsewhere'}\n")(project)
    same_as_fresh(run, ran, answered=False)


def test_what_a_missing_module_may_be_made_of(project: Path, run: Check, ran: list[bool]) -> None:
    """A script that imports a missing module ends there, unless the module is to be built from a source."""
    script = "from demo.tiles import Tiles\nfrom torch.utils.data import DataLoader\nfrom demo.datasets import *\n"
    write("demo/tiling.py", script + "for batch in DataLoader(range(9), num_workers=4):\n    pass\n")(project)
    for path in (*sorted(project.rglob("*"), reverse=True), project):
        long_ago(path)
    before = run("--platforms", "windows")
    same_as_fresh(run, ran, "--platforms", "windows", answered=True)
    write("demo/tiles.pyx", "")(project)
    same_as_fresh(run, ran, "--platforms", "windows", answered=False)
    assert "tiling.py" in run("--platforms", "windows")[0]
    assert "tiling.py" not in before[0]


CONFIGURED = """
import random
import sys
import yaml
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self):
        self.random = random.Random(0)

    def __getitem__(self, index):
        return self.random.random()


def main(path):
    with open(path) as file:
        config = yaml.safe_load(file)
    return DataLoader(Numbers(), num_workers=config["workers"])


for batch in main(sys.argv[1]):
    print(batch)
"""


def test_what_configuration_files_say(project: Path, run: Check, ran: list[bool]) -> None:
    write("train.py", CONFIGURED)(project)
    write("configs/train.yaml", "workers: 0\n")(project)
    run("--hints")
    same_as_fresh(run, ran, "--hints", answered=True)
    write("configs/train.yaml", "workers: 2\n")(project)
    same_as_fresh(run, ran, "--hints", answered=False)
    write("configs/large/train.yaml", "workers: 4\n")(project)
    same_as_fresh(run, ran, "--hints", answered=False)
    same_as_fresh(run, ran, "--hints", answered=True)


def test_more_than_was_checked(project: Path, run: Check, ran: list[bool]) -> None:
    run("demo/datasets.py")
    same_as_fresh(run, ran, answered=False)


def test_other_settings_are_another_check(
    project: Path, run: Check, ran: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    same_as_fresh(run, ran, "--ignore", "LDR1", answered=False)
    same_as_fresh(run, ran, "--target-torch", "2.4", answered=False)
    same_as_fresh(run, ran, answered=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(project.parent / "elsewhere"))
    same_as_fresh(run, ran, answered=False)


def write(name: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    return change


def within_the_tick(root: Path) -> None:
    """Write another content of the same length with the old times, like a copy or an editor that restores times."""
    path = root / "demo/transforms.py"
    was = path.stat()
    path.write_text(path.read_text().replace("randn", "randm"))
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], None]] = {
    "a source": write("demo/transforms.py", "Noise = Plain = None\n\n\ndef jitter(image):\n    return image\n"),
    "a new source": write("demo/more.py", "import torch\n"),
    "a new source that shadows": write("demo/datasets/__init__.py", "Images = None\n"),
    "a source that goes": lambda root: (root / "demo/transforms.py").unlink(),
    "a source that is renamed": lambda root: (root / "demo/transforms.py").rename(root / "demo/other.py"),
    "a folder that is renamed": lambda root: (root / "demo").rename(root / "omed"),
    "a folder in place of a file": lambda root: (
        (root / "demo/transforms.py").unlink(),
        (root / "demo/transforms.py").mkdir(),
    )[0],
    "settings": write("pyproject.toml", '[tool.loaderlint]\nselect = ["LDR1"]\n'),
    "settings of their own": write("loaderlint.toml", 'select = ["LDR1"]\n'),
    "settings in a folder": write("demo/loaderlint.toml", 'select = ["LDR1"]\n'),
    "settings above": write("../pyproject.toml", '[tool.loaderlint]\nselect = ["LDR1"]\n'),
    "an ignore file": write(".gitignore", "transforms.py\n"),
    "an ignore file in a folder": write("demo/.gitignore", "datasets.py\n"),
    "a requirement": write("requirements.txt", "numpy\ntorch==2.4.0\n"),
    "a lock file": write("uv.lock", '[[package]]\nname = "torch"\nversion = "2.4.0"\n'),
    "requirements in a folder": write("requirements/base.txt", "torch==2.4.0\n"),
    "a version file": write(".python-version", "3.14\n"),
    "a repository": lambda root: (root / ".git").mkdir(),
    "what a repository above ignores": lambda root: (
        (root.parent / ".git/info").mkdir(parents=True),
        write("../.git/info/exclude", "transforms.py\n")(root),
    )[-1],
    "an environment": lambda root: (
        write(".venv/pyvenv.cfg", "version = 3.14.0\n")(root),
        (root / ".venv/lib/python3.14/site-packages/torch-2.4.0.dist-info").mkdir(parents=True),
    )[-1],
    "a folder that becomes an environment": write("demo/pyvenv.cfg", ""),
    "the same size and time": within_the_tick,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(project: Path, run: Check, ran: list[bool], change: str) -> None:
    run("--hints")
    CHANGES[change](project)
    same_as_fresh(run, ran, "--hints", answered=False)
    same_as_fresh(run, ran, "--hints", answered=True)


def edit(name: str, before: str, after: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        text = (root / name).read_text()
        assert before in text
        (root / name).write_text(text.replace(before, after, 1))

    return change


#: Edits that change places, but nothing that linking asked for.
MOVES: dict[str, Callable[[Path], None]] = {
    "a line above": edit("demo/transforms.py", "import numpy", "\n\nimport numpy"),
    "lines between": edit("demo/datasets.py", "class Images", "# one\n# two\n\nclass Images"),
    "a comment in a function": edit("demo/transforms.py", "self.rng =", "# the generator\n        self.rng ="),
    "other spaces": edit("demo/transforms.py", "self.rng = np", "self.rng  =  np"),
    "a function that nobody asks for": edit("demo/transforms.py", "if value]", "if value is None]"),
    "a comment that silences nothing": edit("demo/datasets.py", "SIZE = 16", "SIZE = 16  # noqa: LDR101"),
    "several files": lambda root: [
        edit(name, "import numpy", "\nimport numpy")(root) for name in ("demo/transforms.py", "demo/datasets.py")
    ][0],
    "a function that nobody calls": edit(
        "demo/datasets.py", "class Images", "def helper():\n    pass\n\n\nclass Images"
    ),
    "a method that nobody looks for": edit(
        "demo/datasets.py", "    def __len__", "    def helper(self):\n        return 1\n\n    def __len__"
    ),
    "a function less": edit(
        "demo/transforms.py", "\n\ndef unused(values):\n    return [value for value in values if value]", ""
    ),
    "a function by another name": edit("demo/transforms.py", "def unused", "def used_by_nobody"),
    "a function more, and another that changes": lambda root: [
        edit("demo/datasets.py", "class Images", "def helper():\n    pass\n\n\nclass Images")(root),
        edit("demo/datasets.py", "    return sorted(", "    return list(")(root),
    ][0],
}


@pytest.mark.parametrize("change", MOVES)
def test_an_edit_that_changes_no_answer_links_nothing(project: Path, run: Check, ran: list[bool], change: str) -> None:
    run("--hints", "--output-format", "json")
    MOVES[change](project)
    same_as_fresh(run, ran, "--hints", "--output-format", "json", answered=True)
    edit("demo/train.py", "def main", "def helper():\n    pass\n\n\ndef main")(project)  # what was kept counts on
    edit("demo/transforms.py", "def jitter", "# the first\ndef jitter")(project)
    same_as_fresh(run, ran, "--hints", "--output-format", "json", answered=True)
    same_as_fresh(run, ran, "--hints", "demo", answered=True)
    (project / "demo/transforms.py").write_text("Noise = None\n")
    same_as_fresh(run, ran, "--hints", "--output-format", "json", answered=False)


def test_where_it_is_not_known_what_a_file_was_all_is_linked(
    project: Path, run: Check, ran: list[bool], tmp_path: Path
) -> None:
    run()
    was = (project / "demo/transforms.py").read_bytes()
    MOVES["a line above"](project)
    with contextlib.closing(sqlite3.connect(tmp_path / "cache" / NAME)) as db, db:
        (deleted,) = db.execute(
            "DELETE FROM kept WHERE key = ? RETURNING 1", (linking_answers._content_key(was),)
        ).fetchone()
        assert deleted
    same_as_fresh(run, ran, answered=False)


@pytest.mark.parametrize("seed", range(6))
def test_any_edits_end_where_a_fresh_check_does(
    project: Path, run: Check, ran: list[bool], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = random.Random(seed)
    texts = {project / name: text for name, text in FILES.items() if name.endswith(".py")}
    answered = 0
    run("--hints", "--output-format", "json")
    for _ in range(10):
        path = numbers.choice(list(texts))
        texts[path] = edited(texts[path], numbers)
        path.write_text(texts[path])
        ran.clear()
        found = run("--hints", "--output-format", "json")
        answered += not ran
        assert found == run("--hints", "--output-format", "json", "--no-cache")
    assert answered, "one of them at least"


def edited(text: str, numbers: random.Random) -> str:
    """The text with a line more, a line less, a line twice, a word less, or unchanged."""
    lines = text.split("\n")
    at = numbers.randrange(len(lines))
    kind = numbers.randrange(6)
    if kind == 0:
        added = ["", "# a comment", "x = 1", "import torch", "    pass", "def helper():\n    pass\n"]
        lines.insert(at, numbers.choice(added))
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        lines.insert(at, lines[at])
    elif kind == 3:
        lines[at] = lines[at].replace("self.", "", 1)
    elif kind == 4:
        lines[at] += "  # said"
    return "\n".join(lines)


def test_what_is_kept_is_all_that_is_noted() -> None:
    """A new kind of recorded read, or of question, must be stored too; otherwise edits of it would not be noticed."""
    assert set(Read.__struct_fields__) == linking_answers._NOTES
    for name in linking_answers._QUESTIONS:
        linking_answers._question([name, []])
    asked = {name for name in vars(Files) if not name.startswith("_")}
    # Answers about libraries, configurations and other files of a folder are not stored: the record contains the files
    # themselves, and those that were missing.
    libraries = {"has_libraries", "has_library", "library_module", "library_name", "library_place"}
    libraries |= {"summarised_libraries", "configuration", "configurations", "is_configured", "has_entry"}
    assert asked - libraries == {"root", "paths", "exists", "has_folder", "file", *linking_answers._SEARCHES}
    names = {name.partition(":")[2] for name in linking_answers._QUESTIONS}
    names |= {"names_in", "question"}  # both read paths; and what is passed on
    program = Path(linking_answers.__file__).parents[1]
    for path in (*(program / "project").rglob("*.py"), *(program / "rules").rglob("*.py")):
        asked = r"(?:\.ask(?:ing)?\(|\.methods_asked\([\w.]+, )(\w+)"
        assert set(re.findall(asked, path.read_text())) <= names, path


def test_only_known_questions_are_looked_up() -> None:
    with pytest.raises(ValueError, match="no question"):
        linking_answers._question(["os:system", ["true"]])


NO_CHANGES: dict[str, Callable[[Path], None]] = {
    "a time": lambda root: (root / "demo/transforms.py").touch(),
    "all times, as after a checkout": lambda root: [path.touch() for path in root.rglob("*.py")][0],
    "the same text, renamed into place": lambda root: (
        (
            (root / "demo/new").write_text((root / "demo/transforms.py").read_text()),
            (root / "demo/new").replace(root / "demo/transforms.py"),
        )[-1]
        and None
    ),
    "results of a training": write("model.pt", "weights"),
    "compiled files": write("demo/__pycache__/a.pyc", ""),
    "an ignored source, beside": write("data/picture.png", ""),
}


@pytest.mark.parametrize("change", NO_CHANGES)
def test_what_does_not_matter_changes_nothing(project: Path, run: Check, ran: list[bool], change: str) -> None:
    run()
    NO_CHANGES[change](project)
    same_as_fresh(run, ran, answered=True)


def test_a_change_within_the_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    """A file that was written at about the start of the check is read again: a second write may leave the same
    times."""
    path = str(tmp_path / "a.py")
    Path(path).write_text("randn")
    was = stamp(path)
    assert was is not None
    young = manifest.made({path: was}, {}, began=was.modified + 1_000_000_000)
    old = manifest.made({path: was}, {}, began=was.modified + 3_000_000_000)
    assert young is not None and old is not None
    assert list(old.numbers) == list(was) and not manifest.changes(old, was.modified).files
    assert list(young.numbers) != list(was)
    assert not manifest.changes(young, was.modified).files
    Path(path).write_text("randm")
    assert manifest.changes(young, was.modified).files
    # once it is old enough, its times count again
    later = manifest.changes(young._replace(hashes=content(b"randm")), time.time_ns() + 3_000_000_000)
    assert later.numbers is not None and list(later.numbers) == list(stamp(path) or ())


def test_a_baseline_and_problems(project: Path, run: Check, ran: list[bool]) -> None:
    (project / "bad.py").write_bytes(b"\xff\xfe\x00")
    first = run()
    assert "bad.py" in first[1]
    same_as_fresh(run, ran, answered=True)
    same_as_fresh(run, ran, "demo", answered=False)
    run("--write-baseline")
    kept = run("--baseline")
    assert "more in the baseline" in kept[0]
    same_as_fresh(run, ran, "--baseline", answered=True)
    (project / "loaderlint-baseline.json").write_text('{"version": 1, "findings": []}')
    same_as_fresh(run, ran, "--baseline", answered=False)
    run("--baseline", "--no-cache")
    (project / "demo/transforms.py").write_text("")
    same_as_fresh(run, ran, "--baseline", answered=False)
    same_as_fresh(run, ran, "--baseline", answered=True)


def test_two_projects_at_once(project: Path, run: Check, ran: list[bool]) -> None:
    write("../second/pyproject.toml", "")(project)
    write("../second/a.py", FILES["demo/transforms.py"])(project)
    run(".", "../second")
    same_as_fresh(run, ran, ".", "../second", answered=True)
    write("../second/a.py", "import torch\n")(project)
    same_as_fresh(run, ran, ".", "../second", answered=False)


@pytest.mark.parametrize("flags", [("--diff",), ("--statistics",), ("--no-cache",), ("--force-exclude",)])
def test_what_asks_for_more_is_done_in_full(project: Path, run: Check, ran: list[bool], flags: tuple[str, ...]) -> None:
    run()
    same_as_fresh(run, ran, *flags, answered=False)


def test_fixing_is_done_in_full(project: Path, run: Check, ran: list[bool]) -> None:
    run()
    run("--fix", "--unsafe-fixes")
    same_as_fresh(run, ran, answered=False)
    same_as_fresh(run, ran, answered=True)


def test_no_cache_reads_and_writes_none(project: Path, run: Check, tmp_path: Path) -> None:
    run("--no-cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("place", ["/dev/null/cache", "/proc/cache", ""])
def test_no_place_for_a_cache(
    project: Path, run: Check, ran: list[bool], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("LOADERLINT_CACHE_DIR", place)
    if not place:
        monkeypatch.setattr(cached_check.cache_folder, "folder", lambda flag=None: None)
    run()
    same_as_fresh(run, ran, answered=False)


def test_damage_is_never_believed(project: Path, run: Check, ran: list[bool], tmp_path: Path) -> None:
    expected = run()
    whole = (tmp_path / "cache" / NAME).read_bytes()
    for step in range(1, 40):
        damaged = bytearray(whole)
        for at in range(step * 37, len(damaged), len(damaged) // step):
            damaged[at] ^= 1 + step % 255
        (tmp_path / "cache" / NAME).write_bytes(damaged if step % 3 else damaged[: len(damaged) * step // 40])
        assert run() == expected


def test_an_answer_imports_neither_parser_nor_engine(project: Path) -> None:
    code = (
        "import sys; from loaderlint.cli import main; main(['check', '.', '--output-format', 'json'])\n"
        "names = ('libcst', 'pygls', 'pathspec', 'loaderlint.sources.open_file', 'loaderlint.rules')\n"
        "print([name for name in names if name in sys.modules])"
    )
    told = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
        for _ in range(2)
    ]
    assert "libcst" in told[0][-1]
    assert told[1][-1] == "[]"
    assert told[0][:-1] == told[1][:-1] and len(told[0]) > 3


WATCHED = """
import sys
from loaderlint.cache import linking_answers, manifest
from loaderlint.cli import main
opened, noted, real = set(), set(), manifest.made
def made(seen, known, began):
    noted.update(seen)
    return real(seen, known, began)
manifest.made = made
def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str) and not noted:
        opened.add(arguments[0])
sys.addaudithook(hook)
main(["check", ".", "../second", "--baseline", "kept.json"])
around = sys.argv[1]
print(sorted(path for path in opened - noted if path.startswith(around)), len(opened & noted))
"""


def test_all_that_is_read_is_noted(project: Path) -> None:
    """Python's audit events show what a check opens and lists: code that reads a file in a new way must record that."""
    for name, text in {
        "uv.lock": "",
        "environment.yml": "dependencies:\n- pip:\n  - -r other.txt\n",
        "other.txt": "-r third.txt\n",
        "third.txt": "torch\n",
        "setup.py": "from setuptools import setup\nsetup(install_requires=['torch'])\n",
        "requirements/base.txt": "-c ../other.txt\n",
        "conda/environment.yml": "",
        ".venv/pyvenv.cfg": "include-system-site-packages = true\nhome = /nowhere\n",
        ".venv/lib/python3.12/site-packages/torch-2.4.0.dist-info/METADATA": "",
        ".git/info/exclude": "",
        "notebook.ipynb": '{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
        "kept.json": '{"version": 1, "findings": []}',
        "demo/deep/loaderlint.toml": "",
        "demo/deep/a.py": "from torch.utils.data import DataLoader\n",
        "../second/pyproject.toml": '[project]\nname = "second"\n',
        "../second/a.py": FILES["demo/transforms.py"],
        "../uv.lock": 'source = { editable = "project" }\n',
    }.items():
        write(name, text)(project)
    command = [sys.executable, "-c", WATCHED, str(project.parent)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    missing, _, count = told.rpartition(" ")
    assert missing == "[]" and int(count) > 25
