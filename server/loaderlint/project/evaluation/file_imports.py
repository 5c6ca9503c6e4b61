"""What the files of a project import: as written, and as resolved."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.modules.project_files import MODULE

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator
    from loaderlint.project.modules.project_files import ProjectFile

#: A statement begins on its own line, or after another one or its header.
_IMPORT = re.compile(r"(?:^|[\r\n;:])[ \t\f]*(?:import|from)\b")
_FROM = re.compile(r"from[ \t]+(\.*\w*)")
_IMPORTED = re.compile(r"(?:^import[ \t]|,)[ \t]*(\w+)")
#: What follows `import` at the beginning of a line, and each name in it that has a dot: `a.b` in `import a.b as c, d`.
_IMPORT_LINE = re.compile(r"^[ \t\f]*import[ \t]+([^\r\n;#]+)", re.MULTILINE)
_DOTTED = re.compile(r"(?:^|,)[ \t]*(\w+(?:\.\w+)+)")
#: At most this many modules are followed from one script.
_MAX_FOLLOWED = 400


def imported_files(ev: Evaluator, path: Path) -> Iterator[Path]:
    """The modules of the project that a file imports, at any level."""
    for e in modules_in(ev, path):
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


def modules_in(ev: Evaluator, path: Path) -> Iterator[ir.Imported]:
    """What `imports_in` gives, and all of `a.b` in `import a.b`, which binds only `a`."""
    yield from imports_in(ev, path)
    file = ev.file(path)
    for _, modules in file.asking(_submodules) if file else ():
        yield from (ir.Imported(module, None, 0) for module in modules)


def own_imports(ev: Evaluator, path: Path) -> Iterator[ir.Imported]:
    """The imports of a file in unconditional statements at module level; `*` for all names of a module."""
    return _unconditional(ev, path, _is_import)


def imports_beside(ev: Evaluator, path: Path) -> Iterator[ir.Imported]:
    """As `own_imports`, without the standard library, which contains no module of the project."""
    return _unconditional(ev, path, _imports_beside)


def surely_imported(ev: Evaluator, script: Path) -> Iterator[Path]:
    """A script and the modules of the project that it imports in any case, itself or through others: not in a branch or
    a function. At most about `_MAX_FOLLOWED` modules."""
    seen, queue = {script}, [script]
    yield script
    while queue and len(seen) < _MAX_FOLLOWED:
        importer = queue.pop(0)
        for e in imports_beside(ev, importer):
            for module in files_of(ev, importer, e):
                if module not in seen:
                    seen.add(module)
                    queue.append(module)
                    yield module


def _unconditional(ev: Evaluator, path: Path, question: Callable[[str], bool]) -> Iterator[ir.Imported]:
    """As `own_imports`, but only of the statements for which the question is true."""
    file = ev.file(path)
    for piece, _ in file.asking(question, scope=MODULE) if file is not None else ():
        facts = ev.facts(path, piece) if file is not None and file.pieces[piece].parent == -1 else None
        if facts is not None:
            yield from (e for e in facts.ir.exprs if isinstance(e, ir.Imported))
            stars = (step for step in facts.ir.defs[0].steps if isinstance(step, ir.StarImport))
            yield from (ir.Imported(star.module, "*", star.level) for star in stars)


def _is_import(text: str) -> bool:
    return text.startswith(("from ", "import "))


def _imports_beside(text: str) -> bool:
    """Whether a statement imports from outside the standard library."""
    if text.startswith("from "):
        tops = _FROM.match(text)
        return tops is None or tops[1] not in sys.stdlib_module_names
    return text.startswith("import ") and not sys.stdlib_module_names.issuperset(_IMPORTED.findall(text))


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


def _submodules(text: str) -> tuple[str, ...]:
    """The dotted names in the import statements of a text."""
    lines = _IMPORT_LINE.findall(text) if "import" in text else ()
    return tuple(name for line in lines for name in _DOTTED.findall(line))


def _imports(text: str) -> bool:
    """Whether a piece may contain an import."""
    return "import" in text and _IMPORT.search(text) is not None
