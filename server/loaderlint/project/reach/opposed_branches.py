"""Branches that exclude each other: a loader that is created under `if phase == "test":` does not run the body of `if
opt["phase"] == "train":`.

Names are compared as they are written: the loop variable `phase`, `self.phase` and `opt["phase"]` are assumed to be the
same choice. That is likely, not certain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import DefKey, Instance, Site, def_key, order_of_atom

#: The number of calls that are followed back from a line, or from a loader, to find the branches around it.
_MAX_CALLS = 6
#: The number of attributes and parameters that are followed back to the comparison that they hold.
_MAX_FLAGS = 3


class Choice(NamedTuple):
    """What is known of a name where it is compared with texts: it is one of `values`, or none of them."""

    name: str
    values: frozenset[str]
    holds: bool


class OpposedBranches:
    """Finds the loaders that do not run a line because of such a choice. `callers_in(frame, index)` gives the callers
    of a frame in the workers of the loader with that index, each with the calling expression; none for a frame that the
    loader itself calls. `callers`: those in the main process. `named`: what an expression that is compared is called,
    by default its last name; '' if it is not compared with others."""

    def __init__(
        self,
        ev: Evaluator,
        callers: Callers,
        callers_in: Callable[[Frame, int], Sequence[tuple[Frame, int]]],
        named: Callable[[Evaluator, Frame, int], str] | None = None,
    ) -> None:
        self._ev = ev
        self._named = named
        self._callers = callers
        self._callers_in = callers_in
        self._made_under: dict[Site, frozenset[Choice]] = {}
        self._called_under: dict[DefKey, frozenset[Choice]] = {}

    def rule_out(self, site: Site | None, index: int, frame: Frame, context: int) -> bool:
        """Whether the loader that is created at `site` never runs a branch of a frame, on any path."""
        if site is None:
            return False
        made = self.choices_at(site)
        return bool(made) and self._excluded(made, index, frame, context, _MAX_CALLS)

    def are_apart(self, one: Site, other: Site) -> bool:
        """Whether the code at one of two places runs only if that at the other does not. A loop may come by both."""
        if _in_loop(one) or _in_loop(other):
            return False
        return any(_are_opposed(mine, yours) for mine in self.choices_at(one) for yours in self.choices_at(other))

    def choices_at(self, site: Site) -> frozenset[Choice]:
        """The choices under which a loader is created: in its def, and in all callers of that. Callers that choose
        otherwise than the def compare another thing by the same name."""
        if site not in self._made_under:
            self._made_under[site] = self._find_choices(site)
        return self._made_under[site]

    def _find_choices(self, site: Site) -> frozenset[Choice]:
        frame = site.frame
        own = frozenset(self._choices(frame, frame.code.context_of(site.expr)))
        own |= _unopposed(self._choices_of_object(frame), own)
        return frozenset(_merged(own | _unopposed(self._around_calls(frame, _MAX_CALLS), own)))

    def _excluded(self, made: frozenset[Choice], index: int, frame: Frame, context: int, calls: int) -> bool:
        here = _merged((*self._choices(frame, context), *self._choices_of_object(frame)))
        if any(_are_opposed(one, other) for one in here for other in made):
            return True
        callers = self._callers_in(frame, index) if calls else ()
        return bool(callers) and all(
            self._excluded(made, index, caller, caller.code.context_of(number), calls - 1) for caller, number in callers
        )

    def _choices_of_object(self, frame: Frame) -> Iterator[Choice]:
        """The choices under which the object is created on which a method runs."""
        made = frame.receiver.site if isinstance(frame.receiver, Instance) else None
        if made is None:
            return
        code = made.frame.code
        yield from self._choices(made.frame, code.context_of(made.expr))
        for e in code.exprs:
            if type(e) is ir.IfExp:
                is_then, is_other = (made.expr in ir.made_of(code.exprs, [way]) for way in (e.then, e.other))
                if is_then is not is_other:
                    yield from self._said(made.frame, e.test, is_then, _MAX_FLAGS)

    def _around_calls(self, frame: Frame, calls: int) -> frozenset[Choice]:
        """The choices under which all known calls of a frame's def stand."""
        one = frame.code.one
        if one is None or frame.def_ == 0 or not calls:
            return frozenset()
        key = def_key(frame)
        if key not in self._called_under:
            with provisional(self._called_under, key, frozenset()):
                self._called_under[key] = self._find_around_calls(one.name, key, calls)
        return self._called_under[key]

    def _find_around_calls(self, name: str, key: DefKey, calls: int) -> frozenset[Choice]:
        found: frozenset[Choice] | None = None
        for site in self._callers.sites_running(name, key):
            caller = self._callers.opened(site.path, site.piece, site.def_)
            if caller is None:
                return frozenset()
            here = frozenset(self._choices(caller, site.context))
            here |= _unopposed(self._around_calls(caller, calls - 1), here)
            found = here if found is None else found & here
            if not found:
                return frozenset()
        return found or frozenset()

    def _choices(self, frame: Frame, context: int) -> Iterator[Choice]:
        """The comparisons with constant texts in the tests of the branches around a step, as far as constants do not
        decide them."""
        for around in frame.code.one.around(context) if frame.code.one is not None else ():
            if around.kind != "if" or around.expr == ir.NONE:
                continue
            choices = tuple(self._said(frame, around.expr, not around.negated, _MAX_FLAGS))
            if choices and self._ev.liveness.truth(around.expr, frame) is None:
                yield from choices

    def _said(self, frame: Frame, number: int, is_true: bool, flags: int) -> Iterator[Choice]:
        """What a test says of names if it is true, or if it is not. An attribute or a parameter in it may hold the
        comparison: `self.is_train`, where the object is created with `is_train=(args.mode == "train")`."""
        match frame.code.exprs[number]:
            case ir.Compare(left, ("==" | "!=" | "in" | "not in" as op,), (right,)):
                values = _texts(frame.code, right, is_many=op.endswith("in"))
                name = self._named(self._ev, frame, left) if self._named else last_name(frame.code, left)
                if name and values:
                    yield Choice(name, values, (op in ("==", "in")) is is_true)
            case ir.Unary("not", operand):
                yield from self._said(frame, operand, not is_true, flags)
            case ir.BoolOp(op, left, right):
                sides = [tuple(self._said(frame, side, is_true, flags)) for side in (left, right)]
                yield from (*sides[0], *sides[1]) if (op == "and") is is_true else _either(*sides)
            case ir.Attr(base, name) if flags and ir.is_self(frame.code.exprs[base]):
                stores = self._ev.classes.stores(frame.receiver, name) if isinstance(frame.receiver, Instance) else ()
                if len(stores) == 1 and stores[0].construction:
                    step = stores[0].frame.code.one.steps[stores[0].step]  # type: ignore[union-attr]
                    yield from self._said(stores[0].frame, step.value, is_true, flags - 1)  # type: ignore[union-attr]
            case ir.Param(index) if flags:
                passed = self._ev.calls.passed_to(frame, index)
                if passed is not None:
                    yield from self._said(passed.frame, passed.expr, is_true, flags - 1)


def _unopposed(others: Iterable[Choice], own: frozenset[Choice]) -> frozenset[Choice]:
    """The choices that none of `own` excludes."""
    return frozenset(other for other in others if not any(_are_opposed(one, other) for one in own))


def _merged(choices: Iterable[Choice]) -> list[Choice]:
    """The choices, with one that has all the texts that a name is none of."""
    merged: list[Choice] = []
    excluded: dict[str, frozenset[str]] = {}
    for one in choices:
        if one.holds:
            merged.append(one)
        else:
            excluded[one.name] = excluded.get(one.name, frozenset()) | one.values
    return [*merged, *(Choice(name, values, holds=False) for name, values in excluded.items())]


def last_name(code: Code, number: int) -> str:
    """The last name of an expression that is tested: a variable, a parameter, an attribute or a key."""
    match code.exprs[number]:
        case ir.Attr(_, name) | ir.Global(name) | ir.Capture(_, name):
            return name
        case ir.Index(_, index):
            key = code.exprs[index] if index != ir.NONE else None
            return key.value if isinstance(key, ir.Const) and isinstance(key.value, str) else ""
        case ir.Param(index) if code.one is not None and index < len(code.one.params):
            return code.one.params[index].name
    return _only(bind.name for _, bind in code.bindings.get(number, ()))


def setting_name(ev: Evaluator, frame: Frame, number: int) -> str:
    """A name for what stays the same while a program runs, as far as one can tell, with what it is read from:
    `configs.dataset` for `configs["dataset"]` and `self.configs["dataset"]`. A local of a function and an attribute
    that only the constructor sets have one of their own; '' for anything else."""
    code = frame.code
    match code.exprs[number]:
        case ir.Attr(base, name) if ir.is_self(code.exprs[base]) and frame.receiver is not None:
            stores = ev.classes.stores(frame.receiver, name) if isinstance(frame.receiver, Instance) else ()
            is_set_once = bool(stores) and all(store.construction for store in stores)
            return f"{order_of_atom(frame.receiver)}.{name}" if is_set_once else ""
        case ir.Attr(base, _) | ir.Index(base, _):
            owner, name = last_name(code, base), last_name(code, number)
            return f"{owner}.{name}" if owner and name else ""
        case ir.Global(name):
            return f"{frame.order} {name}"
    return f"{frame.order} {number}" if frame.receiver is None else ""


def _in_loop(site: Site) -> bool:
    code = site.frame.code
    return code.one is not None and code.one.is_in_loop(code.context_of(site.expr))


def _only(names: Iterable[str]) -> str:
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def _texts(code: Code, number: int, is_many: bool) -> frozenset[str]:
    """The texts that a name is compared with, if all are constants: those of a display for `in`."""
    display = code.exprs[number]
    if is_many and not isinstance(display, ir.Seq):
        return frozenset()
    items = [code.exprs[item] for item in display.items] if isinstance(display, ir.Seq) else [display]
    texts = [item.value for item in items if isinstance(item, ir.Const) and isinstance(item.value, str)]
    return frozenset(texts) if len(texts) == len(items) else frozenset()


def _either(left: Sequence[Choice], right: Sequence[Choice]) -> Iterator[Choice]:
    """What is known if one of two tests says so: both compare one name."""
    if len(left) == len(right) == 1 and left[0].name == right[0].name and left[0].holds and right[0].holds:
        yield left[0]._replace(values=left[0].values | right[0].values)


def _are_opposed(one: Choice, other: Choice) -> bool:
    """Whether two tests exclude each other."""
    if one.name != other.name or not (one.holds or other.holds):
        return False
    if one.holds and other.holds:
        return one.values.isdisjoint(other.values)
    said, unsaid = (one, other) if one.holds else (other, one)
    return said.values <= unsaid.values
