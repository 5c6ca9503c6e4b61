"""What a handle is, and whether the main process still holds it when the workers start."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.handles import DERIVED, DERIVED_BY_INDEX, IN_MEMORY, OPENERS, HandleKind
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.length_tests import length_test
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    Instance,
    LibObject,
    Literal_,
    Origin,
    Unknown,
    Val,
)
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import always_comes_by
from loaderlint.rules.shared.constructor_stores import last_stores

#: Expressions that read a stored value.
_READS = frozenset({ir.Attr, ir.Global, ir.Capture, ir.Param, ir.Index})
#: Methods and functions that read nothing from a handle.
_NO_USES = frozenset("close closed fileno hasattr isinstance getattr id print repr str".split())


def handle_kind(atom: LibObject, model: Model) -> HandleKind | None:
    """The kind of handle that an object is; a transaction, cursor or HDF5 dataset counts as its file. None for other
    objects, and for archives in memory."""
    name = atom.name
    while name not in OPENERS:
        shorter = _derived_from(name)
        if shorter is None:
            return None
        name = shorter
    made = opener(atom, model)
    arguments = model.ev.calls.site_arguments(made.site)
    if any(isinstance(a, LibObject) and a.name in IN_MEMORY for value in arguments.values for a in value.atoms):
        return None
    driver = arguments.get("driver")
    is_read_at_once = driver is not None and driver.atoms == {Literal_("str", "core")}
    return None if is_read_at_once else OPENERS[name]  # HDF5's driver 'core' keeps the content in memory


def _derived_from(name: str) -> str | None:
    """The object that shares its handle with the object called `name`."""
    if name.endswith("[]"):
        return name[:-2] if name.startswith(DERIVED_BY_INDEX) else None
    owner, _, method = name.rpartition(".")
    if method in DERIVED or (method == "get" and name.startswith(DERIVED_BY_INDEX)):
        return owner
    return None


def opener(atom: LibObject, model: Model) -> LibObject:
    """The handle itself, for a transaction, cursor or dataset of it."""
    while atom.name not in OPENERS:
        e = model.ev.expr(atom.site.frame, atom.site.expr)
        if isinstance(e, ir.Call):
            e = model.ev.expr(atom.site.frame, e.func)
        if not isinstance(e, ir.Index | ir.Attr):
            return atom
        shared = model.ev.eval(e.base, atom.site.frame).only(LibObject)
        parent = next((a for a in shared if _is_handle_name(a.name)), None)
        if parent is None or parent == atom:
            return atom
        atom = parent
    return atom


def may_be_handle(value: Val) -> bool:
    """Whether a value may be a handle, judging by the name of its creator, or because it is an item of something."""
    made = any(type(atom) is LibObject and _is_handle_name(atom.name) for atom in value.atoms)
    return made or any(one.path[1:] == ("[]",) for one in value.origins)


def may_be_no_handle(value: Val, model: Model) -> bool:
    """Whether a value that may be a handle may also be something known that is none, as where a file's extension
    decides how it is read. None, False and empty texts stand for a handle that is not open yet."""
    known = [one for one in value.atoms if not isinstance(one, Unknown) and not _is_placeholder(one)]
    handles = sum(_is_handle(one, model) for one in known)
    return 0 < handles < len(known)


def _is_placeholder(atom: Atom) -> bool:
    return isinstance(atom, Literal_) and not atom.value


def _is_handle(atom: Atom, model: Model) -> bool:
    return isinstance(atom, LibObject) and model.remembered(handle_kind, atom) is not None


def handles_in(value: Val, model: Model) -> list[LibObject]:
    """The library objects that a value may be; for an item of a dict, also those that the constructor stores in the
    dict."""
    found = value.only(LibObject)
    items = [one for one in value.origins if isinstance(one.owner, Instance) and one.path[1:] == ("[]",)]
    for origin in sorted(items, key=lambda one: one.path):
        if isinstance(origin.owner, Instance):
            for frame in model.ev.classes.construction(origin.owner):
                for _, step in model.steps_of(frame, ir.SetItem):
                    if is_own_attribute(step.base, origin.path[0], frame, model):
                        found += model.ev.eval(step.value, frame).only(LibObject)
    return list(dict.fromkeys(found))


@lru_cache(maxsize=10_000)
def _is_handle_name(name: str) -> bool:
    """Whether the creator of an object opens a handle, or derives one from another handle."""
    shorter = None if name in OPENERS else _derived_from(name)
    return name in OPENERS or (shorter is not None and _is_handle_name(shorter))


class HandleRead(NamedTuple):
    """Where a frame reads a handle from an attribute, a variable or an item: the expression, what it may be, and the
    handle with its kind."""

    number: int
    value: Val
    handle: LibObject
    kind: HandleKind


def handles_read(frame: Frame, model: Model) -> tuple[HandleRead, ...]:
    """The handles that a frame reads, in the order of its expressions."""
    return model.remembered(_handles_read, frame)


def _handles_read(frame: Frame, model: Model) -> tuple[HandleRead, ...]:
    reads = (n for n in sorted(model.ev.evaluated(frame)) if type(model.ev.expr(frame, n)) in _READS)
    return tuple(
        HandleRead(number, value, atom, kind)
        for number in reads
        if may_be_handle(value := model.ev.eval(number, frame))
        for atom in handles_in(value, model)
        if (kind := model.remembered(handle_kind, atom)) is not None
    )


def compares_pid(frame: Frame, model: Model) -> bool:
    """Whether the def checks which process it runs in."""
    file = model.files.file(frame.path)
    return file is not None and file.pieces[frame.piece].holds("getpid")


# --- opened before the workers start ----------------------------------------------------------------------------------


def is_held(made: LibObject, origins: frozenset[Origin], model: Model) -> bool:
    """Whether attributes hold a handle of the main process when the workers start: it is not closed or reset to None,
    and worker code does not open it again. `if self.file is None` reopens nothing."""
    for origin in origins:
        if not isinstance(origin.owner, Instance):
            continue
        if len(origin.path) == 1:
            opened_anew, last = model.remembered(_left_by_constructor, origin.owner, origin)
            if opened_anew or (last is not None and made not in last):
                return False
        if _is_closed(origin, model) or model.once(_StoredByWorkers).replaces(origin):
            return False
    return True


def _left_by_constructor(inst: Instance, origin: Origin, model: Model) -> tuple[bool, frozenset[Atom] | None]:
    """Whether worker code opens the handle of an attribute again, and the values that the attribute may have after the
    constructor; None if it has none."""
    stores = model.ev.classes.stores(inst, origin.path[0])
    if any(_is_opened_anew(store, origin, model) for store in stores):
        return True, None
    last = last_stores(stores, inst, model)
    return False, frozenset(atom for store in last for atom in store.value.atoms) if last else None


def _is_opened_anew(store: Store, origin: Origin, model: Model) -> bool:
    """Whether a worker opens its own handle before it uses the inherited one. It may do so by a method that the
    constructor calls, too."""
    name = origin.path[0]
    if not model.runs_in_worker(store.frame):
        return False
    if compares_pid(store.frame, model):
        return True
    return not is_guarded(store, name, model) and not _is_used_before(store, name, model)


def _is_used_before(store: Store, name: str, model: Model) -> bool:
    """Whether a store comes after a use of the handle, for example at the end of a file or after an error: in its own
    def, or in all of its callers."""
    step = model.def_of(store.frame).steps[store.step]
    if _uses_before(store.frame, store.step, step.context, name, model):
        return True
    callers = model.callers_of(store.frame)
    return bool(callers) and all(_uses_before_call(frame, number, name, model) for frame, number in callers)


def _uses_before_call(frame: Frame, number: int, name: str, model: Model) -> bool:
    step = frame.code.evaluated_by(number)
    return step is not None and _uses_before(frame, step, model.def_of(frame).steps[step].context, name, model)


def _uses_before(frame: Frame, step: int, context: int, name: str, model: Model) -> bool:
    """Whether `self.<name>` is always used before a step in this context. The `try` block of an `except` clause has
    begun."""
    one = model.def_of(frame)
    began = {c.parent for c in one.around(context) if c.kind == "except"}
    used = [s.context for s in one.steps[:step] if _is_use(s, name, frame, model)]
    contexts = [one.contexts[c].parent if _is_in_try(c, began, one) else c for c in used]
    return always_comes_by(contexts, context, frame, model)


def _is_in_try(context: int, parents: set[int], one: ir.DefIR) -> bool:
    here = one.contexts[context]
    return here.kind == "try" and here.parent in parents


def _is_use(step: ir.Step, name: str, frame: Frame, model: Model) -> bool:
    """Whether a step calls a method of `self.<name>`, passes it on, or iterates over it."""
    if isinstance(step, ir.Iterate):
        return is_own_attribute(step.iterable, name, frame, model)
    call = model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
    if not isinstance(call, ir.Call):
        return False
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr) and func.name not in _NO_USES and is_own_attribute(func.base, name, frame, model):
        return True
    looks = isinstance(func, ir.Global) and func.name in _NO_USES
    return not looks and any(is_own_attribute(arg.value, name, frame, model) for arg in call.args)


def _is_closed(origin: Origin, model: Model) -> bool:
    """Whether the constructor closes the handle or deletes the attribute."""
    assert isinstance(origin.owner, Instance)
    return origin.path[0] in model.once(_Closed).by(origin.owner)


class _Closed:
    """The attributes of each object that its constructor closes or deletes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[Instance, frozenset[str]] = {}

    def by(self, inst: Instance) -> frozenset[str]:
        """The attributes of an object."""
        if inst not in self._known:
            self._known[inst] = frozenset(self._closed(inst))
        return self._known[inst]

    def _closed(self, inst: Instance) -> Iterator[str]:
        ev = self._model.ev
        for frame in ev.classes.construction(inst):
            for _, step in self._model.steps(frame):
                target: int = NONE
                if isinstance(step, ir.Delete):
                    target = step.target
                elif isinstance(step, ir.Perform):
                    call = ev.expr(frame, step.call)
                    func = ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
                    target = func.base if isinstance(func, ir.Attr) and func.name == "close" else NONE
                e = ev.expr(frame, target)
                if isinstance(e, ir.Attr) and ir.is_self(ev.expr(frame, e.base)):
                    yield e.name


class _StoredByWorkers:
    """What worker code stores as items of an object's own attribute: `self.files[url] = open(url)`. Not where it asks
    for the attribute first: `if url not in self.files` stores nothing over what the main process has left."""

    def __init__(self, model: Model) -> None:
        self._attributes: set[tuple[Atom, str]] = set()
        self._classes: set[ClassRef] = set()
        for frame in model.reached:
            for _, step in model.steps_of(frame, ir.SetItem) if frame.receiver is not None else ():
                e = model.ev.expr(frame, step.base)
                if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(frame, e.base)):
                    if not _is_asked_for(step.context, e, frame, model):
                        self._store(frame, e.name, model.ev.eval(step.value, frame))

    def _store(self, frame: Frame, name: str, value: Val) -> None:
        if value.only(LibObject):
            assert frame.receiver is not None
            self._attributes.add((frame.receiver, name))
        self._classes.update(one.cls for one in value.only(Instance) if one.site and one.site.frame is frame)

    def replaces(self, origin: Origin) -> bool:
        """Whether workers replace the item at `origin`, or make the objects anew that hold the handle there."""
        if origin.path[1:] == ("[]",) and (origin.owner, origin.path[0]) in self._attributes:
            return True
        return isinstance(origin.owner, Instance) and origin.owner.cls in self._classes


def _is_asked_for(context: int, attribute: ir.Attr, frame: Frame, model: Model) -> bool:
    """Whether a branch around a context depends on an attribute of the object."""
    exprs = frame.code.exprs
    tests = [one.expr for one in model.def_of(frame).around(context) if one.kind == "if" and one.expr != NONE]
    return any(exprs[part] == attribute for part in ir.made_of(exprs, tests))


def is_own_attribute(number: int, name: str, frame: Frame, model: Model) -> bool:
    """Whether an expression is `self.<name>`."""
    e = model.ev.expr(frame, number)
    return isinstance(e, ir.Attr) and e.name == name and ir.is_self(model.ev.expr(frame, e.base))


# --- opened by the first use ------------------------------------------------------------------------------------------


def is_guarded(store: Store, name: str, model: Model) -> bool:
    """Whether a store, or every call of its method, is under `if self.<name> is None`, `if not self.<name>` or `if not
    hasattr(self, "<name>")`."""
    step = model.def_of(store.frame).steps[store.step]
    if _stands_in_test(step.context, name, store.frame, model):
        return True
    reached = model.reached.get(store.frame)
    callers = [frame for frame in reached.parents.values() if frame is not None] if reached else []
    return bool(callers) and all(_calls_in_test(caller, store.frame, name, model) for caller in callers)


def _calls_in_test(caller: Frame, called: Frame, name: str, model: Model) -> bool:
    contexts = [
        step.context
        for _, step in model.steps(caller)
        if isinstance(step, ir.Perform) and called in model.ev.targets(step.call, caller)
    ]
    return bool(contexts) and all(_stands_in_test(context, name, caller, model) for context in contexts)


def _stands_in_test(context: int, name: str, frame: Frame, model: Model) -> bool:
    contexts = model.def_of(frame).contexts
    while context > 0:
        here = contexts[context]
        if here.kind == "if" and asks_for(here.expr, name, frame, model):
            return True
        context = here.parent
    return False


def asks_for(test: int, name: str, frame: Frame, model: Model) -> bool:
    """Whether a test asks for `self.<name>`, alone or in a part of it."""
    asked = length_test(model.ev, test, frame)
    if asked is not None:
        return asks_for(asked.container, name, frame, model)
    e = model.ev.expr(frame, test)
    match e:
        case ir.Compare(left, _, _):
            return is_own_attribute(left, name, frame, model)
        case ir.Unary("not", operand):
            return asks_for(operand, name, frame, model)
        case ir.Attr():
            return is_own_attribute(test, name, frame, model)
        case ir.BoolOp(_, left, right):
            return asks_for(left, name, frame, model) or asks_for(right, name, frame, model)
        case ir.Call(func, args) if model.ev.expr(frame, func) == ir.Global("hasattr") and len(args) == 2:
            return model.ev.expr(frame, args[1].value) == ir.Const("str", name)
    return False
