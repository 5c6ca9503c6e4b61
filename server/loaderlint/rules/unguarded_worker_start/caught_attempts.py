"""Starts of workers that a spawned worker attempts in vain: a handler of the script catches the RuntimeError, and the
worker goes on to its batches.

Measured with torch 2.13 under spawn and forkserver, with two workers: all batches arrive, and the program ends with
exit code 0. The worker dies if the handler raises again or ends the process, and if a later start is not caught."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.project.reach.model import Model
from loaderlint.project.reach.scripts import Start, main_guard_contexts, module_level

#: What a handler may name to catch a RuntimeError.
_CATCHING = ("RuntimeError", "Exception", "BaseException")
#: How many calls lie between a handler and the call in it that raises or ends the process.
_MAX_DEPTH = 3


class _Step(NamedTuple):
    """Step `number` of the def that `frame` runs: it starts workers, or calls what does."""

    frame: Frame
    number: int

    @property
    def context(self) -> int:
        one = self.frame.code.one
        return one.steps[self.number].context if one is not None else 0


class _Handler(NamedTuple):
    """A handler that catches a RuntimeError: what it does are the steps `inside`, each with its frame. `parts`: the
    blocks of its `try` statement, without `finally`, as contexts of the def that `frame` runs; as pieces of the file if
    the statement is cut, and `frame` is None."""

    place: Place
    inside: tuple[tuple[Frame, ir.Step], ...]
    parts: frozenset[int]
    frame: Frame | None


def handler_of(start: Start, model: Model) -> Place | None:
    """The handler in which each worker's own attempt at the first start of a script ends, if the worker survives that
    one and all later ones."""
    path = start.place.path
    file = model.files.file(path)
    found: Place | None = None
    for piece in module_level(file) if file is not None else ():
        if file is None or piece < start.place.piece:
            continue
        body = model.ev.body(path, piece)
        for way in _ways(body, main_guard_contexts(body.facts), (), model):
            handler = _handler_on(way, file, model)
            if handler is None or _may_end(way, handler, file, model):
                return None
            found = found or handler.place
    return found


def _ways(
    frame: Frame, guarded: frozenset[int], before: tuple[_Step, ...], model: Model
) -> Iterator[tuple[_Step, ...]]:
    """The steps that lead from a frame to starts of workers, from the outermost to the one that starts them."""
    for number, _, _, frames in model.scripts.leading(frame, guarded):
        way = (*before, _Step(frame, number))
        if not frames:
            yield way
        elif all(frames[0] is not step.frame for step in way):
            yield from _ways(frames[0], frozenset(), way, model)


# --- handlers ---------------------------------------------------------------------------------------------------------


def _handler_on(way: Sequence[_Step], file: ProjectFile, model: Model) -> _Handler | None:
    """The handler that stops the RuntimeError of a start. One that raises anything leaves it to those around it."""
    for handler in _catching(way, file, model):
        if any(_exits(step, frame, model) for frame, step in handler.inside):
            return None
        if not any(_raises(step, frame, model) for frame, step in handler.inside):
            return handler
    return None


def _catching(way: Sequence[_Step], file: ProjectFile, model: Model) -> Iterator[_Handler]:
    """The handlers that would catch the RuntimeError of a start, from the innermost `try` to the outermost."""
    for step in reversed(way):
        one = model.def_of(step.frame)
        for block in one.enclosing(step.context):
            handlers = one.handlers(block) if one.contexts[block].kind == "try" else ()
            first = next((n for n in handlers if _catches(one.contexts[n].expr, step.frame.code.exprs)), None)
            if first is not None:
                yield _in_context(first, block, step.frame, model)
    frame = way[0].frame
    for clause in file.around(frame.piece):
        if file.pieces[clause].keyword == "try":
            parts = (clause, *_clauses_after(clause, file))
            first = next((n for n in parts if _is_catching(n, frame, model)), None)
            if first is not None:
                yield _in_clause(first, frozenset(parts), file, model)


def _catches(caught: int, exprs: Sequence[ir.Expr]) -> bool:
    """Whether a handler of the exceptions `caught` catches a RuntimeError."""
    if caught == NONE:
        return True
    e = exprs[caught]
    if isinstance(e, ir.Seq):
        return any(_catches(item, exprs) for item in e.items)
    return isinstance(e, ir.Global) and e.name in _CATCHING


def _in_context(number: int, block: int, frame: Frame, model: Model) -> _Handler:
    """The handler that is context `number` of the def that `frame` runs."""
    one = model.def_of(frame)
    inside = [(n, step) for n, step in model.steps(frame) if one.is_within(step.context, number)]
    caught = one.contexts[number].expr
    if caught != NONE:
        place = model.place(frame, caught)
    else:
        place = model.step_place(frame, inside[0][0]) if inside else model.def_place(frame)
    siblings = (n for n in range(block + 1, len(one.contexts)) if one.contexts[n].parent == one.contexts[block].parent)
    own = takewhile(lambda n: one.contexts[n].kind != "try", siblings)
    parts = frozenset((block, *(n for n in own if one.contexts[n].kind in ("except", "try_else"))))
    return _Handler(place, tuple((frame, step) for _, step in inside), parts, frame)


def _clauses_after(clause: int, file: ProjectFile) -> Iterator[int]:
    """The `except` and `else` clauses of a `try` that is cut into its clauses."""
    parent = file.pieces[clause].parent
    after = (n for n in range(clause + 1, len(file.pieces)) if file.pieces[n].parent == parent)
    return takewhile(lambda n: file.pieces[n].keyword in ("except", "else"), after)


def _is_catching(clause: int, frame: Frame, model: Model) -> bool:
    head = model.ev.body(frame.path, clause)
    contexts = model.def_of(head).contexts
    return len(contexts) > 1 and contexts[1].kind == "except" and _catches(contexts[1].expr, head.code.exprs)


def _in_clause(number: int, parts: frozenset[int], file: ProjectFile, model: Model) -> _Handler:
    """The handler that is piece `number` of a file, of a statement that is cut into the pieces `parts`."""
    pieces = [n for n in range(number, len(file.pieces)) if n == number or number in file.around(n)]
    bodies = [model.ev.body(file.path, n) for n in pieces]
    steps = tuple((body, step) for body in bodies for _, step in model.steps(body))
    caught = model.def_of(bodies[0]).contexts[1].expr
    place = model.place(bodies[0], caught) if caught != NONE else Place(file.path, number, -1)
    return _Handler(place, steps, parts, None)


# --- what ends a worker -----------------------------------------------------------------------------------------------


def _may_end(way: Sequence[_Step], handler: _Handler, file: ProjectFile, model: Model) -> bool:
    """Whether the worker may end after its attempt: what the script does then ends the process or raises."""
    return any(_ends(step, frame, model) for frame, step in _done_after(way, handler, file, model))


def _done_after(
    way: Sequence[_Step], handler: _Handler, file: ProjectFile, model: Model
) -> Iterator[tuple[Frame, ir.Step]]:
    """What a worker goes on with after a handler: the rest of the defs outside its `try`, and of the script."""
    for frame, number in way if handler.frame is not None else ():
        one = model.def_of(frame)
        parts = handler.parts if frame is handler.frame else ()
        for later, step in model.steps(frame):
            if later > number and not any(one.is_within(step.context, part) for part in parts):
                yield frame, step
        if frame is handler.frame:
            break
    parts = handler.parts if handler.frame is None else frozenset()
    for piece in module_level(file):
        if piece > way[0].frame.piece and parts.isdisjoint((piece, *file.around(piece))):
            body = model.ev.body(file.path, piece)
            yield from ((body, step) for _, step in model.steps(body))


def _ends(step: ir.Step, frame: Frame, model: Model) -> bool:
    """Whether a step ends the process or raises an exception that its def does not catch."""
    one = model.def_of(frame)
    if frame.def_ == 0 and not main_guard_contexts(frame.facts).isdisjoint((step.context,)):
        return False
    is_tried = any(here.kind == "try" for here in one.around(step.context))
    return model.scripts.exits(step, frame) or (isinstance(step, ir.Raise) and not is_tried)


def _exits(step: ir.Step, frame: Frame, model: Model) -> bool:
    """Whether a step of a handler may end the process, itself or in what it calls."""
    return any(model.scripts.exits(one, of) for of, one in _done_by(step, frame, model))


def _raises(step: ir.Step, frame: Frame, model: Model) -> bool:
    """Whether a step of a handler may raise, itself or in what it calls."""
    return any(isinstance(one, ir.Raise) for _, one in _done_by(step, frame, model))


def _done_by(step: ir.Step, frame: Frame, model: Model, depth: int = 0) -> Iterator[tuple[Frame, ir.Step]]:
    """A step, and the steps of the functions that it calls."""
    yield frame, step
    if isinstance(step, ir.Perform) and depth < _MAX_DEPTH:
        for target in model.ev.targets(step.call, frame):
            for _, inner in model.steps(target):
                yield from _done_by(inner, target, model, depth + 1)
