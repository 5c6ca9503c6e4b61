"""The modules of the project that have been imported when a script runs, and how it can import names from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.file_imports import files_of, imports_beside, own_imports
from loaderlint.project.modules.module_refs import FolderRef, ModuleRef
from loaderlint.project.modules.project_files import MODULE
from loaderlint.project.reach.model import Model

#: At most this many modules are followed from one script.
_MAX_MODULES = 100


class Importable(NamedTuple):
    """A module, by its name in a `from` import of the script. `direct`: the script imports it itself, or something of
    it from a package that takes it from there. `whole`: only as a module, as `import utils` and `from lib import utils`
    do. `starred`: the script imports all its names. `through`: the package that the script imports names from and that
    imports all names of the module, with its file; None if there is none."""

    called: str
    direct: bool
    whole: bool
    starred: bool
    through: tuple[str, Path] | None


def importable_modules(script: Path, model: Model) -> Mapping[Path, Importable]:
    """The modules that a script imports at its top, and those that these import there. Their imports have succeeded
    when the script runs, so another import of them succeeds too. An indirect one counts only if its name shows that the
    script can import it: it begins with a package that the script imports itself, or is in the same folder."""
    found: dict[Path, Importable] = {}
    roots = {e.module.partition(".")[0] for e in own_imports(model.ev, script) if not e.level}
    taken_from = {one for e in own_imports(model.ev, script) if e.name for one in _whole(e, script, model)}
    starred = _starred(script, model)
    queue = [(script, "", True)]
    seen = {script}
    while queue and len(seen) < _MAX_MODULES:
        importer, called, direct = queue.pop(0)
        passes_on = importer in taken_from and importer.name == "__init__.py"
        # while a package is imported, its own modules may ask for a name too early
        passes_on = passes_on and not script.is_relative_to(importer.parent)
        stars = _starred(importer, model) if passes_on else ()
        given = _given(importer, script, model) if passes_on else ()
        for module, name in _imported(importer, called, model):
            if module in seen or model.files.library_name(module) is not None or not _is(module, name, script, model):
                continue
            seen.add(module)
            queue.append((module, name, False))
            near = direct or name.startswith(".") or name.partition(".")[0] in roots or module.parent == script.parent
            if near and (module.name != "__init__.py" or _defines_something(module, model)):
                whole = direct and module not in taken_from
                is_known = direct or module in given
                through = (called, importer) if module in stars else None
                found[module] = Importable(name, is_known, whole, direct and module in starred, through)
    return found


def _given(package: Path, script: Path, model: Model) -> frozenset[Path]:
    """The modules from which a package takes what the script imports from it."""
    taken = {e.name for e in own_imports(model.ev, script) if package in _whole(e, script, model)}
    found = set[Path]()
    for e in own_imports(model.ev, package):
        for module in _whole(e, package, model) if e.name else ():
            file = model.files.file(module)
            if e.name in taken or (e.name == "*" and file is not None and not taken.isdisjoint(file.names)):
                found.add(module)
    return frozenset(found)


def _starred(path: Path, model: Model) -> frozenset[Path]:
    """The modules of which a file imports all names."""
    return frozenset(one for e in own_imports(model.ev, path) if e.name == "*" for one in _whole(e, path, model))


def _defines_something(package: Path, model: Model) -> bool:
    """Whether a package's own file defines functions or classes, and does not only import them."""
    file = model.files.file(package)
    return file is not None and any(True for _ in file.asking(_is_definition, scope=MODULE))


def _is_definition(text: str) -> bool:
    return text.startswith(("def ", "class ", "@"))


def _imported(importer: Path, called: str, model: Model) -> Iterator[tuple[Path, str]]:
    """The modules that a file imports, with their names in a script that knows the file as `called`."""
    for e in imports_beside(model.ev, importer):
        base = _absolute(e, importer, called)
        if base is None:
            continue
        for module in files_of(model.ev, importer, e):
            yield module, base if module in _whole(e, importer, model) else _joined(base, e.name or "")


def _whole(e: ir.Imported, importer: Path, model: Model) -> tuple[Path, ...]:
    """The module that an import takes something from."""
    return tuple(files_of(model.ev, importer, e._replace(name=None)))


def _absolute(e: ir.Imported, importer: Path, called: str) -> str | None:
    """The name that the script must use for the module that an import names; None if it is outside the packages that
    the script knows."""
    if not e.level or not called:
        return "." * e.level + e.module
    dots = len(called) - len(called.lstrip("."))
    parts = called[dots:].split(".") if called[dots:] else []
    up = e.level - (importer.name == "__init__.py")
    if up > len(parts) or (up == len(parts) and not dots):
        return None
    return _joined("." * dots + ".".join(parts[: len(parts) - up]), e.module)


def _joined(base: str, name: str) -> str:
    return f"{base}.{name}" if base.strip(".") and name else base + name


def _is(module: Path, name: str, script: Path, model: Model) -> bool:
    """Whether the script can import the module by that name."""
    bare = name.lstrip(".")
    level = len(name) - len(bare)
    found = model.ev.names.resolve(script, bare, level)
    if not isinstance(found, ModuleRef) or found.path != module:
        return False
    root, _, rest = bare.partition(".")
    first = model.ev.names.resolve(script, root, level) if rest else None
    # a module of that name, which the script finds first, contains no other modules
    return first is None or isinstance(first, FolderRef) or first.path.name == "__init__.py"
