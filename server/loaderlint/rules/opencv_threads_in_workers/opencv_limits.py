"""What limits OpenCV's threads, and whether the workers of a loader see it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.file_imports import imported_files
from loaderlint.project.evaluation.values import def_key
from loaderlint.project.reach.model import Loader, Model
from loaderlint.syntax.main_guard import is_main_guard

_SETTER = "setNumThreads"
#: Packages that limit OpenCV's threads when they are imported or set up a run.
_LIMITING = ("ultralytics", "mmengine", "mmcv", "mmdet")
_MAX_FILES = 400


class Limit(NamedTuple):
    """A call of `cv2.setNumThreads(0 or 1)` in def `def_` of a piece (0: module level)."""

    path: Path
    piece: int
    def_: int


class Limits:
    """The limits of one project. `lost` turns true when one was met that spawned workers do not run."""

    def __init__(self, model: Model) -> None:
        self.lost = False
        self._model = model
        self._found: tuple[Limit, ...] | None = None
        self._package: bool | None = None

    def reach(self, loader: Loader, user: Path) -> bool:
        """Whether the workers of `loader` see a limit before they run the cv2 calls of the file `user`."""
        if self._found is None:
            self._found = tuple(self._find())
            self._package = any(self._imports_package(package) for package in _LIMITING)
        return bool(self._package) or any(self._counts(limit, loader, user) for limit in self._found)

    def _find(self) -> Iterator[Limit]:
        for path in self._model.files.containing(_SETTER):
            file = self._model.files.file(path)
            for piece in file.mentioning(_SETTER) if file else ():
                facts = self._model.ev.facts(path, piece)
                for def_, one in enumerate(facts.ir.defs if facts else ()):
                    if facts and any(isinstance(s, ir.Perform) and _limits(facts.ir, s.call) for s in one.steps):
                        yield Limit(path, piece, def_)

    def _imports_package(self, package: str) -> bool:
        for path in self._model.files.containing(package):
            file = self._model.files.file(path)
            for piece in file.mentioning(package) if file else ():
                if file and file.pieces[piece].ask(_is_import_of, package):
                    return True
        return False

    def _counts(self, limit: Limit, loader: Loader, user: Path) -> bool:
        runners = self._runners(limit)
        if runners:  # a worker_init_fn limits the workers of its own loaders
            return bool(runners >> loader.index & 1)
        forked = loader.out_of_sight or "fork" in self._model.start_methods.of(loader)
        if limit.def_ != 0:
            return forked and self._is_called(limit)
        if not self._is_on_the_way(limit.path, {user, *([loader.path] if loader.path else [])}):
            return False
        guarded = self._is_guarded(limit)
        self.lost = self.lost or guarded and not forked
        return forked or not guarded

    def _runners(self, limit: Limit) -> int:
        """The bits of the loaders whose workers run the function that holds a limit."""
        bits = 0
        for frame, reached in self._model.reached.items():
            if def_key(frame) == limit:
                bits |= reached.bits()
        return bits

    def _is_called(self, limit: Limit) -> bool:
        """Whether the function's name is used anywhere outside of it (a decorator or a class may call it as well)."""
        facts = self._model.ev.facts(limit.path, limit.piece)
        file = self._model.files.file(limit.path)
        one = facts.ir.defs[limit.def_] if facts else None
        if one is None or file is None or one.decorators or not one.name or file.pieces[limit.piece].parent >= 0:
            return True
        for path in self._model.files.containing(one.name):
            other = self._model.files.file(path)
            for piece in other.mentioning(one.name) if other else ():
                known = self._model.ev.facts(path, piece)
                if (path, piece) != (limit.path, limit.piece) and known and one.name in known.ir.mentions:
                    return True
        return False

    def _is_guarded(self, limit: Limit) -> bool:
        file, piece = self._model.files.file(limit.path), limit.piece
        while file is not None and piece >= 0:
            if file.pieces[piece].ask(is_main_guard):
                return True
            piece = file.pieces[piece].parent
        return False

    def _is_on_the_way(self, path: Path, wanted: set[Path]) -> bool:
        """Whether a module is imported by another, or imports (through others) one of `wanted`: a script that does
        neither is another program."""
        if path in wanted or path.name == "__init__.py" or self._is_imported(path):
            return True
        seen, queue = {path}, [path]
        while queue and len(seen) < _MAX_FILES:
            for found in imported_files(self._model.ev, queue.pop()):
                if found in wanted:
                    return True
                if found not in seen:
                    seen.add(found)
                    queue.append(found)
        return False

    def _is_imported(self, path: Path) -> bool:
        return any(
            path in imported_files(self._model.ev, other)
            for other in self._model.files.containing(path.stem)
            if other != path
        )


def _is_import_of(text: str, package: str) -> bool:
    return text.startswith((f"import {package}", f"from {package}"))


def _limits(piece: ir.PieceIR, number: int) -> bool:
    call = piece.exprs[number]
    if not isinstance(call, ir.Call) or not call.args:
        return False
    func, first = piece.exprs[call.func], piece.exprs[call.args[0].value]
    named = isinstance(func, ir.Attr | ir.Global) and func.name == _SETTER
    return named and isinstance(first, ir.Const) and first.value in (0, 1)
