"""What is known while a piece is lowered: the tables of the piece and the state of the def that is being read."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal

from loaderlint.facts.flow import FIRST_MARK, UNBOUND, Env, Flow, expand, join, merge
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
from loaderlint.facts.names import Bindings
from loaderlint.syntax.bare import Anchors


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
        "slots",
        "step_anchors",
        "walrus",
    )

    def __init__(self, anchors: Anchors) -> None:
        #: anchors by the `id` of nodes
        self.index, self.names, self.slots = anchors
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
        #: number of loop marks given out
        self.marks = 0
        #: loop mark -> what it stands for, once its loop has ended
        self.finished: dict[int, Flow] = {}
        #: loop mark -> the expression that reads it, for marks read inside their loop
        self.settled: dict[int, ExprId] = {}
        self.open: dict[int, tuple[Frame, str]] = {}

    def reserve(self, anchor: int, name_anchor: int) -> int:
        """The number of a new def, whose `DefIR` follows."""
        self.defs.append(None)
        self.step_anchors.append(())
        self.def_anchors.append((anchor, name_anchor))
        return len(self.defs) - 1


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
        #: loop variables of the comprehensions that are being read
        self.comprehension: list[str] = []
        self.contexts: list[Context] = [Context(-1, "body", NONE, False)]
        self.context = 0
        self.steps: list[Step] = []
        self.step_anchors: list[int] = []
        #: anchor of the current statement
        self.statement = -1
        self.env: Env = {}
        #: whether the current place can be reached
        self.live = True
        #: each binding so far, for the handlers of exceptions
        self.log: list[tuple[str, Flow]] = []
        #: environments at the `break`s and `continue`s of the loops around
        self.loops: list[tuple[list[Env], list[Env]]] = []

    # --- tables

    def emit(self, expr: Expr, node: ast.AST | None) -> ExprId:
        """Add `expr`, which stands at `node`."""
        exprs = self.exprs
        exprs.append(expr)
        self.anchors.append(self.index.get(id(node), -1))
        return len(exprs) - 1

    def put(self, expr: Expr, anchor: int) -> ExprId:
        """Add `expr`, which stands at `anchor`."""
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
        """Add a context; its number."""
        self.contexts.append(context)
        return len(self.contexts) - 1

    def suite(self, kind: Literal["if", "loop", "while", "with", "except"]) -> int:
        """Add the context of a suite whose head is read next; `headed` completes it. So it comes before the contexts in
        its head, and the context of a clause piece has the number 1."""
        return self.inside(Context(self.context, kind, NONE, False))

    def headed(self, number: int, expr: ExprId) -> None:
        """The head of the suite with the context `number` is `expr`; go in."""
        self.contexts[number] = self.contexts[number]._replace(expr=expr)
        self.context = number

    # --- names

    def declare(self, found: Bindings, parameters: Iterable[str] = ()) -> None:
        """Take the names of the def's body over."""
        self.bindings = found
        self.bound = set(found.names)
        self.bound.update(parameters)
        self.bound -= found.global_names
        self.bound -= found.nonlocal_names

    def read(self, name: str, node: ast.AST) -> ExprId:
        """The expression that reading `name` at `node` gives."""
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
        """The expression of `name` where it has no value in this def."""
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
            self.env[name] = value
            self.log.append((name, value))
        if not self.is_function:
            self.tables.mentions.add(name)
        self.step(Bind(self.context, name, value, "local", annotation))

    def _settle(self, flow: Flow, name: str, node: ast.AST | None) -> ExprId:
        """The expression for the alternatives of `flow`."""
        tables = self.tables
        choices = expand(flow, tables.finished, tables.settled)
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
        number = tables.phis.get(key)
        if number is None:
            number = tables.phis[key] = self.emit(Phi(key), None)
        return number

    def drop_unbound(self, choices: set[int], name: str, node: ast.AST | None) -> None:
        """Outside functions an unbound path reads the name from further out; in a function it does not count."""
        if UNBOUND not in choices:
            return
        choices.discard(UNBOUND)
        if not self.is_function:
            choices.add(self.free(name, node))

    def _open_mark(self, mark: int, name: str) -> ExprId:
        """The expression of a loop mark whose loop is still being read; its choices follow."""
        number = self.emit(Phi(()), None)
        self.tables.settled[mark] = number
        self.tables.open[mark] = (self, name)
        return number

    # --- ways through the def

    def leave(self) -> None:
        """What follows in this block is not reached."""
        self.live = False

    def continue_from(self, ends: list[Env], otherwise: Env) -> None:
        """Go on where the paths with the environments `ends` meet; none: in dead code with `otherwise`."""
        self.live = bool(ends)
        self.env = merge(ends).copy() if ends else otherwise

    def open_loop(self, node: ast.AST) -> list[tuple[str, int]]:
        """Enter the head of the loop `node`; gives the marks of the names that it binds."""
        names = self.bindings.loops.get(id(node), ())
        if self.bindings.walrus:
            names = tuple(dict.fromkeys((*names, *self.bindings.walrus)))
        head = self.env.copy()
        marks = []
        for name in names:
            if name in self.bindings.nonlocal_names or (self.parent is not None and name in self.bindings.global_names):
                continue
            mark = FIRST_MARK - self.tables.marks
            self.tables.marks += 1
            marks.append((name, mark))
            head[name] = mark
        self.env = head
        self.loops.append(([], []))
        return marks

    def close_loop(self, marks: list[tuple[str, int]], before: Env) -> list[Env]:
        """The body has been read: say what the marks are. Gives the environments at the breaks."""
        breaks, ends = self.loops.pop()
        if self.live:
            ends.append(self.env)
        for name, mark in marks:
            flow = before.get(name, UNBOUND)
            for end in ends:
                flow = join(flow, end.get(name, UNBOUND))
            self.tables.finished[mark] = flow
        return breaks
