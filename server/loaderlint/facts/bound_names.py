"""The names that a body binds, found before it is lowered: they decide which names are local, captured or global."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any


class Bindings:
    """The names that the statements of one def (nested defs left out) bind, and the declared ones.

    `loops` has for each loop node (by `id`) the names bound inside it, in order of first binding. `walrus` are the
    names bound by `:=`, which may be in any of the loops; they are in `names` too."""

    __slots__ = ("global_names", "loops", "names", "nonlocal_names", "walrus")

    def __init__(self, walrus: Sequence[str] = ()) -> None:
        self.names: list[str] = [*walrus]
        self.walrus = tuple(walrus)
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.loops: dict[int, tuple[str, ...]] = {}


def collect(statements: Iterable[ast.AST], found: Bindings) -> None:
    """Add the bindings of `statements` to `found`, except for those of named expressions (`:=`)."""
    scanners = _SCANNERS
    for statement in statements:
        scan = scanners.get(statement.__class__)
        if scan is not None:
            scan(statement, found)


def add_target(node: ast.AST, names: list[str]) -> None:
    """Append the names that assigning to `node` binds."""
    kind = node.__class__
    if kind is ast.Name:
        names.append(node.id)  # type: ignore[attr-defined]
    elif kind is ast.Tuple or kind is ast.List:
        for element in node.elts:  # type: ignore[attr-defined]
            add_target(element, names)
    elif kind is ast.Starred:
        add_target(node.value, names)  # type: ignore[attr-defined]


def imported_name(alias: ast.alias) -> str:
    """The name that `alias` binds: `c` of `a.b as c`, `a` of `a.b`."""
    return alias.asname or alias.name.partition(".")[0]


def _assign(node: ast.Assign, found: Bindings) -> None:
    for target in node.targets:
        add_target(target, found.names)


def _target(node: ast.AnnAssign | ast.AugAssign, found: Bindings) -> None:
    add_target(node.target, found.names)


def _named(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, found: Bindings) -> None:
    found.names.append(node.name)


def _type_alias(node: Any, found: Bindings) -> None:
    add_target(node.name, found.names)


def _delete(node: ast.Delete, found: Bindings) -> None:
    for target in node.targets:
        add_target(target, found.names)


def _import(node: ast.Import, found: Bindings) -> None:
    found.names.extend(map(imported_name, node.names))


def _import_from(node: ast.ImportFrom, found: Bindings) -> None:
    if node.names[0].name != "*":
        found.names.extend(map(imported_name, node.names))


def _global(node: ast.Global, found: Bindings) -> None:
    found.global_names.update(node.names)


def _nonlocal(node: ast.Nonlocal, found: Bindings) -> None:
    found.nonlocal_names.update(node.names)


def _if(node: ast.If, found: Bindings) -> None:
    collect(node.body, found)
    orelse = node.orelse
    while len(orelse) == 1 and isinstance(orelse[0], ast.If):
        collect(orelse[0].body, found)
        orelse = orelse[0].orelse
    collect(orelse, found)


def _for(node: ast.For | ast.AsyncFor, found: Bindings) -> None:
    start = len(found.names)
    add_target(node.target, found.names)
    _loop_body(node, start, found)


def _while(node: ast.While, found: Bindings) -> None:
    _loop_body(node, len(found.names), found)


def _loop_body(node: ast.For | ast.AsyncFor | ast.While, start: int, found: Bindings) -> None:
    collect(node.body, found)
    found.loops[id(node)] = tuple(dict.fromkeys(found.names[start:]))
    collect(node.orelse, found)


def _with(node: ast.With | ast.AsyncWith, found: Bindings) -> None:
    for item in node.items:
        if item.optional_vars is not None:
            add_target(item.optional_vars, found.names)
    collect(node.body, found)


def _try(node: ast.Try, found: Bindings) -> None:
    collect(node.body, found)
    for handler in node.handlers:
        if handler.name is not None:
            found.names.append(handler.name)
        collect(handler.body, found)
    collect(node.orelse, found)
    collect(node.finalbody, found)


def _match(node: ast.Match, found: Bindings) -> None:
    for case in node.cases:
        add_pattern(case.pattern, found.names)
        collect(case.body, found)


def add_pattern(node: ast.pattern | None, names: list[str]) -> None:
    """Append the names that the match pattern `node` binds."""
    if isinstance(node, ast.MatchAs):
        add_pattern(node.pattern, names)
        _append(node.name, names)
    elif isinstance(node, ast.MatchOr | ast.MatchSequence):
        for inner in node.patterns:
            add_pattern(inner, names)
    elif isinstance(node, ast.MatchStar):
        _append(node.name, names)
    elif isinstance(node, ast.MatchMapping):
        for inner in node.patterns:
            add_pattern(inner, names)
        _append(node.rest, names)
    elif isinstance(node, ast.MatchClass):
        for inner in (*node.patterns, *node.kwd_patterns):
            add_pattern(inner, names)


def _append(name: str | None, names: list[str]) -> None:
    if name is not None:
        names.append(name)


_SCANNERS: dict[type[ast.AST], Callable[[Any, Bindings], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _target,
    ast.AugAssign: _target,
    ast.FunctionDef: _named,
    ast.AsyncFunctionDef: _named,
    ast.ClassDef: _named,
    ast.Delete: _delete,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
}
# Not every Python has these.
for _name, _scan in (("TryStar", _try), ("TypeAlias", _type_alias)):
    if hasattr(ast, _name):
        _SCANNERS[getattr(ast, _name)] = _scan
