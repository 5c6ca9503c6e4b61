"""Functions that register others in a dict or list of their module: `def register(f): OPS[f.__name__] = f`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, of
from loaderlint.project.modules.dependencies import (
    defined_name,
    holds,
    is_bare_function,
    is_class,
    is_def,
    needs_word,
)
from loaderlint.project.modules.project_files import MODULE, ProjectFile, SeenPiece

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The def of a piece that is a function.
_FUNCTION = 1


def registering_frames(ev: Evaluator, file: ProjectFile, name: str) -> Iterator[Frame]:
    """The frames in which functions of a module store something in its dict or list `name`: one for each function of
    the module that they decorate, and for each module-level call of them."""
    for storing in file.all_asking(stores_in, name, scope=MODULE):
        called = file.pieces[storing].ask(defined_name)
        for piece in file.all_asking(holds, called, scope=MODULE) if called else ():
            if piece == storing:
                continue
            if _is_decorated_function(file.pieces[piece]):
                yield from _decorating(ev, file, piece)
            else:
                yield from _called(ev, ev.body(file.path, piece), FunctionRef(file.path, storing, _FUNCTION))


def _is_decorated_function(piece: SeenPiece) -> bool:
    return piece.ask(is_def) and not piece.ask(is_class) and not piece.ask(is_bare_function)


def _decorating(ev: Evaluator, file: ProjectFile, piece: int) -> Iterator[Frame]:
    """The frames that run when the function of a piece is decorated."""
    facts = ev.facts(file.path, piece)
    if facts is None or len(facts.ir.defs) <= _FUNCTION:
        return
    body = ev.body(file.path, piece)
    decorated = FunctionRef(file.path, piece, _FUNCTION, bare=True)
    for decorator in facts.ir.defs[_FUNCTION].decorators:
        _, frames = ev.calls.call(ev.eval(decorator, body), Arguments((of(decorated),)), body, decorator, {})
        yield from frames


def _called(ev: Evaluator, body: Frame, function: FunctionRef) -> Iterator[Frame]:
    """The frames of a function that a module-level statement calls."""
    for step, call in ev.performed(body):
        if not ev.liveness.is_dead(step.context, body) and function in ev.eval(call.func, body).atoms:
            yield from ev.targets(step.call, body)


@needs_word
def stores_in(text: str, name: str) -> bool:
    """Whether a piece is a function without decorators in which an item is stored in `name`."""
    stores = rf"(?:^|[:;])[ \t]*{re.escape(name)}(?:\[.*\][ \t]*=(?!=)|\.(?:append|update)\()"
    return is_bare_function(text) and re.search(stores, text, re.MULTILINE) is not None
