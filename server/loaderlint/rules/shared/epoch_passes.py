"""Loops over epochs: they iterate over a loader in each iteration, in their body or in a function that it calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Intent, NameLoopVariable
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, SeqOf, Site, Val
from loaderlint.project.reach.model import Loader, MainFunction, Model, WorkerCall

#: Functions that yield the items of their arguments.
_WRAPPERS = frozenset(
    {"builtins.enumerate", "builtins.zip", "builtins.iter", "itertools.islice", "rich.progress.track"}
)
_TQDM = re.compile(r"(?:^|\.)tqdm(?:_notebook)?$")
_EVALUATION = re.compile(r"val|test|eval|infer|predict|dev(?:_|$)", re.IGNORECASE)
_WITHOUT_GRADIENT = frozenset({"torch.no_grad", "torch.inference_mode"})
#: Methods that train a model.
_TRAINING = frozenset({"backward", "step", "zero_grad", "manual_backward", "training_step"})
_MAX_DEPTH = 4


class Pass(NamedTuple):
    """A pass over a loader in each iteration of a loop. The loop is context `loop` of the def that `frame` runs; `step`
    of that def makes the pass or calls the function that does. In frame `through` the loader is expression
    `iterable`."""

    frame: Frame
    loop: int
    step: int
    loader: Loader
    through: Frame
    iterable: int
    context: int

    def evaluates(self, model: Model) -> bool:
        """Whether the pass seems to evaluate only: judging by names, or because it keeps no gradient."""
        names = (self.loader.name, model.def_of(self.through).name)
        if any(_EVALUATION.search(name) for name in names):
            return True
        return keeps_no_gradient(self.context, self.through, model) or self._learns_nothing(model)

    def _learns_nothing(self, model: Model) -> bool:
        """Whether a function of its own goes over the batches, runs the model without gradients, and calls nothing that
        trains it."""
        frame, one = self.through, model.def_of(self.through)
        if frame == self.frame:
            return False
        loops = {
            number
            for number, here in enumerate(one.contexts)
            if here.kind == "loop" and self.loader in loaders_in(model.ev.eval(here.expr, frame), model)
        }
        inside = {number for number in range(len(one.contexts)) if not loops.isdisjoint(one.enclosing(number))}
        managers = (one.contexts[number] for number in inside if one.contexts[number].kind == "with")
        if not any(_is_without_gradient(here.expr, frame, model) for here in managers):
            return False
        called = (call for call in model.frame_calls(frame) if call.context in inside)
        return not any(_trains(call, model) for call in called)


def _trains(call: WorkerCall, model: Model) -> bool:
    """Whether a call trains a model, itself or in a function that it runs."""
    frames = model.run_by(model.ev.targets(call.number, call.frame))
    named = [call.frame.code.exprs[call.call.func], *(e for frame in frames for e in frame.code.exprs)]
    return any(isinstance(e, ir.Attr) and e.name in _TRAINING for e in named)


def keeps_no_gradient(context: int, frame: Frame, model: Model) -> bool:
    """Whether all code in a context runs under `torch.no_grad()` or the like."""
    one = model.def_of(frame)
    managers = [here.expr for here in one.around(context) if here.kind == "with"]
    return any(_is_without_gradient(number, frame, model) for number in (*managers, *one.decorators))


def _is_without_gradient(manager: int, frame: Frame, model: Model) -> bool:
    return any(getattr(atom, "name", "") in _WITHOUT_GRADIENT for atom in model.ev.eval(manager, frame).atoms)


def gives_items(name: str) -> bool:
    """Whether a function of a library yields the items of its arguments, like `enumerate` and `tqdm`."""
    return name in _WRAPPERS or _TQDM.search(name) is not None


def has_loops(function: MainFunction) -> bool:
    """Whether the def may iterate over a loader in a loop: a loop iterates over something, calls something or yields
    from something."""
    one = function.written
    steps = (step for step in one.steps if isinstance(step, ir.Iterate | ir.Perform | ir.YieldStep))
    return any(one.is_in_loop(step.context) for step in steps)


def passes(frame: Frame, model: Model) -> Iterator[Pass]:
    """The passes over loaders in the loops of the def that `frame` runs."""
    one = model.def_of(frame)
    for number, step in model.steps(frame):
        loop = loop_around(step.context, frame, model)
        if loop is None or loaders_in(model.ev.eval(one.contexts[loop].expr, frame), model):
            continue
        for through, iterable, context in _gone_through(step, frame, model, _MAX_DEPTH):
            for loader in loaders_in(model.ev.eval(iterable, through), model):
                yield Pass(frame, loop, number, loader, through, iterable, context)


def loop_around(context: int, frame: Frame, model: Model) -> int | None:
    """The innermost loop around a context; a loop over a few names (`for phase in ["train", "val"]`) does not count."""
    one = model.def_of(frame)
    while context > 0:
        here = one.contexts[context]
        if here.kind == "while" or (here.kind == "loop" and not is_over_names(here.expr, frame, model)):
            return context
        context = here.parent
    return None


def inside(context: int, loop: int, frame: Frame, model: Model) -> bool:
    """Whether a context is `loop` or is nested in it."""
    return model.def_of(frame).is_within(context, loop)


def between(context: int, loop: int, frame: Frame, model: Model) -> Iterator[ir.Context]:
    """The contexts inside `loop` around `context`, innermost first."""
    contexts = model.def_of(frame).contexts
    while context > 0 and context != loop:
        yield contexts[context]
        context = contexts[context].parent


def turn_name(loop: int, frame: Frame, model: Model) -> str | None:
    """The variable of a loop over `range(...)`."""
    context = model.def_of(frame).contexts[loop]
    if context.kind != "loop":
        return None
    counted = model.ev.eval(context.expr, frame)
    if not all(isinstance(a, LibObject) and a.name.rpartition(".")[2] in ("range", "trange") for a in counted.atoms):
        return None
    return next((name for _, name in _variables(context, frame, model)), None)


def named_turn(loop: int, frame: Frame, model: Model) -> tuple[str, tuple[Intent, ...]] | None:
    """As `turn_name`, for a fix that reads the variable, with the changes that it needs: `_` in a function becomes
    `epoch`."""
    name = turn_name(loop, frame, model)
    if name is None or name != "_" or frame.def_ == 0:
        return None if name is None else (name, ())
    context = model.def_of(frame).contexts[loop]
    number = next(number for number, _ in _variables(context, frame, model))
    return "epoch", (NameLoopVariable(model.step_place(frame, number), "epoch"),)


def _variables(context: ir.Context, frame: Frame, model: Model) -> Iterator[tuple[int, str]]:
    """The variables of a loop: the step that binds each, and its name."""
    for number, step in model.steps(frame):
        if isinstance(step, ir.Bind) and model.ev.expr(frame, step.value) == ir.Element(context.expr):
            yield number, step.name


def loaders_in(value: Val, model: Model) -> list[Loader]:
    """The loaders in an iterated value: the value itself, or the argument of `enumerate`, `tqdm` and the like."""
    found: dict[Loader, None] = {}
    _collect(value, model, found, 0)
    return list(found)


def _collect(value: Val, model: Model, found: dict[Loader, None], depth: int) -> None:
    for atom in value.only(LibObject, Instance):
        if atom.site is None:
            continue
        made = made_at(atom.site, model)
        found.update(dict.fromkeys(made))
        if not made and isinstance(atom, LibObject) and depth < 3 and gives_items(atom.name):
            for passed in model.ev.calls.site_arguments(atom.site).positional:
                _collect(passed, model, found, depth + 1)


def made_at(site: Site, model: Model) -> list[Loader]:
    """The loader that is created at `site`. If its frame differs, it is the only loader of that place."""
    there = model.made_at(site.frame.path, site.frame.piece, site.expr)
    same = [loader for loader in there if loader.site == site]
    if same:
        return same
    return list(there) if len(there) == 1 else []


def _gone_through(step: ir.Step, frame: Frame, model: Model, depth: int) -> Iterator[tuple[Frame, int, int]]:
    """What a step iterates over once, as (frame, iterable, context of the step there)."""
    if isinstance(step, ir.Iterate):
        yield frame, step.iterable, step.context
    if isinstance(step, ir.YieldStep) and step.is_from:
        yield frame, step.value, step.context
    if not isinstance(step, ir.Perform) or depth == 0:
        return
    for target in model.ev.targets(step.call, frame):
        for _, inner in model.steps(target):
            if loop_around(inner.context, target, model) is None:
                yield from _gone_through(inner, target, model, depth - 1)


def is_over_names(iterable: int, frame: Frame, model: Model) -> bool:
    """Whether a loop over an expression goes through a few names, perhaps with their numbers."""
    if iterable == NONE:
        return False
    value = model.ev.eval(iterable, frame)
    return bool(value.atoms) and all(_gives_names(atom, model) for atom in value.atoms)


def _gives_names(atom: Atom, model: Model) -> bool:
    if isinstance(atom, LibObject) and atom.name == "builtins.enumerate":
        given = model.ev.calls.site_arguments(atom.site).positional[:1]
        return bool(given) and all(isinstance(one, SeqOf) and _are_names(one) for one in given[0].atoms)
    return isinstance(atom, SeqOf) and _are_names(atom)


def _are_names(items: SeqOf) -> bool:
    return all(item.literal is not None and item.literal.kind == "str" for item in items.items)
