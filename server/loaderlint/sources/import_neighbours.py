"""Finds the files that matter to a few files outside a project: those in the same folder, and those that they import. A
folder without a project file may contain tens of thousands of unrelated files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.files import file_accesses
from loaderlint.project.modules.import_resolution import STANDARD
from loaderlint.runtime.internal_errors import Cancelled
from loaderlint.sources.discovery import SMALL, Budget, Found, Notice, files_in, spent

_NAME = rb"[\w\x80-\xff]"
_IMPORT = re.compile(
    rb"(?:^|[;:\r])[ \t\f]*(?:from[ \t]+((?:\.|%(n)s)*)[ \t]*\bimport\b|import[ \t]+([^\r\n;#]+))" % {b"n": _NAME}, re.M
)
_NAMES = re.compile(rb"(%s+)(?:[ \t]+as[ \t]+\w+)?" % _NAME)
_BY_TEXT = (b"import_module(", b"__import__(")
_QUOTED = re.compile(rb"[\"']((?:\.|%(n)s)+)[\"']" % {b"n": _NAME})
_PATH_LINE = re.compile(rb"sys\.path\.(?:append|insert)\(([^\r\n]*)")
_IN_QUOTES = re.compile(rb"[\"']([^\"'\r\n]+)[\"']")
#: The number of bytes in which the end of a list of imported names is searched.
_LONGEST_LIST = 20_000
#: The maximum number of parts in a module's name.
_DEEPEST = 30


class _Imports(NamedTuple):
    """The imports of a file: modules (with leading dots) and names that may be submodules. `added`: folders that it
    puts on the search path, relative to its own folder or the one above; `by_text`: it imports modules whose names are
    computed."""

    modules: frozenset[tuple[str, str]]
    added: frozenset[str]
    by_text: bool


class Reachable:
    """Finds the files below `root` that others lead to. `data_of` returns the bytes of a file, b'' if there are
    none."""

    def __init__(self, root: Path, data_of: Callable[[Path], bytes], budget: Budget = SMALL) -> None:
        self._root = root
        self._data_of = data_of
        self._budget = budget
        self._imports: dict[Path, _Imports] = {}
        self._seeds: frozenset[Path] = frozenset()

    def outdated(self, seeds: frozenset[Path], changed: Collection[Path]) -> bool:
        """Whether the result may differ from that of the last `find`. `changed`: the files that may have changed."""
        if self._seeds != seeds:
            return True
        return any(path in self._imports and self._imports[path] != self._read(path) for path in changed)

    def find(self, seeds: frozenset[Path], stop: Callable[[], bool]) -> Found:
        """The files that `seeds` lead to, including the seeds, and the notices of the search.

        Raises Cancelled if `stop` returns True meanwhile."""
        search = _Search(self._root, self._budget)
        waiting = search.begin(seeds)
        self._imports.clear()
        while waiting and not search.is_spent:
            if stop():
                raise Cancelled
            path = waiting.pop()
            imports = self._imports[path] = self._read(path)
            waiting.extend(search.reached_from(path, imports))
        self._seeds = seeds
        notices = (Notice(self._root, spent(search.counts)),) if search.is_spent else ()
        return Found(tuple(search.files), notices, complete=not search.is_spent)

    def _read(self, path: Path) -> _Imports:
        data = self._data_of(path)
        if b"\\" in data:
            data = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
        by_text = any(sign in data for sign in _BY_TEXT)
        modules = set(_modules(data))
        if by_text:
            modules.update((one, "") for one in map(_text, _QUOTED.findall(data)))
        added = {_text(one).strip("./") for line in _PATH_LINE.findall(data) for one in _IN_QUOTES.findall(line)}
        return _Imports(frozenset(modules), frozenset(added), by_text)


def _modules(data: bytes) -> Iterator[tuple[str, str]]:
    """Everything that looks like an import: a module with each name that is imported from it, '' for none."""
    for match in _IMPORT.finditer(data):
        if match[2] is not None:
            for one in match[2].split(b","):
                if words := one.split():
                    yield _text(words[0]), ""
            continue
        module = _text(match[1])
        yield module, ""
        for name in _NAMES.findall(_list_behind(data, match.end())):
            yield module, _text(name)


def _list_behind(data: bytes, at: int) -> bytes:
    """The names after the word `import`: in parentheses or up to the end of the line."""
    start = at
    while data[start : start + 1] in (b" ", b"\t"):
        start += 1
    if data[start : start + 1] == b"(":
        end = data.find(b")", start, start + _LONGEST_LIST)
    else:
        end = data.find(b"\n", start, start + _LONGEST_LIST)
    return data[start : end if end >= 0 else start + _LONGEST_LIST]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _Search:
    """One search: the files found so far, and the paths that were examined."""

    def __init__(self, root: Path, budget: Budget) -> None:
        self._root = root
        self._budget = budget
        self._looks = 0
        self._is_there: dict[str, bool] = {}
        self.files: dict[Path, None] = {}

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up."""
        return len(self.files) >= self._budget.files or self._looks >= self._budget.entries

    @property
    def counts(self) -> str:
        """The extent of the search, for messages."""
        return f"{len(self.files):,} Python files that imports lead to"

    def begin(self, seeds: Iterable[Path]) -> list[Path]:
        """The seeds and the files in the same folders; without seeds, the files directly in the root."""
        seeds = sorted(seeds)
        found = self._new(seeds)
        for folder in dict.fromkeys(path.parent for path in seeds) or [self._root]:
            found += self._new(files_in(folder, self._budget.entries))
        return found[::-1]

    def reached_from(self, path: Path, imports: _Imports) -> list[Path]:
        """The files that a file imports, without those found before."""
        found: list[Path] = []
        for module, name in sorted(imports.modules):
            found += self._new(self._named(path, imports, module, name))
        if imports.by_text and path.name == "__init__.py":  # most likely everything in the package
            found += self._new(files_in(path.parent, self._budget.entries))
        return found

    def _new(self, paths: Iterable[Path]) -> list[Path]:
        found = []
        for path in paths:
            if path not in self.files and not self.is_spent:
                self.files[path] = None
                found.append(path)
        return found

    def _named(self, importer: Path, imports: _Imports, module: str, name: str) -> Iterator[Path]:
        """The files of a module, of the packages that contain it, and of its submodule `name`."""
        dots = len(module) - len(module.lstrip("."))
        parts = [part for part in (*module[dots:].split("."), name) if part][:_DEEPEST]
        if dots:
            folder = importer.parents[min(dots, len(importer.parents)) - 1]
            if folder.is_relative_to(self._root):
                yield from [package for package in (folder / "__init__.py",) if self._is_file(package)]
                yield from self._below(folder, parts)
            return
        if not parts or parts[0] in STANDARD:
            return
        for folder in self._search_path(importer, imports):
            found = list(self._below(folder, parts))
            if self._is_there_as(os.path.isdir, folder / parts[0] / parts[0]):  # a package in a folder of its name
                found += self._below(folder / parts[0], parts)
            yield from found
            if found:
                return

    def _search_path(self, importer: Path, imports: _Imports) -> Iterator[Path]:
        for names in sorted(imports.added):
            for folder in (importer.parent, importer.parent.parent):
                if (added := Path(os.path.normpath(folder / names))).is_relative_to(self._root):
                    yield added
        folder = importer.parent
        while folder.is_relative_to(self._root):
            yield folder
            yield folder / "src"
            if folder == folder.parent:
                return
            folder = folder.parent

    def _below(self, folder: Path, parts: list[str]) -> Iterator[Path]:
        """The files of `a`, `a.b` and `a.b.c` for three parts."""
        for part in parts:
            package = folder / part / "__init__.py"
            if self._is_file(package):
                yield package
            elif self._is_file(folder / f"{part}.py"):
                yield folder / f"{part}.py"
                return
            folder = folder / part

    def _is_file(self, path: Path) -> bool:
        return self._is_there_as(os.path.isfile, path)

    def _is_there_as(self, is_kind: Callable[[str], bool], path: Path) -> bool:
        key = str(path)
        known = self._is_there.get(key)
        if known is None:
            self._looks += 1
            file_accesses.saw(key)
            known = self._is_there[key] = is_kind(key)
        return known
