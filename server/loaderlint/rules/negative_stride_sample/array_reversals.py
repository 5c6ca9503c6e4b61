"""What reverses an array, and whether it stays reversed."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import ARRAY_MAKERS, KEEPS_STRIDES, REVERSING, STRIDES_ATTRIBUTES, STRIDES_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject, Literal_
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.array_flow import ArrayFlow, Found, Path, is_whole
from loaderlint.rules.shared.called_libraries import library_names
from loaderlint.rules.shared.stored_objects import is_array_index, made, used_as_array

#: Attributes of tables that are indexed like arrays.
_TABLES = frozenset({"iloc", "loc"})
Axes = frozenset[tuple[str, int]]


class Reversal:
    """What reverses an array, and what keeps it reversed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.flow = ArrayFlow(model, self)

    def makes(self, number: int, frame: Frame, path: Path) -> bool:
        """Whether an expression reverses an array."""
        if not is_whole(path):
            return False
        match self._model.ev.expr(frame, number):
            case ir.Index(base, index):
                table = self._model.ev.expr(frame, base)
                is_table = isinstance(table, ir.Attr) and table.name in _TABLES
                return not is_table and any(self._is_negative(part, frame) for part in self._parts(index, frame))
            case ir.Call(func, _) as call:
                names = self._names(func, frame) & REVERSING
                return bool(names) and ("numpy.rot90" not in names or self._turns(call, frame) != "none")
        return False

    def shares(self, number: int, frame: Frame, path: Path) -> Iterator[tuple[int, Path]]:
        """The array that an expression is a view of, with all its axes."""
        if not is_whole(path):
            return
        match self._model.ev.expr(frame, number):
            case ir.Index(base, index) if all(self._keeps_axis(part, frame) for part in self._parts(index, frame)):
                yield base, ()
            case ir.Attr(base, name) if name in STRIDES_ATTRIBUTES:
                yield base, ()
            case ir.Call(func, args):
                attribute = self._model.ev.expr(frame, func)
                if self._names(func, frame) & KEEPS_STRIDES:
                    if args and args[0].kind == "pos" and not any(arg.name == "dtype" for arg in args):
                        yield args[0].value, ()
                elif isinstance(attribute, ir.Attr) and attribute.name in STRIDES_METHODS:
                    if not self._model.ev.targets(number, frame) and not self._names(func, frame):
                        yield attribute.base, ()

    def _names(self, func: int, frame: Frame) -> frozenset[str]:
        return library_names(func, frame, self._model)

    def _parts(self, index: int, frame: Frame) -> tuple[int, ...]:
        e = self._model.ev.expr(frame, index)
        return e.items if isinstance(e, ir.Seq) and e.kind == "tuple" else (index,)

    def _is_negative(self, part: int, frame: Frame) -> bool:
        e = self._model.ev.expr(frame, part)
        if not isinstance(e, ir.Slice) or e.step == NONE:
            return False
        steps = [a.value for a in self._model.ev.eval(e.step, frame).atoms if isinstance(a, Literal_)]
        return any(isinstance(step, int) and step < 0 for step in steps)

    def _keeps_axis(self, part: int, frame: Frame) -> bool:
        """Whether a part of an index leaves its axis there: a slice, `None`, `...`."""
        e = self._model.ev.expr(frame, part)
        return isinstance(e, ir.Slice) or (isinstance(e, ir.Const) and e.kind in ("NoneType", "ellipsis"))

    def _turns(self, call: ir.Call, frame: Frame) -> str:
        """Whether `rot90` turns at all: 'none', 'some', or 'unknown'."""
        turns = self._model.ev.calls.arguments(call, frame).get("k", 1)
        if turns is None:
            return "some"
        numbers = [a.value for a in turns.atoms if isinstance(a, Literal_) and isinstance(a.value, int)]
        if any(number % 4 for number in numbers):
            return "some"
        if numbers and len(numbers) == len(turns.atoms):
            return "none"
        drawn = any(isinstance(a, LibObject) and ".random." in f".{a.name}" for a in turns.atoms)
        return "some" if drawn else "unknown"

    # --- questions about one reversal ---------------------------------------------------------------------------------

    def is_sure(self, one: Found) -> bool:
        """Whether it is known to reverse: not `np.rot90` by a number of turns that cannot be read."""
        e = self._model.ev.expr(one.frame, one.number)
        return not isinstance(e, ir.Call) or self._turns(e, one.frame) == "some" or not self._is_turn(e, one.frame)

    def _is_turn(self, call: ir.Call, frame: Frame) -> bool:
        return "numpy.rot90" in self._names(call.func, frame)

    def is_array(self, one: Found) -> bool:
        """Whether what is reversed is an array, no list or string: NumPy's functions make one of anything."""
        e = self._model.ev.expr(one.frame, one.number)
        if not isinstance(e, ir.Index) or is_array_index(e.index, one.frame, self._model):
            return True
        atoms = self._model.ev.eval(e.base, one.frame).only(LibObject)
        makers = [found.maker for atom in atoms if (found := made(atom.name)) is not None]
        if makers and all(maker in ARRAY_MAKERS and not maker.startswith("torch.") for maker in makers):
            return True
        return any(used_as_array(number, one.frame, self._model) for number in (e.base, one.number))

    def is_undone(self, one: Found) -> bool:
        """Whether what is reversed may be reversed along the same axis already."""
        axes = self._axes(one)
        base = self._base(one)
        if base == NONE:
            return False
        before = self.flow.found(base, one.frame, ())
        return any(not axes or not (other := self._axes(b)) or bool(axes & other) for b in before)

    def _base(self, one: Found) -> int:
        match self._model.ev.expr(one.frame, one.number):
            case ir.Index(base, _):
                return base
            case ir.Call(_, args):
                return args[0].value if args else NONE
        return NONE

    def _axes(self, one: Found) -> Axes:
        """The axes that are reversed, counted from the front or from the back; none if they cannot be told."""
        frame = one.frame
        match self._model.ev.expr(frame, one.number):
            case ir.Index(_, index):
                parts = self._parts(index, frame)
                kinds = [self._model.ev.expr(frame, part) for part in parts]
                dots = [n for n, e in enumerate(kinds) if isinstance(e, ir.Const) and e.kind == "ellipsis"]
                first = dots[0] if dots else len(parts)
                negative = [n for n, part in enumerate(parts) if self._is_negative(part, frame)]
                return frozenset(("front", n) if n < first else ("back", n - len(parts)) for n in negative)
            case ir.Call(func, _) as call:
                names = self._names(func, frame)
                if names & {"numpy.fliplr", "numpy.flipud"}:
                    return frozenset({("front", 1 if "numpy.fliplr" in names else 0)})
                axis = self._model.ev.calls.arguments(call, frame).get("axis", 1)
                if "numpy.flip" in names and axis and axis.literal and isinstance(axis.literal.value, int):
                    return frozenset({("front" if axis.literal.value >= 0 else "back", axis.literal.value)})
        return frozenset()

    def described(self, one: Found) -> str:
        """'`np.flip`' or '`[::-1]`'."""
        e = self._model.ev.expr(one.frame, one.number)
        if isinstance(e, ir.Call):
            name = sorted(self._names(e.func, one.frame) & REVERSING)[0]
            return f"`{name.replace('numpy', 'np')}`"
        return "an index with a negative step"
