"""Made-up functions are run, and what each read saw must be among what the facts say can reach it.

Every assigned value is a number of its own, so a value names its definition. Branches, loops and exceptions go at
random; the same function is run many times."""

from __future__ import annotations

import contextlib
import random
import textwrap
from typing import Any

import pytest

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts, lower
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import parse_piece

NAMES = "xyz"
RUNS = 25


class Writer:
    """Writes a random function. Numbers are given out in order, each once."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 0

    def next(self) -> int:
        self.number += 1
        return self.number

    def function(self) -> str:
        start = [f"{name} = {self.next()}" for name in NAMES if self.random.random() < 0.8]
        body = [*start, *self.block(3, loop=False)]
        return "def f(p, q):\n" + textwrap.indent("\n".join(body), "    ") + "\n"

    def block(self, depth: int, loop: bool) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, 4)):
            lines.extend(self.statement(depth, loop))
        return lines

    def suite(self, head: str, depth: int, loop: bool) -> list[str]:
        return [head, *("    " + line for line in self.block(depth - 1, loop))]

    def name(self) -> str:
        return self.random.choice(NAMES)

    def statement(self, depth: int, loop: bool) -> list[str]:
        simple = ["assign", "assign", "copy", "use", "use", "use", "raise", "throw", "return", "swap", "delete", "turn"]
        compound = ["if", "if", "same", "same", "same", "for", "while", "try", "try", "with", "match", "walrus"]
        choices = simple + compound * (depth > 0) + ["break", "continue"] * loop
        kind = self.random.choice(choices)
        # Leaving is rarer, else little is reached.
        if kind in ("raise", "return", "delete", "break", "continue") and self.random.random() < 0.6:
            kind = "use"
        return getattr(self, f"write_{kind}")(depth, loop)  # type: ignore[no-any-return]

    def write_assign(self, depth: int, loop: bool) -> list[str]:
        return [f"{self.name()} = {self.next()}"]

    def write_copy(self, depth: int, loop: bool) -> list[str]:
        return [f"{self.name()} = {self.name()}"]

    def write_swap(self, depth: int, loop: bool) -> list[str]:
        return ["x, y = y, x"]

    def write_use(self, depth: int, loop: bool) -> list[str]:
        return [f"use({self.next()}, {self.name()})"]

    def write_raise(self, depth: int, loop: bool) -> list[str]:
        return ["raise E"]

    def write_throw(self, depth: int, loop: bool) -> list[str]:
        return ["throw()"]

    def write_return(self, depth: int, loop: bool) -> list[str]:
        return ["return"]

    def write_break(self, depth: int, loop: bool) -> list[str]:
        return ["break"]

    def write_continue(self, depth: int, loop: bool) -> list[str]:
        return ["continue"]

    def write_delete(self, depth: int, loop: bool) -> list[str]:
        return [f"del {self.name()}"]

    def write_walrus(self, depth: int, loop: bool) -> list[str]:
        test = f"c({self.next()}) {self.random.choice(['and', 'or'])} w({self.name()} := {self.next()})"
        head = f"while {test}:" if self.random.random() < 0.3 else f"if {test}:"
        return self.suite(head, depth, loop or head.startswith("while"))

    def write_if(self, depth: int, loop: bool) -> list[str]:
        lines = self.suite(f"if c({self.next()}):", depth, loop)
        while self.random.random() < 0.3:
            lines += self.suite(f"elif c({self.next()}):", depth, loop)
        return lines + (self.suite("else:", depth, loop) if self.random.random() < 0.5 else [])

    def write_same(self, depth: int, loop: bool) -> list[str]:
        """A test that other `if` statements of the function have as well."""
        test = self.random.choice(["p", "not p", "q", "p and q", "p is not q", "p == 1", "y == 3"])
        lines = self.suite(f"if {test}:", depth, loop)
        if self.random.random() < 0.2:
            lines += self.suite(f"elif {self.random.choice('pq')}:", depth, loop)
        return lines + (self.suite("else:", depth, loop) if self.random.random() < 0.4 else [])

    def write_turn(self, depth: int, loop: bool) -> list[str]:
        return [self.random.choice(["p, q = q, p", "p = not p"])] if self.random.random() < 0.3 else ["pass"]

    def write_for(self, depth: int, loop: bool) -> list[str]:
        lines = self.suite(f"for {self.name()} in r({self.next()}):", depth, True)
        return lines + (self.suite("else:", depth, loop) if self.random.random() < 0.3 else [])

    def write_while(self, depth: int, loop: bool) -> list[str]:
        test = "True" if self.random.random() < 0.2 else f"c({self.next()})"
        lines = self.suite(f"while {test}:", depth, True)
        lines.insert(1, "    tick()")
        return lines + (self.suite("else:", depth, loop) if self.random.random() < 0.3 else [])

    def write_try(self, depth: int, loop: bool) -> list[str]:
        lines = self.suite("try:", depth, loop)
        handled = self.random.random() < 0.7
        if handled:
            lines += self.suite(self.random.choice(["except E:", f"except E as {self.name()}:"]), depth, loop)
            lines += self.suite("else:", depth, loop) if self.random.random() < 0.3 else []
        if not handled or self.random.random() < 0.3:
            # Leaving a `finally` by a jump is a warning in later versions of Python.
            block = [line for line in self.block(0, False) if line != "return"]
            lines += ["finally:", *("    " + line for line in [*block, "pass"])]
        return lines

    def write_with(self, depth: int, loop: bool) -> list[str]:
        return self.suite(self.random.choice(["with suppress(E):", "with manager():"]), depth, loop)

    def write_match(self, depth: int, loop: bool) -> list[str]:
        lines = [f"match m({self.next()}):"]
        for pattern in ["0", "1", "_"][: self.random.randint(1, 3)]:
            lines += ["    " + line for line in self.suite(f"case {pattern}:", depth, loop)]
        return lines


class E(Exception):
    pass


class Stop(BaseException):
    """The run has taken long enough."""


class Run:
    """One run of a function: the values that were used where, with the last answers of the tests then."""

    def __init__(self, text: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.steps = 0
        self.answers: dict[int, bool] = {}
        self.uses: list[tuple[int, Any, dict[int, bool]]] = []
        self.ended = False
        scope = {
            **{"E": E, "c": self.c, "w": self.w, "r": self.r, "m": self.m, "use": self.use, "throw": self.throw},
            **{"suppress": contextlib.suppress, "manager": contextlib.nullcontext, "end": self.end, "tick": self.tick},
        }
        exec(text + "    end()\n", scope)
        with contextlib.suppress(E, NameError, Stop):
            scope["f"](self.random.random() < 0.5, self.random.random() < 0.5)  # type: ignore[operator]

    def tick(self) -> None:
        self.steps += 1
        if self.steps > 60:
            raise Stop

    def c(self, number: int) -> bool:
        self.tick()
        self.answers[number] = self.random.random() < 0.5
        return self.answers[number]

    def w(self, value: int) -> bool:
        return self.random.random() < 0.5

    def r(self, number: int) -> list[int]:
        return [number] * self.random.randint(0, 2)

    def m(self, number: int) -> int:
        return self.random.randint(0, 2)

    def throw(self) -> None:
        self.tick()
        if self.random.random() < 0.4:
            raise E

    def use(self, number: int, value: object) -> None:
        self.tick()
        self.uses.append((number, value, dict(self.answers)))

    def end(self) -> None:
        self.ended = True


def reaching(facts: PieceFacts, number: int) -> set[object]:
    """The values that the expression can be; 'caught' for an exception."""
    found: set[object] = set()
    seen: set[int] = set()
    stack = [number]
    while stack:
        number = stack.pop()
        expr = facts.ir.exprs[number]
        if isinstance(expr, ir.Phi):
            stack.extend(choice for choice in expr.choices if choice not in seen)
            seen.update(expr.choices)
        elif isinstance(expr, ir.Const):
            found.add(expr.value)
        elif isinstance(expr, ir.Element):
            found.add(argument(facts, expr.iterable))
        elif isinstance(expr, ir.Caught):
            found.add("caught")
        else:
            assert expr == ir.Opaque("unbound") or isinstance(expr, ir.Global), expr
    return found


def argument(facts: PieceFacts, call: int) -> int:
    expr = facts.ir.exprs[call]
    assert isinstance(expr, ir.Call)
    value = facts.ir.exprs[expr.args[0].value]
    assert isinstance(value, ir.Const)
    return value.value  # type: ignore[return-value]


def guards(facts: PieceFacts, number: int) -> dict[int, bool]:
    """The answers that the tests `c(n)` must have given where context `number` of the function is."""
    found = {}
    contexts = facts.ir.defs[1].contexts
    while number > 0:
        context = contexts[number]
        if context.kind in ("if", "while") and isinstance(facts.ir.exprs[context.expr], ir.Call):
            found[argument(facts, context.expr)] = not context.negated
        number = context.parent
    return found


@pytest.mark.parametrize("seed", range(150))
def test_runs_agree_with_facts(seed: int) -> None:
    text = Writer(seed).function()
    parsed = parse_piece(Piece("statement", "", text, 0, 0, -1, len(text)))
    assert parsed is not None
    facts = lower(parsed)
    uses = {}
    for step in facts.ir.defs[1].steps:
        call = facts.ir.exprs[step.call] if isinstance(step, ir.Perform) else None
        if isinstance(call, ir.Call) and facts.ir.exprs[call.func] == ir.Global("use"):
            place = facts.ir.exprs[call.args[0].value]
            assert isinstance(place, ir.Const)
            uses[place.value] = (reaching(facts, call.args[1].value), guards(facts, step.context))
    for run in range(RUNS):
        result = Run(text, run)
        if result.ended:
            assert facts.ir.defs[1].falls_through, text
        for number, value, answers in result.uses:
            values, expected = uses[number]
            assert ("caught" if isinstance(value, E) else value) in values, (number, text)
            assert {test: answers[test] for test in expected} == expected, (number, text)
