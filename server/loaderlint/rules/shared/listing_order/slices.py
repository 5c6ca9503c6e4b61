"""What a slice leaves of a sequence: all of it, a part by position, or a part only where the sequence is long."""

from __future__ import annotations

import math
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.number_bounds import count_of
from loaderlint.project.evaluation.values import Lib, of
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order.list_changes import called_name
from loaderlint.rules.shared.listing_order.loop_turns import is_call_of
from loaderlint.rules.shared.listing_order.orders import Orders, as_capped, as_cut
from loaderlint.rules.shared.option_tests import is_by_option

_MAX_DEPTH = 24
#: Functions that give the same number as a whole one.
_ROUNDING = frozenset(map(Lib, ("builtins.int", "builtins.round", "math.ceil", "math.floor")))


def orders_of_slice(found: Orders, whole: int, index: int, frame: Frame, model: Model) -> Orders:
    """The orders of a slice of `whole`. A slice is not a split if its bounds come from a loop, if it takes every
    n-th item or all, in a debugging run, or only if a user sets an option: `if limit > 0: names[:limit]`."""
    e = model.ev.expr(frame, index)
    bounds = [*_bounds(e, whole, frame, model)] if isinstance(e, ir.Slice) else []
    if not bounds or any(_is_from_loop(b, whole, frame, 0, model) for b in bounds):
        return found
    if _is_debugging(index, frame, model) or is_by_option(frame, frame.code.context_of(index), model):
        return found
    is_capped = isinstance(e, ir.Slice) and bounds == [e.upper] and _is_cap(e.upper, whole, frame, model)
    return as_capped(found) if is_capped else as_cut(found)


def _is_from_loop(bound: int, whole: int, frame: Frame, depth: int, model: Model) -> bool:
    """Whether a bound of a slice of `whole` has another value in each turn of a loop, apart from the length of what
    the loop goes through: `for name, files in groups.items(): files[: len(files) // 2]`."""
    e = model.ev.expr(frame, bound)
    if isinstance(e, ir.Element | ir.Unpack) or bound in frame.code.heads or depth > 6:
        return True
    if isinstance(e, ir.Phi):
        return any(_is_from_loop(way, whole, frame, depth + 1, model) for way in taken_ways(e, frame, model))
    if isinstance(e, ir.Call) and [arg.value for arg in e.args] == [whole]:
        return not is_call_of(bound, "builtins.len", frame, model)
    return any(_is_from_loop(part, whole, frame, depth + 1, model) for part in _parts(e))


def _bounds(e: ir.Slice, whole: int, frame: Frame, model: Model) -> Iterator[int]:
    """The bounds of a slice of `whole` that leave something out."""
    if e.lower != NONE and (_is_share(e, frame, model) or not _is_start(e.lower, frame, model)):
        yield e.lower
    is_upper = e.upper != NONE and not _is_one_of(e.upper, (None,), frame, model)
    if is_upper and not _is_its_length(e.upper, whole, frame, model) and not _is_common_length(e.upper, frame, model):
        yield e.upper


def _is_share(e: ir.Slice, frame: Frame, model: Model) -> bool:
    """Whether a slice takes every n-th item from one on, and options say which: `names[rank::world]`. Each process
    has its own share, although the defaults may be those of a single process."""
    values = [model.ev.eval(one, frame) for one in (e.lower, e.step) if one != NONE]
    fixed = [literal for value in values if (literal := value.literal) is not None and not literal.configured]
    return e.upper == NONE and len(values) == 2 and not fixed


def _is_start(number: int, frame: Frame, model: Model) -> bool:
    """Whether a lower bound leaves nothing out: 0, None or `int(share * len(names))` with a share of 0."""
    if _is_one_of(number, (None, 0), frame, model):
        return True
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Phi) and number not in frame.code.heads:
        return all(_is_start(way, frame, model) for way in taken_ways(e, frame, model))
    if isinstance(e, ir.Bin):
        return e.op == "*" and any(_is_one_of(side, (0,), frame, model) for side in (e.left, e.right))
    called = model.ev.eval(e.func, frame).atoms if isinstance(e, ir.Call) else frozenset()
    is_rounded = isinstance(e, ir.Call) and len(e.args) == 1 and bool(called) and called <= _ROUNDING
    return isinstance(e, ir.Call) and is_rounded and _is_start(e.args[0].value, frame, model)


def _is_one_of(number: int, constants: tuple[int | None, ...], frame: Frame, model: Model) -> bool:
    literal = model.ev.eval(number, frame).literal
    return literal is not None and literal.value in constants


def _is_its_length(number: int, whole: int, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether an expression is the length of `whole`: `len(whole)`, `int(len(whole) * share)` with a share of 1, or
    `min` of the length and a limit that may be infinite."""
    ev = model.ev
    e = ev.expr(frame, number)
    if ways := taken_ways(e, frame, model):
        return depth < _MAX_DEPTH and all(_is_its_length(one, whole, frame, model, depth + 1) for one in ways)
    if isinstance(e, ir.Bin):
        sides = ((e.left, e.right), (e.right, e.left)) if e.op == "*" else ()
        return any(
            _is_its_length(one, whole, frame, model, depth) and count_of(ev, ev.eval(share, frame)).least >= 1
            for one, share in sides
        )
    called = ev.eval(e.func, frame).atoms if isinstance(e, ir.Call) else frozenset()
    given = [arg.value for arg in e.args] if isinstance(e, ir.Call) else []
    if called == {Lib("builtins.len")}:
        return len(given) == 1 and _is_same(given[0], whole, frame, model)
    if len(given) == 1 and called and called <= _ROUNDING:
        return _is_its_length(given[0], whole, frame, model, depth)
    is_least = called == {Lib("builtins.min")}
    lengths = [_is_its_length(one, whole, frame, model, depth) for one in given] if is_least else []
    return any(lengths) and all(
        is_length or any(count_of(ev, of(atom)).least == math.inf for atom in ev.eval(one, frame).atoms)
        for one, is_length in zip(given, lengths, strict=True)
    )


def _is_cap(number: int, whole: int, frame: Frame, model: Model) -> bool:
    """Whether an upper bound is less than the length of `whole` only if `whole` is longer than some limit:
    `min(limit, len(whole))`."""
    ev = model.ev
    e = ev.expr(frame, number)
    if not isinstance(e, ir.Call) or ev.eval(e.func, frame).atoms != {Lib("builtins.min")}:
        return False
    return any(_is_its_length(arg.value, whole, frame, model) for arg in e.args)


def taken_ways(e: ir.Expr | None, frame: Frame, model: Model) -> list[int]:
    """What a limit may be: `limit or len(names)`, `len(names) if limit is None else limit`, what a branch has
    chosen, or an attribute that the same def stores, each only as far as it is taken without an option."""
    match e:
        case ir.IfExp(test, then, other):
            truth = model.ev.liveness.truth(test, frame)
            return [then, other] if truth is None else [then if truth else other]
        case ir.BoolOp("or", left, right):
            return [right] if _is_one_of(left, (None, 0), frame, model) else [left, right]
        case ir.Phi(choices):
            live = list(model.ev.liveness.live(choices, frame))
            return [one for one in live if not _is_set_by_option(one, frame, model)] or live
        case ir.Attr(base, name) if ir.is_self(model.ev.expr(frame, base)):
            return [step.value for _, step in frame.code.stores_of(name)]
    return []


def _is_set_by_option(value: int, frame: Frame, model: Model) -> bool:
    """Whether a name gets a value only if a user sets an option: `if args.limit: end = args.limit`."""
    contexts = [step.context for _, step in frame.code.bindings.get(value, ())]
    return bool(contexts) and all(is_by_option(frame, context, model) for context in contexts)


def _is_common_length(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is the smaller of several lengths, `min(len(a), len(b))`: what it leaves out has no
    partner, and goes into no other set."""
    ev = model.ev
    e = ev.expr(frame, number)
    if not isinstance(e, ir.Call) or len(e.args) < 2 or ev.eval(e.func, frame).atoms != {Lib("builtins.min")}:
        return False
    given = [ev.expr(frame, arg.value) for arg in e.args]
    return all(isinstance(one, ir.Call) and ev.eval(one.func, frame).atoms == {Lib("builtins.len")} for one in given)


def _is_same(one: int, other: int, frame: Frame, model: Model) -> bool:
    """Whether two expressions are the same local or attribute."""
    e = model.ev.expr(frame, one)
    return one == other or (isinstance(e, ir.Attr) and e == model.ev.expr(frame, other))


def _is_debugging(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is only evaluated under `if self.debug:` or the like."""
    one = model.def_of(frame)
    around = one.around(frame.code.context_of(number))
    tests = [model.ev.expr(frame, here.expr) for here in around if here.kind == "if" and not here.negated]
    names = [one.params[e.index].name if isinstance(e, ir.Param) else called_name(e) for e in tests]
    return any("debug" in name.lower() for name in names)


def _parts(e: ir.Expr | None) -> Iterator[int]:
    match e:
        case ir.Bin(_, left, right):
            yield from (left, right)
        case ir.Call(_, args):
            yield from (arg.value for arg in args)
        case ir.Unary(_, operand):
            yield operand


__all__ = ["orders_of_slice", "taken_ways"]
