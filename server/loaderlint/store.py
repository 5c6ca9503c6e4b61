"""The files of a project: found, read, cut into pieces, lowered on demand, remembered by content.

A file keeps the facts of its present pieces and, for a piece that is half typed, those of its last good version; nothing
older. Files that nobody asks for are only read as bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from loaderlint.project.files import ProjectFile
from loaderlint.syntax.cutter import Piece, cut, recut
from loaderlint.syntax.source import Source, UnreadableSource, decode

if TYPE_CHECKING:
    from loaderlint.facts.ir import PieceFacts

#: Folders that never hold a project's own sources.
SKIPPED = frozenset(
    """
    .git .hg .svn .venv venv env .env .tox .nox .mypy_cache .ruff_cache .pytest_cache __pycache__ node_modules
    site-packages .ipynb_checkpoints .eggs wandb
    """.split()
)
MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "loaderlint.toml", ".git", ".hg")
_CROWDED = 2_000
_READ_LIMIT = 5_000_000

PieceKey = tuple[str, str, bool, str]


def project_root(path: Path) -> Path | None:
    """The folder of the project that `path` (a file or folder) belongs to: the nearest one upwards with a project file or
    a repository; None if there is none."""
    folder = path if path.is_dir() else path.parent
    for candidate in (folder, *folder.parents):
        if any((candidate / marker).exists() for marker in MARKERS):
            return candidate
    return None


def python_files(root: Path, stop: Callable[[], bool] = lambda: False) -> Iterator[Path]:
    """The Python files below `root`, sorted within each folder; hidden and ignored folders and endless links left out."""
    yield from _walk(root, [], stop)


def _walk(folder: Path, ignores: list[tuple[Path, GitIgnoreSpec]], stop: Callable[[], bool]) -> Iterator[Path]:
    if stop():
        return
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    names = {entry.name for entry in listed}
    if len(listed) > _CROWDED and not any(name.endswith(".py") for name in names):
        return
    if ".gitignore" in names:
        ignores = [*ignores, *_ignore_file(folder)]
    folders: list[Path] = []
    for entry in listed:
        if entry.name.endswith(".py"):
            if _is_file(entry) and not _ignored(folder / entry.name, False, ignores):
                yield folder / entry.name
        elif entry.name not in SKIPPED and not entry.name.startswith(".") and _is_real_folder(entry):
            if not _ignored(folder / entry.name, True, ignores):
                folders.append(folder / entry.name)
    for inner in folders:
        yield from _walk(inner, ignores, stop)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_real_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False) and not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
    except OSError:
        return False


def _ignore_file(folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
        return [(folder, GitIgnoreSpec.from_lines(lines))]
    except (OSError, ValueError):
        return []


def _ignored(path: Path, is_folder: bool, ignores: list[tuple[Path, GitIgnoreSpec]]) -> bool:
    for folder, spec in ignores:
        relative = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
        if spec.match_file(relative):
            return True
    return False


def piece_key(piece: Piece) -> PieceKey:
    """What the facts of a piece depend on."""
    return (piece.kind, piece.keyword, piece.parent >= 0, piece.text)


@dataclass(slots=True, eq=False)
class OpenFile:
    """One file: its source, its pieces, and the facts known so far. `stale[i]` is the last good version of a piece that
    does not parse now."""

    path: Path
    source: Source
    pieces: tuple[Piece, ...]
    memo: dict[PieceKey, PieceFacts | None] = field(default_factory=dict)
    stale: dict[int, tuple[Piece, PieceFacts]] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.source.text

    def own_facts(self, index: int) -> PieceFacts | None:
        """The facts of a piece as it stands; None if it does not parse."""
        piece = self.pieces[index]
        key = piece_key(piece)
        if key not in self.memo:
            self.memo[key] = _lowered(piece)
        return self.memo[key]

    def facts(self, index: int) -> PieceFacts | None:
        """The facts of a piece, the last good ones while it does not parse."""
        self.asked.add(index)
        own = self.own_facts(index)
        if own is not None:
            return own
        kept = self.stale.get(index)
        return kept[1] if kept else None

    def shown_piece(self, index: int) -> tuple[Piece, bool]:
        """The piece that `facts(index)` speaks of, and whether it is the present one."""
        if self.own_facts(index) is None and index in self.stale:
            return self.stale[index][0], False
        return self.pieces[index], True

    def changed(self, source: Source) -> OpenFile:
        """The file with another text: pieces that stand unchanged keep their facts."""
        pieces = recut(self.pieces, self.text, source.text)
        known = {piece_key(piece) for piece in pieces}
        memo = {key: facts for key, facts in self.memo.items() if key in known}
        made = OpenFile(self.path, source, pieces, memo)
        made.stale = _last_good(self, made)
        return made


def _lowered(piece: Piece) -> PieceFacts | None:
    from loaderlint.facts.lower import lower
    from loaderlint.syntax.parse import parse_piece

    parsed = parse_piece(piece)
    return lower(parsed) if parsed is not None else None


def _last_good(old: OpenFile, new: OpenFile) -> dict[int, tuple[Piece, PieceFacts]]:
    """For each new piece that does not parse: the last good version of the old piece that it came from."""
    first, last_old, last_new = _changed_range(old.pieces, new.pieces)
    kept = {index: pair for index, pair in old.stale.items() if index < first}
    shift = len(new.pieces) - len(old.pieces)
    kept |= {index + shift: pair for index, pair in old.stale.items() if index >= last_old}
    candidates = [i for i in range(first, last_old) if piece_key(old.pieces[i]) in old.memo or i in old.stale]
    for index in range(first, last_new):
        if new.own_facts(index) is not None:
            continue
        source = _origin(new.pieces[index], index - first, [old.pieces[i] for i in candidates])
        if source is None:
            continue
        position = candidates[source]
        good = old.own_facts(position)
        if good is not None:
            kept[index] = (old.pieces[position], good)
        elif position in old.stale:
            kept[index] = old.stale[position]
    return kept


def _changed_range(old: Sequence[Piece], new: Sequence[Piece]) -> tuple[int, int, int]:
    """(first, last in old, last in new) of the pieces whose texts differ."""
    limit = min(len(old), len(new))
    first = 0
    while first < limit and old[first].text == new[first].text:
        first += 1
    back = 0
    while back < limit - first and old[-1 - back].text == new[-1 - back].text:
        back += 1
    return first, len(old) - back, len(new) - back


def _origin(piece: Piece, offset: int, candidates: Sequence[Piece]) -> int | None:
    """Which old piece a broken one came from: the one with the same first line, else the one in its position."""
    head = piece.text.split("\n", 1)[0].strip()
    for position, old in enumerate(candidates):
        if old.text.split("\n", 1)[0].strip() == head:
            return position
    return offset if offset < len(candidates) else None


class Store:
    """The files of one root. Editor texts lie over the disk. `problems` collects what could not be read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._overlays: dict[Path, str] = {}
        self._open: dict[Path, OpenFile | None] = {}
        self._data: dict[Path, bytes] = {}
        self._paths: tuple[Path, ...] | None = None
        self._folders: set[Path] = set()
        self.unreadable: dict[Path, str] = {}
        self.generation = 0

    def set_text(self, path: Path, text: str | None) -> None:
        """Lay an editor's text over the file, or take it away (None)."""
        if text is None:
            self._overlays.pop(path, None)
            self._data.pop(path, None)
            self._open.pop(path, None)
        else:
            self._overlays[path] = text
            known = self._open.get(path)
            self._data.pop(path, None)
            source = _overlay_source(text)
            self._open[path] = known.changed(source) if known else OpenFile(path, source, cut(text))
            if self._paths is not None and path not in self._paths:
                self._add(path)
        self.generation += 1

    def forget(self, path: Path) -> None:
        """The file changed on disk, came or went."""
        if path not in self._overlays:
            self._data.pop(path, None)
            self._open.pop(path, None)
            self.unreadable.pop(path, None)
        self._paths = None
        self.generation += 1

    def find(self, stop: Callable[[], bool] = lambda: False) -> tuple[Path, ...]:
        """Every Python file of the root, sorted; walked once until something is forgotten."""
        if self._paths is None:
            found = set(python_files(self.root, stop))
            found.update(path for path in self._overlays if path.is_relative_to(self.root))
            self._paths = tuple(sorted(found))
            self._folders = {parent for path in self._paths for parent in path.parents}
        return self._paths

    def _add(self, path: Path) -> None:
        self._paths = tuple(sorted({*(self._paths or ()), path}))
        self._folders.update(path.parents)

    def add(self, paths: Iterable[Path]) -> None:
        """Make sure that files named by the user are in, ignored or not."""
        known = set(self.find())
        for path in paths:
            if path not in known:
                self._add(path)

    # --- the view of the linker (loaderlint.project.files.Files) ------------------------------------------------------

    def paths(self) -> tuple[Path, ...]:
        """Every Python file of the project, sorted."""
        return self.find()

    def exists(self, path: Path) -> bool:
        """Whether the path is a Python file of the project."""
        if path.parent not in self._folders and self._paths is not None:
            return False
        return path in self._known()

    def _known(self) -> frozenset[Path]:
        paths = self.find()
        cached: tuple[tuple[Path, ...], frozenset[Path]] | None = getattr(self, "_known_paths", None)
        if cached is None or cached[0] is not paths:
            cached = (paths, frozenset(paths))
            self._known_paths = cached
        return cached[1]

    def has_folder(self, path: Path) -> bool:
        """Whether the folder holds Python files of the project."""
        self.find()
        return path in self._folders

    def data(self, path: Path) -> bytes:
        """The bytes of a file, b'' if it cannot be read (then `unreadable` says why)."""
        known = self._data.get(path)
        if known is not None:
            return known
        overlay = self._overlays.get(path)
        found = overlay.encode("utf-8", "surrogatepass") if overlay is not None else self._read(path)
        self._data[path] = found
        return found

    def _read(self, path: Path) -> bytes:
        try:
            if path.stat().st_size > _READ_LIMIT:
                self.unreadable[path] = "larger than 5 MB; not checked"
                return b""
            return path.read_bytes()
        except OSError as error:
            self.unreadable[path] = f"cannot be read: {error.strerror or error}"
            return b""

    def open(self, path: Path) -> OpenFile | None:
        """The file, cut into pieces; None if it cannot be read as text."""
        if path in self._open:
            return self._open[path]
        opened: OpenFile | None = None
        if self.exists(path):
            data = self.data(path)
            if path not in self.unreadable:
                try:
                    source = decode(data)
                    opened = OpenFile(path, source, cut(source.text))
                except UnreadableSource as error:
                    self.unreadable[path] = str(error)
        self._open[path] = opened
        return opened

    def containing(self, word: str) -> tuple[Path, ...]:
        """The files that hold `word`, sorted."""
        needle = word.encode("utf-8")
        return tuple(path for path in self.find() if needle in self.data(path))

    def file(self, path: Path) -> ProjectFile | None:
        """The file as the linker reads it."""
        opened = self.open(path)
        if opened is None:
            return None
        return ProjectFile(path, opened.text, opened.pieces, opened.facts)


def _overlay_source(text: str) -> Source:
    """The source of an editor's text. Editors own the encoding; oddities of the text itself still count."""
    try:
        return decode(text.encode("utf-8"))
    except (UnicodeEncodeError, UnreadableSource):
        return Source(text, "utf-8", False, "\n", ("text that cannot be encoded",))


class Snapshot:
    """An immutable view of a store for one linking: the same file objects for the same question."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: dict[Path, ProjectFile | None] = {}
        self._containing: dict[str, tuple[Path, ...]] = {}

    @property
    def root(self) -> Path:
        """The folder that holds the project."""
        return self._store.root

    def paths(self) -> tuple[Path, ...]:
        """Every Python file of the project, sorted."""
        return self._store.paths()

    def exists(self, path: Path) -> bool:
        """Whether the path is a Python file of the project."""
        return self._store.exists(path)

    def has_folder(self, path: Path) -> bool:
        """Whether the folder holds Python files of the project."""
        return self._store.has_folder(path)

    def file(self, path: Path) -> ProjectFile | None:
        """The file, None if it cannot be read."""
        if path not in self._files:
            self._files[path] = self._store.file(path)
        return self._files[path]

    def containing(self, word: str) -> tuple[Path, ...]:
        """The files that hold `word`, sorted."""
        if word not in self._containing:
            self._containing[word] = self._store.containing(word)
        return self._containing[word]
