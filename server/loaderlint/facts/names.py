"""Which names a body binds, before it is lowered: what decides between local, captured and global."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst


class Bindings:
    """The names that the statements of one def (nested defs left out) bind, and the declared ones.

    `loops` has for each loop node (by `id`) the names bound inside it, in order of first binding. `walrus` are the
    names bound by `:=`, which may stand in any of the loops; they are in `names` too."""

    __slots__ = ("global_names", "loops", "names", "nonlocal_names", "walrus")

    def __init__(self, walrus: Sequence[str] = ()) -> None:
        self.names: list[str] = [*walrus]
        self.walrus = tuple(walrus)
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.loops: dict[int, tuple[str, ...]] = {}


def collect(statements: Iterable[cst.CSTNode], found: Bindings) -> None:
    """Add the bindings of `statements` to `found`, those of named expressions (`:=`) excepted."""
    scanners = _SCANNERS
    for statement in statements:
        scan = scanners.get(statement.__class__)
        if scan is not None:
            scan(statement, found)


def add_target(node: cst.CSTNode, names: list[str]) -> None:
    """Append the names that assigning to `node` binds."""
    kind = node.__class__
    if kind is cst.Name:
        names.append(node.value)  # type: ignore[attr-defined]
    elif kind is cst.Tuple or kind is cst.List:
        for element in node.elements:  # type: ignore[attr-defined]
            add_target(element.value, names)
    elif kind is cst.StarredElement:
        add_target(node.value, names)  # type: ignore[attr-defined]


def imported_name(alias: cst.ImportAlias) -> str:
    """The name that `alias` binds: `c` of `a.b as c`, `a` of `a.b`."""
    if alias.asname is not None:
        name = alias.asname.name
        return name.value if isinstance(name, cst.Name) else ""
    node: cst.BaseExpression = alias.name
    while isinstance(node, cst.Attribute):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def _line(node: cst.SimpleStatementLine, found: Bindings) -> None:
    collect(node.body, found)


def _assign(node: cst.Assign, found: Bindings) -> None:
    for target in node.targets:
        add_target(target.target, found.names)


def _target(node: cst.AnnAssign | cst.AugAssign, found: Bindings) -> None:
    add_target(node.target, found.names)


def _named(node: cst.FunctionDef | cst.ClassDef | cst.TypeAlias, found: Bindings) -> None:
    found.names.append(node.name.value)


def _delete(node: cst.Del, found: Bindings) -> None:
    add_target(node.target, found.names)


def _import(node: cst.Import | cst.ImportFrom, found: Bindings) -> None:
    if not isinstance(node.names, cst.ImportStar):
        found.names.extend(map(imported_name, node.names))


def _global(node: cst.Global, found: Bindings) -> None:
    found.global_names.update(item.name.value for item in node.names)


def _nonlocal(node: cst.Nonlocal, found: Bindings) -> None:
    found.nonlocal_names.update(item.name.value for item in node.names)


def _if(node: cst.If, found: Bindings) -> None:
    branch: cst.If | cst.Else | None = node
    while branch is not None:
        collect(branch.body.body, found)
        branch = branch.orelse if branch.__class__ is cst.If else None


def _for(node: cst.For, found: Bindings) -> None:
    start = len(found.names)
    add_target(node.target, found.names)
    _loop_body(node, start, found)


def _while(node: cst.While, found: Bindings) -> None:
    _loop_body(node, len(found.names), found)


def _loop_body(node: cst.For | cst.While, start: int, found: Bindings) -> None:
    collect(node.body.body, found)
    found.loops[id(node)] = tuple(dict.fromkeys(found.names[start:]))
    if node.orelse is not None:
        collect(node.orelse.body.body, found)


def _with(node: cst.With, found: Bindings) -> None:
    for item in node.items:
        if item.asname is not None:
            add_target(item.asname.name, found.names)
    collect(node.body.body, found)


def _try(node: cst.Try | cst.TryStar, found: Bindings) -> None:
    collect(node.body.body, found)
    for handler in node.handlers:
        if handler.name is not None:
            add_target(handler.name.name, found.names)
        collect(handler.body.body, found)
    if node.orelse is not None:
        collect(node.orelse.body.body, found)
    if node.finalbody is not None:
        collect(node.finalbody.body.body, found)


def _match(node: cst.Match, found: Bindings) -> None:
    for case in node.cases:
        add_pattern(case.pattern, found.names)
        collect(case.body.body, found)


def add_pattern(node: cst.CSTNode | None, names: list[str]) -> None:
    """Append the names that the match pattern `node` binds."""
    if isinstance(node, cst.MatchAs):
        add_pattern(node.pattern, names)
        _append(node.name, names)
    elif isinstance(node, cst.MatchOr):
        for option in node.patterns:
            add_pattern(option.pattern, names)
    elif isinstance(node, cst.MatchList | cst.MatchTuple):
        for item in node.patterns:
            add_pattern(item.value if isinstance(item, cst.MatchSequenceElement) else item, names)
    elif isinstance(node, cst.MatchStar):
        _append(node.name, names)
    elif isinstance(node, cst.MatchMapping):
        for element in node.elements:
            add_pattern(element.pattern, names)
        _append(node.rest, names)
    elif isinstance(node, cst.MatchClass):
        for positional in node.patterns:
            add_pattern(positional.value, names)
        for keyword in node.kwds:
            add_pattern(keyword.pattern, names)


def _append(name: cst.Name | None, names: list[str]) -> None:
    if name is not None:
        names.append(name.value)


_SCANNERS: dict[type[cst.CSTNode], Callable[[Any, Bindings], None]] = {
    cst.SimpleStatementLine: _line,
    cst.Assign: _assign,
    cst.AnnAssign: _target,
    cst.AugAssign: _target,
    cst.FunctionDef: _named,
    cst.ClassDef: _named,
    cst.TypeAlias: _named,
    cst.Del: _delete,
    cst.Import: _import,
    cst.ImportFrom: _import,
    cst.Global: _global,
    cst.Nonlocal: _nonlocal,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Match: _match,
}
# Python 3.15's lazy imports bind as the others do.
for _name, _scan in (("LazyImport", _import), ("LazyImportFrom", _import)):
    if hasattr(cst, _name):
        _SCANNERS[getattr(cst, _name)] = _scan
