"""What a context manager gives when it is entered: `with x as y`, `stack.enter_context(x)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.values import Instance, SeqOf, Val, join, of

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator
    from loaderlint.project.evaluation.frames import Frame

#: Methods that enter the context manager which they get, and return what it gives.
ENTERING_METHODS = frozenset({"contextlib.ExitStack.enter_context", "contextlib.AsyncExitStack.enter_context"})


def entered(ev: Evaluator, manager: Val, frame: Frame, number: int) -> Val:
    """What `__enter__` of a context manager returns, called at expression `number`. A library's object returns itself:
    files, archives and connections do."""
    parts: list[Val] = []
    for atom in manager.ordered():
        if isinstance(atom, Instance):
            method = ev.attribute(of(atom), "__enter__", frame, None)
            result, _ = ev.calls.call(method, Arguments(), frame, number, {})
            parts.append(result)
        elif isinstance(atom, SeqOf) and atom.items:
            parts.append(join(atom.items))
        else:
            parts.append(Val(frozenset({atom}), manager.origins))
    return join(parts)
