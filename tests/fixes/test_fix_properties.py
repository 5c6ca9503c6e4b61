"""Fixes at random places of the standard library: what they add can be told apart, and nothing else has changed."""

from __future__ import annotations

import ast
import functools
import random
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import libcst as cst
import pytest

from loaderlint.findings.finding import (
    AddImport,
    DeleteStatement,
    InsertFunction,
    InsertMethod,
    InsertStatement,
    Intent,
    Place,
    RemoveArgument,
    SetArgument,
    Wrap,
)
from loaderlint.fixes.apply import edits_for, merge
from loaderlint.fixes.file_edits import FileEdit, NoFix
from loaderlint.fixes.piece_tree import Tree, grow
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.source import UnreadableSource, decode
from tests.fixes.fixing import PATH, Files, apply

LIBRARY = Path(textwrap.__file__).parent
NAMES = """bdb cmd code contextlib copy csv fileinput functools glob heapq numbers queue reprlib
sched shlex textwrap trace types wave weakref webbrowser""".split()
FILES = [path for path in (LIBRARY / f"{name}.py" for name in NAMES) if path.is_file() and path.stat().st_size < 40_000]


def texts() -> Iterator[tuple[str, str]]:
    for path in FILES:
        try:
            source = decode(path.read_bytes())
        except UnreadableSource:
            continue
        if not source.oddities:
            yield path.stem, source.text


TEXTS = dict(texts())


@functools.cache
def trees(text: str) -> list[tuple[int, Tree]]:
    """The pieces of a text that can be edited, with their numbers."""
    found = [(number, grow(piece)) for number, piece in enumerate(cut(text))]
    return [(number, tree) for number, tree in found if tree is not None and tree.exact]


def places(text: str, kind: type[cst.CSTNode], count: int, seed: str) -> list[Place]:
    """Some places of nodes of class `kind`."""
    found = [
        Place(PATH, number, anchor)
        for number, tree in trees(text)
        for anchor in range(len(tree.by_anchor))
        if isinstance(tree.at(anchor), kind)
    ]
    return random.Random(seed).sample(found, min(count, len(found)))


class _Without(ast.NodeTransformer):
    """Takes out everything with the name `__fresh__`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "__fresh__":
            return node.args[0]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__fresh__" and not node.args:
            return node.func.value
        node.keywords = [keyword for keyword in node.keywords if keyword.arg != "__fresh__"]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return node.left if isinstance(node.right, ast.Name) and node.right.id == "__fresh__" else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        first = node.values[0]  # `a and b and c` holds no `a and b`, libcst's has one
        if isinstance(first, ast.BoolOp) and type(first.op) is type(node.op):
            node.values[:1] = first.values
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        self.generic_visit(node)
        return None if isinstance(node.value, ast.Name) and node.value.id == "__fresh__" else node

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        return None if node.names[0].name == "__fresh__" else node

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        node.elts = [one for one in node.elts if not is_exported(one)]
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        node.elts = [one for one in node.elts if not is_exported(one)]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        self.generic_visit(node)
        return None if node.name == "__fresh__f" else node


def is_exported(item: ast.expr) -> bool:
    """Whether an item of a list is the name of the new function, as it is added to `__all__`."""
    return isinstance(item, ast.Constant) and item.value == "__fresh__f"


def meaning(text: str) -> str:
    """The tree of `text` without what was added to it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    return ast.dump(_Without().visit(tree))


def check(text: str, here: Sequence[Place], intent: Callable[[Place], Intent]) -> int:
    """Carry out the intent at each place, alone and all together. How many could be carried out."""
    files = Files({PATH: text})
    before = meaning(text)
    done = []
    for place in here:
        edits = edits_for([intent(place)], files)
        if not isinstance(edits, NoFix):
            assert_only_added(text, edits, before)
            done.append(place)
    edits = merge([(intent(place),) for place in done], files)
    if done:
        assert_only_added(text, edits, before)
    return len(done)


def assert_only_added(text: str, edits: tuple[FileEdit, ...], before: str) -> None:
    for edit in edits[0].edits:
        assert edit.span[:2] == edit.span[2:], edit
    after = apply(text, edits)
    assert "__fresh__" in after
    assert meaning(after) == before


@pytest.mark.parametrize("name", TEXTS)
def test_wrapped_expressions(name: str) -> None:
    text = TEXTS[name]
    here = places(text, cst.BaseExpression, 12, name)
    done = check(text, here[:4], lambda place: Wrap(place, "__fresh__(", ")"))
    done += check(text, here[4:8], lambda place: Wrap(place, "", ".__fresh__()"))
    done += check(text, here[8:], lambda place: Wrap(place, "", " + __fresh__"))
    assert done


def test_arguments() -> None:
    done = 0
    for name, text in TEXTS.items():
        here = places(text, cst.Call, 4, name)
        done += check(text, here, lambda place: SetArgument(place, "__fresh__", "1", beside_unpacked=True))
    assert done > 2 * len(TEXTS)


def test_arguments_set_and_removed() -> None:
    done = 0
    for name, text in TEXTS.items():
        for place in places(text, cst.Call, 2, name):
            edits = edits_for([SetArgument(place, "__fresh__", "1")], Files({PATH: text}))
            if isinstance(edits, NoFix):
                continue
            after = apply(text, edits)
            # The anchor of a call is that of its text before: nothing in front of it has changed.
            removed = edits_for([RemoveArgument(place, "__fresh__")], Files({PATH: after}))
            assert not isinstance(removed, NoFix)
            assert meaning(apply(after, removed)) == meaning(text)
            assert "__fresh__=" not in apply(after, removed)
            done += 1
    assert done > len(TEXTS)


def test_statements() -> None:
    done = 0
    for name, text in TEXTS.items():
        here = places(text, cst.BaseStatement, 4, name)
        done += check(text, here[:2], lambda place: InsertStatement(place, "__fresh__"))
        done += check(text, here[2:], lambda place: InsertStatement(place, "__fresh__", "before"))
    assert done > 3 * len(TEXTS)


def test_statements_inserted_and_deleted() -> None:
    done = 0
    for name, text in TEXTS.items():
        for place in places(text, cst.BaseStatement, 2, name):
            edits = edits_for([InsertStatement(place, "__fresh__")], Files({PATH: text}))
            if isinstance(edits, NoFix):
                continue
            after = apply(text, edits)
            (number,) = (number for number, piece in enumerate(cut(after)) if "__fresh__" in piece.text)
            tree = grow(cut(after)[number])
            assert tree is not None
            (anchor,) = (
                anchor
                for anchor, node in enumerate(tree.by_anchor)
                if isinstance(node, cst.Expr) and after[tree.start(node) : tree.end(node)] == "__fresh__"
            )
            new = Place(PATH, number, anchor)
            deleted = edits_for([DeleteStatement(new)], Files({PATH: after}))
            assert not isinstance(deleted, NoFix)
            assert apply(after, deleted) == text
            done += 1
    assert done > len(TEXTS)


@pytest.mark.parametrize("name", TEXTS)
def test_imports_functions_and_methods(name: str) -> None:
    text = TEXTS[name]
    here = places(text, cst.ClassDef, 2, name)
    check(text, here, lambda place: InsertMethod(place, "__fresh__f", "def {name}(self):\n    return 1"))
    files = Files({PATH: text})
    intents: list[Intent] = [
        AddImport(PATH, "__fresh__"),
        InsertFunction(PATH, "__fresh__f", "def {name}(x):\n    return {__fresh__}.x"),
    ]
    edits = edits_for(intents, files)
    assert not isinstance(edits, NoFix), edits.reason
    assert_only_added(text, edits, meaning(text))
    after = apply(text, edits)
    assert after.index("import __fresh__") < after.index("def __fresh__f")
    again = edits_for(intents, Files({PATH: after}))
    assert again == NoFix("nothing is left to change")
