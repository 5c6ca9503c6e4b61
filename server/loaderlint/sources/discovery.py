"""Finds the Python files and notebooks in a folder: the walk, what it excludes, and its limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from loaderlint.files import file_accesses, reading
from loaderlint.files.gitignore import IgnoreRules, lines_of
from loaderlint.files.reading import MissingFile, UnreadableFile
from loaderlint.runtime.internal_errors import Cancelled
from loaderlint.syntax import notebook

#: Folders that never contain a project's own sources.
SKIPPED = frozenset(
    """
    .git .hg .svn .venv venv env .env .tox .nox .mypy_cache .ruff_cache .pytest_cache __pycache__ node_modules
    site-packages .ipynb_checkpoints .eggs wandb
    """.split()
)
#: Folders in which the system shows its state as files: endless, and not part of any project.
_OF_THE_SYSTEM = frozenset({"/dev", "/proc", "/run", "/sys"})
SOURCES = (".py", notebook.SUFFIX)
#: What a module that is no Python file is made of.
_SOURCES_OF_EXTENSIONS = (".pyx", ".c", ".cc", ".cpp", ".cu", ".rs", ".proto", ".so", ".pyd")
#: A folder with more entries than this and no Python file among them contains data.
_CROWDED = 2_000
#: `stop` is called after this many entries of a folder.
_AT_A_TIME = 1_000
#: At most this many folders that cannot be listed are named.
_NAMED = 5


class Budget(NamedTuple):
    """The limits of a walk: the number of folder entries that it reads, and of Python files that it finds. These are
    counts and not seconds, so that the same folder gives the same files on every machine."""

    entries: int
    files: int


#: For a folder that the user named: a safeguard, far above real projects.
NAMED = Budget(entries=3_000_000, files=200_000)
#: For a home folder or a whole disk, and for the files that imports of single files lead to.
SMALL = Budget(entries=200_000, files=2_000)


class Notice(NamedTuple):
    """A message for users about a walk. `path` is the file or folder that it is about."""

    path: Path
    message: str


class Found(NamedTuple):
    """The files of a walk, in its order, and its notices. `unlisted`: notices about folders that cannot be listed;
    `complete`: whether the budget sufficed."""

    files: tuple[Path, ...]
    notices: tuple[Notice, ...] = ()
    unlisted: tuple[Notice, ...] = ()
    complete: bool = True


def budget_of(root: Path) -> Budget:
    """The budget for the walk of a folder: small for a home folder or a whole disk, which contain more than one
    project."""
    is_home = root == Path(root.anchor) or str(root) == os.path.realpath(os.path.expanduser("~"))
    return SMALL if is_home else NAMED


def python_files(root: Path, stop: Callable[[], bool] = lambda: False, budget: Budget | None = None) -> Found:
    """The Python files and notebooks below `root`, sorted within each folder, without hidden and ignored folders and
    circular links.

    Raises Cancelled if `stop` returns True meanwhile."""
    return Walk(root, budget).finish(stop)


def spent(counts: str) -> str:
    """The message when a budget is used up. `counts`: what was found until then."""
    return (
        f"too large to be read as one project: stopped after {counts}; name or open the project's own folder, exclude"
        " folders in its .gitignore, or put a pyproject.toml into it"
    )


def files_in(folder: Path, most: int) -> list[Path]:
    """The Python files and notebooks directly in a folder, sorted, among its first `most` entries."""
    file_accesses.saw(folder)
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in islice(entries, most) if one.name.endswith(SOURCES) and _is_file(one)]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def has_entry(folder: Path, name: str) -> bool:
    """Whether a folder has a file or folder called `name`, with any suffix; True if it cannot be listed."""
    file_accesses.saw(folder)
    for suffix in _SOURCES_OF_EXTENSIONS:
        file_accesses.saw(folder / f"{name}{suffix}")
    try:
        with os.scandir(folder) as entries:
            return any(one.name == name or one.name.startswith(f"{name}.") for one in entries)
    except OSError:
        return True


class _Spent(Exception):
    """The budget is used up."""


class _IgnoreFile(NamedTuple):
    """The rules of an ignore file, which are relative to `folder` (a text that ends with a separator)."""

    folder: str
    rules: IgnoreRules


class Walk:
    """One walk of a folder, which the caller may divide into any number of steps. It finds the files whose names end
    with one of some suffixes."""

    def __init__(self, root: Path, budget: Budget | None = None, suffixes: tuple[str, ...] = SOURCES) -> None:
        self._root = root
        self._suffixes = suffixes
        self.folders: list[Path] = []
        """The folders that were listed."""
        self._budget = budget or budget_of(root)
        self._entries = 0
        self._files: list[Path] = []
        self._notices: list[Notice] = []
        self._unlisted: list[Notice] = []
        #: The folders that are still to be listed, the next one last, each with the ignore rules that apply to it.
        self._waiting: list[tuple[Path, list[_IgnoreFile]]] | None = None
        self._complete = True

    def finish(self, stop: Callable[[], bool]) -> Found:
        """Walk to the end.

        Raises Cancelled if `stop` returns True meanwhile; the next call continues there."""
        self.go_on(self._budget.entries, stop)
        notices = list(self._notices)
        if not self._complete:
            counts = f"{len(self._files):,} Python files among {self._entries:,} files and folders"
            notices.append(Notice(self._root, spent(counts)))
        if len(self._unlisted) > _NAMED:
            more = f"{len(self._unlisted) - _NAMED} more folders in it cannot be listed"
            notices.append(Notice(self._root, more))
        return Found(tuple(self._files), tuple(notices), tuple(self._unlisted[:_NAMED]), self._complete)

    def go_on(self, entries: int, stop: Callable[[], bool]) -> bool:
        """Walk until at least `entries` entries have been read in total. Returns whether the walk is finished.

        Raises Cancelled if `stop` returns True meanwhile; the next call continues there."""
        if self._waiting is None:
            self._waiting = [(self._root, self._ignores_above())]
        while self._waiting:
            if self._entries >= entries and entries < self._budget.entries:
                return False
            folder, outer = self._waiting[-1]
            try:
                listed = self._list(folder, stop)
                self._waiting.pop()
                inner, ignores = self._look_into(folder, listed, outer)
            except _Spent:
                self._complete = False
                self._waiting.clear()
                break
            self._waiting.extend((one, ignores) for one in reversed(inner))
        return True

    def _look_into(
        self, folder: Path, listed: Sequence[os.DirEntry[str]], ignores: list[_IgnoreFile]
    ) -> tuple[list[Path], list[_IgnoreFile]]:
        """Add the files of a folder. Returns the folders in it that are to be walked, and the ignore rules that apply
        there. Raises _Spent."""
        if len(listed) > _CROWDED and not any(entry.name.endswith(self._suffixes) for entry in listed):
            return [], ignores
        if any(entry.name == ".gitignore" for entry in listed):
            ignores = [*ignores, *self._ignore_file(folder, ".gitignore")]
        folders: list[Path] = []
        for entry in listed:
            name = entry.name
            if name.endswith(self._suffixes):
                if _is_file(entry) and not _ignored(entry.path, False, ignores):
                    self._take(folder / name)
            elif name not in SKIPPED and not name.startswith(".") and _is_real_folder(entry):
                if not _ignored(entry.path, True, ignores):
                    folders.append(folder / name)
        return folders, ignores

    def _list(self, folder: Path, stop: Callable[[], bool]) -> list[os.DirEntry[str]]:
        """The entries of a folder, sorted. Raises _Spent and Cancelled."""
        file_accesses.saw(folder)
        self.folders.append(folder)
        listed: list[os.DirEntry[str]] = []
        left = self._budget.entries - self._entries
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if len(listed) % _AT_A_TIME == 0 and stop():
                        raise Cancelled
                    if len(listed) == left:
                        self._entries += left
                        raise _Spent
                    listed.append(entry)
        except (FileNotFoundError, NotADirectoryError):
            pass  # deleted in the meantime
        except OSError as error:
            message = f"cannot be listed: {error.strerror or error}; check its permissions"
            self._unlisted.append(Notice(folder, message))
        self._entries += len(listed)
        listed.sort(key=lambda entry: entry.name)
        return listed

    def _take(self, path: Path) -> None:
        if len(self._files) == self._budget.files:
            raise _Spent
        self._files.append(path)

    def _ignores_above(self) -> list[_IgnoreFile]:
        """The ignore rules of the repository around the root, as in git: `.git/info/exclude`, then the ignore files of
        the folders down to the root (its own is read later). Empty if they ignore the root, because the user asked for
        it."""
        root = self._root
        repository = next((one for one in (root, *root.parents) if _is_repository(one)), None)
        if repository is None:
            return []
        way = [one for one in (root, *root.parents) if one.is_relative_to(repository)]
        ignores = self._ignore_file(repository, ".git/info/exclude")
        for folder, inner in pairwise(reversed(way)):
            ignores += self._ignore_file(folder, ".gitignore")
            if _ignored(str(inner), True, ignores):
                return []
        return ignores

    def _ignore_file(self, folder: Path, name: str) -> list[_IgnoreFile]:
        """The rules of an ignore file, as a list with one item or none."""
        path = folder / name
        try:
            rules = IgnoreRules(lines_of(reading.read(path, reading.IGNORE_FILE)))
        except MissingFile:
            return []
        except UnreadableFile as error:
            self._notices.append(Notice(path, f"{error}; nothing is ignored by it"))
            return []
        self._notices.extend(
            Notice(path, f"line {line} matches nothing: {why}; correct or remove it")
            for line, why in rules.problems[:_NAMED]
        )
        return [_IgnoreFile(os.path.join(folder, ""), rules)]


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_real_folder(entry: os.DirEntry[str]) -> bool:
    try:
        if not entry.is_dir(follow_symlinks=False) or entry.path in _OF_THE_SYSTEM:
            return False
    except OSError:
        return False
    environment = os.path.join(entry.path, "pyvenv.cfg")
    if os.path.exists(environment):
        file_accesses.saw(environment)  # other folders are recorded when the walk lists them
        return False
    return True


def _is_repository(folder: Path) -> bool:
    file_accesses.saw(folder / ".git")
    return os.path.exists(folder / ".git")


def _ignored(path: str, is_folder: bool, ignores: list[_IgnoreFile]) -> bool:
    """Whether a path is ignored: the innermost ignore file with a pattern for it decides; `!pattern` includes it
    again."""
    for folder, rules in reversed(ignores):
        found = rules.decision(_bytes(path[len(folder) :]), is_folder)
        if found is not None:
            return found
    return False


def _bytes(path: str) -> bytes:
    data = os.fsencode(path)
    return data.replace(os.sep.encode(), b"/") if os.sep != "/" else data
