"""What always runs before something else in a function, and what never runs together with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import always_comes_by, is_alike, never_both
from tests.project.linking import link

#: Code of a function in which `at()` runs only after one of the calls `by()`. `; ` ends a line, and more spaces after
#: it indent the next one.
ALWAYS = [
    "by(); at()",
    "by(); if a: at()",
    "if a:;  by();  at()",
    "if a:;  by();  for x in y: at()",
    "with a: by(); at()",
    "with a:;  with b: by(); at()",
    "if a: by(); else: by(); at()",
    "if a: by(); elif b: by(); else: by(); at()",
    "if a:;  if b: by();  else: by(); else: by(); at()",
    "if a: by(); if a: at()",
    "if a.b(1, c=2): by(); if a.b(1, c=2): at()",
    "if not a: by(); if not a: at()",
    "if a: pass; else: by(); if a: pass; else: at()",
    "if a:;  if b: by(); if b: at()",
    "if a: by(); if a:;  if b: at()",
    "if True: by(); at()",
    "x = 1; if x: by(); x = a; if x: at()",
    "if 1 > 2: pass; else: by(); at()",
    "try: by(); except E: raise; at()",
    "try: by(); except E: return; at()",
    "try: by(); except E: by(); at()",
    "try: by(); except E: by(); except F: return; at()",
    "try: load(); finally: by(); at()",
    "try: by(); finally: load(); at()",
    "while a:;  by();  at()",
    "for x in y:;  by();  if a: at()",
]
#: The same where it may run without.
NOT_ALWAYS = [
    "at()",
    "if a: by(); at()",
    "if a: by(); else: at()",
    "if a: by(); elif b: by(); at()",
    "if a: by(); if b: at()",
    "if a: by(); if not a: at()",
    "if a: by(); if a: pass; else: at()",
    "if a.b(1): by(); if a.b(2): at()",
    "if a.b(1): by(); if a.c(1): at()",
    "if a(b=1): by(); if a(c=1): at()",
    "if a < 1: by(); if a > 1: at()",
    "if a + 1: by(); if a - 1: at()",
    "if a and b: by(); if a or b: at()",
    "if [a]: by(); if (a,): at()",
    "if a(): by(); if a: at()",
    "if a(1): by(); if a(1, 2): at()",
    "if -a: by(); if ~a: at()",
    "if a == 'b': by(); if a == 'c': at()",
    "for x in y: by(); at()",
    "for x in y: by(); for x in y: at()",
    "while a: by(); at()",
    "while a: by(); while a: at()",
    "if False: by(); at()",
    "try: by(); except E: pass; at()",
    "try: by(); except E: load(); at()",
    "try: by(); except E: return; except F: pass; at()",
    "try: load(); except E: by(); at()",
    "try: by(); except E:;  if a: return; at()",
    "if a:;  if b: by(); else: by(); at()",
    "if a:;  if b: by();  else: by(); at()",
    "x = b; if x: by(); x = a; if x: at()",
    "x = a; if x: by(); if b: x = c; if x: at()",
    "match a:;  case 1: by(); at()",
]

#: Code in which a call evaluates at most one of `by()` and `at()`.
NEVER = [
    "if a: by(); else: at()",
    "if a: at(); else: by()",
    "if a: by(); elif b: at()",
    "if a: by(); elif b: pass; else: at()",
    "if a:;  if b: by(); else:;  with c: at()",
    "if a: by(); if not a: pass; else: load(); if a: pass; else: at()",
    "x = by() if a else at()",
    "x = at() if a else by()",
    "x = load(by()) if a else [at()]",
    "x = by() if a else (b if c else at())",
    "match a:;  case 1: by();  case 2: at()",
    "match a:;  case 1:;   if b: by();  case 2: at()",
]
#: The same where it may evaluate both.
BOTH = [
    "by(); at()",
    "if a: by(); at()",
    "if a: by(); if b: at()",
    "if a: by(); if a: at()",
    "if a:;  by();  at()",
    "if a: by(); if b: pass; else: at()",
    "for x in y:;  if a: by();  else: at()",
    "while y:;  if a: by();  else: at()",
    "for x in y:;  match a:;   case 1: by();   case 2: at()",
    "match a:;  case 1: by(); match b:;  case 1: at()",
    "match a:;  case 1: by(); if b: at()",
    "try: by(); except E: at()",
    "x = by() if at() else 1",
    "x = by() if by() else at()",
    "x = (by(), at()) if a else 1",
    "x = by() or at()",
    "with a: by(); with b: at()",
]

#: Two expressions that are written alike, and two that are not.
ALIKE = [
    *("a", "a.b", "a[1]", "a(b, *c, d=1, **e)", "not a", "a < b <= c", "a and b", "a + b", "-a", "[a, b]", "(a,)"),
    *("f'{a}/b'", "f'{a}/{b}*.png'", "f'{a:03d}.png'", "'%s/b' % a", "'{}/b'.format(a)"),
]
UNLIKE = [
    ("a", "b"),
    ("a.b", "a.c"),
    ("a.b", "c.b"),
    ("a[1]", "a[2]"),
    ("a(b)", "a(*b)"),
    ("a(b=1)", "a(c=1)"),
    ("a(b)", "a(b, c)"),
    ("not a", "-a"),
    ("a < b", "a <= b"),
    ("a < b", "a < c"),
    ("a and b", "a or b"),
    ("a + b", "a - b"),
    ("[a, b]", "(a, b)"),
    ("1", "True"),
    ("1", "'1'"),
    ("[x for x in a]", "{x for x in a}"),
    ("lambda: 1", "lambda: 2"),
    ("f'{a}/b'", "f'{a}/c'"),
    ("f'{a}/b'", "f'{c}/b'"),
    ("f'{a}/b'", "f'b/{a}'"),
    ("f'{a}/b'", "f'{a}{b}'"),
    ("f'{a:03d}.png'", "f'{a:02d}.png'"),
    ("f'{a:03d}.png'", "f'{a}.png'"),
    ("f'{a}'", "f'{a!r}'"),
    ("f'{a} is {b}'", "f'{a} was {b}'"),
    ("'%s/b' % a", "'%s/c' % a"),
    ("'{}/b'.format(a)", "'{}/c'.format(a)"),
    ("x", "x"),
]


def function(folder: Path, code: str) -> tuple[Frame, Model]:
    """The frame of a function with this code, when unknown code calls it, and its model."""
    lines = "\n".join(f" {line}" for line in code.split("; "))
    model = link(folder, f"def f(a, b, c, y):\n{lines}\n").model
    frame = model.callers.opened(folder / "case.py", 0, 1)
    assert frame is not None
    return frame, model


def calls(frame: Frame, name: str) -> list[tuple[int, int]]:
    """The calls of what has a name, each with its context."""
    return [(s.call, s.context) for s, call in frame.code.calls if frame.code.exprs[call.func] == ir.Global(name)]


@pytest.mark.parametrize("code", [*ALWAYS, *NOT_ALWAYS])
def test_what_always_runs_before(code: str, tmp_path: Path) -> None:
    frame, model = function(tmp_path, code)
    ((_, at),) = calls(frame, "at")
    contexts = [context for _, context in calls(frame, "by")]
    assert always_comes_by(contexts, at, frame, model) is (code in ALWAYS)


@pytest.mark.parametrize("code", [*NEVER, *BOTH])
def test_what_never_runs_together(code: str, tmp_path: Path) -> None:
    frame, model = function(tmp_path, code)
    (at, _), (by, _) = calls(frame, "at")[0], calls(frame, "by")[0]
    assert never_both(by, at, frame, model) is (code in NEVER)
    assert never_both(at, by, frame, model) is (code in NEVER)


@pytest.mark.parametrize(("one", "other"), [*((one, one) for one in ALIKE), *UNLIKE])
def test_what_is_written_alike(one: str, other: str, tmp_path: Path) -> None:
    frame, _ = function(tmp_path, f"x = 1; kept = {one}; if a: x = 2; return {other}")
    assert frame.code.one is not None
    first = next(step.value for step in frame.code.one.steps if isinstance(step, ir.Bind) and step.name == "kept")
    last = next(step.value for step in frame.code.one.steps if isinstance(step, ir.Return))
    assert is_alike(first, last, frame.code.exprs) is (one == other != "x")
    assert is_alike(first, first, frame.code.exprs) and not is_alike(first, ir.NONE, frame.code.exprs)
