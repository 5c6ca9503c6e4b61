"""The loops around a statement: what they go through, and what counts their turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, Literal_
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.looked_up_names import looked_up

_NOTHING = Literal_("NoneType", None)


def loops_since(begun: Iterable[int], context: int, frame: Frame, model: Model) -> list[int]:
    """What the loops around a context go through, without those in which the list itself is made, by one of the
    expressions `begun`."""
    around = model.def_of(frame).around
    makers = {here.expr for one in begun for here in around(frame.code.context_of(one)) if here.kind == "loop"}
    return [here.expr for here in around(context) if here.kind == "loop" and here.expr not in makers]


def chosen_by_counter(context: int, loops: Sequence[int], frame: Frame, model: Model) -> set[int]:
    """The loops whose counter a test reads to select items: `if number % 5 == 0`. What stands at that place in another
    list, `if labels[number] in classes`, belongs to the item and not to its position."""
    exprs = model.facts(frame).ir.exprs
    around = (here for here in model.def_of(frame).around(context) if here.kind == "if")
    tests = [here.expr for here in around if not (here.negated and _asks_for_limit(here.expr, frame, model))]
    parts = {part: exprs[part] for part in ir.made_of(exprs, tests)}
    taken = {e.index for e in parts.values() if isinstance(e, ir.Index)}
    others = {one for e in parts.values() if not isinstance(e, ir.Index) for one in ir.operands(e)}
    asked = {counted_loop(e, frame, model) for part, e in parts.items() if part not in taken - others}
    return asked & set(loops)


def _asks_for_limit(test: int, frame: Frame, model: Model) -> bool:
    """Whether a test compares with what may be None, and is then never equal: `if number == limit: break`, where
    the limit is None by default."""
    match model.ev.expr(frame, test):
        case ir.Compare(_, ("==",), (right,)):
            limit = model.ev.expr(frame, right)
            by_default = isinstance(limit, ir.Param) and frame.code.may_lack(limit.index)
            return by_default or _NOTHING in model.ev.eval(right, frame).atoms
    return False


def counted_loop(e: ir.Expr, frame: Frame, model: Model) -> int:
    """The iterable of a loop if a value is the counter of that loop; else NONE."""
    item = model.ev.expr(frame, e.value) if isinstance(e, ir.Unpack) and e.index == 0 else e
    name = "builtins.enumerate" if isinstance(e, ir.Unpack) else "builtins.range"
    is_turn = isinstance(item, ir.Element) and is_call_of(item.iterable, name, frame, model)
    return item.iterable if is_turn and isinstance(item, ir.Element) else NONE


def is_call_of(number: int, name: str, frame: Frame, model: Model) -> bool:
    """Whether an expression calls the library function `name`, such as 'builtins.range'."""
    call = model.ev.expr(frame, number)
    return isinstance(call, ir.Call) and Lib(name) in model.ev.eval(call.func, frame).atoms


def iterated_in(numbers: Sequence[int], frame: Frame, model: Model) -> set[int]:
    """What the loops go through whose items some expressions are made of."""
    exprs = model.facts(frame).ir.exprs
    return {e.iterable for part in ir.made_of(exprs, numbers) if isinstance(e := exprs[part], ir.Element)}


def ordering_loops(context: int, frame: Frame, model: Model) -> list[int]:
    """What the loops around a context go through, but for those that only look for one name."""
    found_by_name = looked_up(context, frame, model)
    around = model.def_of(frame).around(context)
    return [here.expr for here in around if here.kind == "loop" and here.expr not in found_by_name]


__all__ = ["chosen_by_counter", "counted_loop", "is_call_of", "iterated_in", "loops_since", "ordering_loops"]
