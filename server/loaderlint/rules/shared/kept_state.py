"""State that sample code stores on its object: what it stores, whether it is a cache by sample index, and where the
main process reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import STATE_METHODS
from loaderlint.knowledge.handles import OPENERS
from loaderlint.knowledge.numpy_random import GENERATORS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    DefKey,
    FunctionRef,
    Instance,
    LibObject,
    Literal_,
    MapOf,
    SeqOf,
    Unknown,
    Val,
    def_key,
)
from loaderlint.project.reach.model import Exposure, Loader, MainFunction, Model
from loaderlint.rules.shared.unresolved_places import Spot

#: Containers that belong to one process. (Those of torch may be shared: spawned workers get tensors in shared memory.)
OWN_CONTAINERS = frozenset(
    """
    builtins.dict builtins.list builtins.set collections.OrderedDict collections.defaultdict collections.deque
    collections.Counter numpy.zeros numpy.ones
    """.split()
)
#: Methods that put something into a container.
GROWING = STATE_METHODS - {"pop", "popitem", "remove", "clear", "discard", "setdefault"}
#: Words of code that is aware of processes: state by process id or worker.
_AWARE = ("getpid", "worker_info", "current_process", "Manager", "share")


_CONNECTIONS = ("connect", "open", "Client", "Session")


class Kept(NamedTuple):
    """A change of attribute `name` of `owner`, which `frame` makes at `spot`."""

    frame: Frame
    spot: Spot
    owner: Instance
    name: str


def kept_state(frame: Frame, model: Model) -> Iterator[Kept]:
    """The counters and logs that a frame keeps on its own object: `self.n += 1`, `self.log.append(x)`,
    `self.losses[key] = x`. Flags, and objects that each process creates once, do not count."""
    owner = frame.receiver
    if not isinstance(owner, Instance) or is_aware(frame, model):
        return
    for change in changes_in_place(frame, GROWING, model):
        name = own_attribute(change.held, frame, model)
        if change.stored != NONE and is_of_process(change.stored, frame, model):
            continue
        if name and model.remembered(is_workers_own, owner, name):
            yield Kept(frame, change.spot, owner, name)


class InPlace(NamedTuple):
    """A change at `spot` of what expression `held` stands for. `stored`: what becomes an item of it, else `NONE`."""

    spot: Spot
    held: int
    stored: int = NONE


def changes_in_place(frame: Frame, methods: Set[str], model: Model) -> Iterator[InPlace]:
    """Where a frame counts on a name or an attribute, stores an item, or calls one of `methods`: `x += 1`,
    `x["train"][0] = y`, `x.append(y)`. Of items it is the outermost container that changes."""
    for number, step in model.steps(frame):
        match step:
            case ir.Augment(_, target, _, _, "attr" | "name"):
                yield InPlace(Spot(frame, number, "step"), target)
            case ir.SetItem(_, base, _, value):
                yield InPlace(Spot(frame, number, "step"), container_of(base, frame.code.exprs), value)
            case ir.Perform(_, called):
                call = model.ev.expr(frame, called)
                func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
                if isinstance(func, ir.Attr) and func.name in methods:
                    yield InPlace(Spot(frame, called), container_of(func.base, frame.code.exprs))


def container_of(number: int, exprs: Sequence[ir.Expr]) -> int:
    """The outermost container that an expression takes items of: `self.seen` for `self.seen["train"][0]`."""
    e = exprs[number]
    while isinstance(e, ir.Index):
        number, e = e.base, exprs[e.base]
    return number


def own_attribute(number: int, frame: Frame, model: Model) -> str:
    """The name in `self.name`, '' for other expressions."""
    e = model.ev.expr(frame, number)
    return e.name if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(frame, e.base)) else ""


def is_aware(frame: Frame, model: Model) -> bool:
    """Whether the text around a frame has a word that shows that the code is aware of workers."""
    return model.remembered(_is_piece_aware, frame.path, frame.piece)


def _is_piece_aware(path: Path, piece: int, model: Model) -> bool:
    file = model.files.file(path)
    return file is None or any(file.pieces[piece].holds(word) for word in _AWARE)


def is_of_process(number: int, frame: Frame, model: Model) -> bool:
    """Whether a value is a handle or a generator, which each process needs for itself."""
    names = [atom.name for atom in model.ev.eval(number, frame).atoms if isinstance(atom, LibObject)]
    return any(name in OPENERS or name in GENERATORS or name.endswith(_CONNECTIONS) for name in names)


def _starts_plain(owner: Instance, name: str, model: Model) -> bool:
    """Whether the constructor sets the attribute to a number, or to a container of one process that is empty or holds
    numbers."""
    stores = model.ev.classes.stores(owner, name)
    made = [store for store in stores if store.construction]
    return bool(made) and all(is_plain(atom) for store in made for atom in store.value.atoms)


def is_plain(atom: Atom) -> bool:
    """Whether an atom is a number that is not a setting, or a container that is empty or holds only such numbers."""
    match atom:
        case Literal_(kind, _, configured):
            return kind in ("int", "float") and not configured
        case MapOf(_, values):
            return all(map(_is_plain_item, values))
        case SeqOf(kind, items):
            return kind != "tuple" and all(map(_is_plain_item, items))
        case LibObject(name, _):
            return name in OWN_CONTAINERS
    return False


def _is_plain_item(value: Val) -> bool:
    return all(is_plain(atom) or _is_nothing(atom) for atom in value.atoms)


def _is_nothing(atom: Atom) -> bool:
    return (isinstance(atom, Literal_) and atom.kind == "NoneType") or (isinstance(atom, SeqOf) and not atom.items)


def is_empty(atom: Atom) -> bool:
    """Whether an atom is a number that is not a setting, or a container without items, or of None alone."""
    if isinstance(atom, MapOf):
        return not atom.keys
    if isinstance(atom, SeqOf):
        return all(_is_nothing(one) for value in atom.items for one in value.atoms)
    return is_plain(atom)


def starts_empty(owner: Instance, name: str, model: Model) -> bool:
    """Whether the constructor sets the attribute to an empty container."""
    made = [store for store in model.ev.classes.stores(owner, name) if store.construction]
    return all(is_empty(atom) for store in made for atom in store.value.atoms)


def is_workers_own(owner: Instance, name: str, model: Model) -> bool:
    """Whether the constructor sets the attribute to something plain, and only workers change it afterwards."""
    return _starts_plain(owner, name, model) and only_workers_change(owner, name, model)


def only_workers_change(owner: Instance, name: str, model: Model) -> bool:
    """Whether no known code changes the attribute in the main process after its first value."""
    return not any(name in model.remembered(_changed, frame) for frame in main_methods(owner, name, model))


def main_methods(owner: Instance, name: str, model: Model) -> Iterator[Frame]:
    """The object's own methods that workers do not run and whose text contains the name, without those that nothing in
    the project calls."""
    constructing = model.ev.classes.construction(owner)
    yield from constructing
    done = {def_key(frame) for frame in constructing} | model.remembered(_worker_defs, owner)
    for member in model.ev.classes.methods_holding(owner.cls, f".{name}"):
        function = member.function
        if function is not None and def_key(function) not in done and _is_used(function, model):
            opened = model.ev.functions.open_frame(function, owner, member.owner)
            if opened is not None:
                yield opened


def _is_used(function: FunctionRef, model: Model) -> bool:
    """Whether some code may call a method: its name is read somewhere, or Python or a framework knows it."""
    one = model.ev.code(function).one
    if one is None or one.decorators or one.name.startswith("__"):
        return True
    return bool(model.files.containing(f".{one.name}") or model.files.containing(f'"{one.name}"'))


def _worker_defs(owner: Instance, model: Model) -> frozenset[DefKey]:
    return frozenset(def_key(frame) for frame in model.reached_on(owner))


def _changed(frame: Frame, model: Model) -> frozenset[str]:
    """The attributes of its own object that a frame changes. An assignment during construction is not a change."""
    constructing = frame.receiver is not None and frame in _construction(frame, model)
    changed = {own_attribute(one.held, frame, model) for one in changes_in_place(frame, STATE_METHODS, model)}
    if not constructing:
        stores = (step for _, step in model.steps_of(frame, ir.SetAttr))
        changed |= {step.name for step in stores if ir.is_self(model.ev.expr(frame, step.base))}
    return frozenset(changed)


def _construction(frame: Frame, model: Model) -> list[Frame]:
    return model.ev.classes.construction(frame.receiver) if isinstance(frame.receiver, Instance) else []


# --- where it is read -------------------------------------------------------------------------------------------------


def reader_in_main(kept: Kept, exposure: Exposure, model: Model) -> tuple[Frame, int] | None:
    """Where the main process reads the state: `dataset.seen` (also `loader.dataset.seen`), or the call of a method
    that reads it. The first such place; None if there is none."""
    return model.remembered(_first_read, kept.owner, kept.name, exposure.loaders)


def _first_read(owner: Instance, name: str, loaders: tuple[Loader, ...], model: Model) -> tuple[Frame, int] | None:
    wanted = {name, *_reading_methods(owner, name, model)}
    words = tuple(f".{word}" for word in sorted(wanted))
    for function in model.main_functions(words):
        reads = _reads(wanted, function, model)
        opened = function.opened if reads else None
        if opened is not None:
            reads = [(number, base) for number, base in reads if _may_be_owner(base, owner, opened, model)]
        if not reads:
            continue
        for frame in function.frames:
            if frame.receiver == owner or model.runs_in_worker(frame):
                continue
            for number, base in reads:
                if _is_owner(base, owner, frame, loaders, model) and number in model.remembered(_evaluated, frame):
                    return frame, number
    return None


def _reads(wanted: set[str], function: MainFunction, model: Model) -> list[tuple[int, int]]:
    """The expressions in the def, each with its base, that read an attribute of one of these names. Those of `self` do
    not count, because it is another object than the owner."""
    place = def_key(function)
    is_method = function.def_ and model.callers.owner(*place, function.facts) is not None
    is_method = is_method and model.ev.functions.decoration(FunctionRef(*place)) != "static"
    code = model.ev.code(FunctionRef(*place))
    found = sorted(pair for name in wanted for pair in code.attributes(name))
    return [pair for pair in found if not (is_method and ir.is_self(function.exprs[pair[1]]))]


def _may_be_owner(number: int, owner: Instance, opened: Frame, model: Model) -> bool:
    """Whether an expression of a def may be the object, or a loader of it, for some caller, judging by its `opened`
    frame. Finding the callers would take too long."""
    e = model.ev.expr(opened, number)
    if isinstance(e, ir.Attr) and e.name == "dataset":
        return True
    atoms = model.ev.eval(number, opened).atoms
    if not atoms or any(isinstance(atom, Unknown) or _is_like(atom, owner) for atom in atoms):
        return True
    return opened.receiver is not None and _rests_on_self(number, opened, model)


def _is_like(atom: Atom, owner: Instance) -> bool:
    return isinstance(atom, Instance) and atom.cls == owner.cls


def _rests_on_self(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression may have another value if the def runs on an object of a derived class. Calling a class by
    its name creates an object of that class, whatever is passed."""
    exprs = model.facts(frame).ir.exprs
    e = exprs[number]
    if isinstance(e, ir.Call) and all(isinstance(atom, ClassRef) for atom in model.ev.eval(e.func, frame).atoms):
        number = e.func
    return any(ir.is_self(exprs[one]) for one in ir.made_of(exprs, [number]))


def _evaluated(frame: Frame, model: Model) -> frozenset[int]:
    """See `Evaluator.evaluated`."""
    return model.ev.evaluated(frame)


def _reading_methods(owner: Instance, name: str, model: Model) -> Iterator[str]:
    """The object's public methods that read the state."""
    for frame in main_methods(owner, name, model):
        one = model.def_of(frame)
        if one.name.startswith("_") or frame in model.ev.classes.construction(owner):
            continue
        if name in model.remembered(_attributes, frame):
            yield one.name


def _attributes(frame: Frame, model: Model) -> frozenset[str]:
    """The names of all attributes in the piece that a frame runs."""
    return frozenset(e.name for e in model.facts(frame).ir.exprs if isinstance(e, ir.Attr))


def _is_owner(number: int, owner: Instance, frame: Frame, loaders: tuple[Loader, ...], model: Model) -> bool:
    if owner in model.ev.eval(number, frame).atoms:
        return True
    e = model.ev.expr(frame, number)
    if not isinstance(e, ir.Attr) or e.name != "dataset":
        return False
    atoms = model.ev.eval(e.base, frame).atoms
    sites = {loader.site for loader in loaders if owner in loader.datasets}
    return any(isinstance(atom, LibObject | Instance) and atom.site in sites for atom in atoms)
