"""What a dataset keeps sequences in of which a sample takes the item at its own position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.listings import ROWS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import never_both
from loaderlint.rules.shared.listing_order import ListingOrder, Orders, is_shuffled
from loaderlint.rules.shared.passed_arguments import passed_for
from loaderlint.rules.shared.told_values import is_only_told
from loaderlint.rules.unsorted_listing.file_rows import read_by

#: What the names of functions that draw numbers begin with.
_RANDOM = ("random.", "numpy.random.", "torch.rand")
#: A position that a helper is given: whatever its caller computed.
_ANY_POSITION = "any"


class Taken(Struct, frozen=True):
    """The items of a sequence that samples take by one `position`: the sequence as written (`self.images`, or the name
    of a variable; '' if it has none), what tells it from others, the orders of its items, and the expressions that take
    them."""

    name: str
    key: str
    position: str
    orders: Orders
    takes: list[tuple[Frame, int]] = field(default_factory=list)

    def is_paired(self, other: Taken, entry: Frame, model: Model) -> bool:
        """Whether a sample has items of both sequences from one position."""
        if self.key == other.key or not (
            self.position == other.position or _ANY_POSITION in (self.position, other.position)
        ):
            return False
        return any(_may_meet(one, two, entry, model) for one in self.takes for two in other.takes)


def taken_by_position(entry: Frame, inst: Instance, order: ListingOrder, model: Model) -> list[Taken]:
    """What a sample takes by position from sequences that have the order of a listing: attributes of the dataset, and
    what the sample itself lists. Of an attribute that each sample shuffles, it takes any item. What it only prints is
    no part of it."""
    found: dict[tuple[str, str], Taken] = {}
    methods = [frame for frame in model.run_by([entry]) if frame.receiver == inst]
    for frame, number, e in _indexed(methods, model):
        base = model.ev.expr(frame, e.base)
        orders = _orders(e, frame, order, model)
        if base is None or not orders:
            continue
        kept = _kept_as(base, frame, model)
        if not (kept or (frame is entry and _lists(entry, orders, model))):
            continue
        if is_shuffled(kept, methods, model) or is_only_told(number, frame, model):
            continue
        if frame is not entry and _is_drawn(e.index, frame, model):
            continue
        name = f"self.{kept}" if kept else _variable(e.base, frame, model)
        key = name if kept else str(e.base)
        helped = frame is not entry and isinstance(model.ev.expr(frame, e.index), ir.Param)
        position = _ANY_POSITION if helped else _shape(e.index, frame, model, 0)
        found.setdefault((key, position), Taken(name, key, position, orders)).takes.append((frame, number))
    return list(found.values())


def rows_beside(taken: Taken, entry: Frame, inst: Instance, model: Model) -> Iterator[tuple[str, str]]:
    """The sequences of the dataset with the rows of a file of which a sample takes the item at the same position: how
    they are written, and what reads the file."""
    for frame, number, e in _indexed([frame for frame in model.run_by([entry]) if frame.receiver == inst], model):
        base = model.ev.expr(frame, e.base)
        kept = _kept_as(base, frame, model) if base is not None else ""
        helped = frame is not entry and isinstance(model.ev.expr(frame, e.index), ir.Param)
        if not kept or (helped and taken.position != _ANY_POSITION):
            continue  # a helper may be asked for any row
        if taken.position == _ANY_POSITION and not _is_from_parameter(_row(e, frame, model), frame, model, 0):
            continue  # what is read by the name of a file is no row
        position = _ANY_POSITION if helped else _shape(_row(e, frame, model), frame, model, 0)
        one = Taken(f"self.{kept}", f"self.{kept}", position, frozenset(), [(frame, number)])
        reader = read_by(e.base, frame, model) if taken.is_paired(one, entry, model) else ""
        if reader and not is_only_told(number, frame, model):
            yield one.name, reader


def _row(e: ir.Index, frame: Frame, model: Model) -> int:
    """The index of the row: `index` of `rows.loc[index, "path"]`."""
    position = model.ev.expr(frame, e.index)
    return position.items[0] if isinstance(position, ir.Seq) and position.items else e.index


def _orders(e: ir.Index, frame: Frame, order: ListingOrder, model: Model) -> Orders:
    """The orders of a sequence from which a sample takes an item by its own position, or by the one that stands there
    among chosen positions: `self.files[self.chosen[index]]`."""
    position = model.ev.expr(frame, e.index)
    if _is_from_parameter(_row(e, frame, model), frame, model, 0):
        return order.of(e.base, frame)
    if isinstance(position, ir.Index) and _is_from_parameter(position.index, frame, model, 0):
        return order.at(e.base, position.base, frame)
    return frozenset()


def _is_drawn(number: int, frame: Frame, model: Model) -> bool:
    """Whether a helper is asked for items at random positions only: `self.noise_at(random.randint(0, self.last))`."""
    e = model.ev.expr(frame, number)
    passed = [*passed_for(frame, e.index, model)] if isinstance(e, ir.Param) else []
    return bool(passed) and all(one.number != NONE and _draws(one.number, one.frame, model) for one in passed)


def _draws(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is computed from a random number."""
    parts = ir.made_of(frame.code.exprs, (number,))
    drawn = (one for part in parts for one in model.ev.eval(part, frame).only(LibObject))
    return any(one.name.startswith(_RANDOM) for one in drawn)


def _lists(entry: Frame, orders: Orders, model: Model) -> bool:
    """Whether a sample makes all the listings that a sequence gets its order from."""
    return {order.listing.frame for order in orders} <= set(model.run_by([entry]))


def _variable(number: int, frame: Frame, model: Model) -> str:
    """The name of the variable that holds the value of an expression; '' if none does."""
    bound = (step.name for _, step in model.steps_of(frame, ir.Bind) if step.value == number)
    return next(bound, "")


def _indexed(methods: Sequence[Frame], model: Model) -> Iterator[tuple[Frame, int, ir.Index]]:
    """The expressions `sequence[index]` that methods of the dataset evaluate for a sample."""
    for frame in methods:
        for number in sorted(model.ev.evaluated(frame)):
            if isinstance(e := frame.code.exprs[number], ir.Index):
                yield frame, number, e


def _may_meet(one: tuple[Frame, int], two: tuple[Frame, int], entry: Frame, model: Model) -> bool:
    """Whether a sample may evaluate both expressions. Those of helpers stand where the sample calls the helpers."""
    if one[0] is two[0]:
        return not never_both(one[1], two[1], one[0], model)
    mine, yours = _in_entry(one, entry, model), _in_entry(two, entry, model)
    apart = [never_both(here, there, entry, model) for here in mine for there in yours]
    return not apart or not all(apart)


def _in_entry(taken: tuple[Frame, int], entry: Frame, model: Model) -> list[int]:
    """The expressions of a sample's function that lead to one of another frame."""
    frame, number = taken
    if frame is entry:
        return [number]
    return [
        call.number for call in model.frame_calls(entry) if frame in model.run_by(model.ev.targets(call.number, entry))
    ]


def _kept_as(e: ir.Expr, frame: Frame, model: Model) -> str:
    """How a dataset has a sequence, as written after `self.`: `images`, `files["train"]`, `files[...]`; else ''. The
    rows of a table, `rows.iloc`, are the table."""
    if isinstance(e, ir.Attr):
        held = model.ev.expr(frame, e.base)
        if ir.is_self(held):
            return e.name
        table = _kept_as(held, frame, model) if isinstance(held, ir.Attr | ir.Index) else ""
        return table if e.name in ROWS or not table else f"{table}.{e.name}"
    kept = model.ev.expr(frame, e.base) if isinstance(e, ir.Index) else None
    if not isinstance(e, ir.Index) or not isinstance(kept, ir.Attr):
        return ""
    key, name = model.ev.expr(frame, e.index), _kept_as(kept, frame, model)
    written = f'"{key.value}"' if isinstance(key, ir.Const) and key.kind == "str" else "..."
    return f"{name}[{written}]" if name else ""


def _operands(e: ir.Expr | None) -> tuple[int, ...]:
    match e:
        case ir.Bin(_, left, right):
            return (left, right)
        case ir.Call(_, args):
            return tuple(arg.value for arg in args)
        case ir.Unary(_, operand) | ir.Augmented(_, operand, _):
            return (operand,)
        case ir.IfExp(_, left, right):
            return (left, right)
        case ir.Phi(choices):
            return choices
    return ()


def _is_from_parameter(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether an index is computed from the requested index."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Param):
        return e.index > 0
    return depth < 6 and any(_is_from_parameter(part, frame, model, depth + 1) for part in _operands(e))


def _shape(number: int, frame: Frame, model: Model, depth: int) -> str:
    """An index as text, the same for the same computation. Sequences that wrap around at lengths of their own
    (`index % self.size_a`, `index % self.size_b`) are no pairs."""
    e = model.ev.expr(frame, number)
    parts = _operands(e)
    if isinstance(e, ir.Param) or depth > 6:
        return "index"
    if isinstance(e, ir.Const):
        return str(e.value)
    if isinstance(e, ir.Attr):
        return f".{e.name}"
    name = e.op if isinstance(e, ir.Bin) else type(e).__name__
    return f"{name}({', '.join(_shape(part, frame, model, depth + 1) for part in parts)})" if parts else name
