"""The fix: call `set_epoch` at the start of each iteration of the loop over epochs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertStatement, Intent
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, Literal_, Unknown, Val, def_key
from loaderlint.project.loaders.loaders import Answer
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.missing_set_epoch.distributed_samplers import SAMPLER, sampled_passes
from loaderlint.rules.shared.branches import always_comes_by
from loaderlint.rules.shared.epoch_passes import Pass, between, inside, made_at, named_turn

#: Blocks whose code always begins to run.
_ENTERED = ("loop", "with", "try")


class _Name(NamedTuple):
    """The source text of a loader, which is expression `number` of the def that `frame` runs."""

    text: str
    frame: Frame
    number: int


def set_epoch_fix(sampler: LibObject, model: Model) -> Fix | None:
    """Insert the call as the first thing that a loop does, in all loops that train with a loader whose sampler is made
    at this place: after a call in one of them, the rule is silent about the others. Unsafe if it cannot be inserted in
    all of them."""
    mended: dict[Hashable, list[_Inserted]] = {}
    for kept, one in model.once(sampled_passes).get(model.site_place(sampler.site), ()):
        if one.evaluates(model):
            continue
        inserted = _inserted(kept, one, model)
        mended.setdefault((one.frame, one.loop, one.loader), []).extend([inserted] if inserted else ())
    found = [inserted for alike in mended.values() for inserted in alike]
    if not found:
        return None
    safe = all(mended.values()) and all(inserted.runs for inserted in found)
    intents = dict.fromkeys(intent for inserted in found for intent in inserted.intents)
    title = "Call `set_epoch` in each iteration of the loop"
    return Fix(title, "safe" if safe else "unsafe", tuple(intents))


class _Inserted(NamedTuple):
    """The intents that insert the call in a loop, and whether it runs with every loader that is known there."""

    intents: tuple[Intent, ...]
    runs: bool


def _inserted(sampler: LibObject, one: Pass, model: Model) -> _Inserted | None:
    """The call in the loop of a pass, None if there is no place or no name for it."""
    turn = named_turn(one.loop, one.frame, model)
    loader = _written(one, model)
    first = _first_step(one, model)
    if turn is None or loader is None or first is None or sampler not in one.loader.argument("sampler").atoms:
        return None
    epoch, renamed = turn
    source = f"{loader.text}.sampler.set_epoch({epoch})"
    sampled = [_is_sampled(atom, model) for atom in _values(loader, model)]
    if _has_switched_off_call(loader.frame, model) or any(answer != "yes" for answer in sampled):
        source = f'if hasattr({loader.text}.sampler, "set_epoch"):\n    {source}'
    insertion = InsertStatement(model.step_place(one.frame, first), source, "before")
    return _Inserted((*renamed, insertion), "no" not in sampled)


def _values(loader: _Name, model: Model) -> Iterator[Atom]:
    """What a name may stand for, whoever calls its def. None is nothing to go through."""
    frames = model.callers.frames(*def_key(loader.frame))
    values = [model.ev.eval(loader.number, frame) for frame in (loader.frame, *frames) if frame not in model.reached]
    for atom in dict.fromkeys(atom for value in values for atom in value.atoms):
        if not (isinstance(atom, Literal_) and atom.value is None):
            yield atom


def _has_switched_off_call(frame: Frame, model: Model) -> bool:
    """Whether a call of a def does not run with the constants that the project has now: who changes them may pass
    another loader."""
    sites = model.callers.sites_running(model.def_of(frame).name, def_key(frame)) if frame.def_ else ()
    return any(
        model.ev.liveness.is_dead(site.context, caller)
        for site in sites
        for caller in model.callers.frames(site.path, site.piece, site.def_)
    )


def _is_sampled(atom: Atom, model: Model) -> Answer:
    """Whether a value is a loader with a DistributedSampler: 'maybe' if it is a loader with another sampler."""
    if isinstance(atom, Unknown):
        return "maybe"
    site = atom.site if isinstance(atom, LibObject | Instance) else None
    loaders = made_at(site, model) if site is not None else []
    if not loaders:
        return "no"
    kept = [one for loader in loaders for one in loader.argument("sampler").atoms]
    return "yes" if all(isinstance(one, LibObject) and one.name == SAMPLER for one in kept) else "maybe"


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


def _written(one: Pass, model: Model) -> _Name | None:
    """How the loop's def can name the loader."""
    names = [
        _Name(text, one.frame, number)
        for number in _holding(one.frame, one.loader, model)
        if (text := _name_of(number, one, model))
    ]
    receiver = one.through.receiver
    if not names and receiver is not None and receiver == one.frame.receiver and _is_always_gone_through(one, model):
        own = model.def_of(one.frame).params[0].name
        for number in _holding(one.through, one.loader, model):
            e = model.ev.expr(one.through, number)
            if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(one.through, e.base)):
                names.append(_Name(f"{own}.{e.name}", one.through, number))
    read = _read(one, model)
    return min(names, key=lambda name: (name.number not in read, len(name.text), name.text)) if names else None


def _read(one: Pass, model: Model) -> Set[int]:
    """The expressions of the loop's def that the step of a pass reads. A loader that the same code creates may have
    another name there."""
    step = model.def_of(one.frame).steps[one.step]
    number = step.iterable if isinstance(step, ir.Iterate) else step.call if isinstance(step, ir.Perform) else ir.NONE
    return set(ir.made_of(one.frame.code.exprs, [number]))


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
