"""What a loader's sampler sets on the dataset: its code runs in the main process, while the workers have their copies.

Measured with torch 2.13 under fork and spawn: the workers start before the loader asks for the first index. What a
sampler sets in an epoch never reaches the workers of that epoch, and workers that start anew get what the epoch before
has left. Only the `__iter__` of a batch sampler that is no generator runs before they start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.library_datasets import BATCH_SAMPLER
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Val
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.held_handles import asks_for
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.stale_persistent_state.dataset_changes import Change, Read, constant_of, edits_shared

_ARGUMENTS = ("batch_sampler", "sampler")
#: How many generators may be nested in a sampler's own.
_MAX_DEPTH = 3
#: When workers that start anew in each epoch see a change: not in the epoch that it is made for, one epoch late, or in
#: time.
When = Literal["never", "late", "in time"]
_WORST_FIRST: tuple[When, ...] = ("never", "late", "in time")


class SamplerChange(NamedTuple):
    """A change that a sampler makes in its `__iter__`, and when workers that start anew in each epoch see it."""

    change: Change
    when: When


def sampler_changes(loader: Loader, read: Read, model: Model) -> list[SamplerChange]:
    """What the samplers of a loader set on objects of which its workers have copies, where these read it, the worst
    first."""
    return sorted(_changes(loader, read, model), key=lambda one: _WORST_FIRST.index(one.when))


def _changes(loader: Loader, read: Read, model: Model) -> Iterator[SamplerChange]:
    for argument in _ARGUMENTS:
        given = loader.argument(argument)
        for sampler in _samplers(given, model):
            entry = model.ev.classes.open_method(sampler, "__iter__")
            if entry is not None:
                starts_first = argument == "batch_sampler" and sampler in given.atoms
                yield from _made_by(entry, "in time" if starts_first else "late", read, model)


def has_samplers(loader: Loader, model: Model) -> bool:
    """Whether the project defines a sampler of a loader."""
    return any(True for name in _ARGUMENTS for _ in _samplers(loader.argument(name), model))


def _samplers(given: Val, model: Model) -> Iterator[Instance]:
    """The samplers that an argument may be, and those that torch's `BatchSampler` goes through."""
    yield from given.only(Instance)
    for one in given.only(LibObject):
        inner = model.ev.calls.site_arguments(one.site).get("sampler", 0) if one.name == BATCH_SAMPLER else None
        yield from inner.only(Instance) if inner is not None else ()


def _made_by(entry: Frame, at_once: When, read: Read, model: Model) -> Iterator[SamplerChange]:
    """The changes that the call of an `__iter__` makes, and those that its generator makes. `at_once`: when workers see
    what an `__iter__` sets that is no generator."""
    if _is_generator(entry):
        yield from _in_generator(entry, read, model, 0)
        return
    yield from (SamplerChange(change, at_once) for _, change in _changes_in(entry, read, model))
    for _, step in model.steps_of(entry, ir.Return):
        for returned in model.ev.targets(step.value, entry) if step.value != ir.NONE else ():
            if _is_generator(returned):
                yield from _in_generator(returned, read, model, 0)


def _is_generator(frame: Frame) -> bool:
    return any(True for _ in frame.code.steps_of(ir.YieldStep))


def _in_generator(frame: Frame, read: Read, model: Model, depth: int) -> Iterator[SamplerChange]:
    """The changes that a generator makes, and those of the generators that it yields from."""
    yields = list(model.steps_of(frame, ir.YieldStep))
    for number, change in _changes_in(frame, read, model):
        yield SamplerChange(change, _when(number, change.context, yields, frame, model))
    for inner in _gone_through(frame, model) if depth < _MAX_DEPTH else ():
        yield from _in_generator(inner, read, model, depth + 1)


def _when(number: int, context: int, yields: list[tuple[int, ir.YieldStep]], frame: Frame, model: Model) -> When:
    """When workers see what step `number` of a generator sets: not in time if a loop of it yields, with the next epoch
    if it yields afterwards, and in time if it does not, as all that comes is the next epoch."""
    one = model.def_of(frame)
    loops = [around for around in one.enclosing(context) if one.contexts[around].kind in ("loop", "while")]
    if any(one.is_within(step.context, loop) for _, step in yields for loop in loops):
        return "never"
    return "late" if any(at > number for at, _ in yields) else "in time"


def _gone_through(frame: Frame, model: Model) -> Iterator[Frame]:
    """The generators of whose items a generator yields each: `yield from self.batches()`, or a loop that yields."""
    one = model.def_of(frame)
    yields = [step for _, step in model.steps_of(frame, ir.YieldStep)]
    sources = [step.value for step in yields if step.is_from]
    for _, step in model.steps_of(frame, ir.Iterate):
        if any(one.is_within(each.context, step.context) for each in yields):
            sources.append(step.iterable)
    for number in sources:
        yield from (target for target in model.ev.targets(number, frame) if _is_generator(target))


# --- the changes ------------------------------------------------------------------------------------------------------


def _changes_in(frame: Frame, read: Read, model: Model) -> Iterator[tuple[int, Change]]:
    """The changes that a frame of a sampler makes itself or by functions that it calls, each with its step. Generators
    run while something goes through them."""
    leads = model.ev.leads(frame)
    for number, step in model.steps_of(frame, ir.SetAttr):
        if _is_settled(step.value, frame, model) or edits_shared(step, frame, model):
            continue
        owner = _owner(step, frame, read, model)
        set_ = {(owner, step.name): None} if owner else _set_by(leads.get(step.value, ()), read, model)
        constant, spot = constant_of(step.value, frame, model), Spot(frame, number, "step")
        for one, name in set_:
            yield number, Change(frame, step.context, spot, one, name, "", constant)
    for number, called in model.steps_of(frame, ir.Perform):
        call = frame.code.exprs[called.call]
        values = [arg.value for arg in call.args] if isinstance(call, ir.Call) else []
        if not isinstance(call, ir.Call) or (values and all(_is_settled(value, frame, model) for value in values)):
            continue
        func, spot = frame.code.exprs[call.func], Spot(frame, called.call)
        by = func.name if isinstance(func, ir.Attr) else ""
        constant = constant_of(values[0], frame, model) if len(values) == 1 else None
        for one, name in _set_by(leads.get(called.call, ()), read, model):
            yield number, Change(frame, called.context, spot, one, name, by, constant)


def _set_by(called: Iterable[Frame], read: Read, model: Model) -> dict[tuple[Instance, str], None]:
    """What functions, and all that they run, set on objects of which workers have copies, where these read it. Not what
    generators set."""
    return {
        (owner, step.name): None
        for frame in model.run_by([one for one in called if not _is_generator(one)])
        for _, step in model.steps_of(frame, ir.SetAttr)
        if (owner := _owner(step, frame, read, model)) is not None and not edits_shared(step, frame, model)
    }


def _owner(step: ir.SetAttr, frame: Frame, read: Read, model: Model) -> Instance | None:
    """The object of which a step sets what workers read; None if it may be another one, or is set only once, where
    nothing is there."""
    found = model.ev.eval(step.base, frame).atoms
    owner = next(iter(found)) if len(found) == 1 else None
    if not isinstance(owner, Instance) or step.name not in read.get(owner, ()):
        return None
    tests = [one.expr for one in model.def_of(frame).around(step.context) if one.kind == "if" and one.expr != ir.NONE]
    return None if any(asks_for(test, step.name, frame, model) for test in tests) else owner


def _is_settled(value: int, frame: Frame, model: Model) -> bool:
    """Whether a value is an attribute of the sampler that only its constructor sets: the same each time."""
    e = model.ev.expr(frame, value)
    if not isinstance(e, ir.Attr) or not ir.is_self(model.ev.expr(frame, e.base)):
        return False
    stores = model.ev.classes.stores(frame.receiver, e.name) if isinstance(frame.receiver, Instance) else ()
    return bool(stores) and all(store.construction for store in stores)
