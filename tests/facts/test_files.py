"""Lowering of real files: nothing raises, the tables hold together, formatting does not change the digest."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts, lower, piece_facts
from loaderlint.syntax.anchors import preorder
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.libcst_to_bare import stripped
from loaderlint.syntax.libcst_tree import ParsedPiece

LIBRARY = Path(sysconfig.get_path("stdlib"))
#: Files with much of the language in them.
FILES = [
    "argparse.py",
    "ast.py",
    "asyncio/base_events.py",
    "contextlib.py",
    "dataclasses.py",
    "inspect.py",
    "typing.py",
]
MATCHES = "test/test_patma.py"


def sources() -> list[Path]:
    found = [LIBRARY / name for name in [*FILES, MATCHES]]
    return [path for path in found if path.exists()]


def statements(text: str) -> list[cst.CSTNode]:
    """The statements of the module, those of its classes one by one."""
    found: list[cst.CSTNode] = []
    for node in cst.parse_module(text).body:
        found.extend(node.body.body if isinstance(node, cst.ClassDef) else (node,))
    return [node for node in found if isinstance(node, cst.BaseStatement)]


def lowered(node: cst.CSTNode) -> PieceFacts:
    return lower(ParsedPiece(cst.Module([]), node, 0, "", 0, 0))


def numbers(row: Any) -> Iterator[int]:
    """The expression numbers in a row."""
    for value, annotation in zip(row, type(row).__annotations__.values(), strict=True):
        kind = getattr(annotation, "__forward_arg__", annotation)
        if kind == "ExprId":
            yield value
        elif kind == "tuple[ExprId, ...]":
            yield from value
        elif kind == "tuple[tuple[str, ExprId], ...]":
            yield from (number for _, number in value)
        elif kind in ("tuple[Arg, ...]", "tuple[ParamIR, ...]", "tuple[Context, ...]", "tuple[Step, ...]"):
            for item in value:
                yield from numbers(item)


def assert_sound(facts: PieceFacts, nodes: int) -> None:
    piece, anchors = facts.ir, facts.anchors
    for row in (*piece.exprs, *piece.defs):
        assert all(-1 <= number < len(piece.exprs) for number in numbers(row)), row
    calls = [number for number, expr in enumerate(piece.exprs) if isinstance(expr, ir.Call)]
    steps = [step for definition in piece.defs for step in definition.steps]
    assert sorted(step.call for step in steps if isinstance(step, ir.Perform)) == calls
    for number, expr in enumerate(piece.exprs):
        if isinstance(expr, ir.Phi):
            assert len(set(expr.choices)) == len(expr.choices) >= 2
            assert number not in expr.choices
    assert len(anchors.exprs) == len(piece.exprs)
    assert all(-1 <= anchor < nodes for anchor in anchors.exprs)
    for definition, places in zip(piece.defs, anchors.steps, strict=True):
        assert len(places) == len(definition.steps)
        assert all(0 <= anchor < nodes for anchor in places)
        assert all(0 <= step.context < len(definition.contexts) for step in definition.steps)
        assert all(context.parent < number for number, context in enumerate(definition.contexts))


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.name)
def test_file(path: Path) -> None:
    text = path.read_text("utf-8")
    for node in statements(text):
        facts = lowered(node)
        assert_sound(facts, len(preorder(stripped(node)[0])))
        assert lowered(node) == facts
        assert pickle.loads(pickle.dumps(facts)) == facts


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.name)
def test_comments_and_blank_lines_do_not_count(path: Path) -> None:
    text = path.read_text("utf-8")
    before = [lowered(node).digest for node in statements(text)]
    after = [lowered(node).digest for node in statements(commented(text))]
    assert after == before


def commented(text: str) -> str:
    """`text` with a blank line and a comment after some of the statements that end at the end of a line."""
    chance = random.Random(0)
    ends = [
        position.end.line
        for node, position in cst.MetadataWrapper(cst.parse_module(text)).resolve(cst.metadata.PositionProvider).items()
        if isinstance(node, cst.SimpleStatementLine)
    ]
    lines = text.split("\n")
    for line in sorted(ends, reverse=True):
        if chance.random() < 0.3:
            lines.insert(line, "\n   # a comment")
    return "\n".join(lines)


@pytest.mark.parametrize("path", sources()[:4], ids=lambda path: path.name)
def test_formatter_does_not_count(path: Path) -> None:
    text = path.read_text("utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "60", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8")
    if "No module named ruff" in done.stderr:
        pytest.skip("ruff is not installed")
    assert done.returncode == 0, done.stderr
    before = [lowered(node) for node in statements(text)]
    after = [lowered(node) for node in statements(done.stdout)]
    assert [facts.ir for facts in after] == [facts.ir for facts in before]
    assert [facts.digest for facts in after] == [facts.digest for facts in before]


def test_long_chains_are_no_recursion() -> None:
    terms = 1200
    for text in (
        " + ".join(["a"] * terms),
        " and ".join(["a"] * terms),
        " ".join(["'a'"] * terms),
    ):
        (node,) = statements(f"x = {text}\n")
        facts = lowered(node)
        assert len(facts.ir.defs[0].steps) == 1
    branches = "if a: b()\n" + "elif a: b()\n" * terms
    (node,) = statements(branches)
    assert sum(isinstance(step, ir.Perform) for step in lowered(node).ir.defs[0].steps) == terms + 1


def test_nested_too_deep_is_not_read() -> None:
    """Nobody writes this; it must not take the server down."""
    for text in ("x = a" + ".b" * 20_000, "x = " + "(" * 5_000 + ")" * 5_000, "x = " + " + ".join(["a"] * 5_000)):
        (piece,) = cut(text + "\n")
        assert piece_facts(piece) is None
