"""Installed libraries: what a name of a library stands for if its source can be read.

A name that the tables know (`loaderlint.knowledge.measured_libraries`) does not change. For others, the module that
binds the name is read in the environment of the project, through imports and star imports from module to module, until
a class, a function or a constant is found, or a name that the tables know. Anything else (an object that the module
creates, a compiled module, one that cannot be read) stays a library name about which nothing else is known.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.knowledge.canonical_names import canonical
from loaderlint.knowledge.measured_libraries import is_measured, is_measured_library
from loaderlint.knowledge.star_imports import star_names
from loaderlint.project.evaluation.values import Atom, ClassRef, FunctionRef, Lib, Literal_, PartialOf, Val, lib

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator
    from loaderlint.project.modules.project_files import ProjectFile

#: The number of modules that are read for the star imports of one name.
_MAX_STARS = 64
_READ = (ClassRef, FunctionRef, Literal_, PartialOf)


class Installed:
    """The libraries of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._tops: dict[str, bool] = {}
        self._values: dict[str, Val | None] = {}
        self._finding: set[str] = set()
        self.found: dict[str, tuple[Path, int]] = {}
        """The names of libraries that were followed, each with the file and the piece that defines it."""

    def holds(self, path: Path) -> bool:
        """Whether a file is one of a library, not of the project."""
        return self._ev.files.library_name(path) is not None

    def is_read(self, top: str) -> bool:
        """Whether the source of a top-level package is read: it is in no table, and it is installed."""
        if top not in self._tops:
            self._tops[top] = not is_measured_library(top) and self._ev.files.has_library(top)
        return self._tops[top]

    def is_out_of_sight(self, name: str) -> bool:
        """Whether nothing is known of what is behind a library's dotted `name`: no table has it, and its source is not
        read."""
        return not is_measured(name) and not self.is_read(name.partition(".")[0])

    def are_met(self) -> bool:
        """Whether the project imports a library whose source is read."""
        return any(self._tops.values())

    def value(self, name: str) -> Val | None:
        """What a dotted name of a library stands for; None if it is not read, or if the result is no more than the
        name."""
        if name not in self._values:
            if not self.is_read(name.partition(".")[0]) or is_measured(name):
                return None
            if name in self._finding:
                return None
            self._finding.add(name)
            try:
                self._values[name] = self._telling(name, self._find(name)) or self._by_other_name(name)
            finally:
                self._finding.discard(name)
        return self._values[name]

    def as_measured(self, base: ClassRef | Lib) -> ClassRef | Lib:
        """A class of a library by its name in the tables if they have one, as where another module imports it."""
        module = self._ev.files.library_name(base.path) if isinstance(base, ClassRef) and base.def_ == 1 else None
        if module is None or not isinstance(base, ClassRef) or base.scope is not None:
            return base
        name = f"{module}.{self._ev.classes.name(base)}"
        return Lib(canonical(name)) if is_measured(name) else base

    def _by_other_name(self, name: str) -> Val | None:
        """What a name stands for that the library makes at run time of another one: an alias that warns."""
        other = canonical(name)
        return self.value(other) if other != name and other.partition(".")[0] == name.partition(".")[0] else None

    def imported(self, importer: Path, module: str, name: str | None, level: int) -> Val:
        """What an import in a library's own file binds."""
        full = self._absolute(importer, module, level)
        if full is None:
            return lib(canonical(f"{module or '.'}.{name}" if name else module))
        if name is None:
            return lib(canonical(full))
        return self.taken(full, name)

    def taken(self, module: str, name: str) -> Val:
        """What `name` of a library's module is, read or not."""
        full = f"{module}.{name}"
        found = self.value(full)
        return found if found is not None else lib(canonical(full))

    def starred(self, importer: Path, module: str, level: int, name: str) -> Val | None:
        """What a star import of a library binds to a name; None if it is nothing that can be read."""
        full = self._absolute(importer, module, level)
        if full is None or name.startswith("_") or not self.is_read(full.partition(".")[0]):
            return None
        return self._bound(full, name)

    def _absolute(self, importer: Path, module: str, level: int) -> str | None:
        """The full name of the module that an import names."""
        if not level:
            return module
        own = self._ev.files.library_name(importer)
        if own is None:
            return None
        parts = own.split(".") if importer.name == "__init__.py" else own.split(".")[:-1]
        kept = parts[: len(parts) - (level - 1)]
        return ".".join((*kept, *filter(None, [module]))) if kept else None

    def _find(self, name: str) -> Val | None:
        module, _, last = name.rpartition(".")
        return self._bound(module, last) if module else None

    def _bound(self, module: str, name: str) -> Val | None:
        """What a module of a library binds to a name, itself or by star imports, from module to module."""
        waiting, seen = [module], {module}
        while waiting and len(seen) <= _MAX_STARS:
            here = waiting.pop(0)
            if name in star_names(here):
                return lib(canonical(f"{here}.{name}"))
            path = self._ev.files.library_module(here)
            file = self._ev.file(path) if path is not None else None
            if path is None or file is None:
                continue
            if name in file.names:
                self.found[f"{module}.{name}"] = path, file.names[name][-1].piece
                return self._ev.names.lookup(path, name)
            more = [star for star in self._stars(path, file) if star not in seen]
            seen.update(more)
            waiting += more
        return None

    def _stars(self, path: Path, file: ProjectFile) -> list[str]:
        found = [self._absolute(path, star.module, star.level) for star in file.stars]
        return [one for one in found if one is not None]

    def _is_other_module(self, found: str, name: str) -> bool:
        """Whether a name stands for a module of another name: `from somelib import _loading as loading`."""
        return found not in (name, canonical(name)) and self._ev.files.library_module(found) is not None

    def _telling(self, name: str, found: Val | None) -> Val | None:
        """A value without the parts that are not read; None if the rest is no more than the name."""
        if found is None:
            return None
        atoms: set[Atom] = {atom for atom in found.atoms if isinstance(atom, _READ) and not _is_none(atom)}
        libs = (atom for atom in found.atoms if isinstance(atom, Lib))
        atoms |= {atom for atom in libs if is_measured(atom.name) or self._is_other_module(atom.name, name)}
        if not atoms:
            return None
        for atom in atoms:
            if isinstance(atom, ClassRef | FunctionRef):
                self.found[name] = atom.path, atom.piece
        others = len(atoms) < len([atom for atom in found.atoms if not _is_none(atom)])
        return Val(frozenset({*atoms, Lib(canonical(name))}) if others else frozenset(atoms))


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Literal_) and atom.kind == "NoneType"
