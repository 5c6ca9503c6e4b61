"""The ways out of a def: where control falls off its end, and what the way there depends on."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model

#: How much a value depends on the sample: not, as the bare index (a number), as data that was read for it.
Dependence = Literal[0, 1, 2]

_MAX_DEPTH = 24
#: Calls after which nothing runs: the process ends, or a debugger starts.
_ENDING = frozenset("exit _exit quit abort set_trace breakpoint embed post_mortem fail".split())
#: Questions about what kind of thing an argument is.
_KIND_QUESTIONS = frozenset("isinstance issubclass hasattr callable type is_tensor is_available".split())


class Ends:
    """The contexts in which control falls off the end of a def. Where several follow one another the last says most:
    after `try: return x` it is the handler that does not leave, after `if x: return y` the context 'not x'."""

    def __init__(self, frame: Frame, model: Model) -> None:
        self._exprs = model.facts(frame).ir.exprs
        self._one: DefIR = model.def_of(frame)
        self._children: dict[int, list[int]] = defaultdict(list)
        for number, context in enumerate(self._one.contexts[1:], 1):
            self._children[context.parent].append(number)
        self._leaving = {step.context for step in self._one.steps if self._leaves(step)}
        self._falls_through = self._one.falls_through and not model.ev.liveness.always_returns(frame)

    def find(self) -> list[int]:
        """The contexts, none where every way out returns or raises."""
        return self._ends(0) if self._falls_through else []

    def _leaves(self, step: ir.Step) -> bool:
        if not isinstance(step, ir.Perform):
            return isinstance(step, ir.Return | ir.Raise)
        call = self._exprs[step.call]
        func = self._exprs[call.func] if isinstance(call, ir.Call) else None
        return isinstance(func, ir.Attr | ir.Global) and func.name in _ENDING

    def _ends(self, context: int) -> list[int]:
        """The innermost contexts in which control comes to the end of `context`; none: it leaves the def."""
        if context in self._leaving:
            return []
        ends = [context]
        children = list(self._children[context])
        while children:
            outs = self._through(children, context)
            if outs is not None:
                ends = outs
            if not ends:
                return []
        return ends

    def _through(self, children: list[int], outer: int) -> list[int] | None:
        """Take the first statement off `children`: where control comes out of it, None where that says nothing."""
        first = children.pop(0)
        kind, negated = self._one.contexts[first].kind, self._one.contexts[first].negated
        if kind == "if" and not negated:
            return self._branch(first, children, outer)
        if kind in ("try", "try_else"):
            return self._guarded(first, children, outer)
        if kind == "with":
            return [first] if self._swallows(first) else self._plain(first)
        if kind in ("loop", "while"):
            return self._loop(first)
        return None

    def _plain(self, context: int) -> list[int] | None:
        ends = self._ends(context)
        return None if ends == [context] else ends

    def _branch(self, then: int, children: list[int], outer: int) -> list[int] | None:
        test = self._one.contexts[then].expr
        other = next((c for c in children if self._one.contexts[c][2:] == (test, True)), None)
        if other is not None:
            children.remove(other)
        ways = [self._plain(then), self._plain(other) if other is not None else None]
        if ways[0] is None and ways[1] is None:
            return None
        ends: list[int] = []
        for way, context in zip(ways, (then, outer if other is None else other), strict=True):
            ends.extend([context] if way is None else way)
        return ends

    def _guarded(self, body: int, children: list[int], outer: int) -> list[int] | None:
        handlers: list[int] = []
        parts = [self._plain(body)]
        while children and (kind := self._one.contexts[children[0]].kind) in ("try_else", "except", "finally"):
            part = children.pop(0)
            if kind == "except":
                handlers.append(part)
            elif kind == "try_else":
                parts.append(self._plain(part))
            elif not self._ends(part):
                return []
        if [] in parts:
            return self._handled(handlers)
        return None if all(part is None for part in parts) else [outer, *self._handled(handlers)]

    def _handled(self, handlers: list[int]) -> list[int]:
        return [end for handler in handlers for end in self._ends(handler)]

    def _loop(self, body: int) -> list[int] | None:
        """A loop whose turns end only in handlers is a retry; any other loop may end in a good way."""
        ends = self._ends(body)
        test = self._one.contexts[body]
        if test.kind == "while" and test.expr != NONE and self._exprs[test.expr] in (_TRUE, _ONE):
            return [] if self._returns_in(body) else None
        is_retry = bool(ends) and all(self._one.contexts[end].kind == "except" for end in ends)
        return ends if is_retry else None

    def _returns_in(self, context: int) -> bool:
        return context in self._leaving or any(self._returns_in(child) for child in self._children[context])

    def _swallows(self, context: int) -> bool:
        call = self._exprs[self._one.contexts[context].expr]
        func = self._exprs[call.func] if isinstance(call, ir.Call) else None
        return isinstance(func, ir.Attr | ir.Global) and func.name == "suppress"


_TRUE = ir.Const("bool", True)
_ONE = ir.Const("int", 1)


def dependence(number: int, frame: Frame, model: Model, depth: int = 0) -> Dependence:
    """How much expression `number` of a `__getitem__`, or of a function that it calls, depends on the sample: what is
    looked up or computed from a parameter does, the parameter itself may be a number or a setting."""
    if depth > _MAX_DEPTH:
        return 0
    return model.remembered(_dependence, number, frame, depth)  # many expressions share their parts


def _dependence(number: int, frame: Frame, depth: int, model: Model) -> Dependence:
    e = model.ev.expr(frame, number)
    if e is None:
        return 0

    def of(*parts: int) -> Dependence:
        found: Dependence = 0
        for part in parts:
            found = max(found, dependence(part, frame, model, depth + 1))
        return found

    match e:
        case ir.Param(index):
            return 1 if index > 0 or frame.receiver is None else 0
        case ir.Call(func, args):
            if _name(func, frame, model) in _KIND_QUESTIONS:
                return 0
            return 2 if of(func, *(arg.value for arg in args)) else 0
        case ir.Index(base, index):
            return 2 if of(base, index) else 0
        case ir.Compare(left, ops, rights):
            found = of(left, *rights)
            return 2 if found and any(op in ("in", "not in") for op in ops) else found
        case ir.Attr(base, _) | ir.Unary(_, base) | ir.Element(base) | ir.Unpack(base, _, _) | ir.Star(base):
            return of(base)
        case ir.Bin(_, left, right) | ir.BoolOp(_, left, right) | ir.Augmented(_, left, right):
            return of(left, right)
        case ir.IfExp(test, then, other):
            return of(test, then, other)
        case ir.Phi(parts) | ir.Seq(_, parts) | ir.Text(parts):
            return of(*parts) if depth < 8 else 0
        case ir.Entered(manager):
            return 2 if of(manager) else 0
        case ir.Caught():
            return 2
        case ir.Comp(_, element, _, iterables):
            return of(element, *iterables)
    return 0


def _name(func: int, frame: Frame, model: Model) -> str:
    e = model.ev.expr(frame, func)
    return e.name if isinstance(e, ir.Global | ir.Attr) else ""
