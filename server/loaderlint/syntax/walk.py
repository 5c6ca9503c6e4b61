"""The nodes of a tree in one fixed order.

`preorder` gives every node its number, the anchor that facts keep instead of a position. Comments, blank lines and
layout have no number, nor have commas, parentheses, operators and other signs that their parent tells.

libcst's own ways to walk (`visit`, `children`, matchers) build every node again, also when nothing changes. Here a
getter of the children is generated for each node class when it is first met, from the types of the class's fields.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Sequence

import libcst as cst

_Push = Callable[[cst.CSTNode, list[cst.CSTNode]], None]

#: Nodes without a number. Operators are here because they are read from their parent.
_SKIPPED: tuple[type, ...] = (
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Newline,
    cst.Comment,
    cst.Comma,
    cst.Semicolon,
    cst.Colon,
    cst.Dot,
    cst.AssignEqual,
    cst.LeftParen,
    cst.RightParen,
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
    cst.LeftCurlyBrace,
    cst.RightCurlyBrace,
    cst.ParamStar,
    cst.ParamSlash,
    cst.Asynchronous,
    cst.BaseBinaryOp,
    cst.BaseBooleanOp,
    cst.BaseUnaryOp,
    cst.BaseCompOp,
    cst.BaseAugOp,
    cst.BitOr,
)

#: Fields of the classes whose field order is not the order of the text; fields left out follow in their own order.
_SOURCE_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.Arg: ("keyword", "value"),
    cst.Parameters: ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.With: ("items", "body"),
    cst.TypeAlias: ("name", "type_parameters", "value"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.DictComp: ("key", "value", "for_in"),
}


def preorder(node: cst.CSTNode) -> list[cst.CSTNode]:
    """`node` and all nodes below it, parents before children, children in the order of the text.

    The index of a node in this list is its anchor. Does not recurse, so that the depth of a tree does not matter."""
    nodes: list[cst.CSTNode] = []
    append = nodes.append
    stack = [node]
    pop = stack.pop
    getters = _GETTERS
    while stack:
        node = pop()
        append(node)
        push = getters[type(node)]
        if push is not None:
            push(node, stack)
    return nodes


class _Getters(dict[type[cst.CSTNode], _Push | None]):
    """Node class -> function that pushes the children of such a node, last child first; None for a leaf."""

    def __missing__(self, kind: type[cst.CSTNode]) -> _Push | None:
        getter = self[kind] = _generate(kind)
        return getter


_GETTERS = _Getters()


def _generate(kind: type[cst.CSTNode]) -> _Push | None:
    hints = typing.get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]
    first = _SOURCE_ORDER.get(kind, ())
    names = [*first, *(name for name in names if name not in first)]
    lines = [line for name in reversed(names) for line in _push_lines(name, hints[name])]
    if not lines:
        return None
    scope: dict[str, typing.Any] = {"skipped": _SKIPPED, "CSTNode": cst.CSTNode}
    exec("def push(node, stack):\n" + "\n".join(f"    {line}" for line in lines), scope)
    return typing.cast(_Push, scope["push"])


def _push_lines(name: str, hint: object) -> list[str]:
    """The statements that push the child or children in the field `name`, whose type is `hint`."""
    kinds = list(_kinds(hint))
    if not any(kind.wanted for kind in kinds):
        return []
    if all(kind.many for kind in kinds):
        return [f"value = node.{name}", "if value: stack.extend(value[::-1])"]
    if any(kind.many for kind in kinds):
        return [
            f"value = node.{name}",
            "if isinstance(value, CSTNode): stack.append(value)",
            "elif value: stack.extend(value[::-1])",
        ]
    if all(kind.wanted for kind in kinds):
        return [f"stack.append(node.{name})"]
    if all(kind.wanted or kind.none for kind in kinds):
        return [f"value = node.{name}", "if value is not None: stack.append(value)"]
    return [
        f"value = node.{name}",
        "if isinstance(value, CSTNode) and not isinstance(value, skipped): stack.append(value)",
    ]


class _Kind(typing.NamedTuple):
    """One member of a field's union type: a numbered node, None, several nodes, or (all False) something else."""

    wanted: bool
    none: bool = False
    many: bool = False


def _kinds(hint: object) -> typing.Iterator[_Kind]:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        for argument in typing.get_args(hint):
            yield from _kinds(argument)
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        inner = list(_kinds(typing.get_args(hint)[0]))
        yield _Kind(wanted=any(kind.wanted for kind in inner), many=True)
    elif hint is type(None):
        yield _Kind(wanted=False, none=True)
    else:
        yield _Kind(wanted=_is_wanted(hint))


@functools.cache
def _is_wanted(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, cst.CSTNode) and not issubclass(hint, _SKIPPED)
