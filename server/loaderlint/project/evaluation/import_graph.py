"""Which files of a project import which, and which may run in one program."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.file_imports import files_of, may_name, modules_in

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_MAX_FILES = 400


class ImportGraph:
    """The imports of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._led_to: dict[Path, frozenset[Path]] = {}
        self._run_with: dict[Path, frozenset[Path]] = {}
        self._imports: dict[Path, dict[Path, None]] = {}
        self._written: dict[Path, dict[ir.Imported, None]] = {}

    def importers(self, path: Path) -> tuple[Path, ...]:
        """The files that import the module `path`, or name it in a string, as `importlib.import_module` takes it."""
        *_, package, name = path.parts[:-1] if path.name == "__init__.py" else (*path.parts[:-1], path.stem)
        others = (other for other in self._ev.files.containing(name) if other != path)
        return tuple(
            other for other in others if self._imports_it(other, path, name) or self._writes(other, f"{package}.{name}")
        )

    def _writes(self, path: Path, module: str) -> bool:
        """Whether a file has a string that ends with the dotted name of a module."""
        file = self._ev.files.file(path)
        return file is not None and any(file.mentioning(f"{module}{quote}") for quote in "\"'")

    def _imports_it(self, path: Path, wanted: Path, name: str) -> bool:
        """Whether a file imports the module `wanted`, which is called `name`."""
        written = (e for e in self._written_in(path) if may_name(e, name))
        return any(wanted in files_of(self._ev, path, e) for e in written)

    def _written_in(self, path: Path) -> dict[ir.Imported, None]:
        """The imports of a file, as written. A star import names a module only, and so does `import a.b`."""
        if path not in self._written:
            file = self._ev.files.file(path)
            stars = (ir.Imported(star.module, None, star.level) for star in (file.stars if file else ()))
            self._written[path] = dict.fromkeys((*modules_in(self._ev, path), *stars))
        return self._written[path]

    def _imported(self, path: Path) -> dict[Path, None]:
        """The modules of the project that a file imports, in their order."""
        if path not in self._imports:
            ev = self._ev
            self._imports[path] = dict.fromkeys(one for e in self._written_in(path) for one in files_of(ev, path, e))
        return self._imports[path]

    def run_with(self, path: Path) -> frozenset[Path]:
        """The files that may run in one program with the module `path`: those that import it, directly or indirectly,
        and all files that these import."""
        if path not in self._run_with:
            importers = self.closure([path], self.importers)
            together = self.closure(importers, self._imported)
            self._run_with[path] = frozenset(together)
        return self._run_with[path]

    def may_run_with(self, path: Path, other: Path) -> bool:
        """Whether two modules may run in one program. They may, too, if more files run with `path` than are followed,
        or if a configuration file names it."""
        found = self.run_with(path)
        if other in found or len(found) > _MAX_FILES:
            return True
        return bool(self._ev.files.configurations(f"{path.parent.name}.{path.stem}"))

    def leads_to(self, path: Path, others: Collection[Path]) -> bool:
        """Whether the module `path` imports one of `others`, directly or indirectly."""
        if path not in self._led_to:
            self._led_to[path] = frozenset(self.closure([path], self._imported))
        return not self._led_to[path].isdisjoint(others)

    def closure(self, start: Iterable[Path], step: Callable[[Path], Iterable[Path]]) -> list[Path]:
        """`start` and the files that `step` leads to from there, at most `_MAX_FILES` more."""
        found = dict.fromkeys(start)
        queue, most = list(found), len(found) + _MAX_FILES
        while queue and len(found) < most:
            new = [path for path in step(queue.pop()) if path not in found]
            found.update(dict.fromkeys(new))
            queue += new
        return list(found)
