"""Functions that register others, or classes, in a dict or list of their module:
`def register(f): OPS[f.__name__] = f`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import UNDEFINED, ClassRef, FunctionRef, Lib, of
from loaderlint.project.modules.dependencies import (
    defined_name,
    holds,
    is_bare_function,
    is_def,
    needs_word,
)
from loaderlint.project.modules.project_files import MODULE, ProjectFile, SeenPiece

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The def of a piece that is a function or class.
_DEF = 1
#: Words of code that registers classes without naming them.
_UNNAMED = ("__subclasses__", "__init_subclass__", "globals()", "getmembers", "vars(", "__dict__", "getattr(")
#: How code goes on after the name of a dict that it fills.
_FILLING = ("[", ".update(", ".setdefault(")


def registering_frames(ev: Evaluator, file: ProjectFile, name: str) -> Iterator[Frame]:
    """The frames in which functions of a module store something in its dict or list `name`: one for each function or
    class of the project that they decorate, and for each module-level call of them in their own module."""
    for storing in file.all_asking(stores_in, name, scope=MODULE):
        called = file.pieces[storing].ask(defined_name)
        for piece in file.all_asking(holds, called, scope=MODULE) if called else ():
            if piece != storing and not _is_decorated(file.pieces[piece]):
                yield from _called(ev, ev.body(file.path, piece), FunctionRef(file.path, storing, _DEF))
        for path in ev.files.containing(called) if called else ():
            user = ev.file(path)
            for piece in user.all_asking(is_decorated_with, called, scope=MODULE) if user else ():
                yield from _decorating(ev, path, piece)


def may_hold(ev: Evaluator, file: ProjectFile, name: str, cls: ClassRef) -> bool:
    """Whether the dict `name` of a module may hold a class. It does not if functions of the module fill it, as
    decorators in sight, and no file that mentions the class uses one of them or fills the dict."""
    storing = [file.pieces[piece].ask(defined_name) for piece in file.all_asking(stores_in, name, scope=MODULE)]
    if not _decorate(ev, file.path, storing) or _registers_unnamed(ev, file.path, storing):
        return True
    own = ev.classes.name(cls)
    naming = {cls.path, *ev.files.containing(own)}
    users = {path for end in _FILLING for path in naming.intersection(_filling(ev, f"{name}{end}", name))}
    for one in storing:
        mentioning = naming.intersection(ev.files.containing(one))
        users |= {path for path in mentioning if _may_be_from(ev, path, one, file.path)}
    return any(_may_be_from(ev, path, own, cls.path) for path in sorted(users))


def _decorate(ev: Evaluator, home: Path, storing: list[str]) -> bool:
    """Whether one of these functions of a module is seen to decorate something."""
    return any(
        isinstance(atom, FunctionRef) and atom.path == home
        for one in storing
        for path in ev.files.containing(f"@{one}")
        for atom in ev.names.lookup(path, one).atoms
    )


def _filling(ev: Evaluator, store: str, name: str) -> Iterator[Path]:
    """The files that may fill the dict `name` of another module: not those in which only a local name is like it."""
    through_module = ev.files.containing(f".{store}")
    for path in ev.files.containing(store):
        file = ev.file(path)
        if file is None or path in through_module or name in file.names or any(True for _ in file.stars):
            yield path


def _registers_unnamed(ev: Evaluator, home: Path, storing: list[str]) -> bool:
    """Whether the package around a module may register classes that it finds without their names."""
    using = {path for one in storing for path in ev.files.containing(one) if path.is_relative_to(home.parent)}
    return any(path in using for word in _UNNAMED for path in ev.files.containing(word))


def _may_be_from(ev: Evaluator, path: Path, name: str, home: Path) -> bool:
    """Whether a name in one file may be the function or class of this name in file `home`. An unknown name may be; one
    that the file neither defines nor reads from a module only occurs in other names there."""
    atoms = ev.names.lookup(path, name).atoms
    if atoms == {UNDEFINED}:
        return path in ev.files.containing(f".{name}")
    known = {atom.path if isinstance(atom, FunctionRef | ClassRef) else None for atom in atoms if type(atom) is not Lib}
    return not atoms or home in known or None in known


def _is_decorated(piece: SeenPiece) -> bool:
    return piece.ask(is_def) and not piece.ask(is_bare_function)


def _decorating(ev: Evaluator, path: Path, piece: int) -> Iterator[Frame]:
    """The frames that run when the function or class of a piece is decorated."""
    facts = ev.facts(path, piece)
    if facts is None or len(facts.ir.defs) <= _DEF:
        return
    body, one = ev.body(path, piece), facts.ir.defs[_DEF]
    decorated = ClassRef(path, piece, _DEF) if one.kind == "class" else FunctionRef(path, piece, _DEF, bare=True)
    for decorator in one.decorators:
        _, frames = ev.calls.call(ev.eval(decorator, body), Arguments((of(decorated),)), body, decorator, {})
        yield from frames


def _called(ev: Evaluator, body: Frame, function: FunctionRef) -> Iterator[Frame]:
    """The frames of a function that a module-level statement calls."""
    for step, call in ev.performed(body):
        if not ev.liveness.is_dead(step.context, body) and function in ev.eval(call.func, body).atoms:
            yield from ev.targets(step.call, body)


@needs_word
def is_decorated_with(text: str, name: str) -> bool:
    """Whether a piece is a function or class under `@name`, `@name(...)` or `@module.name(...)`."""
    return is_def(text) and re.search(rf"^[ \t]*@(?:\w+\.)*{re.escape(name)}\b", text, re.MULTILINE) is not None


@needs_word
def stores_in(text: str, name: str) -> bool:
    """Whether a piece is a function without decorators in which an item is stored in `name`."""
    stores = rf"(?:^|[:;])[ \t]*{re.escape(name)}(?:\[.*\][ \t]*=(?!=)|\.(?:append|update)\()"
    return is_bare_function(text) and re.search(stores, text, re.MULTILINE) is not None
