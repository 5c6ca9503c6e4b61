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
from loaderlint.project.evaluation.values import DefKey, Instance, Site, def_key

#: The number of calls that are followed back from a line, or from a loader, to find the branches around it.
_MAX_CALLS = 6
#: The number of attributes and parameters that are followed back to the comparison that they hold.
_MAX_FLAGS = 3


class Choice(NamedTuple):
    """A test that compares `name` with the text `value`, and whether they are equal."""

    name: str
    value: str
    holds: bool


class OpposedBranches:
    """Finds the loaders that do not run a line because of such a choice. `callers_in(frame, index)` gives the callers
    of a frame in the workers of the loader with that index, each with the calling expression; none for a frame that the
    loader itself calls. `callers`: those in the main process."""

    def __init__(
        self, ev: Evaluator, callers: Callers, callers_in: Callable[[Frame, int], Sequence[tuple[Frame, int]]]
    ) -> None:
        self._ev = ev
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
        return own | _unopposed(self._around_calls(frame, _MAX_CALLS), own)

    def _excluded(self, made: frozenset[Choice], index: int, frame: Frame, context: int, calls: int) -> bool:
        here = (*self._choices(frame, context), *self._choices_of_object(frame))
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
                choice = self._compared(made.frame, e.test, _MAX_FLAGS) if is_then is not is_other else None
                if choice is not None:
                    yield choice._replace(holds=choice.holds is is_then)

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
            choice = self._compared(frame, around.expr, _MAX_FLAGS)
            if choice is not None and self._ev.liveness.truth(around.expr, frame) is None:
                yield choice._replace(holds=choice.holds is not around.negated)

    def _compared(self, frame: Frame, number: int, flags: int) -> Choice | None:
        """The comparison that a test is, or that the attribute or the parameter in it holds: `self.is_train`, where
        the object is created with `is_train=(args.mode == "train")`."""
        match frame.code.exprs[number]:
            case ir.Compare(left, ("==" | "!=" as op,), (right,)):
                value = frame.code.exprs[right]
                name = _name(frame.code, left)
                if name and isinstance(value, ir.Const) and isinstance(value.value, str):
                    return Choice(name, value.value, op == "==")
            case ir.Unary("not", operand):
                choice = self._compared(frame, operand, flags)
                return choice._replace(holds=not choice.holds) if choice is not None else None
            case ir.Attr(base, name) if flags and ir.is_self(frame.code.exprs[base]):
                stores = self._ev.classes.stores(frame.receiver, name) if isinstance(frame.receiver, Instance) else ()
                if len(stores) == 1 and stores[0].construction:
                    step = stores[0].frame.code.one.steps[stores[0].step]  # type: ignore[union-attr]
                    return self._compared(stores[0].frame, step.value, flags - 1)  # type: ignore[union-attr]
            case ir.Param(index) if flags and isinstance(frame.receiver, Instance) and frame.receiver.site is not None:
                return self._passed(frame, index, frame.receiver.site, flags)
        return None

    def _passed(self, frame: Frame, index: int, made: Site, flags: int) -> Choice | None:
        """The comparison that the call which creates an object passes to its constructor."""
        one = frame.code.one
        call = self._ev.expr(made.frame, made.expr)
        if one is None or not 0 < index < len(one.params) or not isinstance(call, ir.Call):
            return None
        if not self._is_own_constructor(frame):
            return None
        name = one.params[index].name
        named = [arg.value for arg in call.args if arg.kind == "kw" and arg.name == name]
        before = call.args[:index]  # without self
        if not named and len(before) == index and all(arg.kind == "pos" for arg in before):
            named = [before[-1].value]
        return self._compared(made.frame, named[0], flags - 1) if named else None

    def _is_own_constructor(self, frame: Frame) -> bool:
        """Whether a frame is the constructor that the call itself runs, not one of a base class."""
        return isinstance(frame.receiver, Instance) and self._ev.classes.init_frame(frame.receiver) is frame


def _unopposed(others: Iterable[Choice], own: frozenset[Choice]) -> frozenset[Choice]:
    """The choices that none of `own` excludes."""
    return frozenset(other for other in others if not any(_are_opposed(one, other) for one in own))


def _name(code: Code, number: int) -> str:
    """The last name of the compared expression: a variable, a parameter, an attribute or a key."""
    match code.exprs[number]:
        case ir.Attr(_, name) | ir.Global(name) | ir.Capture(_, name):
            return name
        case ir.Index(_, index):
            key = code.exprs[index] if index != ir.NONE else None
            return key.value if isinstance(key, ir.Const) and isinstance(key.value, str) else ""
        case ir.Param(index) if code.one is not None and index < len(code.one.params):
            return code.one.params[index].name
    return _only(bind.name for _, bind in code.bindings.get(number, ()))


def _only(names: Iterable[str]) -> str:
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def _are_opposed(one: Choice, other: Choice) -> bool:
    """Whether two tests exclude each other."""
    if one.name != other.name:
        return False
    return one.holds and other.holds if one.value != other.value else one.holds is not other.holds
