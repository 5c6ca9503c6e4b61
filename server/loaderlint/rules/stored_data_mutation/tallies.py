"""Stored data that no sample contains: it is only counted up, and decides which sample comes next."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.arrays import CHOOSES, OVERWRITES, SUMMARISES
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, Origin, Val
from loaderlint.project.reach.model import Model, Part

#: Why an edit changes no sample.
TALLY = "no sample contains it: it is only counted up and compared"

#: Attributes that tell about an array, and nothing of its content.
_ABOUT = frozenset("shape ndim size dtype device".split())
#: Keywords that take the weights of a drawn choice.
_WEIGHTS = frozenset({"p", "weights", "cum_weights"})
#: Calls that give the same number with another type.
_NUMBERS = frozenset({Lib("builtins.float"), Lib("builtins.int")})
_PARTS: tuple[Part, ...] = ("sample", "collate")


def is_tally(value: Val, origin: Origin, model: Model) -> bool:
    """Whether what is edited gets into no sample. Only data that its object created is known not to have another name,
    under which it may be a sample."""
    owner = origin.owner
    if not isinstance(owner, Instance):
        return False
    field = origin.path[0]
    stores = model.ev.classes.stores(owner, field)
    if not stores or not all(_is_created(store, model) for store in stores):
        return False
    aliased = {one for store in stores for one in store.value.origins} | value.origins
    is_own = all(one.owner == owner and one.path[0] == field for one in aliased)
    return is_own and model.once(_Tallies).of(field) and all(_stays(field, one.frame, True, model) for one in stores)


def _is_created(store: Store, model: Model) -> bool:
    step = model.def_of(store.frame).steps[store.step]
    value = model.ev.expr(store.frame, step.value) if isinstance(step, ir.SetAttr) else None
    return store.value.unknown is None and value is not None and not isinstance(value, ir.Param)


class _Tallies:
    """The names of fields by whether they are only counted up, memoised: one field may be edited in many frames."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[str, bool] = {}
        pieces = {(frame.path, frame.piece): frame for frame, how in model.reached.items() if how.bits(_PARTS)}
        self._frames = tuple(pieces.values())

    def of(self, field: str) -> bool:
        """Whether no code that makes samples lets the content of a field of this name out, whatever its object is."""
        if field not in self._known:
            self._known[field] = all(_stays(field, frame, False, self._model) for frame in self._frames)
        return self._known[field]


def _stays(field: str, frame: Frame, numbers_may_leave: bool, model: Model) -> bool:
    """Whether a piece lets nothing that a field holds get out of it."""
    piece = model.facts(frame).ir
    if field not in piece.mentions:
        return True
    reads = [number for number, e in enumerate(piece.exprs) if isinstance(e, ir.Attr) and e.name == field]
    return _Uses(piece, frame, numbers_may_leave, model).all_stay(reads)


class _Uses:
    """What a piece does with the data of a field. `numbers_may_leave`: a number for many, such as the smallest, may go
    anywhere."""

    def __init__(self, piece: ir.PieceIR, frame: Frame, numbers_may_leave: bool, model: Model) -> None:
        self._exprs = piece.exprs
        self._frame = frame
        self._numbers_may_leave = numbers_may_leave
        self._model = model
        self._by: dict[int, list[int]] = {}
        self._steps: dict[int, list[ir.Step]] = {}
        self._captured = any(isinstance(e, ir.Capture) for e in piece.exprs)
        for number, e in enumerate(piece.exprs):
            for operand in ir.operands(e):
                self._by.setdefault(operand, []).append(number)
        for step in (step for one in piece.defs for step in one.steps):
            for number in ir.step_expressions(step):
                self._steps.setdefault(number, []).append(step)

    def all_stay(self, reads: list[int]) -> bool:
        """Whether these expressions, which are the data, are only edited, and asked which of them to take."""
        data, waiting = set(reads), list(reads)
        while waiting:
            one = waiting.pop()
            if not all(self._keeps(step, data) for step in self._steps.get(one, ())):
                return False
            for number in self._by.get(one, ()):
                if self._is_part(number, one):
                    waiting += () if number in data else (number,)
                    data.add(number)
                elif not self._only_decides(number, one):
                    return False
        return True

    def _is_part(self, number: int, data: int) -> bool:
        match self._exprs[number]:
            case ir.Index(base, index):
                return base == data != index
            case ir.Augmented(_, target, value):
                return target == data != value
        return False

    def _keeps(self, step: ir.Step, data: set[int]) -> bool:
        """Whether a step that uses the data leaves it where it is."""
        match step:
            case ir.SetItem(_, base, index, value):
                return index not in data and (value not in data or (base in data and self._is_augmented(value)))
            case ir.SetAttr(_, _, _, value, _):
                return self._is_augmented(value)
            case ir.Augment(_, _, _, value, _):
                return value not in data
            case ir.Bind():
                return self._is_local(step)
        return isinstance(step, ir.Perform | ir.Test | ir.Evaluate | ir.Delete)

    def _is_augmented(self, number: int) -> bool:
        return isinstance(self._exprs[number], ir.Augmented)

    def _only_decides(self, number: int, data: int) -> bool:
        """Whether an expression that uses the data gives a place in it, or a number that stays on the object."""
        match self._exprs[number]:
            case ir.Compare():
                return True
            case ir.Attr(_, name):
                calls = self._by.get(number, [])
                return name in _ABOUT or (name in OVERWRITES and self._is_unused(calls)) or self._decide({name}, calls)
            case ir.Call(func, args):
                if any(arg.value == data and arg.name in _WEIGHTS for arg in args):
                    return True
                libs = self._model.ev.eval(func, self._frame).only(Lib)
                return bool(libs) and self._decide({lib.name.rpartition(".")[2] for lib in libs}, [number])
        return False

    def _is_unused(self, calls: list[int]) -> bool:
        steps = [step for call in calls for step in self._steps.get(call, [])]
        return not self._by.keys() & calls and all(isinstance(step, ir.Perform | ir.Evaluate) for step in steps)

    def _decide(self, names: set[str], results: list[int]) -> bool:
        """Whether functions or methods of these names give places, or `results` that stay on the object."""
        if not names <= CHOOSES | SUMMARISES:
            return False
        return names <= CHOOSES or self._numbers_may_leave or all(map(self._is_kept, results))

    def _is_kept(self, number: int) -> bool:
        """Whether a number is only compared, or stored in the object: `self.lowest[i] = np.min(self.hits[i])`."""
        steps = self._steps.get(number, [])
        return all(map(self._keeps_number, steps)) and all(map(self._keeps_inside, self._by.get(number, [])))

    def _keeps_number(self, step: ir.Step) -> bool:
        match step:
            case ir.SetItem(_, base, _, _) | ir.SetAttr(_, base, _, _, _):
                return self._is_of_self(base)
            case ir.Bind():
                return self._is_local(step)
        return isinstance(step, ir.Perform | ir.Test | ir.Evaluate)

    def _keeps_inside(self, number: int) -> bool:
        e = self._exprs[number]
        if not isinstance(e, ir.Call):
            return isinstance(e, ir.Compare)
        return self._model.ev.eval(e.func, self._frame).atoms <= _NUMBERS and self._is_kept(number)

    def _is_local(self, step: ir.Bind) -> bool:
        return step.scope == "local" and not self._captured

    def _is_of_self(self, number: int) -> bool:
        e = self._exprs[number]
        while isinstance(e, ir.Index | ir.Attr):
            e = self._exprs[e.base]
        return ir.is_self(e)
