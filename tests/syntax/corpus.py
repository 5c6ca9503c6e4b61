"""Real files for the tests, and what is expected of their pieces."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import random
import sysconfig
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import libcst as cst
from hypothesis import strategies as st

from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import ParsedPiece
from loaderlint.syntax.nesting_depth import measure
from loaderlint.syntax.source import UnreadableSource, decode

PACKAGES = ("libcst", "pygls", "hypothesis", "mypy")


def files(count: int) -> list[Path]:
    """`count` files of the standard library and of installed packages, always the same ones; with the environment
    variable LOADERLINT_ALL=1 all of them."""
    found = _library() + [path for name in PACKAGES for path in _package(name)]
    found.sort()
    if os.environ.get("LOADERLINT_ALL") == "1":
        return found
    random.Random(20).shuffle(found)
    return found[:count]


def text(path: Path) -> str:
    """The text of a file; empty if it cannot be read as source."""
    try:
        return decode(path.read_bytes()).text
    except UnreadableSource:
        return ""


def whole(source: str) -> cst.Module | None:
    """The tree of a whole file, None if it does not parse."""
    try:
        return cst.parse_module(source)
    except Exception:
        return None


def _library() -> list[Path]:
    root = Path(sysconfig.get_path("stdlib"))
    return [path for path in root.rglob("*.py") if "site-packages" not in path.parts]


def _package(name: str) -> list[Path]:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return []
    return list(Path(spec.origin).parent.rglob("*.py"))


def difference(pieces: Sequence[Piece], trees: Sequence[ParsedPiece | None], module: cst.Module) -> str:
    """Where the pieces do not say the same as the tree of the whole file; '' if they do."""
    children: dict[int, list[int]] = defaultdict(list)
    for index, piece in enumerate(pieces):
        children[piece.parent].append(index)
    comparison = _Comparison(pieces, trees, children)
    return next(comparison.body(-1, module.body), "")


@dataclasses.dataclass
class _Comparison:
    pieces: Sequence[Piece]
    trees: Sequence[ParsedPiece | None]
    children: dict[int, list[int]]

    def body(self, parent: int, statements: Sequence[cst.CSTNode]) -> Iterator[str]:
        """The differences between the pieces in a container and the statements of the whole tree."""
        indices = iter(self.children[parent])
        for statement in statements:
            index = next(indices, None)
            if index is None:
                yield f"no piece for a {type(statement).__name__} in piece {parent}"
                return
            piece, tree = self.pieces[index], self.trees[index]
            if tree is None and measure(piece.text).is_too_deep:  # tables of strings with hundreds of parts
                continue
            if tree is None:
                yield f"does not parse: {piece}"
            elif piece.kind == "clause":
                for clause in _clauses(statement):
                    yield from self._clause(index, clause)
                    following = None if clause is _clauses(statement)[-1] else next(indices, None)
                    index = -1 if following is None else following
            elif piece.kind == "class":
                assert isinstance(statement, cst.ClassDef)
                if not same(statement, tree.node, skipped={"body"}):
                    yield f"another head: {piece}"
                yield from self.body(index, statement.body.body)
            elif not same(statement, tree.node):
                yield f"another statement: {piece}"
        if (index := next(indices, None)) is not None:
            yield f"too many pieces: {self.pieces[index]}"

    def _clause(self, index: int, clause: cst.CSTNode) -> Iterator[str]:
        tree = self.trees[index]
        if index < 0 or tree is None:
            yield f"a {type(clause).__name__} clause without a piece that parses"
            return
        heads = {"body", "orelse", "finalbody", "handlers"}
        if not isinstance(clause, cst.TryStar) and not same(clause, tree.node, skipped=heads):
            yield f"another clause: {self.pieces[index]}"
        body = clause.body
        if isinstance(body, cst.IndentedBlock):
            yield from self.body(index, body.body)
        elif not same(body, tree.node.body):
            yield f"another body: {self.pieces[index]}"


def _clauses(statement: cst.CSTNode) -> list[cst.CSTNode]:
    clauses = [statement]
    if isinstance(statement, cst.Try | cst.TryStar):
        clauses += [*statement.handlers, statement.orelse, statement.finalbody]
        return [clause for clause in clauses if clause is not None]
    while (statement := getattr(statement, "orelse", None)) is not None:
        clauses.append(statement)
    return clauses


#: Blank and comment lines between statements belong to no piece; indentation and line ends are those of a module.
_LAYOUT = {"leading_lines", "footer", "indent", "newline"}


def same(left: object, right: object, skipped: set[str] = frozenset()) -> bool:
    """Whether two trees are equal but for the layout around statements; fields `skipped` of the roots may differ."""
    pairs = [(left, right)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, cst.CSTNode):
            if type(left) is not type(right):
                return False
            names = {field.name for field in dataclasses.fields(left)} - _LAYOUT - skipped
            pairs += [(getattr(left, name), getattr(right, name)) for name in names]
            skipped = frozenset()
        elif isinstance(left, tuple | list):
            if not isinstance(right, tuple | list) or len(left) != len(right):
                return False
            pairs += zip(left, right, strict=True)
        elif left != right:
            return False
    return True


@st.composite
def half_typed(draw: st.DrawFn, code: str) -> str:
    """A text of some lines of `code` in any order, with a few signs taken out or put in."""
    lines = draw(st.lists(st.sampled_from([line for line in code.split("\n") if line]), min_size=1, max_size=6))
    text = "\n".join(lines) + "\n"
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text) - 1))
        sign = draw(st.sampled_from(["", " ", "(", ")", ":", "*", ",", "=", "\\", "'", "\t", ";", "{", "\n"]))
        text = text[:at] + sign + text[at + 1 :]
    return text
