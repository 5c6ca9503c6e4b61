"""Loops of the main process in which loaders are made for other loops to go through: `for fold in range(5)`, or
`for number, split in enumerate(["train", "test"])`. Their variables count no epochs: a loader that holds one holds the
same number in all its epochs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import INDEX
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.epoch_loops import Loop, loops_around, step_context
from loaderlint.rules.shared.epoch_passes import has_loops, is_over_names, passes

_INDEX = frozenset({INDEX})
_LoopKey = tuple[Path, int, int, int]


def enumerations(number: int, frame: Frame, model: Model) -> list[Loop]:
    """The loops whose `enumerate` counts what a name of a worker function means: a name of the module or of a function
    around it."""
    e = model.ev.expr(frame, number)
    if not isinstance(e, ir.Global | ir.Capture) or model.ev.eval(number, frame).atoms != _INDEX:
        return []
    found: list[Loop] = []
    for scope, value in _bound(e, frame, model):
        loop = loop_of(value, scope, model) if scope not in model.reached else None
        if loop is None:
            return []
        found.append(loop)
    return found


def loop_of(number: int, frame: Frame, model: Model) -> Loop | None:
    """The loop of which an expression is (a part of) the variable."""
    e = model.ev.expr(frame, number)
    while isinstance(e, ir.Unpack):
        e = model.ev.expr(frame, e.value)
    if not isinstance(e, ir.Element):
        return None
    contexts = enumerate(model.def_of(frame).contexts)
    return next((Loop(frame, at) for at, one in contexts if one.kind == "loop" and one.expr == e.iterable), None)


def sets_up(loop: Loop, model: Model) -> bool:
    """Whether a loop is over a few names, or makes loaders and goes through none of them itself: other loops do."""
    if is_over_names(model.def_of(loop.frame).contexts[loop.context].expr, loop.frame, model):
        return True
    made = model.once(_loops_around_loaders).get(loop.key, ())
    gone_through = model.once(_loops_over_loaders)
    return bool(made) and all(gone_through.get(one) and loop.key not in gone_through[one] for one in made)


def _bound(e: ir.Global | ir.Capture, frame: Frame, model: Model) -> Iterator[tuple[Frame, int]]:
    """The expressions that a name of an enclosing function or of the module is bound to, each with its frame."""
    if isinstance(e, ir.Capture):
        scope = frame.scope
        for _ in range(e.up - 1):
            scope = scope.scope if scope is not None else None
        scopes = [] if scope is None else [scope]
    else:
        file = model.files.file(frame.path)
        bindings = file.names.get(e.name, []) if file is not None else []
        scopes = [model.ev.body(frame.path, one.piece) for one in bindings]
    for scope in scopes:
        for _, step in model.steps_of(scope, ir.Bind):
            if step.name == e.name and step.value != NONE:
                yield scope, step.value


def _loops_around_loaders(model: Model) -> Mapping[_LoopKey, Set[Loader]]:
    """The loops of the main process, each with the loaders that are made in it."""
    found: dict[_LoopKey, set[Loader]] = {}
    for loader in model.loaders:
        if loader.site is not None:
            for loop in loops_around(loader.site.frame, step_context(loader.site, model), model):
                found.setdefault(loop.key, set()).add(loader)
    return found


def _loops_over_loaders(model: Model) -> Mapping[Loader, Set[_LoopKey]]:
    """The loaders, each with the loops that go through it in each iteration."""
    found: dict[Loader, set[_LoopKey]] = {}
    for function in model.main_functions(("for ", "while ")):
        if has_loops(function):
            for frame in function.frames:
                for one in passes(frame, model):
                    found.setdefault(one.loader, set()).add(Loop(frame, one.loop).key)
    return found
