"""Lowers the expressions of the bare tree to rows of the table, with the calls in them as steps.

There is one function for each node class, in `EXPRESSIONS`. Operands are read in the order in which Python evaluates
them, so that `Perform` steps are in order. The functions recurse along the tree; long chains of operators, which are
nested on one side, are walked in a loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

from loaderlint.facts.ir import (
    NONE,
    Arg,
    Attr,
    Await,
    Bin,
    BoolOp,
    Call,
    Comp,
    Compare,
    Const,
    Context,
    DefIR,
    Element,
    ExprId,
    IfExp,
    Index,
    Iterate,
    MakeDef,
    Map,
    Opaque,
    Param,
    ParamIR,
    Return,
    Seq,
    SetAttr,
    SetItem,
    Slice,
    Star,
    Test,
    Text,
    Unary,
    Unpack,
    Yield,
    YieldStep,
)
from loaderlint.facts.literals import constant, is_number
from loaderlint.facts.lowering_state import Frame
from loaderlint.syntax.bare_tree import Unreadable

#: The source text of operators.
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
    ast.MatMult: "@",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.Eq: "==",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Not: "not",
}
_PART_OF_NAME = re.compile(r"[\w./:*?\[\]-]*")


def expression(f: Frame, node: ast.AST) -> ExprId:
    """The row of the expression `node`."""
    return EXPRESSIONS.get(node.__class__, _unknown)(f, node)


def optional(f: Frame, node: ast.AST | None) -> ExprId:
    """The row of `node`, `NONE` for None."""
    return NONE if node is None else EXPRESSIONS.get(node.__class__, _unknown)(f, node)


def _unknown(f: Frame, node: ast.AST) -> ExprId:
    return f.emit(Opaque(node.__class__.__name__), node)


def _unreadable(f: Frame, node: Unreadable) -> ExprId:
    return f.emit(Opaque(node.reason), node)


# --- atoms ------------------------------------------------------------------------------------------------------------


def _name(f: Frame, node: ast.Name) -> ExprId:
    return f.read(node.id, node)


def _constant(f: Frame, node: ast.Constant) -> ExprId:
    return f.emit(constant(node.value), node)


def _formatted(f: Frame, node: Any) -> ExprId:
    texts = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
    if isinstance(node, ast.JoinedStr) and len(texts) == len(node.values):
        return f.emit(constant("".join(texts)), node)
    parts: list[ExprId] = []
    _parts(f, node.values, parts)
    return f.emit(Text(tuple(parts), *_texts_of_name(node.values)), node)


def _texts_of_name(nodes: Sequence[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The constant parts of a formatted string that gives a name or path, one more than its fields, and the formats of
    the fields, if one has any; nothing for any other string, and if a field is converted or a format holds fields."""
    texts, formats = [""], []
    for node in nodes:
        if node.__class__ is ast.Constant:
            texts[-1] += str(node.value)
        elif node.conversion != -1 or (node.format_spec is not None and _has_fields(node.format_spec)):
            return (), ()
        else:
            texts.append("")
            formats.append("".join(str(one.value) for one in node.format_spec.values) if node.format_spec else "")
    if not any(texts) or not all(map(_PART_OF_NAME.fullmatch, texts)):
        return (), ()
    return tuple(texts), tuple(formats) if any(formats) else ()


def _has_fields(spec: Any) -> bool:
    """Whether a format specification holds expressions: `{value:{width}}`."""
    return any(node.__class__ is not ast.Constant for node in spec.values)


def _parts(f: Frame, nodes: Sequence[Any], parts: list[ExprId]) -> None:
    """Append the expressions between the braces of a formatted string, those of format specifications included."""
    for node in nodes:
        if node.__class__ is ast.Constant:
            continue
        parts.append(expression(f, node.value))
        if node.format_spec is not None:
            _parts(f, node.format_spec.values, parts)


# --- displays ---------------------------------------------------------------------------------------------------------


def _sequence(kind: Literal["list", "tuple", "set"]) -> Callable[[Frame, Any], ExprId]:
    def lower(f: Frame, node: Any) -> ExprId:
        return f.emit(Seq(kind, tuple([expression(f, element) for element in node.elts])), node)

    return lower


def _starred(f: Frame, node: ast.Starred) -> ExprId:
    return f.emit(Star(expression(f, node.value)), node)


def _dict(f: Frame, node: ast.Dict) -> ExprId:
    keys = []
    values = []
    for key, value in zip(node.keys, node.values, strict=True):
        keys.append(optional(f, key))
        values.append(expression(f, value))
    return f.emit(Map(tuple(keys), tuple(values)), node)


# --- operators --------------------------------------------------------------------------------------------------------


def _attribute(f: Frame, node: ast.Attribute) -> ExprId:
    value = node.value
    base = EXPRESSIONS.get(value.__class__, _unknown)(f, value)
    name = node.attr
    f.tables.mentions.add(name)
    return f.emit(Attr(base, name), node)


def _subscript(f: Frame, node: ast.Subscript) -> ExprId:
    base = expression(f, node.value)
    return f.emit(Index(base, expression(f, node.slice)), node)


def _slice(f: Frame, node: ast.Slice) -> ExprId:
    lower, upper, step = optional(f, node.lower), optional(f, node.upper), optional(f, node.step)
    return f.emit(Slice(lower, upper, step), node)


def _call(f: Frame, node: ast.Call) -> ExprId:
    func = node.func
    function = EXPRESSIONS.get(func.__class__, _unknown)(f, func)
    call = f.emit(Call(function, _arguments(f, node.args, node.keywords)), node)
    f.perform(call)
    return call


def _arguments(f: Frame, args: list[ast.expr], keywords: list[ast.keyword]) -> tuple[Arg, ...]:
    """The arguments of a call, in the order in which they are written."""
    nodes: Sequence[Any] = args
    if keywords:
        nodes = [*args, *keywords]
        if args and args[-1].__class__ is ast.Starred:  # the only ones that may follow keywords
            nodes.sort(key=_place)
    found = []
    for node in nodes:
        kind = node.__class__
        if kind is ast.keyword:
            found.append(keyword(f, node))
        elif kind is ast.Starred:
            found.append(Arg("star", "", expression(f, node.value)))
        else:
            found.append(Arg("pos", "", EXPRESSIONS.get(kind, _unknown)(f, node)))
    return tuple(found)


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def keyword(f: Frame, node: ast.keyword) -> Arg:
    """A keyword argument, or one with two stars."""
    value = expression(f, node.value)
    name = node.arg
    if name is None:
        return Arg("starstar", "", value)
    f.tables.mentions.add(name)
    return Arg("kw", name, value)


def _binary(f: Frame, node: ast.BinOp) -> ExprId:
    chain = [node]
    left = node.left
    while isinstance(left, ast.BinOp):
        chain.append(left)
        left = left.left
    result = expression(f, left)
    for link in reversed(chain):
        right = expression(f, link.right)
        result = f.emit(Bin(OPERATORS[link.op.__class__], result, right), link)
    return result


def _unary(f: Frame, node: ast.UnaryOp) -> ExprId:
    operand = node.operand
    if node.op.__class__ is ast.USub and isinstance(operand, ast.Constant) and is_number(operand.value):
        return f.emit(constant(operand.value, -1), node)
    return f.emit(Unary(OPERATORS[node.op.__class__], expression(f, operand)), node)


def _comparison(f: Frame, node: ast.Compare) -> ExprId:
    left = expression(f, node.left)
    ops = tuple([OPERATORS[op.__class__] for op in node.ops])
    return f.emit(Compare(left, ops, tuple([expression(f, right) for right in node.comparators])), node)


def _boolean(f: Frame, node: ast.BoolOp) -> ExprId:
    """`a and b and c` is read as `(a and b) and c`, which means the same."""
    chain = [node]
    left = node.values[0]
    while isinstance(left, ast.BoolOp):
        chain.append(left)
        left = left.values[0]
    result = expression(f, left)
    for link in reversed(chain):
        is_or = link.op.__class__ is ast.Or
        for value in link.values[1:]:
            right = _guarded(f, value, result, negated=is_or)
            result = f.emit(BoolOp("or" if is_or else "and", result, right), link)
    return result


def _if_expression(f: Frame, node: ast.IfExp) -> ExprId:
    test = expression(f, node.test)
    f.step(Test(f.context, test))
    before = f.env.mark()
    then = _guarded(f, node.body, test, negated=False, joins=False)
    after_then = f.env.take(before)
    other = _guarded(f, node.orelse, test, negated=True, joins=False)
    if f.tables.has_walrus:
        after_other = f.env.take(before)
        f.env.apply(f.meet([after_then, after_other]))
    return f.emit(IfExp(test, then, other), node)


def _guarded(f: Frame, node: ast.expr, test: ExprId, *, negated: bool, joins: bool = True) -> ExprId:
    """The row of `node`, which is evaluated only if `test` holds (does not hold); `joins`: it may be skipped."""
    outer = f.context
    contexts, steps = len(f.contexts), len(f.steps)
    before = f.env.mark()
    f.context = f.inside(Context(outer, "if", test, negated))
    result = expression(f, node)
    f.context = outer
    if len(f.steps) == steps:
        del f.contexts[contexts:]
    if joins and f.tables.has_walrus:
        f.env.apply(f.meet([{}, f.env.take(before)]))
    return result


def _named_expression(f: Frame, node: ast.NamedExpr) -> ExprId:
    value = expression(f, node.value)
    if isinstance(node.target, ast.Name):
        f.bind(node.target.id, value)
    return value


def _await(f: Frame, node: ast.Await) -> ExprId:
    return f.emit(Await(expression(f, node.value)), node)


def _yield(f: Frame, node: ast.Yield | ast.YieldFrom) -> ExprId:
    f.is_generator = True
    is_from = isinstance(node, ast.YieldFrom)
    value = optional(f, node.value)
    f.step(YieldStep(f.context, value, is_from))
    return f.emit(Yield(value, is_from), node)


# --- comprehensions ---------------------------------------------------------------------------------------------------


def _comprehension(kind: Literal["list", "set", "generator"]) -> Callable[[Frame, Any], ExprId]:
    def lower(f: Frame, node: Any) -> ExprId:
        return _comp(f, node, kind, None, node.elt)

    return lower


def _dict_comprehension(f: Frame, node: ast.DictComp) -> ExprId:
    value: ast.expr | None = node.value
    if value is None:  # `{**d for d in ds}`
        return _comp(f, node, "dict", None, node.key)
    return _comp(f, node, "dict", node.key, value)


def _comp(
    f: Frame,
    node: Any,
    kind: Literal["list", "set", "dict", "generator"],
    key_node: ast.expr | None,
    element_node: ast.expr,
) -> ExprId:
    outer = f.context
    contexts, steps = len(f.contexts), len(f.steps)
    visible = len(f.comprehension)
    hidden: list[tuple[str, Any]] = []
    iterables = []
    for part in node.generators:
        iterable = expression(f, part.iter)
        iterables.append(iterable)
        f.step(Iterate(f.context, iterable))
        f.context = f.inside(Context(f.context, "loop", iterable, False))
        _loop_variable(f, part.target, f.emit(Element(iterable), part.target), hidden)
        for condition in part.ifs:
            test = expression(f, condition)
            f.step(Test(f.context, test))
            f.context = f.inside(Context(f.context, "if", test, False))
    key = optional(f, key_node)
    element = expression(f, element_node)
    for name, flow in reversed(hidden):
        f.env.set(name, flow)
    del f.comprehension[visible:]
    f.context = outer
    _drop_unused_contexts(f, contexts, steps)
    return f.emit(Comp(kind, element, key, tuple(iterables)), node)


def _drop_unused_contexts(f: Frame, contexts: int, steps: int) -> None:
    """Drop the last contexts, down to number `contexts`, while none of the steps from `steps` on is in them."""
    used = max([step.context for step in f.steps[steps:]])
    del f.contexts[max(contexts, used + 1) :]


def _loop_variable(f: Frame, target: ast.AST, value: ExprId, hidden: list[tuple[str, Any]]) -> None:
    """Bind the names of a comprehension's `target` to `value`; their old values are added to `hidden`."""
    if isinstance(target, ast.Name):
        hidden.append((target.id, f.env.get(target.id)))
        f.comprehension.append(target.id)
        f.env.set(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        for index, starred, node in places(target.elts):
            _loop_variable(f, node, f.emit(Unpack(value, index, starred), node), hidden)
    else:
        assign(f, target, value)


# --- targets ----------------------------------------------------------------------------------------------------------


def places(elements: Sequence[ast.expr]) -> list[tuple[int, bool, ast.expr]]:
    """For each target of an unpacking: its index as in `Unpack`, whether it is starred, its node."""
    found = []
    after_star = False
    for position, element in enumerate(elements):
        index = position - len(elements) if after_star else position
        if isinstance(element, ast.Starred):
            found.append((index, True, element.value))
            after_star = True
        else:
            found.append((index, False, element))
    return found


def assign(f: Frame, target: ast.AST, value: ExprId, annotation: ExprId = NONE) -> None:
    """`target` gets `value`, which is `NONE` for a bare annotation."""
    if isinstance(target, ast.Name):
        f.bind(target.id, value, annotation)
    elif isinstance(target, ast.Attribute):
        base = expression(f, target.value)
        f.tables.mentions.add(target.attr)
        f.step(SetAttr(f.context, base, target.attr, value, annotation))
    elif isinstance(target, ast.Subscript):
        base = expression(f, target.value)
        index = expression(f, target.slice)
        if value != NONE:
            f.step(SetItem(f.context, base, index, value))
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(f, target.elts, value)


def _unpack(f: Frame, elements: Sequence[ast.expr], value: ExprId) -> None:
    targets = places(elements)
    items = _display(f, value)
    count = sum(starred for _, starred, _ in targets)
    for index, starred, node in targets:
        if items is None or count > 1 or len(items) < len(targets) - count or (not count and len(items) > len(targets)):
            assign(f, node, f.emit(Unpack(value, index, starred), node))
        elif starred:
            rest = items[index : len(items) - (len(targets) - 1 - index)]
            assign(f, node, f.emit(Seq("list", tuple(rest)), node))
        else:
            assign(f, node, items[index])


def _display(f: Frame, value: ExprId) -> tuple[ExprId, ...] | None:
    """The items of `value` if it is a tuple or list display without stars."""
    expr = f.exprs[value]
    if not isinstance(expr, Seq) or expr.kind == "set":
        return None
    if expr.kind == "list" and value != len(f.exprs) - 1:  # a list that was created earlier may have changed since
        return None
    if any(isinstance(f.exprs[item], Star) for item in expr.items):
        return None
    return expr.items


# --- parameters and lambdas -------------------------------------------------------------------------------------------


def parameters(f: Frame, node: ast.arguments) -> tuple[list[ParamIR], list[ast.arg]]:
    """The parameters of a def with their defaults and annotations, which are read in the enclosing frame `f`, and the
    node of each."""
    found: list[ParamIR] = []
    nodes: list[ast.arg] = []

    def add(param: ast.arg, kind: Literal["pos", "any", "star", "kw", "starstar"], value: ast.expr | None) -> None:
        default = optional(f, value)
        found.append(ParamIR(param.arg, kind, default, optional(f, param.annotation)))
        nodes.append(param)

    required = len(node.posonlyargs) + len(node.args) - len(node.defaults)
    defaults: list[ast.expr | None] = [None] * required + [*node.defaults]
    for number, param in enumerate((*node.posonlyargs, *node.args)):
        add(param, "pos" if number < len(node.posonlyargs) else "any", defaults[number])
    if node.vararg is not None:
        add(node.vararg, "star", None)
    for param, value in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        add(param, "kw", value)
    if node.kwarg is not None:
        add(node.kwarg, "starstar", None)
    return found, nodes


def bind_parameters(f: Frame, nodes: list[ast.arg]) -> None:
    """Bind the names of the parameters to `Param` expressions in the def's own frame."""
    for index, node in enumerate(nodes):
        f.env.set(node.arg, f.emit(Param(index), node))


def _lambda(f: Frame, node: ast.Lambda) -> ExprId:
    tables = f.tables
    params, nodes = parameters(f, node.args)
    anchor = f.index.get(id(node), -1)
    number = tables.reserve(anchor, anchor)
    inner = Frame(tables, f, number, is_function=True)
    inner.statement = anchor
    inner.bound.update(param.name for param in params)
    inner.bound.update(tables.walrus.get(id(node), ()))
    bind_parameters(inner, nodes)
    inner.step(Return(0, expression(inner, node.body)))
    tables.defs[number] = DefIR(
        "lambda",
        "<lambda>",
        f.number,
        tuple(params),
        (),
        (),
        (),
        tuple(inner.contexts),
        tuple(inner.steps),
        False,
        inner.is_generator,
    )
    tables.step_anchors[number] = tuple(inner.step_anchors)
    return f.emit(MakeDef(number), node)


def is_true(f: Frame, test: ExprId) -> bool:
    """Whether `test` is a literal that is always true, as in `while True`."""
    expr = f.exprs[test]
    return isinstance(expr, Const) and expr.kind in ("bool", "int") and bool(expr.value)


def is_false(f: Frame, test: ExprId) -> bool:
    """Whether `test` is a literal that is always false, as in `assert False`."""
    expr = f.exprs[test]
    return isinstance(expr, Const) and expr.kind in ("bool", "int") and not expr.value


#: Node class -> function that returns the row of such a node.
EXPRESSIONS: dict[type[ast.AST], Callable[[Frame, Any], ExprId]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Constant: _constant,
    ast.JoinedStr: _formatted,
    ast.List: _sequence("list"),
    ast.Tuple: _sequence("tuple"),
    ast.Set: _sequence("set"),
    ast.Dict: _dict,
    ast.Starred: _starred,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _comparison,
    ast.BoolOp: _boolean,
    ast.IfExp: _if_expression,
    ast.NamedExpr: _named_expression,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.ListComp: _comprehension("list"),
    ast.SetComp: _comprehension("set"),
    ast.GeneratorExp: _comprehension("generator"),
    ast.DictComp: _dict_comprehension,
    ast.Lambda: _lambda,
    Unreadable: _unreadable,
}
if hasattr(ast, "TemplateStr"):  # Python 3.14
    EXPRESSIONS[ast.TemplateStr] = _formatted
