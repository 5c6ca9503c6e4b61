"""A text of which it is said that it assigns no attribute of a name assigns none."""

from __future__ import annotations

import pytest

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import piece_facts
from loaderlint.project.evaluation.attribute_assignments import may_assign
from loaderlint.syntax.cutter import Piece, cut
from tests.syntax import corpus

#: `@` stands for the attribute.
ASSIGNED = [
    "@ = 1",
    "@=1",
    "@ += 1",
    "@ >>= 1",
    "@ **= 2",
    "@: int = 3",
    "(@): int = 3",
    "x = @ = 1",
    "x = @, y = a",
    "x = @, \\\n        y = a",
    "(@) = 1",
    "@, x = a",
    "x, @ = a",
    "x, *@ = a",
    "[x, @] = a",
    "(x, (y, @)) = a",
    "(\n        x,\n        @\n    ) = a",
    "(\n        x, @  # why\n    ) = a",
    "f(x).y, @ = a",
    "x[f(1), 2], @ = a",
    "d[']('], @ = a",
    "d['a(['], @ = a",
    "d['if'], @ = a",
    "d[x if y else z].t, @ = a",
    "d[x\n      if y else z].t, @ = a",
    "if x: @, y = a",
    "assert x; @, y = a",
    "for @ in a: pass",
    "for x, @ in a: pass",
    "for(x, @)in a: pass",
    "for x in a: @, y = x",
    "with f(x) as @: pass",
    "with f(x) as (y, @): pass",
    "with f(x)as(@, y): pass",
    "with (f(x) as @, g(y)): pass",
    "with x if y else z as @: pass",
    "x = [0 for @ in a]",
    "f(0 for @ in a)",
    "f(x, [y for y, @ in a])",
    "return self.x(lambda: [0 for @ in a])",
]
READ = [
    "@(1)",
    "@[1] = 2",
    "@.y = 2",
    "@s = 2",
    "return @",
    "return x + @, y",
    "if @ == 1: pass",
    "if @ >= 1 or @ != 2: pass",
    "if x and @: pass",
    "while not @: pass",
    "for x in @: pass",
    "x = @",
    "x = @  # why",
    "f(@)",
    "f(x, @, y)",
    "f(x=@)",
    "f(g(x), h[1], @)",
    "x[@] = 1",
    "x = @ if y else z",
    "x = @ << 1",
    "with @ as x: pass",
    "with f(@) as x: pass",
]


def stored(piece: Piece) -> set[str]:
    facts = piece_facts(piece)
    steps = [step for one in facts.ir.defs for step in one.steps] if facts else []
    return {step.name for step in steps if type(step) is ir.SetAttr}


@pytest.mark.parametrize("form", ASSIGNED)
def test_what_is_assigned_is_seen(form: str) -> None:
    text = f"def f(self, a):\n    {form.replace('@', 'self.size')}\n"
    assert "size" in stored(cut(text)[0])
    assert may_assign(text, "size")


@pytest.mark.parametrize("form", READ)
def test_what_is_read_is_seen_not_to_be_assigned(form: str) -> None:
    text = f"def f(self, a):\n    {form.replace('@', 'self.size')}\n"
    assert "size" not in stored(cut(text)[0])
    assert not may_assign(text, "size")


def test_no_assignment_in_real_files_is_missed() -> None:
    texts = [corpus.text(path) for path in corpus.files(40)]
    pieces = [piece for text in texts for piece in cut(text)]
    seen = [(one.text, name) for one in pieces for name in stored(one) if f".{name}" in one.text]
    assert len(seen) > 200
    assert [one for one in seen if not may_assign(*one)] == []
