"""The bounds of a number that is not a constant: `min(args.workers, os.cpu_count())`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.knowledge.counts import ALWAYS_ONE, ENVIRONMENT
from loaderlint.project.evaluation.values import Atom, Lib, LibObject, Literal_, SeqOf, Site, Val

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: How deeply nested operations and calls are computed. A number that grows in a loop is computed from itself.
_MAX_DEPTH = 8


class Count(Struct, frozen=True):
    """A number between `least` and `most`. `configured` as in `Literal_`."""

    least: float = -math.inf
    most: float = math.inf
    configured: str = ""


#: Nothing is known about the number.
ANY = Count()
NO_WORKERS = Count(0, 0)


def count_of(ev: Evaluator, value: Val, depth: int = 0) -> Count:
    """What a value is as a number of workers."""
    return _joined(_count(ev, atom, depth) for atom in ev.file_values.resolved(value).ordered())


def _count(ev: Evaluator, atom: Atom, depth: int) -> Count:
    match atom:
        case Literal_():
            return _constant(atom)
        case Lib("math.inf" | "numpy.inf"):
            return Count(math.inf, math.inf)
        case LibObject(name, _) if name in ALWAYS_ONE:
            return Count(least=1)
        case LibObject(name, site) if depth < _MAX_DEPTH:
            return _computed(ev, name, site, depth + 1)
    return ANY


def _constant(literal: Literal_) -> Count:
    """None stands for no workers, unless it is only the default of an option. A string from an option or the
    environment is read as a number."""
    value = literal.value
    if value is None:
        return ANY if literal.configured else NO_WORKERS
    try:
        number = float(value)
    except ValueError:
        return ANY
    return ANY if math.isnan(number) else Count(number, number, literal.configured)


def _computed(ev: Evaluator, name: str, site: Site, depth: int) -> Count:
    """The result of an operation or a call for its operands."""
    e = ev.expr(site.frame, site.expr)
    if isinstance(e, ir.Bin | ir.Augmented):
        sides = (e.left, e.right) if isinstance(e, ir.Bin) else (e.target, e.value)
        left, right = (count_of(ev, ev.eval(side, site.frame), depth) for side in sides)
        return _OPERATIONS.get(e.op, _unknown)(left, right)
    if not isinstance(e, ir.Call):
        return ANY
    arguments = ev.calls.arguments(e, site.frame)
    values = arguments.positional
    if name in ENVIRONMENT:
        default = arguments.get("default", 1)
        found = count_of(ev, default, depth) if default is not None else ANY
        return Count(found.least, found.most, found.configured or "environment default")
    if name == "builtins.len":
        return Count(least=1 if values and _is_never_empty(values[0]) else 0)
    if name in ("builtins.max", "builtins.min") and not arguments.keywords and not arguments.more_positional:
        choose = max if name == "builtins.max" else min
        return _extreme(choose, [count_of(ev, one, depth) for one in _compared(values)])
    if name in ("builtins.int", "math.floor", "math.ceil", "builtins.round") and len(values) == 1:
        rounded = math.ceil if name == "math.ceil" else math.floor
        return _rounded(count_of(ev, values[0], depth), rounded)
    return ANY


def _compared(values: tuple[Val, ...]) -> tuple[Val, ...]:
    """The values that `max` or `min` chooses from: its arguments, or the items of the only one."""
    if len(values) != 1:
        return values
    lists = [atom for atom in values[0].atoms if isinstance(atom, SeqOf)]
    return lists[0].items if len(lists) == len(values[0].atoms) == 1 else ()


def _is_never_empty(value: Val) -> bool:
    """Whether a value is the set of the processors that the program may use."""
    return all(isinstance(atom, LibObject) and atom.name == "os.sched_getaffinity" for atom in value.atoms)


# --- numbers ----------------------------------------------------------------------------------------------------------


def _joined(counts: Iterable[Count]) -> Count:
    """One of several numbers."""
    several = list(counts)
    if not several:
        return ANY
    least, most = min(one.least for one in several), max(one.most for one in several)
    return Count(least, most, _source(several))


def _source(counts: Iterable[Count]) -> str:
    return next((one.configured for one in counts if one.configured), "")


def _extreme(choose: Callable[[Iterable[float]], float], counts: list[Count]) -> Count:
    if not counts:
        return ANY
    return Count(choose(one.least for one in counts), choose(one.most for one in counts), _source(counts))


def _rounded(number: Count, rounded: Callable[[float], int]) -> Count:
    least, most = (end if math.isinf(end) else rounded(end) for end in (number.least, number.most))
    return Count(least, most, number.configured)


def _unknown(left: Count, right: Count) -> Count:
    return ANY


def _sum(left: Count, right: Count) -> Count:
    return Count(left.least + right.least, left.most + right.most, _source((left, right)))


def _difference(left: Count, right: Count) -> Count:
    return Count(left.least - right.most, left.most - right.least, _source((left, right)))


def _product(left: Count, right: Count) -> Count:
    if left == NO_WORKERS or right == NO_WORKERS:
        return NO_WORKERS
    if left.least < 0 or right.least < 0:
        return ANY
    return Count(_times(left.least, right.least), _times(left.most, right.most), _source((left, right)))


def _times(one: float, other: float) -> float:
    return 0 if 0 in (one, other) else one * other


def _quotient(left: Count, right: Count) -> Count:
    if left.least < 0 or right.least <= 0:
        return ANY
    least = 0 if math.isinf(right.most) else left.least / right.most
    return Count(least, left.most / right.least, _source((left, right)))


def _whole_quotient(left: Count, right: Count) -> Count:
    return _rounded(_quotient(left, right), math.floor)


_OPERATIONS: dict[str, Callable[[Count, Count], Count]] = {
    "+": _sum,
    "-": _difference,
    "*": _product,
    "/": _quotient,
    "//": _whole_quotient,
}
