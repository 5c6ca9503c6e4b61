"""The state of lowering: the tables of the piece and the state of the current def."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal

from loaderlint.facts.bound_names import Bindings
from loaderlint.facts.decided_names import Decided, DecidedNames, test_key
from loaderlint.facts.ir import (
    NONE,
    Bind,
    Capture,
    Context,
    DefIR,
    Expr,
    ExprId,
    Global,
    Opaque,
    Perform,
    Phi,
    Step,
)
from loaderlint.facts.reaching_definitions import FIRST_MARK, MAX_CHOICES, UNBOUND, Changes, Env, Flow, expand, join
from loaderlint.syntax.anchors import Anchors

#: The maximum number of `break`s, and of `continue`s, of one loop whose bindings are stored separately.
MAX_JUMPS = 64


class Tables:
    """The tables that all defs of a piece share."""

    __slots__ = (
        "anchors",
        "def_anchors",
        "defs",
        "exprs",
        "finished",
        "has_walrus",
        "index",
        "marks",
        "mentions",
        "names",
        "open",
        "phis",
        "rebound",
        "settled",
        "step_anchors",
        "walrus",
    )

    def __init__(self, anchors: Anchors) -> None:
        #: anchors by the `id` of nodes
        self.index, self.names = anchors
        self.exprs: list[Expr] = []
        self.anchors: list[int] = []
        self.defs: list[DefIR | None] = []
        self.def_anchors: list[tuple[int, int]] = []
        self.step_anchors: list[tuple[int, ...]] = []
        self.mentions: set[str] = set()
        #: names bound by `:=`, by the `id` of the def's node that they are local to
        self.walrus: dict[int, list[str]] = {}
        self.has_walrus = False
        #: names that some nested function declares nonlocal
        self.rebound: set[str] = set()
        #: `Phi` expressions by their choices
        self.phis: dict[tuple[int, ...], ExprId] = {}
        #: number of loop marks so far
        self.marks = 0
        #: loop mark -> its flow, once its loop has ended
        self.finished: dict[int, Flow] = {}
        #: loop mark -> the expression that reads it, for marks read inside their loop
        self.settled: dict[int, ExprId] = {}
        self.open: dict[int, tuple[Frame, str]] = {}

    def reserve(self, anchor: int, name_anchor: int) -> int:
        """Reserve the number of a new def, whose `DefIR` follows."""
        self.defs.append(None)
        self.step_anchors.append(())
        self.def_anchors.append((anchor, name_anchor))
        return len(self.defs) - 1


class Loop:
    """A loop that is being lowered. `start`: the environment before it, `logged`: the bindings before it. The values of
    names at its `break`s and `continue`s are stored for `MAX_JUMPS` of them. `breaks_more`, `continues_more`: there are
    others, at which a name may have any value that the loop binds."""

    __slots__ = ("breaks", "breaks_more", "continues", "continues_more", "logged", "marks", "start")

    def __init__(self, start: int, logged: int) -> None:
        self.start = start
        self.logged = logged
        self.breaks: list[Changes] = []
        self.continues: list[Changes] = []
        self.breaks_more = self.continues_more = False
        #: each name that the loop binds, its mark, and its value before
        self.marks: list[tuple[str, int, Flow | None]] = []


class Frame:
    """The state of one def. Expressions are added with `emit`, steps with `step`."""

    __slots__ = (
        "anchors",
        "bindings",
        "bound",
        "comprehension",
        "context",
        "contexts",
        "env",
        "exprs",
        "index",
        "is_function",
        "is_generator",
        "live",
        "log",
        "loops",
        "number",
        "parent",
        "statement",
        "step_anchors",
        "steps",
        "tables",
        "tested",
        "times",
    )

    def __init__(self, tables: Tables, parent: Frame | None, number: int, is_function: bool) -> None:
        self.tables = tables
        self.index = tables.index
        self.exprs = tables.exprs
        self.anchors = tables.anchors
        self.parent = parent
        self.number = number
        self.is_function = is_function
        self.is_generator = False
        self.bindings = Bindings()
        #: the local names of a function
        self.bound: set[str] = set()
        #: loop variables of the comprehensions that are being lowered
        self.comprehension: list[str] = []
        self.contexts: list[Context] = [Context(-1, "body", NONE, False)]
        self.context = 0
        self.steps: list[Step] = []
        self.step_anchors: list[int] = []
        #: anchor of the current statement
        self.statement = -1
        self.env = Env()
        #: whether the current place can be reached
        self.live = True
        #: each binding so far, for the handlers of exceptions
        self.log: list[tuple[str, Flow]] = []
        #: the loops around
        self.loops: list[Loop] = []
        #: what the tests of earlier `if` statements of the blocks around decided
        self.tested = DecidedNames()
        #: how often each name has been bound so far
        self.times: dict[str, int] = {}

    # --- tables

    def emit(self, expr: Expr, node: ast.AST | None) -> ExprId:
        """Add `expr`, whose place is `node`. Returns its number."""
        exprs = self.exprs
        exprs.append(expr)
        self.anchors.append(self.index.get(id(node), -1))
        return len(exprs) - 1

    def put(self, expr: Expr, anchor: int) -> ExprId:
        """Add `expr`, whose place is `anchor`. Returns its number."""
        self.exprs.append(expr)
        self.anchors.append(anchor)
        return len(self.exprs) - 1

    def step(self, step: Step) -> None:
        """Add `step` at the current statement."""
        self.steps.append(step)
        self.step_anchors.append(self.statement)

    def perform(self, call: ExprId) -> None:
        """Add the step of a call."""
        self.steps.append(Perform(self.context, call))
        self.step_anchors.append(self.anchors[call])

    def at(self, node: ast.AST) -> None:
        """The statement `node` begins."""
        self.statement = self.index.get(id(node), -1)

    def inside(self, context: Context) -> int:
        """Add a context. Returns its number."""
        self.contexts.append(context)
        return len(self.contexts) - 1

    def suite(self, kind: Literal["if", "loop", "while", "with", "except"]) -> int:
        """Add the context of a suite whose head is lowered next; `headed` completes it. So it comes before the contexts
        in its head, and the context of a clause piece has the number 1."""
        return self.inside(Context(self.context, kind, NONE, False))

    def headed(self, number: int, expr: ExprId) -> None:
        """Set the head of the suite with the context `number` to `expr`, and enter it."""
        self.contexts[number] = self.contexts[number]._replace(expr=expr)
        self.context = number

    # --- names

    def declare(self, found: Bindings, parameters: Iterable[str] = ()) -> None:
        """Declare the names that the def's body binds."""
        self.bindings = found
        self.bound = set(found.names)
        self.bound.update(parameters)
        self.bound -= found.global_names
        self.bound -= found.nonlocal_names

    def read(self, name: str, node: ast.AST) -> ExprId:
        """The expression that a read of `name` at `node` evaluates to."""
        flow = self.env.get(name)
        if flow is None:
            return self.free(name, node)
        if flow.__class__ is int and flow >= 0:
            number: ExprId = flow
        else:
            number = self._settle(flow, name, node)
        if name in self.tables.rebound and self.is_function:
            other = self.emit(Opaque("assigned in a nested function"), node)
            return self.emit(Phi((number, other)), None)
        return number

    def free(self, name: str, node: ast.AST | None) -> ExprId:
        """The expression of `name` if it has no value in this def."""
        if self.is_function and name in self.bound:
            return self.emit(Opaque("unbound"), node)
        if name not in self.bindings.global_names:
            frame = self.parent
            up = 1
            while frame is not None:
                if name in frame.comprehension:
                    return self.emit(Opaque("comprehension variable"), node)
                if frame.is_function:
                    if name in frame.bound:
                        return self.emit(Capture(up, name), node)
                    if name in frame.bindings.global_names:
                        break
                frame = frame.parent
                up += 1
        self.tables.mentions.add(name)
        return self.emit(Global(name), node)

    def bind(self, name: str, value: ExprId, annotation: ExprId = NONE) -> None:
        """`name` gets `value`; `NONE` for a bare annotation."""
        bindings = self.bindings
        if self.parent is not None and name in bindings.global_names:
            self.tables.mentions.add(name)
            self.step(Bind(self.context, name, value, "global", annotation))
            return
        if name in bindings.nonlocal_names:
            self.step(Bind(self.context, name, value, "nonlocal", annotation))
            return
        if value != NONE:
            self.times[name] = self.times.get(name, 0) + 1
            self.env.set(name, value)
            self.log.append((name, value))
        if not self.is_function:
            self.tables.mentions.add(name)
        self.step(Bind(self.context, name, value, "local", annotation))

    def _settle(self, flow: Flow, name: str, node: ast.AST | None) -> ExprId:
        """The expression for the alternatives of `flow`."""
        tables = self.tables
        choices = expand(flow, tables.finished, tables.settled)
        if choices is None:
            number = self.emit(Opaque("too many values"), node)
            self.env.set(name, number)
            return number
        for choice in sorted(choices):
            if choice > FIRST_MARK:
                break
            choices.discard(choice)
            choices.add(self._open_mark(choice, name))
        self.drop_unbound(choices, name, node)
        if len(choices) == 1:
            return choices.pop()
        if not choices:
            return self.emit(Opaque("unbound"), node)
        key = tuple(sorted(choices))
        known = tables.phis.get(key)
        if known is None:
            known = tables.phis[key] = self.emit(Phi(key), None)
        return known

    def drop_unbound(self, choices: set[int], name: str, node: ast.AST | None) -> None:
        """Outside functions an unbound path reads the name from further out; in a function it does not count."""
        if UNBOUND not in choices:
            return
        choices.discard(UNBOUND)
        if not self.is_function:
            choices.add(self.free(name, node))

    def _open_mark(self, mark: int, name: str) -> ExprId:
        """The expression of a loop mark whose loop is still being lowered; its choices follow."""
        number = self.emit(Phi(()), None)
        self.tables.settled[mark] = number
        self.tables.open[mark] = (self, name)
        return number

    # --- ways through the def

    def narrow(self, test: ExprId, holds: bool) -> None:
        """Here a test holds, or it does not: names have the value that earlier statements with this test gave them."""
        found = test_key(test, self.exprs) if self.is_function else None
        if found is None:
            return
        key, alike = found
        for one in self.tested.under(key):
            if self.env.get(one.name) == one.met and self.times.get(one.name, 0) == one.times:
                self.env.set(one.name, one.true if holds is alike else one.false)

    def decide(self, test: ExprId, then: Changes, rest: Changes) -> None:
        """Note the values of names after an `if` statement, given their changes where its test held and where not. The
        environment is the one behind it."""
        found = test_key(test, self.exprs) if self.is_function else None
        if found is None:
            return
        key, alike = found
        decided = []
        for name in sorted(then.keys() & rest.keys()):
            met, flow, other = self.env.get(name), then[name], rest[name]
            if met is not None and flow is not None and other is not None and flow != other:
                true, false = (flow, other) if alike else (other, flow)
                decided.append(Decided(name, met, true, false, self.times.get(name, 0)))
        if decided:
            self.tested.add(key, decided)

    def leave(self) -> None:
        """The rest of this block is not reachable."""
        self.live = False

    def continue_from(self, ends: list[Changes], start: int) -> None:
        """Continue where the paths with the changes `ends` since `start` meet; without any, in dead code."""
        self.live = bool(ends)
        if ends:
            self.env.undo(start)
            self.env.apply(self.meet(ends))

    def meet(self, ends: list[Changes]) -> Changes:
        """The values of names where paths meet, given the changes of each to the current environment."""
        if len(ends) == 1:
            return ends[0]
        found: dict[str, list[Flow | None]] = {}
        for end in ends:
            for name, flow in end.items():
                found.setdefault(name, []).append(flow)
        for name, flows in found.items():
            if len(flows) < len(ends):
                flows.append(self.env.get(name))
        return {name: self._joined(flows) for name, flows in found.items()}

    def thrown(self, start: int, end: int) -> Changes:
        """The values of names where an exception is handled that was raised at any point during the bindings from
        `start` to `end` of the log, applied to the current environment."""
        found: dict[str, list[Flow | None]] = {}
        for name, flow in self.log[start:end]:
            found.setdefault(name, [self.env.get(name)]).append(flow)
        return {name: self._joined(flows) for name, flows in found.items()}

    def add_bindings(self, changes: Changes, logged: int) -> None:
        """Add to the values of names in `changes` those that were bound since `logged`."""
        found: dict[str, list[Flow | None]] = {}
        for name, flow in self.log[logged:]:
            found.setdefault(name, [changes.get(name)]).append(flow)
        for name, flows in found.items():
            changes[name] = self._joined(flows)

    def _joined(self, flows: Iterable[Flow | None]) -> Flow | None:
        flow = join(flows)
        if isinstance(flow, tuple) and len(flow) > MAX_CHOICES:
            return self.emit(Opaque("too many values"), None)
        return flow

    def open_loop(self, node: ast.AST) -> Loop:
        """Enter the head of the loop `node`, with marks for the names that it binds."""
        names = self.bindings.loops.get(id(node), ())
        if self.bindings.walrus:
            names = tuple(dict.fromkeys((*names, *self.bindings.walrus)))
        loop = Loop(self.env.mark(), len(self.log))
        for name in names:
            if name in self.bindings.nonlocal_names or (self.parent is not None and name in self.bindings.global_names):
                continue
            mark = FIRST_MARK - self.tables.marks
            self.tables.marks += 1
            loop.marks.append((name, mark, self.env.get(name)))
            self.env.set(name, mark)
        self.loops.append(loop)
        return loop

    def jump(self, *, out: bool) -> None:
        """A `break` (`out` of the loop) or a `continue`."""
        if self.live and self.loops:
            loop = self.loops[-1]
            jumps = loop.breaks if out else loop.continues
            if len(jumps) < MAX_JUMPS:
                jumps.append(self.env.changes(loop.start))
            elif out:
                loop.breaks_more = True
            else:
                loop.continues_more = True
        self.live = False

    def close_loop(self, head: int) -> list[Changes]:
        """End the innermost loop: return to its `head` and resolve its marks. Returns the changes at the breaks."""
        loop = self.loops.pop()
        ends = [*loop.continues, self.env.changes(loop.start)] if self.live else loop.continues
        self.env.undo(head)
        anything = self.thrown(loop.logged, len(self.log)) if loop.breaks_more or loop.continues_more else {}
        for name, mark, before in loop.marks:
            flows = [before, *(end.get(name) for end in ends)]
            if loop.continues_more:
                flows.append(anything.get(name))
            flow = self._joined(flows)
            self.tables.finished[mark] = UNBOUND if flow is None else flow
        if loop.breaks_more:
            marked = {name: self.env.get(name) for name, _, _ in loop.marks}
            loop.breaks.append({**marked, **anything})
        return loop.breaks
