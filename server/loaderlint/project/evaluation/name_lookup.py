"""Names at module level and in class bodies: what binds them, across files, imports and star imports."""

from __future__ import annotations

import builtins
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.knowledge.canonical_names import canonical
from loaderlint.knowledge.measured_libraries import is_in_tables
from loaderlint.knowledge.star_imports import star_names
from loaderlint.project.evaluation import containers, none_tests
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import MAX_BINDINGS, TOO_MANY
from loaderlint.project.evaluation.reaching_bindings import effective, reaching
from loaderlint.project.evaluation.values import (
    UNDEFINED,
    ClassRef,
    FunctionRef,
    Origin,
    Val,
    constant,
    join,
    lib,
    of,
    unknown,
)
from loaderlint.project.modules import import_resolution
from loaderlint.project.modules.module_refs import FolderRef, ModuleRef
from loaderlint.project.modules.project_files import (
    MODULE,
    Binding,
    ProjectFile,
    defined_name,
    is_bare_function,
    is_class,
    is_def,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_BUILTINS = frozenset(dir(builtins))


class Names:
    """Names of one snapshot, outside functions."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._paths = {path: path for path in evaluator.files.paths()}
        self._resolved: dict[tuple[Path, str, int], ModuleRef | FolderRef | None] = {}
        self._lookups: dict[tuple[Path, str, int | None], Val] = {}
        self._looking: set[tuple[Path, str, int | None]] = set()

    def resolve(self, importer: Path, module: str, level: int) -> ModuleRef | FolderRef | None:
        """The module of the project that an import names; None if it is not in the project."""
        key = (importer, module, level)
        if self._ev.installed.holds(importer):
            return None
        if key not in self._resolved:
            alike = import_resolution.resolves_as_neighbours(self._ev.files, importer)
            beside = (importer.parent, module, level) if alike else key
            if beside not in self._resolved:
                self._resolved[beside] = self._interned(
                    import_resolution.resolve(self._ev.files, importer, module, level)
                )
            self._resolved[key] = self._resolved[beside]
        return self._resolved[key]

    def imported_module(
        self, importer: Path, module: str, name: str | None, level: int
    ) -> ModuleRef | FolderRef | None:
        """The module of the project that is imported by its name from another one; None if it is none."""
        package = self.resolve(importer, module, level)
        if name is None:
            return None
        if package is None:
            return self._in_folder(importer, module, name, level)
        return self._interned(import_resolution.submodule(self._ev.files, package, name))

    def _in_folder(self, importer: Path, module: str, name: str, level: int) -> ModuleRef | FolderRef | None:
        """Module `name` of a folder that is called like the well-known library `module`: of `from datasets import
        images`, if the tables do not know that the library has something of this name."""
        if level or module not in import_resolution.WELL_KNOWN:
            return None
        full = f"{module}.{name}"
        found = self.resolve(importer, full, 0)
        return None if found is None or is_in_tables(full) else found

    def _interned(self, found: ModuleRef | FolderRef | None) -> ModuleRef | FolderRef | None:
        """The same module with the path object that its file has: equal paths are slow to compare."""
        return ModuleRef(self._paths.get(found.path, found.path)) if isinstance(found, ModuleRef) else found

    def seen_from(self, frame: Frame, name: str) -> Val:
        """What `name`, which no enclosing def binds, may be in a frame: the class body's, the module's, a builtin."""
        file = self._ev.file(frame.path)
        if file is None:
            return unknown("half typed")
        if frame.def_ == 0:
            parent = self.class_around(file, frame.piece)
            if parent is not None:
                bindings = file.members(parent).get(name, [])
                seen = bisect_left(bindings, frame.piece, key=lambda one: one.piece)
                if seen:
                    live = effective(bindings[:seen]) or bindings[:seen]
                    return join(self.binding(frame.path, binding, name) for binding in live)
        return self.lookup(frame.path, name, frame.piece if self._is_module_level(file, frame) else None)

    def class_around(self, file: ProjectFile, piece: int) -> int | None:
        """The piece of the class whose body contains a piece, None at module level."""
        parent = file.pieces[piece].parent
        while parent >= 0 and file.pieces[parent].kind == "clause":
            parent = file.pieces[parent].parent
        return parent if parent >= 0 else None

    def _is_module_level(self, file: ProjectFile, frame: Frame) -> bool:
        return frame.def_ == 0 and self.class_around(file, frame.piece) is None

    def bindings_seen_from(self, frame: Frame, path: Path, name: str) -> Sequence[Binding]:
        """The bindings of the module-level name `name` of `path` that can be valid where a frame reads it."""
        file = self._ev.file(path)
        if file is None:
            return ()
        is_here = path == frame.path and self._is_module_level(file, frame)
        live, later = _valid(file.names.get(name, []), frame.piece if is_here else None, file)
        return (*live, *later)

    def lookup(self, path: Path, name: str, before: int | None = None) -> Val:
        """What the module-level name `name` of `path` may be. `before`: seen from module-level piece `before`."""
        key = (path, name, before)
        known = self._lookups.get(key)
        if known is not None:
            return known
        if key in self._looking:
            return unknown("cycle")
        self._looking.add(key)
        try:
            value = self._lookup(path, name, before)
        finally:
            self._looking.discard(key)
        self._lookups[key] = value
        return value

    def _lookup(self, path: Path, name: str, before: int | None) -> Val:
        file = self._ev.file(path)
        if file is None:
            return unknown("unreadable file")
        bindings = file.names.get(name, [])
        if bindings:
            live, later = _valid(bindings, before, file)
            if not live:
                return unknown("only imported for type checking")
            if len(live) + len(later) > MAX_BINDINGS:
                return unknown(TOO_MANY)
            turns = (self._in_other_turn(path, binding) for binding in later)
            value = join((*(self.binding(path, binding, name) for binding in live), *turns))
            covering = self._covering(file, name, max(binding.piece for binding in live), before)
            if covering is not None and covering.atoms != value.atoms:
                return covering
            value = containers.filled_by_module(self._ev, file, name, value, before)
            return Val(value.atoms, value.origins | {Origin(ModuleRef(path), (name,), "same")})
        if name == "__file__" or name == "__name__":
            return unknown(name)
        starred = self._from_stars(file, name)
        if starred is not None:
            return starred
        if name in _BUILTINS:
            return lib(f"builtins.{name}")
        return of(UNDEFINED)

    def _covering(self, file: ProjectFile, name: str, bound: int, before: int | None) -> Val | None:
        """The name as a star import of a module of the project binds it again, after statement `bound` of the file.
        None if that is not certain."""
        if name.startswith("_"):
            return None
        for star in reversed(file.stars):
            if star.piece <= bound or (before is not None and star.piece >= before):
                continue
            module = self.resolve(file.path, star.module, star.level)
            starred = self._ev.file(module.path) if isinstance(module, ModuleRef) else None
            if starred is None or name not in starred.names or "__all__" in starred.names:
                continue
            return None if star.conditional else self.lookup(starred.path, name)
        return None

    def _from_stars(self, file: ProjectFile, name: str) -> Val | None:
        """The name as a star import binds it; Unknown if one of them is unknown and the name is not a builtin. Modules
        may star-import each other: each is searched once."""
        seen = {file.path}
        waiting = [(file.path, reversed(file.stars))]
        while waiting:
            importer, stars = waiting[-1]
            star = next(stars, None)
            if star is None:
                waiting.pop()
                continue
            module = self.resolve(importer, star.module, star.level)
            if module is None:
                if name in star_names(star.module):
                    return lib(canonical(f"{star.module}.{name}"))
                installed = self._ev.installed.starred(importer, star.module, star.level, name)
                if installed is not None:
                    return installed
                if name not in _BUILTINS:
                    return unknown("star import")
            elif isinstance(module, ModuleRef) and not name.startswith("_") and module.path not in seen:
                seen.add(module.path)
                found = self._own_attribute(module, name)
                if found is not None:
                    return found
                starred = self._ev.file(module.path)
                if starred is None:
                    return unknown("unreadable file")
                waiting.append((module.path, reversed(starred.stars)))
        return None

    def binding(self, path: Path, binding: Binding, name: str) -> Val:
        """The value that one binding gives its name. For a function, its text is enough: evaluated code names many
        functions and calls few."""
        file = self._ev.file(path)
        if file is not None and binding.step < 0 and file.pieces[binding.piece].ask(is_bare_function):
            return of(FunctionRef(path, binding.piece, 1))
        facts = self._ev.facts(path, binding.piece)
        if facts is None:
            return unknown("half typed")
        if binding.step >= 0:
            step = facts.ir.defs[binding.def_].steps[binding.step]
            if not isinstance(step, ir.Bind):
                return unknown("half typed")
            if binding.def_ == 0:
                return self._ev.eval(step.value, self._ev.body(path, binding.piece))
            opened = self._ev.functions.open_frame(FunctionRef(path, binding.piece, binding.def_), None, None)
            if opened is None:
                return unknown("half typed")
            return none_tests.in_branch(self._ev, step.value, step.context, opened)
        for index, one in enumerate(facts.ir.defs):
            if index and one.name == name and one.parent == 0:
                ref = ClassRef if one.kind == "class" else FunctionRef
                return of(ref(path, binding.piece, index))
        return unknown("half typed")

    def _in_other_turn(self, path: Path, binding: Binding) -> Val:
        """What a binding further down in a loop gives its name, as far as that cannot depend on the name itself."""
        e = self.written(path, binding)
        return constant(*e) if isinstance(e, ir.Const) else unknown("bound in a loop")

    def written(self, path: Path, binding: Binding) -> ir.Expr | None:
        """What the code of a file binds to a name, as it is written; None for a function or class, or a name without a
        value."""
        facts = self._ev.facts(path, binding.piece)
        step = facts.ir.defs[binding.def_].steps[binding.step] if facts is not None and binding.step >= 0 else None
        if facts is None or not isinstance(step, ir.Bind) or step.value == ir.NONE:
            return None
        return facts.ir.exprs[step.value]

    def module_attribute(self, module: ModuleRef | FolderRef, name: str) -> Val | None:
        """Attribute `name` of a module of the project: a name of it or a submodule; None if there is none."""
        found = self._own_attribute(module, name)
        if found is None and isinstance(module, ModuleRef):
            file = self._ev.file(module.path)
            return self._from_stars(file, name) if file else unknown("unreadable file")
        return found

    def _own_attribute(self, module: ModuleRef | FolderRef, name: str) -> Val | None:
        """Attribute `name` of a module that does not come from a star import; None if there is none."""
        if isinstance(module, ModuleRef):
            file = self._ev.file(module.path)
            if file is not None and name in file.names:
                return self.lookup(module.path, name)
        child = self._interned(import_resolution.submodule(self._ev.files, module, name))
        return of(child) if child is not None else None

    def module_members(self, module: ModuleRef) -> list[ClassRef | FunctionRef]:
        """The classes and functions that a module of the project defines itself, in source order."""
        file = self._ev.file(module.path)
        found: list[ClassRef | FunctionRef] = []
        for index, _ in file.asking(defined_name, scope=MODULE) if file else ():
            assert file is not None
            piece = file.pieces[index]
            # A half-typed piece may contain a def further down that its facts do not have.
            if piece.parent < 0 and piece.kind != "clause" and piece.ask(is_def):
                ref = ClassRef if piece.ask(is_class) else FunctionRef
                found.append(ref(module.path, index, 1))
        return found

    def imported(self, importer: Path, module: str, name: str | None, level: int) -> Val:
        """What an import binds (see `ir.Imported`)."""
        if self._ev.installed.holds(importer):
            return self._ev.installed.imported(importer, module, name, level)
        found = self.resolve(importer, module, level)
        if found is None:
            if name is not None and (inner := self._in_folder(importer, module, name, level)) is not None:
                return of(inner)
            # a module that is missing in a package of the project, not one of a library
            if level or self.resolve(importer, module.partition(".")[0], 0) is not None:
                return unknown("unresolved import")
            return self._ev.installed.taken(module, name) if name else lib(canonical(module))
        if name is None:
            return of(found)
        if isinstance(found, ModuleRef) and found.path == importer:  # `from . import datasets` of a package in itself
            child = self._interned(import_resolution.submodule(self._ev.files, found, name))
            if child is not None:
                return of(child)
        value = self.module_attribute(found, name)
        return value if value is not None else unknown("unresolved import")


def _valid(
    bindings: Sequence[Binding], before: int | None, file: ProjectFile
) -> tuple[Sequence[Binding], Sequence[Binding]]:
    """Those of a name's bindings that can be valid where piece `before` begins (None: after all of the module), and
    those that another turn of a loop comes by later."""
    live, later = reaching(bindings, before, file) if before is not None else ((), ())
    return live or effective(bindings), later
