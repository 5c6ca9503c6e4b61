"""Containers inside a container on self that worker code both fills and empties: caches with a limit, queues, the order
of their keys. What is taken out is loaded again, so no sample changes."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.plain_records import GROWING_METHODS, SHRINKING_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.stored_data_mutation.constant_ways import ANY, Way, key_of, way_of
from loaderlint.rules.stored_data_mutation.record_edits import RecordEdit

#: Why an edit is no mistake.
EVICTED = "workers put items in and take others out: a cache or a queue"

#: The key of an item that is put behind the others.
_NEXT = "next"


class _Keys(NamedTuple):
    """The keys, as in `key_of`, that workers store items under, and take them from."""

    stored: frozenset[tuple[Way, str]]
    taken: frozenset[tuple[Way, str]]


def is_of_cache(edit: RecordEdit, frame: Frame, model: Model) -> bool:
    """Whether an edit takes an item out of a container in which workers store such items, `del self.cache["images"][k]`
    where `self.cache["images"][name] = load(name)` is, or which the same function fills again; or whether it puts one
    behind the others in a list from which workers take some."""
    if not isinstance(frame.receiver, Instance):
        return False
    way = way_of(edit.record, frame, model)
    taken = _taken(edit.spot.number, edit.spot.kind == "step", frame, model)
    if taken is not None and _is_filled_again(edit.record, frame.receiver, frame, model):
        return True
    if len(way) < 2:
        return False
    keys = model.remembered(_keys, frame.receiver)
    if taken is not None:
        return bool({(way, taken[1]), (way, _NEXT)} & keys.stored)
    return any(one == way for one, _ in keys.taken) and (way, _NEXT) in keys.stored


def _is_filled_again(record: int, owner: Instance, frame: Frame, model: Model) -> bool:
    """Whether a function binds the container that an expression reads to something else, under a key that it writes
    alike: `if not self.queue[kind]: self.queue[kind] = shuffled(kind)`."""
    read = model.ev.expr(frame, record)
    way = way_of(read.base, frame, model) if isinstance(read, ir.Index) else ()
    if not isinstance(read, ir.Index) or not way:
        return False
    key = model.ev.expr(frame, read.index)
    filled = [
        not _names(step.value, way[0], frame) and not _is_of(owner, way[0], step.value, frame, model)
        for _, step in model.steps_of(frame, ir.SetItem)
        if way_of(step.base, frame, model) == way and model.ev.expr(frame, step.index) == key
    ]
    return bool(filled) and all(filled)


def _names(number: int, field: str, frame: Frame) -> bool:
    """Whether an expression reads an attribute of this name."""
    exprs = frame.code.exprs
    read = (exprs[one] for one in ir.made_of(exprs, (number,)))
    return any(isinstance(e, ir.Attr) and e.name == field for e in read)


def _keys(owner: Instance, model: Model) -> _Keys:
    """What worker code that runs on an object does with the containers in its attributes."""
    stored: set[tuple[Way, str]] = set()
    taken: set[tuple[Way, str]] = set()
    for frame in model.reached_on(owner):
        for number, step in model.steps(frame):
            match step:
                case ir.SetItem(_, base, index, value):
                    way = way_of(base, frame, model)
                    if len(way) > 1 and not _is_of(owner, way[0], value, frame, model):
                        stored.add((way, key_of(index, frame, model)))
                case ir.Perform(_, call):
                    stored.update(_put_behind(call, frame, model))
            out = _taken(
                step.call if isinstance(step, ir.Perform) else number, isinstance(step, ir.Delete), frame, model
            )
            taken.update(() if out is None else [out])
    return _Keys(frozenset(stored), frozenset(taken))


def _is_of(owner: Instance, field: str, value: int, frame: Frame, model: Model) -> bool:
    """Whether what is stored is made of what the attribute holds, and not loaded or computed."""
    if isinstance(model.ev.expr(frame, value), ir.Augmented):
        return True
    return any(one.owner == owner and one.path[0] == field for one in model.ev.eval(value, frame).origins)


def _put_behind(number: int, frame: Frame, model: Model) -> list[tuple[Way, str]]:
    """The list that a call makes longer."""
    call = model.ev.expr(frame, number)
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    way = way_of(func.base, frame, model) if isinstance(func, ir.Attr) and func.name in GROWING_METHODS else ()
    return [(way, _NEXT)] if len(way) > 1 else []


def _taken(number: int, is_step: bool, frame: Frame, model: Model) -> tuple[Way, str] | None:
    """The container that a step or a call takes an item out of, and the key of the item."""
    one = frame.code.one
    step = one.steps[number] if is_step and one is not None else None
    if isinstance(step, ir.Delete):
        e = model.ev.expr(frame, step.target)
        return (way_of(e.base, frame, model), key_of(e.index, frame, model)) if isinstance(e, ir.Index) else None
    call = model.ev.expr(frame, number) if not is_step else None
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Attr) or func.name not in SHRINKING_METHODS:
        return None
    key = key_of(call.args[0].value, frame, model) if call.args else ANY
    return way_of(func.base, frame, model), key
