"""Loaders of installed libraries: loader classes of their own, and functions that make loaders."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Set
from functools import cache
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.knowledge.wrappers import LOADERS
from loaderlint.project.evaluation.call_sites import CallSite
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.file_imports import imported_as, imports_in, written_as
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, ClassRef, FunctionRef, Method, Site
from loaderlint.project.modules.dependencies import is_def
from loaderlint.project.modules.project_files import ProjectFile

#: The number of frames of a library that are followed to find the loaders that one of its functions makes.
_MAX_FRAMES = 32
_STAR = re.compile(r"\bfrom\s+(\w[\w.]*)\s+import\s*\*")
#: A class whose objects make a loader contains this text.
_WORD = "oader("
_CALLED_LOADER = re.compile(r"([\w.]*oader)\(")
_CLASS_HEAD = re.compile(r"class\s+(\w+)\s*\(([^)]*)\)")
_IDENTIFIER = re.compile(r"\w+")
_CALL = re.compile(r"\w\(")
#: Variables or attributes, `one = two =`, and the beginning of what is assigned to them.
_NAMES_FROM = re.compile(r"^[ \t]*((?:\w+[ \t]*=(?!=)[ \t]*)+)(\w[^\n(]*\(?)", re.MULTILINE)
_ATTRIBUTES_FROM = re.compile(r"^[ \t]*((?:[\w.]+[ \t]*=(?!=)[ \t]*)+)(\w[^\n(]*\(?)", re.MULTILINE)
_OF_SELF = re.compile(r"\bself\.(\w+)[ \t]*=")
#: `trainer = make(); job = trainer.job(); job.fit()` takes two.
_ROUNDS = 3


def calls_of_libraries(ev: Evaluator, path: Path) -> Iterator[CallSite]:
    """The calls in a file of what it imports from libraries whose source is read."""
    file = ev.file(path)
    if file is None:
        return
    names = set(_imported_heirs(ev, path))
    if not names and not _may_import_libraries(ev, file):
        return
    names |= {written.partition(".")[0] for written, _ in imported_as(ev, path)}
    names |= set(_heirs(file, names))
    objects = _objects(file, names)
    starred = {module.partition(".")[0] for _, modules in file.asking(star_imports) for module in modules}
    if any(map(ev.installed.is_read, starred)):
        pattern = _CALL
    elif names:
        pattern = _uses(names, objects)
    else:
        return
    for piece, _ in file.asking(names_one, pattern):
        facts = ev.facts(path, piece)
        for def_, one in enumerate(facts.ir.defs if facts else ()):
            for step in one.steps:
                call = facts.ir.exprs[step.call] if facts and type(step) is ir.Perform else None
                if isinstance(call, ir.Call) and type(step) is ir.Perform:
                    yield CallSite(path, piece, def_, step.call, step.context)


def _uses(names: Set[str], objects: Set[str]) -> re.Pattern[str]:
    """The pattern of what is imported from a library, or derives from it, and of calls of methods of its objects."""
    imported = rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b"
    methods = rf"\b(?:{'|'.join(map(re.escape, sorted(objects)))})\.\w+\(" if objects else "(?!)"
    return re.compile(f"{imported}|{methods}")


def _objects(file: ProjectFile, names: Set[str]) -> Set[str]:
    """The variables of a module, and the attributes in its classes, that are assigned something of these names, or of
    each other."""
    found: set[str] = set()
    for _ in range(_ROUNDS if names else 0):
        pattern = _uses(names, found)
        more = {name for _, assigned in file.asking(assigned_from, pattern) for name in assigned}
        if more <= found:
            break
        found |= more
    return found


def assigned_from(text: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
    """The names outside of functions, and the attributes of `self`, that a text assigns something with a match of a
    pattern."""
    kind, names = (_ATTRIBUTES_FROM, _OF_SELF) if is_def(text) else (_NAMES_FROM, _IDENTIFIER)
    found = kind.findall(text) if "=" in text else ()
    return tuple(dict.fromkeys(name for them, value in found if pattern.search(value) for name in names.findall(them)))


def _heirs(file: ProjectFile, names: Set[str]) -> Iterator[str]:
    """The classes of a file whose bases are written with one of these names."""
    for _, head in file.asking(class_head) if names else ():
        if head is not None and not names.isdisjoint(_IDENTIFIER.findall(head[1])):
            yield head[0]


def _imported_heirs(ev: Evaluator, path: Path) -> Iterator[str]:
    """The names by which a file imports, from others of the project, classes that derive from one of a library whose
    source is read."""
    file = ev.file(path)
    for e in imports_in(ev, path):
        if not e.name or not e.name[:1].isupper():
            continue
        module = ev.names.resolve(path, e.module, e.level)
        value = ev.names.module_attribute(module, e.name) if module is not None else None
        if value is not None and any(_derives_from_library(ev, one) for one in value.only(ClassRef)):
            yield from written_as(file, e.name)


def _derives_from_library(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a class of the project has an ancestor whose source is read in a library."""
    return any(isinstance(base, ClassRef) and ev.installed.holds(base.path) for base in ev.classes.mro(cls))


def class_head(text: str) -> tuple[str, str] | None:
    """The name and the bases of a class that has bases."""
    if not text.lstrip().startswith(("class", "@")):
        return None
    match = _CLASS_HEAD.search(text)
    return (match[1], match[2]) if match else None


def _may_import_libraries(ev: Evaluator, file: ProjectFile) -> bool:
    """Whether a file may import a library that is installed, or one that has a summary."""
    if ev.files.has_libraries():
        return True
    pattern = _imports_of(ev.files.summarised_libraries())
    return any(file.asking(names_one, pattern))


@cache
def _imports_of(tops: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:from|import)[ \t]+(?:{'|'.join(map(re.escape, tops))})\b" if tops else r"(?!)")


def star_imports(text: str) -> tuple[str, ...]:
    """The modules from which a text imports all names."""
    return tuple(_STAR.findall(text)) if "import" in text and "*" in text else ()


def names_one(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether a text matches the pattern of some names."""
    return pattern.search(text) is not None


def may_make(ev: Evaluator, atom: Atom) -> bool:
    """Whether an atom is a library function that may create a loader, or a library class with such methods."""
    if isinstance(atom, Method):
        return may_make(ev, atom.function)
    if not isinstance(atom, FunctionRef | ClassRef) or not ev.installed.holds(atom.path):
        return False
    file = ev.file(atom.path)
    if file is None:
        return False
    if isinstance(atom, ClassRef) and atom.def_ == 1 and file.pieces[atom.piece].kind == "class":
        called = {name for _, names in file.asking(called_loaders, scope=atom.piece) for name in names}
        return any(not _is_other_class(ev, atom.path, name) for name in called)
    return "oader" in file.pieces[atom.piece].text


def called_loaders(text: str) -> tuple[str, ...]:
    """The names in a text that are called and end as those of loaders do, each as it is written: `self.loader`."""
    return tuple(dict.fromkeys(_CALLED_LOADER.findall(text))) if _WORD in text else ()


def _is_other_class(ev: Evaluator, path: Path, written: str) -> bool:
    """Whether a module binds a name to classes alone that are no loaders and make none: what reads a file, say."""
    file = ev.file(path)
    found = ev.names.lookup(path, written) if file is not None and written in file.names else None
    atoms = found.atoms if found is not None else ()
    return bool(atoms) and all(isinstance(one, ClassRef) and not _is_loader(ev, one) for one in atoms)


def _is_loader(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a class is a loader, or has a base about which nothing is known."""
    return ev.classes.has_unknown_base(cls) or any(base in LOADERS for base in ev.classes.library_bases(cls))


def made_inside(ev: Evaluator, site: Site) -> Iterator[Site]:
    """The calls inside a library that the call at `site` leads to, breadth first."""
    ev.eval(site.expr, site.frame)
    for frame in walk_inside(ev, ev.targets(site.expr, site.frame), _MAX_FRAMES):
        for step, _ in ev.performed(frame):
            if not ev.liveness.is_dead(step.context, frame):
                yield Site(frame, step.call)


def walk_inside(ev: Evaluator, frames: Iterable[Frame], most: int) -> Iterator[Frame]:
    """The library frames among these, and the library frames that they lead to, breadth first. At most `most`; more are
    dropped without a report, because it is not a limit of the project."""
    queue = deque(_inside(ev, frames))
    seen = set(queue)
    while queue:
        frame = queue.popleft()
        yield frame
        for target in _inside(ev, ev.run(frame)):
            if target not in seen and len(seen) < most:
                seen.add(target)
                queue.append(target)


def _inside(ev: Evaluator, frames: Iterable[Frame]) -> Iterator[Frame]:
    return (frame for frame in frames if ev.installed.holds(frame.path))
