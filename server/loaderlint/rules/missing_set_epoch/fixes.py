"""The fix: call `set_epoch` at the start of each iteration of the loop over epochs."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertStatement
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Val
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.branches import always_comes_by
from loaderlint.rules.shared.epoch_passes import Pass, between, inside, named_turn

#: Blocks whose code always begins to run.
_ENTERED = ("loop", "with", "try")


def set_epoch_fix(sampler: LibObject, one: Pass, model: Model) -> Fix | None:
    """Insert the call as the first thing that the loop does."""
    turn = named_turn(one.loop, one.frame, model)
    loader = _written(one, model)
    first = _first_step(one, model)
    kept = one.loader.argument("sampler").atoms
    if turn is None or loader is None or first is None or sampler not in kept:
        return None
    epoch, renamed = turn
    source = f"{loader}.sampler.set_epoch({epoch})"
    if len(kept) > 1:
        source = f'if hasattr({loader}.sampler, "set_epoch"):\n    {source}'
    place = model.step_place(one.frame, first)
    return Fix(
        "Call `set_epoch` in each iteration of the loop", "safe", (*renamed, InsertStatement(place, source, "before"))
    )


def _first_step(one: Pass, model: Model) -> int | None:
    """The first statement of the loop's body, after its variable got its value."""
    contexts = model.def_of(one.frame).contexts
    for number, step in model.steps(one.frame):
        if not inside(step.context, one.loop, one.frame, model):
            continue
        variable = isinstance(step, ir.Bind) and model.ev.expr(one.frame, step.value) == ir.Element(
            contexts[one.loop].expr
        )
        if not variable:
            return number if step.context == one.loop else None
    return None


def _written(one: Pass, model: Model) -> str | None:
    """How the loop's def can name the loader."""
    names = {_name_of(number, one, model) for number in _holding(one.frame, one.loader, model)} - {None}
    receiver = one.through.receiver
    if not names and receiver is not None and receiver == one.frame.receiver and _is_always_gone_through(one, model):
        held = [model.ev.expr(one.through, n) for n in _holding(one.through, one.loader, model)]
        mine = [e.name for e in held if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(one.through, e.base))]
        names = {f"{model.def_of(one.frame).params[0].name}.{name}" for name in mine}
    return min(names, key=lambda name: (len(str(name)), str(name))) if names else None


def _holding(frame: Frame, loader: Loader, model: Model) -> Iterator[int]:
    """The expressions of the frame's def that are the loader."""
    for number in sorted(model.ev.evaluated(frame)):
        if _is_loader(model.ev.eval(number, frame), loader):
            yield number


def _is_loader(value: Val, loader: Loader) -> bool:
    sites = {atom.site for atom in value.atoms if isinstance(atom, LibObject | Instance)}
    return len(value.atoms) == 1 and loader.site in sites


def _name_of(number: int, one: Pass, model: Model) -> str | None:
    """The source text of an expression of the loop's def: a name, or an attribute of self."""
    frame = one.frame
    match model.ev.expr(frame, number):
        case ir.Global(name):
            return name if _is_always_read(number, one, model) else None
        case ir.Param(index):
            return model.def_of(frame).params[index].name
        case ir.Attr(base, name) if ir.is_self(model.ev.expr(frame, base)) and isinstance(frame.receiver, Instance):
            return f"{model.def_of(frame).params[0].name}.{name}" if _is_always_read(number, one, model) else None
        case ir.Call() | ir.Unpack() | ir.Index():
            return _bound_to(number, one, model)
    return None


def _is_always_gone_through(one: Pass, model: Model) -> bool:
    """Whether each iteration of the loop calls the method that goes through the loader, and that always does so."""
    if one.through is one.frame:
        return False
    step = model.def_of(one.frame).steps[one.step]
    around = [*between(step.context, one.loop, one.frame, model), *model.def_of(one.through).around(one.context)]
    return all(here.kind in _ENTERED for here in around)


def _is_always_read(number: int, one: Pass, model: Model) -> bool:
    """Whether each iteration of the loop reads an expression, or the code before it does. One that is read in a branch
    may have no value in the others."""
    context = one.frame.code.read_in(number)
    around = between(context, one.loop, one.frame, model)
    if inside(context, one.loop, one.frame, model):
        return all(here.kind in _ENTERED for here in around)
    return always_comes_by([context], one.loop, one.frame, model)


def _bound_to(number: int, one: Pass, model: Model) -> str | None:
    """The only name that an expression is bound to, in any case before the loop and never again."""
    steps = [step for _, step in model.steps(one.frame) if isinstance(step, ir.Bind)]
    found = [step for step in steps if step.value == number]
    if len(found) != 1 or sum(step.name == found[0].name for step in steps) != 1:
        return None
    context = found[0].context
    if inside(context, one.loop, one.frame, model) or not always_comes_by([context], one.loop, one.frame, model):
        return None
    return found[0].name
