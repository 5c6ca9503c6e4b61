"""A frame: one def in one context (receiver and arguments). Frames are interned by the evaluator, compared by
identity. What is written in the def is the same for all its frames: that is its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from loaderlint.facts import ir
from loaderlint.facts.ir import DefIR, PieceFacts
from loaderlint.project.values import Atom, ClassRef, Val

_Step = TypeVar("_Step", bound=ir.Step)


class Code:
    """Def `def_` of a piece as it is written: `one` with the expressions of its piece, `exprs`; None and none where the
    piece cannot be read."""

    __slots__ = ("_bindings", "_calls", "_contexts", "_kinds", "_stored", "exprs", "facts", "one")

    def __init__(self, facts: PieceFacts | None, def_: int) -> None:
        self.facts = facts
        self.one: DefIR | None = facts.ir.defs[def_] if facts and def_ < len(facts.ir.defs) else None
        self.exprs: tuple[ir.Expr, ...] = facts.ir.exprs if facts else ()
        self._calls: tuple[tuple[ir.Perform, ir.Call], ...] | None = None
        self._bindings: dict[int, list[tuple[int, ir.Bind]]] | None = None
        self._contexts: dict[int, list[int]] | None = None
        self._kinds: dict[type, list[tuple[int, Any]]] | None = None
        self._stored: frozenset[str] | None = None

    @property
    def calls(self) -> tuple[tuple[ir.Perform, ir.Call], ...]:
        """The calls in source order."""
        if self._calls is None:
            calls = ((step, self.exprs[step.call]) for _, step in self.steps_of(ir.Perform))
            self._calls = tuple((step, call) for step, call in calls if isinstance(call, ir.Call))
        return self._calls

    def contexts_of(self, call: int) -> Sequence[int]:
        """The contexts of the steps that perform a call; none for an expression that is no call."""
        if self._contexts is None:
            self._contexts = {}
            for step, _ in self.calls:
                self._contexts.setdefault(step.call, []).append(step.context)
        return self._contexts.get(call, ())

    @property
    def bindings(self) -> dict[int, list[tuple[int, ir.Bind]]]:
        """The steps that bind a name, each with its number, by the expression that the name gets."""
        if self._bindings is None:
            self._bindings = {}
            for number, step in self.steps_of(ir.Bind):
                self._bindings.setdefault(step.value, []).append((number, step))
        return self._bindings

    def fillings(self, made: int) -> list[ir.SetItem | ir.Perform]:
        """The steps that store items in what expression `made` makes, or call a method of it, in source order."""
        found: list[tuple[int, ir.SetItem | ir.Perform]] = []
        found += [(number, step) for number, step in self.steps_of(ir.SetItem) if step.base == made]
        for number, step in self.steps_of(ir.Perform):
            call = self.exprs[step.call]
            func = self.exprs[call.func] if isinstance(call, ir.Call) else None
            if isinstance(func, ir.Attr) and func.base == made:
                found.append((number, step))
        return [step for _, step in sorted(found)]

    @property
    def stored(self) -> frozenset[str]:
        """The attributes of its first parameter that the def assigns."""
        if self._stored is None:
            steps = (step for _, step in self.steps_of(ir.SetAttr) if step.value != ir.NONE)
            self._stored = frozenset(step.name for step in steps if self.exprs[step.base] == ir.Param(0))
        return self._stored

    def steps_of(self, kind: type[_Step]) -> Sequence[tuple[int, _Step]]:
        """The steps of one kind in source order, with their numbers."""
        if self._kinds is None:
            self._kinds = {}
            for number, step in enumerate(self.one.steps if self.one else ()):
                self._kinds.setdefault(type(step), []).append((number, step))
        return self._kinds.get(kind, ())


@dataclass(slots=True, eq=False, repr=False)
class Frame:
    """Def `def_` of piece `piece` in `path`, run with `receiver` bound to its first parameter (None for functions and
    bodies) and `args` for the others (None: not passed). `scope` is the frame of the lexically enclosing def, `owner`
    the class a method was found in, `depth` how many calls deep, `order` a stable sort key, `code` what is written.

    `memo` holds what each expression evaluated to, `targets` the frames a call or property read leads to, `guesses` the
    calls whose callee is one of several by a name made up at run time."""

    path: Path
    piece: int
    def_: int
    receiver: Atom | None
    args: tuple[Val | None, ...]
    scope: Frame | None
    owner: ClassRef | None
    depth: int
    order: str
    code: Code
    memo: dict[int, Val | None] = field(default_factory=dict)
    targets: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    dead: dict[int, bool] = field(default_factory=dict)
    guesses: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        """Short: frames hold values that hold frames."""
        return f"Frame({self.order})"

    @property
    def facts(self) -> PieceFacts | None:
        """The facts of its piece, None where that cannot be read."""
        return self.code.facts
