"""What the main process sets on objects that a loader's workers have copies of, and read there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    MapOf,
    Method,
    SeqOf,
    def_key,
)
from loaderlint.project.reach.model import Loader, MainFunction, Model
from loaderlint.rules.shared.epoch_loops import is_loader
from loaderlint.rules.shared.kept_state import OWN_CONTAINERS, container_of
from loaderlint.rules.shared.stream_sources import draws
from loaderlint.rules.shared.unresolved_places import Spot

_NOTHING = ir.Const("NoneType", None)
#: For each object of the main process of which workers have a copy: the attributes that they read, and where.
Read = Mapping[Instance, Mapping[str, Frame]]
#: What may stand before the `=` of an assignment.
_OPERATORS = ("", "+", "-", "*", "/", "//", "**", "%", "|", "&", "@")
#: Containers that each process has for itself: not arrays that may lie in shared memory.
_OWN_CONTAINERS = OWN_CONTAINERS | {
    f"numpy.{name}"
    for name in "array empty full arange linspace zeros_like ones_like full_like random.rand random.uniform".split()
}
#: Functions that bring a list or an array into another order, in its place.
_SHUFFLES = frozenset({Lib("random.shuffle"), Lib("numpy.random.shuffle")})


class _Setting(NamedTuple):
    """A method sets `attribute` of `owner`. `moves`: to another value each time it is called, whatever its arguments
    are: to one that it computes from the old one or draws."""

    owner: Instance
    attribute: str
    moves: bool


#: What setters set, by their name and the object that they are called on.
_SetBy = Mapping[str, Mapping[Instance, _Setting]]


class _Setters(NamedTuple):
    """The methods that set what workers read: by a call, or as properties, by an assignment."""

    called: _SetBy
    assigned: _SetBy


class Change(NamedTuple):
    """The main process sets `attribute` of `owner` at `spot`, by a setter if `by` is one. `constant`: to this value
    (None: to a computed one)."""

    frame: Frame
    context: int
    spot: Spot
    owner: Instance
    attribute: str
    by: str
    constant: ir.Const | None


def read_in_workers(loader: Loader, model: Model) -> Read:
    """What sample and collate code of the loader reads, and does not set itself, of objects of which workers have
    copies."""
    read: dict[Instance, dict[str, Frame]] = {}
    stored: set[tuple[Instance, str]] = set()
    for reached in model.reached_by(loader):
        frame, bit = reached.frame, 1 << loader.index
        if not reached.bits(("sample", "collate")) & bit or reached.possible & bit:
            continue
        for number in sorted(model.ev.evaluated(frame)):
            e = model.ev.expr(frame, number)
            if isinstance(e, ir.Attr):
                for owner in _instances(e.base, frame, model):
                    read.setdefault(owner, {}).setdefault(e.name, frame)
        for _, step in model.steps(frame):
            if isinstance(step, ir.SetAttr):
                stored.update((owner, step.name) for owner in _instances(step.base, frame, model))
    return {
        owner: {name: frame for name, frame in names.items() if (owner, name) not in stored}
        for owner, names in read.items()
        if owner.site is None or not model.runs_in_worker(owner.site.frame)
    }


def _instances(number: int, frame: Frame, model: Model) -> list[Instance]:
    return [atom for atom in model.ev.eval(number, frame).atoms if isinstance(atom, Instance)]


def _setters(read: Read, model: Model) -> _Setters:
    classes = model.ev.classes
    return _Setters(
        _storing(read, classes.public_methods, _calling, model),
        _storing(read, classes.public_setters, _assigning, model),
    )


def _storing(
    read: Read,
    methods_of: Callable[[Instance], list[Method]],
    using: Callable[[str, Model], tuple[MainFunction, ...]],
    model: Model,
) -> _SetBy:
    """The methods that set what workers read. `using`: the code that may run a method of a name: it takes long to
    follow one, so only those that the main process may run are."""
    found: dict[str, dict[Instance, _Setting]] = {}
    in_workers = {def_key(frame) for frame in model.reached}
    for owner in read:
        for method in methods_of(owner):
            opened = model.ev.functions.open_frame(method.function, owner, method.owner)
            if opened is None or def_key(method.function) in in_workers:
                continue
            name = model.def_of(opened).name
            stored = model.remembered(_stores, opened) if model.remembered(using, name) else ()
            read_ones = [one for one in stored if one.attribute in read.get(one.owner, ())]
            if read_ones:
                found.setdefault(name, {})[owner] = max(read_ones, key=lambda one: one.moves)
    return found


def _stores(entry: Frame, model: Model) -> tuple[_Setting, ...]:
    """What a method and everything that it runs set."""
    return tuple(one for frame in model.run_by([entry]) for one in _stored_in(frame, model))


def _stored_in(frame: Frame, model: Model) -> Iterator[_Setting]:
    for _, step in model.steps(frame):
        if isinstance(step, ir.SetAttr):
            if edits_shared(step, frame, model):
                continue
            moves = _moves(step, frame, model)
            owners = _instances(step.base, frame, model)
            yield from (_Setting(one, step.name, moves) for one in owners if not _is_property(one, step.name, model))
        elif isinstance(step, ir.SetItem):
            yield from (_Setting(owner, name, True) for owner, name in _with_item(step, frame, model))
        elif isinstance(step, ir.Perform):
            yield from (_Setting(owner, name, True) for owner, name in _shuffled(step.call, frame, model))


def edits_shared(step: ir.SetAttr, frame: Frame, model: Model) -> bool:
    """Whether a step changes a tensor in place that is in shared memory: `data.epoch += 1` after
    `data.epoch.share_memory_()`."""
    if not isinstance(model.ev.expr(frame, step.value), ir.Augmented):
        return False
    if model.files.containing(f".{step.name}.share_memory_("):
        return True
    held = (model.ev.classes.field(owner, step.name) for owner in _instances(step.base, frame, model))
    return any("share_memory_" in atom.name.split(".") for value in held for atom in value.only(LibObject))


def _is_property(owner: Instance, name: str, model: Model) -> bool:
    """Whether an assignment runs the setter of a property, which stores what it likes: perhaps in shared memory."""
    member = model.ev.classes.member(owner.cls, name)
    return member is not None and member.setter is not None


def _moves(step: ir.SetAttr, frame: Frame, model: Model) -> bool:
    """Whether what is stored in an attribute is computed from the attribute itself, or drawn."""
    exprs = frame.code.exprs
    parts = set(ir.made_of(exprs, [step.value]))
    old = ir.Attr(step.base, step.name)
    return any(exprs[part] == old for part in parts) or any(
        call.number in parts and draws(call) for call in model.frame_calls(frame)
    )


def _with_item(step: ir.SetItem, frame: Frame, model: Model) -> Iterator[tuple[Instance, str]]:
    """The attribute in which a step stores an item: `self.weights[index] = loss`. Spawned workers share the memory of
    tensors with the main process."""
    held = model.ev.expr(frame, container_of(step.base, frame.code.exprs))
    if not isinstance(held, ir.Attr):
        return
    for owner in _instances(held.base, frame, model):
        atoms = model.ev.classes.field(owner, held.name).atoms
        if atoms and all(map(_is_of_one_process, atoms)):
            yield owner, held.name


def _is_of_one_process(atom: Atom) -> bool:
    return isinstance(atom, MapOf | SeqOf) or (isinstance(atom, LibObject) and atom.name in _OWN_CONTAINERS)


def _shuffled(number: int, frame: Frame, model: Model) -> Iterator[tuple[Instance, str]]:
    """The attribute that a call shuffles in its place: `random.shuffle(self.order)`."""
    call = model.ev.expr(frame, number)
    if not isinstance(call, ir.Call) or not call.args or not model.ev.eval(call.func, frame).atoms <= _SHUFFLES:
        return
    shuffled = model.ev.expr(frame, call.args[0].value)
    if isinstance(shuffled, ir.Attr):
        yield from ((owner, shuffled.name) for owner in _instances(shuffled.base, frame, model))


def changes_in_main(loader: Loader, read: Read, model: Model) -> Iterator[Change]:
    """Where the main process sets what workers read, itself or by a setter."""
    setters = _setters(read, model)
    names = frozenset((*setters.assigned, *(name for names in read.values() for name in names)))
    for function in _changing(names, setters.called, model):
        for frame in function.frames:
            for number, step in model.steps(frame):
                if isinstance(step, ir.SetAttr):
                    if step.name in names and frame.receiver not in read:  # in a setter, its call counts
                        yield from _assigned(step, number, frame, read, setters.assigned, loader, model)
                elif isinstance(step, ir.SetItem):
                    if frame.receiver not in read:
                        yield from _item_assigned(step, number, frame, read, model)
                elif isinstance(step, ir.Perform):
                    yield from _set_by(step, frame, setters.called, loader, model)


def _changing(names: Set[str], setters: Mapping[str, object], model: Model) -> Iterator[MainFunction]:
    """The defs that may set one of these attributes or call one of these setters, in the order of files and places."""
    found = [function for name in names for function in model.remembered(_assigning, name)]
    found += [function for name in setters for function in model.remembered(_calling, name)]
    by_place = {(function.path, function.piece, function.def_): function for function in found}
    yield from (by_place[place] for place in sorted(by_place))


def _assigned(
    step: ir.SetAttr, number: int, frame: Frame, read: Read, properties: _SetBy, loader: Loader, model: Model
) -> Iterator[Change]:
    if edits_shared(step, frame, model):
        return
    constant = constant_of(step.value, frame, model)
    for owner in _held(step.base, frame, loader, model):
        if step.name in read.get(owner, ()) and not _is_property(owner, step.name, model):
            yield Change(frame, step.context, Spot(frame, number, "step"), owner, step.name, "", constant)
        elif owner in (of := properties.get(step.name, {})):
            setting = of[owner]
            value = None if setting.moves else constant
            spot = Spot(frame, number, "step")
            yield Change(frame, step.context, spot, setting.owner, setting.attribute, step.name, value)


def _item_assigned(step: ir.SetItem, number: int, frame: Frame, read: Read, model: Model) -> Iterator[Change]:
    for owner, name in _with_item(step, frame, model):
        if name in read.get(owner, ()):
            yield Change(frame, step.context, Spot(frame, number, "step"), owner, name, "", None)


def _assigning(name: str, model: Model) -> tuple[MainFunction, ...]:
    """The defs that may set an attribute of this name, for any caller: it takes long to find the callers. What a method
    sets on its own object does not count."""
    functions = model.main_functions((*(f".{name} {op}=" for op in _OPERATORS), f".{name}["))
    return tuple(function for function in functions if _assigns(function, name, model))


def _assigns(function: MainFunction, name: str, model: Model) -> bool:
    bases = [base for step in function.written.steps if (base := _base_of(step, name, function.exprs)) is not None]
    if all(ir.is_self(function.exprs[base]) for base in bases):
        return bool(bases) and not _is_method(function, model)
    return True


def _base_of(step: ir.Step, name: str, exprs: tuple[ir.Expr, ...]) -> int | None:
    """The object whose attribute `name` a step assigns, or of which it assigns an item."""
    if isinstance(step, ir.SetAttr) and step.name == name:
        return step.base
    held = exprs[container_of(step.base, exprs)] if isinstance(step, ir.SetItem) else None
    return held.base if isinstance(held, ir.Attr) and held.name == name else None


def _calling(name: str, model: Model) -> tuple[MainFunction, ...]:
    """The defs that call a method of this name, for any caller."""
    functions = model.main_functions((f".{name}(",))
    return tuple(function for function in functions if function.calls_one_of((name,), _is_method_call))


def _is_method_call(call: ir.Call, exprs: tuple[ir.Expr, ...]) -> bool:
    return isinstance(exprs[call.func], ir.Attr)


def _is_method(function: MainFunction, model: Model) -> bool:
    """Whether the first parameter of a def is the object that it is called on."""
    path, piece, def_ = function.path, function.piece, function.def_
    if not def_ or model.callers.owner(path, piece, def_, function.facts) is None:
        return False
    return model.ev.functions.decoration(FunctionRef(path, piece, def_)) != "static"


def _set_by(step: ir.Perform, frame: Frame, setters: _SetBy, loader: Loader, model: Model) -> Iterator[Change]:
    call = model.ev.expr(frame, step.call)
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Attr) or func.name not in setters:
        return
    for owner in _held(func.base, frame, loader, model):
        if owner in setters[func.name]:
            given = [constant_of(arg.value, frame, model) for arg in call.args] or [_NOTHING]
            constant = given[0] if len(given) == 1 else None
            setting = setters[func.name][owner]
            value = None if setting.moves else constant
            spot = Spot(frame, step.call)
            yield Change(frame, step.context, spot, setting.owner, setting.attribute, func.name, value)


def constant_of(number: int, frame: Frame, model: Model) -> ir.Const | None:
    """The constant that an expression is written as; None for others."""
    e = model.ev.expr(frame, number)
    return e if isinstance(e, ir.Const) else None


def _held(number: int, frame: Frame, loader: Loader, model: Model) -> list[Instance]:
    """The objects that an expression may be; `loader.dataset` (and `.dataset` of that) are the loader's."""
    found = _instances(number, frame, model)
    e = model.ev.expr(frame, number)
    if found or not isinstance(e, ir.Attr) or e.name != "dataset":
        return found
    while isinstance(e, ir.Attr) and e.name == "dataset":
        number, e = e.base, model.ev.expr(frame, e.base)
    held: tuple[Atom, ...] = loader.datasets if is_loader(number, frame, loader, model) else ()
    return [atom for atom in held if isinstance(atom, Instance)]
