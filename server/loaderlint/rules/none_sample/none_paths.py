"""The paths on which a def returns None: as the sample or as a part of it, itself or by what it calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.containers import stored_in
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibMember, Unknown
from loaderlint.project.reach.model import Model
from loaderlint.rules.none_sample.conditions import Clauses, clauses_at, exclude_each_other
from loaderlint.rules.none_sample.exception_handlers import catches_import_error, handlers_that_fail
from loaderlint.rules.none_sample.exit_paths import Ends, dependence
from loaderlint.rules.shared.unknown_settings import may_call_another, may_never_hold, rests_on_unknown
from loaderlint.rules.shared.unresolved_places import Spot

#: Why a sample is None.
Reason = Literal["exception", "sample", "always"]
_MAX_LEVELS = 6
_MAX_HELPERS = 4
#: The tests that are true of None, and those that are false of it, if None stands on their right.
_IS = (("is",), ("==",))
_IS_NOT = (("is not",), ("!=",))


class NonePath(NamedTuple):
    """A path on which None comes out of `frame`. `held`: as a part of the sample. `doubts`: how many of its conditions
    are not known, such as settings. `unproven`: code that is not known decides whether it is ever taken. `statement`: a
    return statement gives it, which a fix may replace."""

    frame: Frame
    spot: Spot
    reason: Reason
    doubts: int
    held: bool = False
    falls: bool = False
    statement: bool = False
    unproven: bool = False


def gives_something(frame: Frame, model: Model) -> bool:
    """Whether the def returns a value on some way: one that never does is a stub."""
    return any(not _is_none(step.value, frame, model) for _, step in model.steps_of(frame, ir.Return))


def _is_none(number: int, frame: Frame, model: Model) -> bool:
    return number == NONE or model.ev.expr(frame, number) == ir.Const("NoneType", None)


class _Caller(NamedTuple):
    """How a helper is reached: over how many calls, what these places say about attributes of the object, whether
    code that is not known decides if they run, and the keys that the caller stores in what it gets (None: any)."""

    depth: int
    clauses: Clauses
    unproven: bool = False
    stores: frozenset[str | None] = frozenset()


def paths_to_none(frame: Frame, model: Model) -> Iterator[NonePath]:
    """The paths on which `frame` returns None, itself or by what it calls to make its result."""
    yield from _paths(frame, _Caller(0, ()), model)


def _paths(frame: Frame, caller: _Caller, model: Model) -> Iterator[NonePath]:
    for number, step in model.steps_of(frame, ir.Return):
        if _is_none(step.value, frame, model):
            passed_on = _passed_on(step.context, frame, model)
            if passed_on:
                yield from _of_calls(passed_on, step.context, frame, caller, model)
            else:
                found = _way(frame, step.context, Spot(frame, number, "step"), model, statement=True)
                yield from _possible(found, step.context, frame, caller, model)
        else:
            found = _inside(step.value, step.context, frame, caller, model, Spot(frame, number, "step"))
            yield from _possible(found, step.context, frame, caller, model)
    for context in Ends(frame, model).find():
        if not model.ev.liveness.is_dead(context, frame) and _is_no_choice(context, frame, model):
            found = _way(frame, context, Spot(frame, 0, "def"), model, falls=True)
            yield from _possible(found, context, frame, caller, model)


def _possible(
    ways: Iterator[NonePath], context: int, frame: Frame, caller: _Caller, model: Model
) -> Iterator[NonePath]:
    """The ways, unless what led to the calls and what leads to `context` exclude each other."""
    for way in ways:
        if exclude_each_other((*caller.clauses, *clauses_at(context, frame, model))):
            continue
        yield _doubted(way) if caller.unproven else way


def _doubted(way: NonePath) -> NonePath:
    """A path that is only taken under a setting that nobody knows."""
    return way._replace(doubts=max(way.doubts, 1), unproven=True)


def _passed_on(context: int, frame: Frame, model: Model) -> list[int]:
    """The calls whose None a branch passes on: `x = step(x)`, and the branch asks whether `x is None`. Empty where None
    may come from elsewhere: from a function of a library, an item of a dict."""
    number = _asked_for_none(context, frame, model)
    if number == NONE:
        return []
    asked = model.ev.expr(frame, number)
    choices = asked.choices if isinstance(asked, ir.Phi) else (number,)
    calls = [one for one in choices if isinstance(model.ev.expr(frame, one), ir.Call)]
    rest = (model.ev.expr(frame, one) for one in choices if one not in calls)
    if not all(isinstance(e, ir.Param) for e in rest) or any(_is_of_library(one, frame, model) for one in calls):
        return []
    return calls


def _asked_for_none(context: int, frame: Frame, model: Model) -> int:
    """What is None in a branch, as its own test says: `if x is None`; else NONE."""
    here = model.def_of(frame).contexts[context] if context > 0 else None
    test = model.ev.expr(frame, here.expr) if here is not None and here.kind == "if" else None
    if here is None or not isinstance(test, ir.Compare) or not _is_none(test.rights[0], frame, model):
        return NONE
    return test.left if test.ops in (_IS_NOT if here.negated else _IS) else NONE


def _asks_unknown_call(context: int, frame: Frame, model: Model) -> bool:
    """Whether a branch asks whether a call gave None, or a None in a tuple, and nothing is known of what it gives. The
    test alone does not show that it ever does."""
    number = _asked_for_none(context, frame, model)
    asked = model.ev.expr(frame, number)
    if isinstance(asked, ir.Unpack):
        asked = model.ev.expr(frame, asked.value)
    return isinstance(asked, ir.Call) and all(isinstance(one, Unknown) for one in model.ev.eval(number, frame).atoms)


def _is_of_library(call: int, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, call)
    return isinstance(e, ir.Call) and any(isinstance(a, Lib | LibMember) for a in model.ev.eval(e.func, frame).atoms)


def _of_calls(calls: Sequence[int], context: int, frame: Frame, caller: _Caller, model: Model) -> Iterator[NonePath]:
    """The paths on which what the calls lead to returns None."""
    if caller.depth >= _MAX_HELPERS:
        return
    here = (*caller.clauses, *clauses_at(context, frame, model))
    unproven = caller.unproven or rests_on_unknown(context, frame, model)
    targets = [(call, target) for call in calls for target in model.ev.targets(call, frame)]
    for call, target in targets:
        if target in model.reached and gives_something(target, model):
            is_same = target.receiver is not None and target.receiver == frame.receiver
            in_doubt = unproven or may_call_another(call, frame, model)
            stores = caller.stores.union(name for name, _ in stored_in(model.ev, call, frame))
            yield from _paths(target, _Caller(caller.depth + 1, here if is_same else (), in_doubt, stores), model)


def _way(
    frame: Frame,
    context: int,
    spot: Spot,
    model: Model,
    *,
    held: bool = False,
    falls: bool = False,
    statement: bool = False,
) -> Iterator[NonePath]:
    around = model.once(_Around).of(context, frame)
    reason: Reason | None = around.reason
    if reason is None and not around.settings and around.only_with and held:
        reason = "always"
    if reason is None and falls and context > 0 and model.def_of(frame).contexts[context].kind == "with":
        reason = "exception"  # `with suppress(...)`
    if reason is not None:
        asks = not falls and (_asks_unknown_call(context, frame, model) or _lacks_key(context, frame, model))
        found = NonePath(frame, spot, reason, int(around.settings or asks), held, falls, statement)
        yield _doubted(found) if asks or rests_on_unknown(context, frame, model) else found


def _lacks_key(context: int, frame: Frame, model: Model) -> bool:
    """Whether a branch is for records that lack a key: `if "mask" not in record: return None`."""
    here = model.def_of(frame).contexts[context]
    return here.kind == "if" and _asks_for_key(here.expr, frame, model)


class _Conditions(NamedTuple):
    """On what it depends that a context is entered: why the sample there is None, if the context says so, whether on
    settings too, and whether there are `with` blocks only."""

    reason: Literal["exception", "sample"] | None
    settings: bool
    only_with: bool


class _Around:
    """The conditions of each context, from those of the one around it: a def may hold thousands in one another."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[Frame, dict[int, _Conditions]] = {}

    def of(self, context: int, frame: Frame) -> _Conditions:
        """The conditions of a context, innermost first."""
        known = self._known.setdefault(frame, {0: _Conditions(None, False, True)})
        contexts = self._model.def_of(frame).contexts
        line = []
        here = max(context, 0)
        while here not in known:
            line.append(here)
            here = max(contexts[here].parent, 0)
        found = known[here]
        for one in reversed(line):
            found = known[one] = self._inside(one, found, frame)
        return found

    def _inside(self, context: int, outer: _Conditions, frame: Frame) -> _Conditions:
        model, one = self._model, self._model.def_of(frame).contexts[context]
        reason, settings = outer.reason, outer.settings
        if (
            one.kind == "except"
            and not catches_import_error(one.expr, frame, model)
            and context not in model.remembered(handlers_that_fail, frame)
        ):
            reason = "exception"
        elif one.kind == "if" and model.ev.liveness.truth(one.expr, frame) is None:
            if dependence(one.expr, frame, model) == 2:
                reason = "sample"
            elif not _asks_for_index(one.expr, frame, model):
                settings = True
        return _Conditions(reason, settings, outer.only_with and one.kind == "with")


def _asks_for_index(number: int, frame: Frame, model: Model) -> bool:
    """Whether a test is about the bare index: neither a setting nor a sample."""
    return dependence(number, frame, model) == 1


def _is_no_choice(context: int, frame: Frame, model: Model) -> bool:
    """Whether a def that falls off its end in `context` forgot something there: not after the last of several cases
    (`if kind == "a": return ... elif kind == "b": return ...`)."""
    tests = [one for one in model.def_of(frame).around(context) if one.kind in ("if", "match")]
    inner = model.def_of(frame).contexts[context]
    if inner.kind == "except":
        return True
    if len(tests) > 1 or inner.kind == "match":
        return inner.kind == "with"
    return not any(_chooses(one.expr, frame, model) for one in tests)


def _chooses(number: int, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, number)
    match e:
        case ir.Compare(_, ops, rights):
            right = model.ev.expr(frame, rights[0])
            return ops[0] in ("==", "in") and not (isinstance(right, ir.Const) and right.value == 0)
        case ir.BoolOp(_, left, right_):
            return _chooses(left, frame, model) or _chooses(right_, frame, model)
    return False


def _inside(number: int, context: int, frame: Frame, caller: _Caller, model: Model, spot: Spot) -> Iterator[NonePath]:
    """The paths on which the returned value is or contains None."""
    e = model.ev.expr(frame, number)
    match e:
        case ir.Seq(kind, items) if kind != "set":
            for item in items:
                yield from _part(item, context, frame, caller, model, spot)
        case ir.Map(keys, items):
            replaced = caller.stores.union(name for name, _ in stored_in(model.ev, number, frame))
            for key, item in zip(keys, items, strict=True):
                if None not in replaced and not _is_among(key, replaced, frame, model):
                    yield from _part(item, context, frame, caller, model, spot)
        case ir.IfExp(test, then, other):
            for side in (then, other):
                if _is_none(side, frame, model):
                    if dependence(test, frame, model) == 2 and model.ev.liveness.truth(test, frame) is None:
                        way = NonePath(frame, spot, "sample", 0)
                        yield _doubted(way) if _asks_for_key(test, frame, model) else way
                    continue
                in_doubt = may_never_hold(test, side == other, frame, model)
                for way in _inside(side, context, frame, caller, model, spot):
                    yield _doubted(way) if in_doubt else way
        case ir.Call() | ir.Index() if not _is_looked_at(number, frame, model):
            yield from _of_calls([number], context, frame, caller, model)
        case ir.Phi(choices) if not _is_looked_at(number, frame, model):
            for choice in choices:
                yield from _bound_in_handler(choice, frame, model)


def _asks_for_key(test: int, frame: Frame, model: Model) -> bool:
    """Whether a test asks if a record has a key, or if what is None without it is None: perhaps each record has it."""
    match model.ev.expr(frame, test):
        case ir.Unary("not", operand):
            return _asks_for_key(operand, frame, model)
        case ir.Compare(left, ("in" | "not in",), _):
            key = model.ev.expr(frame, left)
            return isinstance(key, ir.Const) and key.kind == "str"
        case ir.Compare(left, ("is" | "is not",), (right,)) if _is_none(right, frame, model):
            value = model.ev.expr(frame, left)
            return isinstance(value, ir.IfExp) and _asks_for_key(value.test, frame, model)
        case ir.Call(func, (key, *_)):
            name, asked = model.ev.expr(frame, func), model.ev.expr(frame, key.value)
            is_text = isinstance(asked, ir.Const) and asked.kind == "str"
            return is_text and isinstance(name, ir.Attr) and name.name == "__contains__"
    return False


def _is_among(key: int, names: Set[str | None], frame: Frame, model: Model) -> bool:
    """Whether the key of an item is a constant among these names."""
    e = model.ev.expr(frame, key)
    return isinstance(e, ir.Const) and e.value in names


def _part(item: int, context: int, frame: Frame, caller: _Caller, model: Model, spot: Spot) -> Iterator[NonePath]:
    if item == NONE:
        return
    if _is_none(item, frame, model):
        yield from _way(frame, context, spot, model, held=True, statement=True)
        return
    for way in _inside(item, context, frame, caller._replace(stores=frozenset()), model, spot):
        yield way._replace(held=True)


def _bound_in_handler(choice: int, frame: Frame, model: Model) -> Iterator[NonePath]:
    """`except OSError: image = None`, and `image` is returned."""
    if not _is_none(choice, frame, model) or _is_looked_at(choice, frame, model):
        return
    one = model.def_of(frame)
    for number, step in model.steps(frame):
        if isinstance(step, ir.Bind) and step.value == choice:
            if any(context.kind == "except" for context in one.around(step.context)):
                yield from _way(frame, step.context, Spot(frame, number, "step"), model)


def _is_looked_at(number: int, frame: Frame, model: Model) -> bool:
    """Whether a test of the def asks about a value."""
    return number in model.once(_Tested).by(frame)


class _Tested:
    """What the tests of each frame ask about."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[Frame, set[int]] = {}

    def by(self, frame: Frame) -> set[int]:
        """The tests of a frame and what they are made of, a few levels deep."""
        if frame not in self._known:
            level = {step.expr for _, step in self._model.steps_of(frame, ir.Test)}
            found = set(level)
            for _ in range(_MAX_LEVELS):
                level = {part for number in level for part in _parts(self._model.ev.expr(frame, number))} - found
                found |= level
            self._known[frame] = found
        return self._known[frame]


def _parts(e: ir.Expr | None) -> tuple[int, ...]:
    match e:
        case ir.Compare(left, _, rights):
            return (left, *rights)
        case ir.BoolOp(_, left, right) | ir.Bin(_, left, right):
            return (left, right)
        case ir.Unary(_, operand):
            return (operand,)
        case ir.Attr(base, _) | ir.Index(base, _):
            return (base,)
        case ir.Call(func, args):
            return (func, *(arg.value for arg in args))
        case ir.Phi(choices):
            return choices
        case ir.Seq(_, items):  # `None in (first, second)`
            return items
        case ir.Comp(_, _, _, iterables):  # `any(one is None for one in (first, second))`
            return iterables
    return ()
