"""What an object's methods put into the lists and dicts that it keeps: `self.sets[name] = ...`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.contained_objects import ADDERS
from loaderlint.project.evaluation.containers import stored_in
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject, MapOf, SeqOf, Site, Val
from loaderlint.project.reach.model import Model

#: Dicts of the standard library. (A defaultdict stores its factory, too.)
DICTS = frozenset({"collections.OrderedDict", "collections.defaultdict"})
#: The methods of lists, sets and dicts that store an argument, each with its position.
_STORED = {**ADDERS, "setdefault": 1}
#: The methods that store the items of an argument.
_TAKE_ITEMS = frozenset({"extend", "update"})
#: The methods after which an item may be gone.
_REMOVE = frozenset({"clear", "pop", "popitem", "remove", "discard"})


class Put(NamedTuple):
    """Step `step` of a frame stores `value` in the container that is an attribute of its object, or in one inside
    it."""

    frame: Frame
    step: int
    attribute: str
    value: Val


def put_by(frames: Iterable[Frame], kept: Mapping[str, Sequence[Store]], model: Model) -> Iterator[Put]:
    """What methods of an object put into the containers that it keeps. `kept`: its attributes, each with the
    assignments that may be the last. A container is left out if the methods may replace or remove items of it."""
    frames = list(frames)
    changed = {name for frame in frames for name in _changed(frame, model)}
    for frame in frames:
        for step, container, value in _stores(frame, model):
            name = own_container(container, frame)
            stores = kept.get(name, ()) if name not in changed else ()
            if stores and _is_kept(_root(container, frame), step, frame, stores, model):
                yield Put(frame, step, name, value)


def items_put_into(made: LibObject, model: Model) -> Iterator[Val]:
    """What the def that makes a dict of the standard library stores in it, under the name that it has there."""
    if made.name in DICTS:
        yield from (value for _, value in stored_in(model.ev, made.site.expr, made.site.frame))


def _is_kept(container: int, step: int, frame: Frame, stores: Sequence[Store], model: Model) -> bool:
    """Whether the list or dict that an expression reads at a step is one that the last assignments to the attribute
    store, and none that another one has stored before."""
    last = {site for store in stores for site in _made(store.value)}
    read = _made(model.ev.eval(container, frame))
    is_last = all(store.frame is frame and store.step < step for store in stores)
    return not read.isdisjoint(last) if is_last else bool(read) and read <= last


def _made(value: Val) -> Set[Site]:
    """Where the lists and dicts are made that a value may be."""
    containers = [one for one in value.atoms if isinstance(one, MapOf | SeqOf | LibObject)]
    return {
        one.site for one in containers if one.site is not None and (not isinstance(one, LibObject) or one.name in DICTS)
    }


def own_container(number: int, frame: Frame) -> str:
    """The attribute of the object that an expression is, or is an item of, as in `self.sets[kind]`; '' if there is
    none."""
    e = frame.code.exprs[_root(number, frame)]
    return e.name if isinstance(e, ir.Attr) and ir.is_self(frame.code.exprs[e.base]) else ""


def _root(number: int, frame: Frame) -> int:
    """The container that an expression is an item of, or the expression itself."""
    exprs = frame.code.exprs
    while (base := _base(exprs[number], exprs)) != NONE:
        number = base
    return number


def _base(e: ir.Expr, exprs: Sequence[ir.Expr]) -> int:
    if isinstance(e, ir.Index):
        return e.base
    func = exprs[e.func] if isinstance(e, ir.Call) and e.func != NONE else None
    return func.base if isinstance(func, ir.Attr) and func.name == "setdefault" else NONE


def _stores(frame: Frame, model: Model) -> Iterator[tuple[int, int, Val]]:
    """The steps of a frame that put something into a container, each with the container and what it puts there."""
    for number, step in model.steps_of(frame, ir.SetItem):
        if step.base != NONE and own_container(step.base, frame) and not _is_overwritten(number, step, frame):
            yield number, step.base, model.ev.eval(step.value, frame)
    for number, container, name, call in _method_calls(frame, model):
        given = [arg.value for arg in call.args if arg.kind == "pos"]
        place = _STORED.get(name)
        if place is not None and place < len(given):
            yield number, container, model.ev.eval(given[place], frame)
        elif name in _TAKE_ITEMS:
            arguments = model.ev.calls.arguments(call, frame)
            taken = (one for value in arguments.positional for one in value.only(SeqOf, MapOf))
            held = (item for one in taken for item in (one.items if isinstance(one, SeqOf) else one.values))
            yield from ((number, container, item) for item in held)
            yield from ((number, container, item) for _, item in arguments.keywords)


def _is_overwritten(number: int, step: ir.SetItem, frame: Frame) -> bool:
    """Whether the same def always stores something else under the same constant key further down."""
    exprs = frame.code.exprs
    key = exprs[step.index] if step.index != NONE else None
    return isinstance(key, ir.Const) and any(
        later > number
        and frame.code.always_passes({other.context})
        and exprs[other.index] == key
        and exprs[other.base] == exprs[step.base]
        for later, other in frame.code.steps_of(ir.SetItem)
        if other.index != NONE and other.base != NONE
    )


def _method_calls(frame: Frame, model: Model) -> Iterator[tuple[int, int, str, ir.Call]]:
    """The calls of methods of the containers: the step's number, the container, the method's name and the call."""
    for number, step in model.steps_of(frame, ir.Perform):
        call = frame.code.exprs[step.call]
        func = frame.code.exprs[call.func] if isinstance(call, ir.Call) and call.func != NONE else None
        if isinstance(call, ir.Call) and isinstance(func, ir.Attr) and own_container(func.base, frame):
            yield number, func.base, func.name, call


def _changed(frame: Frame, model: Model) -> Iterator[str]:
    """The attributes with containers from which the def may remove an item, or in which it replaces items by what it
    makes of them: `self.sets[name] = list(self.sets[name])`."""
    exprs = frame.code.exprs
    for _, container, name, _ in _method_calls(frame, model):
        if name in _REMOVE:
            yield own_container(container, frame)
    for _, deletion in model.steps_of(frame, ir.Delete):
        if deletion.target != NONE:
            yield own_container(deletion.target, frame)
    for _, step in model.steps_of(frame, ir.SetItem):
        name = own_container(step.base, frame) if step.base != NONE else ""
        read = (part for part in ir.made_of(exprs, (step.value,)) if isinstance(exprs[part], ir.Index))
        if name and any(own_container(part, frame) == name for part in read):
            yield name
