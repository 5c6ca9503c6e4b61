"""Edits that change nothing when they are done again: limits that stay the same, numbers that are replaced by others,
and scaling by the data's own mean, range or length. Each read of the sample then gives the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Instance, Lib, Method
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.stream_sources import draws
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.stored_data_mutation.edited_roots import edits_of_root, root_of
from loaderlint.rules.stored_data_mutation.factor_signs import Sign, sign_of
from loaderlint.rules.stored_data_mutation.kept_roots import is_kept
from loaderlint.rules.stored_data_mutation.replaced_numbers import (
    applied,
    is_evaluated_before,
    is_read_before,
    number_of,
    replaces_numbers,
)

#: Why an edit is no mistake.
SETTLED = "done again, it changes nothing: each read of the sample gives the same"

#: Part of an expression's meaning: whether the expression of this number is the data that is edited.
_IsData = Callable[[int], bool]
#: Whether an edit changes nothing the second time; 'if positive': if a factor is greater than 0.
Settles = Literal["yes", "if positive", "no"]

#: Operators that, with the same operand, change nothing the second time.
_SETTLING = ("%", "|", "&")
#: What may be another number each time.
_VARYING = (ir.Call, ir.Phi, ir.Element, ir.Augmented)
#: Statistics that move along when a number is added to all data.
_LOCATIONS = frozenset("mean min max median amin amax nanmean nanmin nanmax nanmedian".split())
#: Statistics that stay as they are when a number is added to all data.
_SPREADS = frozenset("std ptp nanstd".split())
#: Statistics and functions of numbers that double with the data.
_LINEAR = _LOCATIONS | _SPREADS | frozenset("sum norm nansum abs absolute fabs".split())
#: What changes only the shape or the type.
_KEEPS = frozenset("expand_dims unsqueeze reshape view squeeze item float astype".split())
#: The greatest number that only keeps a divisor from being 0.
_EPSILON = 1e-3
_MAX_DEPTH = 12


def settles_operand(op: str, added: object) -> bool:
    """Whether `x op= added` changes nothing the second time, if `added` is known."""
    return op in _SETTLING and added is not None


def settles(spot: Spot, model: Model) -> Settles:
    """Whether the edit at a step changes nothing the second time."""
    frame = spot.frame
    step = frame.code.one.steps[spot.number] if frame.code.one is not None and spot.kind == "step" else None
    if isinstance(step, ir.SetItem):
        return "yes" if _settles_items(spot.number, step, frame, model) else "no"
    if isinstance(step, ir.Augment) and step.stored == "name":
        return model.remembered(_is_root_scaled_anew, root_of(step.target, frame, model), frame)
    return "no"


def _settles_items(number: int, step: ir.SetItem, frame: Frame, model: Model) -> bool:
    if _only_clips(step, frame, model) or _stores_back(step, frame, model):
        return True
    if not (replaces_numbers(step, frame, model) or _scales_part(number, step, frame, model)):
        return False
    return not is_by_chance(step.context, frame, model)


def _is_root_scaled_anew(root: int, frame: Frame, model: Model) -> Settles:
    """Whether the edits of an object give it the same mean and range whatever it had before: `x -= x.min()`, then
    `x /= x.max()`. A factor that is another one each time (`x *= y.std()`) gives it another range, and after the next
    edits the same again. So nothing may keep the object itself."""
    edits = edits_of_root(root, frame, model).augments
    first, context = edits[0][0], edits[0][1].context
    if any(one.context != context for _, one in edits) or not _once_for_each(root, context, frame, model):
        return "no"
    kinds, signs = list[str](), set[Sign]()
    for _, one in edits:
        kind = _kind(one, lambda number: root_of(number, frame, model) == root, frame, model)
        sign = sign_of(one.value, frame, model) if not kind and one.op in ("*", "/") else ""
        kinds.append("factor" if sign else kind)
        signs.update([sign] if sign else [])
    operands = {one.value for _, one in edits}
    if not _is_scaling(kinds) or is_read_before(first, root, operands, frame, model):
        return "no"
    if is_by_chance(context, frame, model) or (signs and is_kept(root, frame, model)):
        return "no"
    return "if positive" if "mostly" in signs else "yes"


# --- limits -----------------------------------------------------------------------------------------------------------


def _only_clips(step: ir.SetItem, frame: Frame, model: Model) -> bool:
    """Whether items are limited to the same range each time (`boxes[:, 0] = boxes[:, 0].clip(0, self.width)`)."""
    call = model.ev.expr(frame, step.value)
    if not isinstance(call, ir.Call):
        return False
    func, limits = model.ev.expr(frame, call.func), [arg.value for arg in call.args]
    if Lib("numpy.clip") in model.ev.eval(call.func, frame).atoms and limits:
        clipped, *limits = limits
    elif isinstance(func, ir.Attr) and func.name in ("clip", "clamp"):
        clipped = func.base
    else:
        return False
    exprs = frame.code.exprs
    return _is_part(clipped, step, exprs) and not any(
        isinstance(exprs[part], _VARYING) for part in ir.made_of(exprs, limits)
    )


def _stores_back(step: ir.SetItem, frame: Frame, model: Model) -> bool:
    """Whether a loop stores an item where it is: `for number, row in enumerate(rows): rows[number] = row`."""
    return _is_own_item(root_of(step.value, frame, model), step, frame, model)


def _is_own_item(number: int, step: ir.SetItem, frame: Frame, model: Model) -> bool:
    """Whether an expression is the item that a step assigns to, as a loop over `enumerate(rows)` gives it."""
    item, turn = _turn(number, frame), _turn(step.index, frame, 0)
    counted = frame.code.exprs[item.iterable] if item is not None and item == turn else None
    if not isinstance(counted, ir.Call) or len(counted.args) != 1:
        return False
    is_counted = Lib("builtins.enumerate") in model.ev.eval(counted.func, frame).atoms
    return is_counted and reads_same(counted.args[0].value, step.base, frame.code.exprs)


def _is_part(number: int, step: ir.SetItem, exprs: Sequence[ir.Expr]) -> bool:
    """Whether an expression is the part that a step assigns to."""
    item = exprs[number]
    return isinstance(item, ir.Index) and item.base == step.base and reads_same(item.index, step.index, exprs)


# --- scaling ----------------------------------------------------------------------------------------------------------


def _is_scaling(kinds: Sequence[str]) -> bool:
    """Whether edits in this order, done again, give the same."""
    if kinds.count("location") > 1 or kinds.count("scale") > 1 or "" in kinds:
        return False
    if "location" in kinds and "scale" in kinds:
        between = kinds[kinds.index("location") : kinds.index("scale")]
        return bool(between) and "shift" not in between
    if "scale" in kinds:
        return "shift" not in kinds
    return "location" in kinds and "factor" not in kinds


def _kind(
    step: ir.Augment, is_data: _IsData, frame: Frame, model: Model
) -> Literal["location", "scale", "shift", "factor", ""]:
    """What `x op= value` does: takes away the mean or the like, divides by the length or the like, or by a number."""
    number = number_of(step.value, frame, model)
    if number is not None and step.op in "+-":
        return "shift"
    if number is not None and step.op in "*/" and number > 0:
        return "factor"
    if step.op == "-" and _is_location(step.value, is_data, frame, model):
        return "location"
    return "scale" if step.op == "/" and _degree(step.value, is_data, frame, model) == 1 else ""


def _scales_part(number: int, step: ir.SetItem, frame: Frame, model: Model) -> bool:
    """Whether a part is scaled by its own mean or length, here or in a function: `x[:, :3] = scaled(x[:, :3])`."""
    exprs = frame.code.exprs

    def is_part(number: int) -> bool:
        return _is_part(number, step, exprs) or _is_own_item(number, step, frame, model)

    scaled = root_of(step.value, frame, model)
    operands = set(ir.made_of(exprs, [step.value]))
    parts = (one for one in model.ev.evaluated(frame) if one not in operands and _is_part(one, step, exprs))
    if any(is_evaluated_before(number, one, frame) for one in parts):
        return False
    if _is_scaled(scaled, is_part, frame, model):
        return _is_scaling([*_halves(scaled, frame), *_later_kinds(scaled, frame, model)])
    call = exprs[step.value]
    if not isinstance(call, ir.Call) or len(call.args) != 1 or not _is_part(call.args[0].value, step, exprs):
        return False
    callees = model.ev.eval(call.func, frame).atoms
    targets = model.ev.targets(step.value, frame) if all(isinstance(a, FunctionRef | Method) for a in callees) else ()
    return bool(targets) and all(_gives_scaled(target, model) for target in targets)


def _halves(number: int, frame: Frame) -> list[str]:
    """What the quotient or the difference that scales data does to it, in the words of `_kind`."""
    exprs = frame.code.exprs
    match exprs[number]:
        case ir.Bin("/", left, _):
            return ["location", "scale"] if isinstance(exprs[left], ir.Bin) else ["scale"]
    return ["location"]


def _later_kinds(root: int, frame: Frame, model: Model) -> list[str]:
    """What later edits of scaled data do to it. Scaled once more it is as after the first time."""
    augments = edits_of_root(root, frame, model).augments
    kinds: list[str] = [_kind(one, lambda n: root_of(n, frame, model) == root, frame, model) for _, one in augments]
    return [one for one in kinds if one not in ("location", "scale")] if _is_scaling(kinds) else kinds


def _gives_scaled(frame: Frame, model: Model) -> bool:
    """Whether a function returns its argument, scaled by its own mean or length."""
    given = [step.value for _, step in model.steps_of(frame, ir.Return)]
    own = 1 if frame.receiver is not None else 0

    def is_argument(number: int) -> bool:
        e = frame.code.exprs[number]
        return type(e) is ir.Param and e.index == own

    return bool(given) and all(one != ir.NONE and _is_scaled(one, is_argument, frame, model) for one in given)


def _is_scaled(number: int, is_data: _IsData, frame: Frame, model: Model) -> bool:
    """Whether an expression is `(x - x.mean()) / x.std()` or the like, or one half of it."""
    match frame.code.exprs[number]:
        case ir.Bin("-", left, right):
            return is_data(left) and _is_location(right, is_data, frame, model)
        case ir.Bin("/", left, right):
            if not (is_data(left) or _is_scaled(left, is_data, frame, model)):
                return False
            divided: _IsData = is_data if is_data(left) else lambda one: one == left
            return _degree(right, divided, frame, model) == 1 or _is_spread(right, is_data, frame, model)
    return False


def _is_location(number: int, is_data: _IsData, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether an expression is the mean of the data, its least item, or the like."""
    e = frame.code.exprs[number]
    if isinstance(e, ir.Index) and number_of(e.index, frame, model) is not None and depth < _MAX_DEPTH:
        return _is_location(e.base, is_data, frame, model, depth + 1)  # `x.min(0)[0]`
    word, data = applied(number, frame, model)
    if word in _KEEPS and depth < _MAX_DEPTH:
        return _is_location(data, is_data, frame, model, depth + 1)
    return word in _LOCATIONS and is_data(data)


def _is_spread(number: int, is_data: _IsData, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether an expression is the range of the data, or its deviation: the same before and after the mean is taken
    away."""
    e = frame.code.exprs[number]
    if isinstance(e, ir.Bin) and e.op in ("+", "-"):
        added = number_of(e.right, frame, model)
        if added is not None:
            return abs(added) <= _EPSILON and _is_spread(e.left, is_data, frame, model, depth)
        return e.op == "-" and all(_is_location(one, is_data, frame, model) for one in (e.left, e.right))
    word, data = applied(number, frame, model)
    if word in _KEEPS and depth < _MAX_DEPTH:
        return _is_spread(data, is_data, frame, model, depth + 1)
    return word in _SPREADS and is_data(data)


def _degree(number: int, is_data: _IsData, frame: Frame, model: Model, depth: int = 0) -> float | None:
    """The power of a factor of all data by which an expression grows: 1 for `x.max() - x.min()`, 2 for `x ** 2`; None
    if it grows otherwise."""
    if is_data(number):
        return 1
    if depth > _MAX_DEPTH:
        return None

    def of(one: int) -> float | None:
        return _degree(one, is_data, frame, model, depth + 1)

    match frame.code.exprs[number]:
        case ir.Bin("+" | "-", left, right):
            added = number_of(right, frame, model)
            return of(left) if of(left) == of(right) or (added is not None and abs(added) <= _EPSILON) else None
        case ir.Bin("*" | "/", left, right) if number_of(right, frame, model) is not None:
            return of(left)
        case ir.Bin("**", left, right):
            power, base = number_of(right, frame, model), of(left)
            return None if power is None or base is None else base * power
        case ir.Index(base, index) if number_of(index, frame, model) is not None:
            return of(base)  # `x.max(0)[0]`
        case ir.Call():
            word, data = applied(number, frame, model)
            grown = of(data) if data != ir.NONE else None
            by = {"sqrt": 0.5, "square": 2.0}.get(word, 1.0 if word in _LINEAR | _KEEPS else None)
            return None if grown is None or by is None else grown * by
    return None


# --- chance -----------------------------------------------------------------------------------------------------------


def is_by_chance(context: int, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether a drawn number may decide if workers run a branch of a frame: what is done in one epoch then stays in the
    next, which should have left it out. A pipeline of a library may draw which steps it runs."""
    if depth > _MAX_DEPTH or _asks_for_draw([context], [], frame, model):
        return True
    reached = model.reached.get(frame)
    parents = set(reached.parents.values()) if reached is not None else {None}
    return any(parent is not None and _is_called_by_chance(frame, parent, model, depth) for parent in parents)


def _is_called_by_chance(frame: Frame, parent: Frame, model: Model, depth: int) -> bool:
    ways = [number for number, targets in parent.targets.items() if frame in targets]
    if not ways:
        return True
    for number in ways:
        call = parent.code.exprs[number]
        func = [call.func] if isinstance(call, ir.Call) else []
        callees = {atom for one in func for atom in model.ev.eval(one, parent).atoms}
        if not all(isinstance(atom, FunctionRef | Method | Instance) for atom in callees):
            return True
        contexts = parent.code.contexts_of(number)
        if _asks_for_draw(contexts, func, parent, model):
            return True
        if any(is_by_chance(one, parent, model, depth + 1) for one in contexts or (0,)):
            return True
    return False


def _asks_for_draw(contexts: Iterable[int], also: Iterable[int], frame: Frame, model: Model) -> bool:
    """Whether a test around some contexts, or one of the other expressions, is made of a drawn number."""
    parts = set(ir.made_of(frame.code.exprs, [*_tests(contexts, frame, model), *also]))
    return any(made.number in parts and draws(made) for made in model.frame_calls(frame))


def _tests(contexts: Iterable[int], frame: Frame, model: Model) -> Iterator[int]:
    one = model.def_of(frame)
    for context in contexts:
        yield from (here.expr for here in one.around(context) if here.kind in ("if", "while", "match", "loop"))


def _once_for_each(root: int, context: int, frame: Frame, model: Model) -> bool:
    """Whether a branch edits an object once: outside of loops, or in one that goes through objects of which it is
    one."""
    loops = [here for here in model.def_of(frame).around(context) if here.kind in ("loop", "while")]
    turn = _turn(root, frame)
    return not loops or (len(loops) == 1 and turn is not None and loops[0].expr == turn.iterable)


def _turn(number: int, frame: Frame, index: int = 1) -> ir.Element | None:
    """The turn of a loop that an expression is an item of: itself, or part `index` of a pair."""
    e = frame.code.exprs[number]
    turn = frame.code.exprs[e.value] if isinstance(e, ir.Unpack) and e.index == index else e
    return turn if type(turn) is ir.Element else None
