"""What a dataset keeps sequences in of which a sample takes the item at its own position."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import ListingOrder, Orders

#: A position that a helper is given: whatever its caller computed.
ANY_POSITION = "any"


def taken_by_position(entry: Frame, inst: Instance, order: ListingOrder, model: Model) -> dict[tuple[str, str], Orders]:
    """The attributes of the dataset from which a sample takes the item at some index, by name and index, with the
    orders of their items."""
    found: dict[tuple[str, str], Orders] = {}
    for frame in model.run_by([entry]):
        if frame.receiver != inst:
            continue
        exprs = frame.code.exprs
        for number in sorted(n for n in frame.memo if type(exprs[n]) is ir.Index):
            e = exprs[number]
            base = model.ev.expr(frame, e.base) if isinstance(e, ir.Index) else None
            if not isinstance(e, ir.Index) or base is None or not _is_from_parameter(e.index, frame, model, 0):
                continue
            name = _kept_as(base, frame, model)
            if not name:
                continue
            orders = order.of(e.base, frame)
            if orders:
                helped = frame is not entry and isinstance(model.ev.expr(frame, e.index), ir.Param)
                found[name, ANY_POSITION if helped else _shape(e.index, frame, model, 0)] = orders
    return found


def _kept_as(e: ir.Expr, frame: Frame, model: Model) -> str:
    """How a dataset has a sequence, as written after `self.`: `images`, `files["train"]`, `files[...]`; else ''."""
    if isinstance(e, ir.Attr):
        return e.name if ir.is_self(model.ev.expr(frame, e.base)) else ""
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
