"""What the main process sets on objects that a loader's workers have copies of, and read there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, FunctionRef, Instance, def_key
from loaderlint.project.reach.model import Loader, MainFunction, Model
from loaderlint.rules.shared.epoch_loops import is_loader
from loaderlint.rules.shared.unresolved_places import Spot

_NOTHING = ir.Const("NoneType", None)
#: For each object of the main process of which workers have a copy: the attributes that they read, and where.
Read = Mapping[Instance, Mapping[str, Frame]]
#: What setters set, by their name and the object that they are called on: of which object, and which attribute.
_SetBy = Mapping[str, Mapping[Instance, tuple[Instance, str]]]


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
    called: dict[str, dict[Instance, tuple[Instance, str]]] = {}
    assigned: dict[str, dict[Instance, tuple[Instance, str]]] = {}
    in_workers = {def_key(frame) for frame in model.reached}
    for owner in read:
        for method in model.ev.classes.public_methods(owner):
            function = method.function
            if def_key(function) in in_workers:
                continue
            opened = model.ev.functions.open_frame(function, owner, method.owner)
            stored = next(iter(_stores(opened, read, model)), None) if opened else None
            if stored is not None and opened is not None:
                found = assigned if model.ev.functions.decoration(function) == "property" else called
                found.setdefault(model.def_of(opened).name, {})[owner] = stored
    return _Setters(called, assigned)


def _stores(opened: Frame, read: Read, model: Model) -> Iterator[tuple[Instance, str]]:
    for frame in model.run_by([opened]):
        for _, step in model.steps(frame):
            if isinstance(step, ir.SetAttr):
                for owner in _instances(step.base, frame, model):
                    if step.name in read.get(owner, ()):
                        yield owner, step.name


def changes_in_main(loader: Loader, read: Read, model: Model) -> Iterator[Change]:
    """Where the main process sets what workers read, itself or by a setter."""
    setters = _setters(read, model)
    names = frozenset((*setters.assigned, *(name for names in read.values() for name in names)))
    assigned = (f".{name} {sign}" for name in sorted(names) for sign in ("=", "+="))
    words = [*assigned, *(f".{name}(" for name in setters.called)]
    for function in model.main_functions(tuple(words)) if words else ():
        if not _may_change(function, names, setters.called, model):
            continue
        for frame in function.frames:
            for number, step in model.steps(frame):
                if isinstance(step, ir.SetAttr) and frame.receiver not in read:  # in a setter, its call counts
                    yield from _assigned(step, number, frame, read, setters.assigned, loader, model)
                elif isinstance(step, ir.Perform):
                    yield from _set_by(step, frame, setters.called, loader, model)


def _assigned(
    step: ir.SetAttr, number: int, frame: Frame, read: Read, properties: _SetBy, loader: Loader, model: Model
) -> Iterator[Change]:
    constant = _constant(step.value, frame, model)
    for owner in _held(step.base, frame, loader, model):
        if step.name in read.get(owner, ()):
            yield Change(frame, step.context, Spot(frame, number, "step"), owner, step.name, "", constant)
        elif owner in (of := properties.get(step.name, {})):
            yield Change(frame, step.context, Spot(frame, number, "step"), *of[owner], step.name, constant)


def _may_change(function: MainFunction, names: Set[str], setters: Mapping[str, object], model: Model) -> bool:
    """Whether a def may set one of these attributes or call one of these setters, for any caller: it takes long to find
    the callers. What a method sets on its own object does not count."""
    sets_own = _is_method(function, model)
    for step in function.written.steps:
        if isinstance(step, ir.SetAttr) and step.name in names:
            if not (sets_own and ir.is_self(function.exprs[step.base])):
                return True
        elif isinstance(step, ir.Perform):
            call = function.exprs[step.call]
            func = function.exprs[call.func] if isinstance(call, ir.Call) else None
            if isinstance(func, ir.Attr) and func.name in setters:
                return True
    return False


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
            given = [_constant(arg.value, frame, model) for arg in call.args] or [_NOTHING]
            constant = given[0] if len(given) == 1 else None
            spot = Spot(frame, step.call)
            yield Change(frame, step.context, spot, *setters[func.name][owner], func.name, constant)


def _constant(number: int, frame: Frame, model: Model) -> ir.Const | None:
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
