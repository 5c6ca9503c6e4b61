"""One-shot iterators: where one is created, and where it is stored."""

from __future__ import annotations

from collections.abc import Set

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.iterators import ENDLESS, FINITE, FOUND_FILES, FOUND_FILES_METHODS, ITERATORS, PATHS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    SeqOf,
    Val,
    is_index,
)
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import Model

_MAX_DEPTH = 6
#: They end with the shortest of what they go over.
_SHORTEST = ("builtins.map", "builtins.zip")


class OneShot(Struct, frozen=True):
    """An iterator created by expression `expr` of `frame`. `doubtful`: it may never end, because what it iterates over
    is unknown. `searches`: it yields search results (files, matches), perhaps none. `is_file`: it yields lines of a
    file."""

    frame: Frame
    expr: int
    doubtful: bool
    searches: bool = False
    is_file: bool = False


class Kept(Struct, frozen=True):
    """A one-shot iterator that outlives a sample: attribute `name` of `owner`, or a module's name (`owner` None)."""

    name: str
    owner: Instance | None
    made: OneShot

    @property
    def described(self) -> str:
        """Its name, as the code writes it."""
        return f"self.{self.name}" if self.owner else self.name


def one_shot(number: int, frame: Frame, model: Model, depth: int = 0) -> OneShot | None:
    """The iterator that expression `number` creates; None if it creates none, or one that never ends."""
    if number == NONE or depth > _MAX_DEPTH:
        return None
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Comp) and e.kind == "generator":
        ends = _ends(e.iterables[0], frame, model, depth)
        return None if ends is False else OneShot(frame, number, ends is None, _is_filtered(e, frame, model))
    if not isinstance(e, ir.Call):
        return None
    callee = model.ev.eval(e.func, frame)
    names = {atom.name for atom in callee.atoms if isinstance(atom, Lib)}
    if len(names) == len(callee.atoms) == 1:
        return _library_call(names.pop(), e, number, frame, model, depth)
    func = model.ev.expr(frame, e.func)
    if isinstance(func, ir.Attr) and func.name in FOUND_FILES_METHODS and _is_path(model.ev.eval(func.base, frame)):
        return OneShot(frame, number, doubtful=False, searches=True)
    targets = model.ev.targets(number, frame)
    if len(targets) == 1 and model.def_of(targets[0]).is_generator:
        ends = generator_ends(targets[0], model, depth + 1)
        return None if ends is False else OneShot(frame, number, ends is None)
    return None


def _library_call(name: str, call: ir.Call, number: int, frame: Frame, model: Model, depth: int) -> OneShot | None:
    if name == "builtins.open":
        return OneShot(frame, number, doubtful=False, is_file=True)
    if name in FOUND_FILES:
        return OneShot(frame, number, doubtful=False, searches=True)
    if name not in ITERATORS or (name == "builtins.iter" and len(call.args) != 1):
        return None
    skipped = 1 if name in ("builtins.map", "builtins.filter") else 0
    gone_over = [arg.value for arg in call.args[skipped:] if arg.kind in ("pos", "star")]  # not `strict=True`
    answers = {_ends(one, frame, model, depth) for one in gone_over}
    ends = _ends_with(name, answers)
    if not answers or ends is False:
        return None
    return OneShot(frame, number, ends is None, name in ("builtins.filter", "re.finditer"))


def _ends_with(name: str, answers: Set[bool | None]) -> bool | None:
    """Whether the iterator that a library makes ends, judging by what it goes over."""
    decisive = name in _SHORTEST
    return decisive if decisive in answers else None if None in answers else not decisive


def _ends(number: int, frame: Frame, model: Model, depth: int) -> bool | None:
    """Whether iterating over an expression ends; None if that is not known."""
    inner = one_shot(number, frame, model, depth + 1)
    if inner is not None:
        return None if inner.doubtful else True
    answers = {_atom_ends(atom, model, depth) for atom in model.ev.eval(number, frame).atoms}
    if False in answers:
        return False
    return True if answers == {True} else None


def _atom_ends(atom: Atom, model: Model, depth: int) -> bool | None:
    match atom:
        case SeqOf() | MapOf() | Literal_():
            return True  # a number is no iterable: `enumerate(paths, 1)`
        case LibObject("builtins.generator", site):
            return generator_ends(site.frame, model, depth + 1)
        case LibObject(name, _):
            return False if name in ENDLESS else True if name.startswith(tuple(FINITE)) else None
        case LibMember(LibObject(), _):
            return None
        case Instance() if depth <= _MAX_DEPTH:
            opened = model.ev.classes.open_method(atom, "__iter__")
            if opened is not None and model.def_of(opened).is_generator:
                return generator_ends(opened, model, depth + 1)
    return None


def generator_ends(frame: Frame, model: Model, depth: int = 0) -> bool | None:
    """Whether a generator function ends; None if that is not known."""
    if depth > _MAX_DEPTH:
        return None
    one = model.def_of(frame)
    for context in one.contexts:
        if context.kind == "while" and model.ev.liveness.truth(context.expr, frame) is not False:
            e = model.ev.expr(frame, context.expr)
            return False if isinstance(e, ir.Const) else None
    answers: set[bool | None] = set()
    for _, step in model.steps(frame):
        if isinstance(step, ir.Iterate) or (isinstance(step, ir.YieldStep) and step.is_from):
            gone_over = step.iterable if isinstance(step, ir.Iterate) else step.value
            answers.add(_ends(gone_over, frame, model, depth))
    return False if False in answers else None if None in answers else True


def _is_filtered(e: ir.Comp, frame: Frame, model: Model) -> bool:
    """Whether a generator expression has a condition that may be true of no item."""
    contexts = model.def_of(frame).contexts
    for _, step in model.steps(frame):
        if isinstance(step, ir.Test) and step.context > 0:
            context = contexts[step.context]
            if context.kind == "loop" and context.expr in e.iterables and not _finds_index(step.expr, frame, model):
                return True
    return False


def _finds_index(test: int, frame: Frame, model: Model) -> bool:
    """Whether a test looks up the range of the sample's index, `end > index`: a dataset's own ranges contain all its
    indices."""
    e = model.ev.expr(frame, test)
    if not isinstance(e, ir.Compare) or len(e.ops) != 1 or e.ops[0] not in ("<", "<=", ">", ">="):
        return False
    return any(is_index(model.ev.eval(side, frame)) for side in (e.left, *e.rights))


def _is_path(value: Val) -> bool:
    """Whether a value is or may be a path: only paths have `rglob` and `iterdir`."""
    return bool(value.atoms) and all(_is_path_atom(atom) for atom in value.atoms)


def _is_path_atom(atom: Atom) -> bool:
    match atom:
        case LibObject(name, _):
            return name in PATHS or name in ("builtins.operation",) or name.startswith("pathlib.")
        case LibMember(owner, _):
            return _is_path_atom(owner)
    return False


def kept(number: int, frame: Frame, model: Model) -> Kept | None:
    """The stored one-shot iterator that expression `number` reads: from an attribute that only the constructor sets, or
    from a module's name. None if it is not one, or if something restarts it."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Attr):
        return _kept_by_object(e, frame, model)
    if isinstance(e, ir.Global):
        return _kept_by_module(e.name, frame, model)
    return None


def _kept_by_object(e: ir.Attr, frame: Frame, model: Model) -> Kept | None:
    owners = model.ev.eval(e.base, frame).atoms
    owner = next(iter(owners)) if len(owners) == 1 else None
    if not isinstance(owner, Instance):
        return None
    stores = model.ev.classes.stores(owner, e.name)
    if not stores or not all(store.construction for store in stores) or is_set_in_workers(e.name, model):
        return None
    found = []
    for store in stores:
        step = model.def_of(store.frame).steps[store.step]
        made = one_shot(step.value, store.frame, model) if isinstance(step, ir.SetAttr) else None
        if made is None:
            return None
        found.append(made)
    return Kept(e.name, owner, found[-1])


def is_set_in_workers(name: str, model: Model) -> bool:
    """Whether code that workers run assigns an attribute of this name."""
    for frame in model.reached:
        file = model.files.file(frame.path)
        if file is None or not file.pieces[frame.piece].holds(name):
            continue
        if any(isinstance(step, ir.SetAttr) and step.name == name for step in model.def_of(frame).steps):
            return True
    return False


def _kept_by_module(name: str, frame: Frame, model: Model) -> Kept | None:
    origins = [o for o in model.ev.names.lookup(frame.path, name).origins if isinstance(o.owner, ModuleRef)]
    for origin in origins:
        file = model.files.file(origin.owner.path) if isinstance(origin.owner, ModuleRef) else None
        bindings = file.names.get(origin.path[0], []) if file and len(origin.path) == 1 else []
        if file is None or len(bindings) != 1 or bindings[0].step < 0 or bindings[0].def_ != 0:
            continue
        body = model.ev.body(file.path, bindings[0].piece)
        step = model.def_of(body).steps[bindings[0].step]
        made = one_shot(step.value, body, model) if isinstance(step, ir.Bind) else None
        if made is not None:
            return Kept(name, None, made)
    return None
