"""Values that are the same each time a sample is read: made without a draw, of constants and of stored data that
nothing edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, ClassRef, FunctionRef, Instance, Lib, Literal_, Method
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import Model, Part
from loaderlint.rules.shared.kept_state import only_workers_change, own_attribute
from loaderlint.rules.shared.passed_arguments import passed_for
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.stream_sources import draws
from loaderlint.rules.stored_data_mutation.in_place_edits import edits
from loaderlint.rules.stored_data_mutation.record_edits import record_edits

#: An expression of a frame.
Place = tuple[Frame, int]

_PARTS: tuple[Part, ...] = ("sample", "collate")
#: What tells nothing of the numbers in an array.
OF_SHAPE = frozenset("shape dtype ndim size device dim zeros_like ones_like full_like len".split())
#: Libraries of which a function gives the same for the same arguments, but for those that draw, and `_OTHERS`.
_COMPUTING = (
    "builtins.",
    "numpy.",
    "torch.",
    "math.",
    "itertools.",
    "operator.",
    "shapely.",
    "scipy.",
    "cv2.",
    "copy.",
)
_OTHERS = frozenset("next input open iter vars globals empty empty_like".split())
_RANDOM = ("random", "torch.nn", "torch.utils", "torch.initial_seed", "torch.cuda", "scipy.stats")
#: Methods that compute something of their object and their arguments, or fill it with them.
_METHODS = frozenset(
    """
    sum mean max min amax amin std var any all abs float double int long bool byte half to cpu numpy item tolist astype
    copy clone detach contiguous view reshape flatten ravel squeeze unsqueeze transpose permute swapaxes t T expand
    repeat clip clamp round floor ceil argmax argmin argsort nonzero cumsum logical_and logical_or logical_not eq ne gt
    ge lt le get items keys values index count append extend fill fill_ zero_ size dim numel isnan split strip lower
    upper startswith endswith format join replace union intersection difference
    """.split()
)
_NAMED = (Literal_, Lib, FunctionRef, ClassRef, ModuleRef)
#: With more expressions that a value is made of, nothing is known.
_MAX_PLACES = 600


class Edited(NamedTuple):
    """What a frame has to do with the object that is edited. `keys`: the expressions that tell it from others of its
    kind, such as the index under which it is stored: for one object they are the same each time. `step`: the step that
    edits it, or passes it on. `left_out`: the branches in which another object is edited."""

    keys: tuple[int, ...]
    step: int
    left_out: frozenset[int]


_UNRELATED = Edited((), NONE, frozenset())


class FixedValues:
    """Judges expressions of worker code. `edited`: what its frames have to do with the object that is edited."""

    def __init__(self, edited: Mapping[Frame, Edited], model: Model) -> None:
        self._edited = edited
        self._model = model
        self._touching: dict[Frame, dict[int, list[int]]] = {}
        #: Frames that calls lead to, of what has been looked at.
        self._called: set[Frame] = set()

    def is_fixed(self, number: int, frame: Frame) -> bool:
        """Whether an expression gives the same each time for one object, with all that is done to its value."""
        waiting: list[Place] = [(frame, number)]
        seen: set[Place] = set()
        while waiting:
            place = waiting.pop()
            if place in seen or place[1] == NONE or self._is_key(*place):
                continue
            seen.add(place)
            needed = self._needs(*place) if len(seen) <= _MAX_PLACES else None
            if needed is None:
                return False
            waiting += needed
        return True

    def _is_key(self, frame: Frame, number: int) -> bool:
        return any(reads_same(number, key, frame.code.exprs) for key in self._edited.get(frame, _UNRELATED).keys)

    def _needs(self, frame: Frame, number: int) -> list[Place] | None:
        """The expressions that must be fixed for this one to be; None if it is not."""
        e = frame.code.exprs[number]
        if isinstance(e, ir.Const | ir.Imported) or _is_self(e, frame):
            return []
        if isinstance(e, ir.Global):
            known = all(isinstance(atom, _NAMED) for atom in self._model.ev.eval(number, frame).atoms)
            return [] if known else None
        if isinstance(e, ir.Param):
            inner = self._passed(frame, number, e.index)
        elif isinstance(e, ir.Attr):
            inner = self._attribute(frame, number, e)
        elif isinstance(e, ir.Call):
            inner = self._call(frame, number, e)
        elif isinstance(e, ir.Opaque | ir.Yield | ir.Await | ir.Caught | ir.Entered | ir.MakeDef | ir.Capture):
            return None
        else:
            inner = [(frame, one) for one in ir.operands(e) if not self._is_left_out(frame, one)]
        if inner is None:
            return None
        around = (frame.code.context_of(number), *(step.context for _, step in frame.code.bindings.get(number, ())))
        parts = [*self._tests(frame, around), *self._touched(frame).get(number, ())]
        return [*inner, *((frame, one) for one in parts)]

    def _is_left_out(self, frame: Frame, number: int) -> bool:
        """Whether an expression is what a name stands for only in a branch that edits another object."""
        bound = frame.code.bindings.get(number, ())
        return bool(bound) and all(self._is_in_left_out(step, frame) for _, step in bound)

    def _is_in_left_out(self, step: ir.Step, frame: Frame) -> bool:
        one = self._model.def_of(frame)
        branches = self._edited.get(frame, _UNRELATED).left_out
        return any(one.is_within(step.context, branch) for branch in branches)

    def _passed(self, frame: Frame, number: int, index: int) -> list[Place] | None:
        if self._model.ev.eval(number, frame).literal is not None:
            return []
        reached = self._model.reached.get(frame)
        if reached is None or None in reached.parents.values():
            return None
        passed = [(one.frame, one.number) for one in passed_for(frame, index, self._model)]
        if frame in self._called:  # only these calls of it matter
            callers = self._called | self._edited.keys()
            passed = [one for one in passed if one[0] in callers]
        return passed if passed and all(one != NONE for _, one in passed) else None

    def _attribute(self, frame: Frame, number: int, e: ir.Attr) -> list[Place] | None:
        if e.name in OF_SHAPE:
            return []
        name, owner = own_attribute(number, frame, self._model), frame.receiver
        if name:
            return [] if isinstance(owner, Instance) and _is_kept(number, name, owner, frame, self._model) else None
        is_object = self._model.ev.eval(e.base, frame).has(Instance)
        return None if is_object else [(frame, e.base)]

    def _call(self, frame: Frame, number: int, call: ir.Call) -> list[Place] | None:
        func = frame.code.exprs[call.func]
        given = [(frame, arg.value) for arg in call.args]
        atoms = self._model.ev.eval(call.func, frame).atoms
        if any(made.number == number and draws(made) for made in self._model.frame_calls(frame)):
            return None
        if atoms and all(isinstance(atom, Lib) for atom in atoms):
            names = [atom.name for atom in atoms if isinstance(atom, Lib)]
            if all(name.rpartition(".")[2] in OF_SHAPE for name in names):
                return given[1:]
            return given if all(map(_computes, names)) else None
        targets = self._model.ev.targets(number, frame)
        if targets and all(isinstance(atom, FunctionRef | Method) for atom in atoms):
            made = self._made_by(targets)
            return None if made is None else [*given, *made]
        if not isinstance(func, ir.Attr) or func.name not in _METHODS or any(map(_is_of_project, atoms)):
            return None
        return given if func.name in OF_SHAPE else [*given, (frame, func.base)]

    def _made_by(self, targets: tuple[Frame, ...]) -> list[Place] | None:
        """What decides what functions of the project return, and how they edit what they get; None if they draw, or are
        generators."""
        found: list[Place] = []
        called = self._model.run_by(targets)
        self._called.update(called)
        for frame in called:
            if self._model.def_of(frame).is_generator or any(map(draws, self._model.frame_calls(frame))):
                return None
            for _, step in self._model.steps(frame):
                if isinstance(step, ir.SetItem | ir.Augment):
                    found += ((frame, one) for one in (*_deciding(step), *self._tests(frame, [step.context])))
        found += ((one, step.value) for one in targets for _, step in self._model.steps_of(one, ir.Return))
        return found

    def _tests(self, frame: Frame, contexts: Sequence[int]) -> Iterator[int]:
        """What decides whether code in these contexts runs, and how often."""
        one = self._model.def_of(frame)
        for context in contexts:
            yield from (here.expr for here in one.around(context) if here.kind in ("if", "while", "match", "loop"))

    def _touched(self, frame: Frame) -> Mapping[int, list[int]]:
        """The expressions that decide what steps of a frame do to an object, by the expressions that give it."""
        if frame not in self._touching:
            found = self._touching[frame] = {}
            own = self._edited.get(frame, _UNRELATED).step
            for number, step in self._model.steps(frame):
                if number == own or self._is_in_left_out(step, frame):
                    continue
                for one in self._edited_by(step, frame):
                    tests = self._tests(frame, [step.context])
                    found.setdefault(one, []).extend((*_deciding(step), *tests))
        return self._touching[frame]

    def _edited_by(self, step: ir.Step, frame: Frame) -> Iterator[int]:
        exprs = frame.code.exprs
        match step:
            case ir.SetItem(_, base) | ir.Augment(_, base):
                yield from _objects(base, frame)
            case ir.Perform(_, number):
                call = exprs[number]
                if isinstance(call, ir.Call):
                    func = exprs[call.func]
                    given = [arg.value for arg in call.args]
                    for one in [*given, func.base] if isinstance(func, ir.Attr) else given:
                        yield from _objects(one, frame)


def _deciding(step: ir.Step) -> tuple[int, ...]:
    match step:
        case ir.SetItem(_, _, index, value):
            return (index, value)
        case ir.Augment(_, _, _, value):
            return (value,)
        case ir.Perform(_, number):
            return (number,)
    return ()


def _is_self(e: ir.Expr, frame: Frame) -> bool:
    return ir.is_self(e) and frame.receiver is not None


def _objects(number: int, frame: Frame) -> Iterator[int]:
    """An expression, and those whose object it may be a part or a view of, but for `self`."""
    exprs = frame.code.exprs
    waiting, seen = [number], {NONE}
    while waiting:
        one = waiting.pop()
        e = exprs[one] if one != NONE else None
        if one in seen or e is None or _is_self(e, frame) or isinstance(e, ir.Const | ir.Global | ir.Imported):
            continue
        seen.add(one)
        yield one
        match e:
            case ir.Index(base) | ir.Attr(base) | ir.Element(base) | ir.Unpack(base) | ir.Star(base):
                waiting.append(base)
            case ir.Augmented(_, target):
                waiting.append(target)
            case ir.Phi(choices):
                waiting += choices
            case ir.Call(func, args):
                waiting += [one for one in (func, *(arg.value for arg in args[:1])) if one != NONE]


def _computes(name: str) -> bool:
    inner = name.removeprefix("numpy.")
    return name.startswith(_COMPUTING) and not inner.startswith(_RANDOM) and name.rpartition(".")[2] not in _OTHERS


def _is_of_project(atom: Atom) -> bool:
    return isinstance(atom, FunctionRef | Method | ClassRef | Instance)


# --- stored data ------------------------------------------------------------------------------------------------------


def _is_kept(number: int, name: str, owner: Instance, frame: Frame, model: Model) -> bool:
    """Whether only the constructor of an object sets an attribute, and no code edits what it holds."""
    edited = model.once(_edited)
    if (owner, name) in edited:
        return False
    if any((one.owner, one.path[0]) in edited for one in model.ev.eval(number, frame).origins if one.path):
        return False
    return model.remembered(_is_set_once, owner, name)


def _is_set_once(owner: Instance, name: str, model: Model) -> bool:
    stores = model.ev.classes.stores(owner, name)
    if not stores or not all(store.construction for store in stores):
        return False
    if any(frame.code.stores_of(name) for frame in model.reached_on(owner)):
        return False
    return only_workers_change(owner, name, model)


def _edited(model: Model) -> frozenset[tuple[Atom, str]]:
    """The attributes, each with its object, of which worker code edits the content."""
    found: set[tuple[Atom, str]] = set()
    for frame, how in model.reached.items():
        if not how.bits(_PARTS):
            continue
        targets = [edit.target for edit in edits(frame, model)] + [one.record for one in record_edits(frame, model)]
        for target in targets:
            found.update((one.owner, one.path[0]) for one in model.ev.eval(target, frame).origins if one.path)
    return frozenset(found)
