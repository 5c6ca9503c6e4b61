"""What the files of a project import: as written, and as resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.modules.module_refs import ModuleRef

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator
    from loaderlint.project.modules.project_files import ProjectFile

#: A statement begins on its own line, or after another one or its header.
_IMPORT = re.compile(r"(?:^|[\r\n;:])[ \t\f]*(?:import|from)\b")


def imported_files(ev: Evaluator, path: Path) -> Iterator[Path]:
    """The modules of the project that a file imports, at any level."""
    for e in imports_in(ev, path):
        yield from files_of(ev, path, e)


def import_roots(ev: Evaluator, path: Path) -> frozenset[Path]:
    """The folders of the project in which a file's absolute imports are found: that of the script, or the project's."""
    roots = set()
    for e in imports_in(ev, path):
        found = None if e.level else ev.names.resolve(path, e.module, 0)
        if isinstance(found, ModuleRef):
            file = found.path.parent if found.path.name == "__init__.py" else found.path
            roots.add(file.parents[e.module.count(".")])
    return frozenset(roots)


def imports_in(ev: Evaluator, path: Path) -> Iterator[ir.Imported]:
    """What a file imports, at any level, as it is written."""
    file = ev.file(path)
    for piece, _ in file.asking(_imports) if file else ():
        facts = ev.facts(path, piece)
        yield from (e for e in (facts.ir.exprs if facts else ()) if isinstance(e, ir.Imported))


def imported_as(ev: Evaluator, path: Path) -> Iterator[tuple[str, str]]:
    """The imports of a file that are not in the project and are read where they are installed: the name in the file,
    and the full name."""
    file = ev.file(path)
    for e in imports_in(ev, path):
        if e.level or not ev.installed.is_read(e.module.partition(".")[0]) or ev.names.resolve(path, e.module, 0):
            continue
        full = f"{e.module}.{e.name}" if e.name else e.module
        yield from ((written, full) for written in written_as(file, e.name or e.module))


def written_as(file: ProjectFile | None, name: str) -> Iterator[str]:
    """How a file calls what it imports: by its name, and by other ones that it is given there."""
    yield name
    pattern = re.compile(rf"\b{re.escape(name)}\s+as\s+(\w+)")
    for _, aliases in file.asking(aliases_in, pattern) if file else ():
        yield from aliases


def aliases_in(text: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
    """The names that a text gives something by `as`."""
    return tuple(pattern.findall(text))


def files_of(ev: Evaluator, importer: Path, e: ir.Imported) -> Iterator[Path]:
    """The module of the project that an import names, and the module that is imported from it."""
    module = ev.names.resolve(importer, e.module, e.level)
    inner = ev.names.imported_module(importer, e.module, e.name, e.level)
    yield from (one.path for one in (module, inner) if isinstance(one, ModuleRef))


def may_name(e: ir.Imported, name: str) -> bool:
    """Whether an import may lead to a module called `name`, judging by its text: most imports need not be resolved. It
    ignores that `from . import other` reads the file's own package."""
    return not e.module or name in (e.name, e.module.rpartition(".")[2])


def _imports(text: str) -> bool:
    """Whether a piece may contain an import."""
    return "import" in text and _IMPORT.search(text) is not None
