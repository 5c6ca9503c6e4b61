"""The subclasses of a class of the project, found by the text of class statements."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from loaderlint.project.evaluation.limits import MAX_CALLERS, SUBCLASSES
from loaderlint.project.evaluation.values import ClassRef
from loaderlint.project.modules.dependencies import needs_word

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def subclasses(ev: Evaluator, cls: ClassRef) -> tuple[ClassRef, ...]:
    """The classes of the project that derive from a module-level class, in the order of their files."""
    found = tuple(islice(_deriving(ev, cls), MAX_CALLERS + 1))
    if len(found) > MAX_CALLERS:
        ev.limits.note(SUBCLASSES, cls.path, cls.piece, cls.def_)
    return found[:MAX_CALLERS]


def last_subclasses(ev: Evaluator, cls: ClassRef) -> list[ClassRef]:
    """The classes that derive from a class, directly or indirectly, and that no class derives from."""
    seen: dict[ClassRef, bool] = {}
    waiting = [cls]
    while waiting:
        if len(seen) > MAX_CALLERS:
            ev.limits.note(SUBCLASSES, cls.path, cls.piece, cls.def_)
            break
        one = waiting.pop()
        heirs = subclasses(ev, one)
        waiting += [heir for heir in reversed(heirs) if heir not in seen]
        seen[one] = not heirs
    return [one for one, is_last in seen.items() if is_last and one != cls]


def _deriving(ev: Evaluator, cls: ClassRef) -> Iterator[ClassRef]:
    name = ev.classes.name(cls)
    for path in ev.files.deriving(name):
        file = ev.file(path)
        for piece, _ in file.asking(_may_derive, name) if file else ():
            if file and file.pieces[piece].kind == "class":
                heir = ClassRef(path, piece, 1)
                if heir != cls and cls in ev.classes.mro(heir):
                    yield heir


@needs_word
def _may_derive(text: str, name: str) -> bool:
    """Whether a piece may be the head of a class among whose bases `name` is written."""
    return name in text and "class" in text
