"""What a local is that goes round in a loop does not depend on the expression that somebody asks for first."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.facts import ir
from loaderlint.project.evaluation.values import LibObject, Literal_, Unknown, Val
from tests.project.linking import link_files

BODIES = {
    "one": "for step in steps: x = step(x)\n    return x",
    "function": "for _ in range(3): x = same(x)\n    return x",
    "pair": "y = b()\n    for step in steps: x, y = both(x, y)\n    return x, y",
    "parts": "for step in steps:\n        part = x.part\n        x = same(part)\n    return x",
    "while": "while x: x = same(x)\n    return x",
    "swapped": "y = b()\n    for _ in steps: x, y = y, x\n    return x, y",
    "nested": "for _ in steps:\n        for step in steps: x = step(x)\n    return x",
    "branch": "for _ in steps:\n        if x: x = same(x)\n        else: x = b()\n    return x",
    "read": "for step in steps:\n        show(x)\n        x = step(x)\n    return x",
}
CODE = """
from library import a, b
def same(x): return x
def new(x): return b()
def both(x, y): return x, y
steps = [same, new]
def run():
    x = a()
    {}
"""


def evaluated_from(first: int, code: str, root: Path) -> tuple[dict[int, Val], tuple[ir.Expr, ...]]:
    """All values in `run` where `first` is asked for first, and the expressions."""
    ev = link_files(root, {"code.py": code}).model.ev
    path = root / "code.py"
    file = ev.file(path)
    assert file is not None
    piece = next(n for n in range(len(file.pieces)) if file.pieces[n].text.startswith("def run"))
    frame = ev.frame(path, piece, 1, None, (), None, None, 0)
    ev.eval(first, frame)
    return {number: ev.eval(number, frame) for number in range(len(frame.code.exprs))}, frame.code.exprs


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_any_order_gives_the_same(tmp_path: Path, body: str) -> None:
    code = CODE.format(body)
    wanted, exprs = evaluated_from(0, code, tmp_path)
    for first in range(1, len(exprs)):
        found, _ = evaluated_from(first, code, tmp_path)
        assert {number: described(value) for number, value in found.items()} == {
            number: described(value) for number, value in wanted.items()
        }, f"asked for {first} first: {exprs[first]}"


def described(value: Val) -> list[str]:
    """A value without the identity of its frames."""
    return sorted(
        atom.name
        if isinstance(atom, LibObject)
        else repr(atom.value)
        if isinstance(atom, Literal_)
        else str(type(atom))
        for atom in value.atoms
    )


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("n = 1\n    for _ in steps: n = n + 1\n    return n", ["1", "loop"]),
        ("n = 1\n    for _ in steps: n = 2 if n else n + 1\n    return n", ["1", "loop"]),
        ("n = 1\n    for _ in steps: n = n * 1\n    return n", ["1"]),
        ("n = 1\n    for _ in steps:\n        if n: n = 2\n        else: n = n\n    return n", ["1", "2"]),
    ],
)
def test_a_count_is_not_known(tmp_path: Path, body: str, known: list[str]) -> None:
    values, exprs = evaluated_from(0, CODE.format(body), tmp_path)
    last = max(number for number, e in enumerate(exprs) if type(e) is ir.Phi)
    atoms = values[last].atoms
    assert (
        sorted(
            str(a.value) if isinstance(a, Literal_) else a.reason for a in atoms if isinstance(a, Literal_ | Unknown)
        )
        == known
    )


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("for step in steps: x = step(x)\n    return x", {"library.b"}),
        ("for step in [new, same]: x = step(x)\n    return x", {"library.b"}),
        ("for step in [same]: x = step(x)\n    return x", {"library.a"}),
        ("for step in []: x = step(x)\n    return x", {"library.a"}),
        ("for n, step in enumerate(steps): x = step(x)\n    return x", {"library.b"}),
        ("for step in steps:\n        if a(): x = step(x)\n    return x", {"library.a", "library.b"}),
        ("for step in steps:\n        if True: x = step(x)\n    return x", {"library.b"}),
        ("for step in steps:\n        if False: x = step(x)\n    return x", {"library.a"}),
        ("for step in steps:\n        show(x)\n        x = step(x)\n    return x", {"library.a", "library.b"}),
        ("for step in {same, new}: x = step(x)\n    return x", {"library.a", "library.b"}),
    ],
)
def test_steps_run_one_after_another(tmp_path: Path, body: str, names: set[str]) -> None:
    values, exprs = evaluated_from(0, CODE.format(body), tmp_path)
    last = max(number for number, e in enumerate(exprs) if type(e) is ir.Phi)
    assert {atom.name for atom in values[last].atoms if isinstance(atom, LibObject)} == names
