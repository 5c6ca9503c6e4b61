"""Expressions of the tree to rows of the table, with the calls in them as steps.

One function a node class, found in `EXPRESSIONS` by the class. Operands are read in the order in which Python evaluates
them, so that `Perform` steps are in order. The functions recurse along the tree; long chains of operators, which lean
to one side, are walked in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import libcst as cst

from loaderlint.facts import literals
from loaderlint.facts.flow import merge
from loaderlint.facts.frame import Frame
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

_BINARY: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitOr: "|",
    cst.BitAnd: "&",
    cst.BitXor: "^",
    cst.MatrixMultiply: "@",
}
_COMPARE: dict[type[cst.CSTNode], str] = {
    cst.LessThan: "<",
    cst.GreaterThan: ">",
    cst.Equal: "==",
    cst.LessThanEqual: "<=",
    cst.GreaterThanEqual: ">=",
    cst.NotEqual: "!=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}
_UNARY: dict[type[cst.CSTNode], str] = {cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~", cst.Not: "not"}


def expression(f: Frame, node: cst.CSTNode) -> ExprId:
    """The row of the expression `node`."""
    return EXPRESSIONS.get(node.__class__, _unknown)(f, node)


def optional(f: Frame, node: cst.CSTNode | None) -> ExprId:
    """The row of `node`, `NONE` for None."""
    return NONE if node is None else EXPRESSIONS.get(node.__class__, _unknown)(f, node)


def _unknown(f: Frame, node: cst.CSTNode) -> ExprId:
    return f.emit(Opaque(node.__class__.__name__), node)


# --- atoms ------------------------------------------------------------------------------------------------------------


def _name(f: Frame, node: cst.Name) -> ExprId:
    return f.read(node.value, node)


def _ellipsis(f: Frame, node: cst.Ellipsis) -> ExprId:
    return f.emit(literals.ELLIPSIS, node)


def _number(f: Frame, node: cst.Integer | cst.Float | cst.Imaginary) -> ExprId:
    return f.emit(literals.number(node), node)


def _string(f: Frame, node: cst.SimpleString) -> ExprId:
    return f.emit(literals.string(node), node)


def _concatenated(f: Frame, node: cst.ConcatenatedString) -> ExprId:
    pieces: list[cst.BaseString] = []
    rest: cst.BaseString = node
    while isinstance(rest, cst.ConcatenatedString):
        pieces.append(rest.left)
        rest = rest.right
    pieces.append(rest)
    plain = [piece for piece in pieces if isinstance(piece, cst.SimpleString)]
    if len(plain) == len(pieces):
        return f.emit(literals.joined(plain), node)
    parts: list[ExprId] = []
    for piece in pieces:
        if not isinstance(piece, cst.SimpleString):
            _parts(f, piece.parts, parts)  # type: ignore[attr-defined]
    return f.emit(Text(tuple(parts)), node)


def _formatted(f: Frame, node: Any) -> ExprId:
    parts: list[ExprId] = []
    _parts(f, node.parts, parts)
    return f.emit(Text(tuple(parts)), node)


def _parts(f: Frame, nodes: Sequence[Any], parts: list[ExprId]) -> None:
    """Append the expressions between the braces of a formatted string, those of format specifications included."""
    for node in nodes:
        inner = getattr(node, "expression", None)
        if inner is None:
            continue
        parts.append(expression(f, inner))
        if node.format_spec:
            _parts(f, node.format_spec, parts)


# --- displays ---------------------------------------------------------------------------------------------------------


def _sequence(kind: Literal["list", "tuple", "set"]) -> Callable[[Frame, Any], ExprId]:
    def lower(f: Frame, node: Any) -> ExprId:
        return f.emit(Seq(kind, _elements(f, node.elements)), node)

    return lower


def _elements(f: Frame, elements: Sequence[cst.BaseElement]) -> tuple[ExprId, ...]:
    items = []
    for element in elements:
        item = EXPRESSIONS.get(element.value.__class__, _unknown)(f, element.value)
        items.append(item if element.__class__ is cst.Element else f.emit(Star(item), element))
    return tuple(items)


def _starred(f: Frame, node: cst.StarredElement) -> ExprId:
    return f.emit(Star(expression(f, node.value)), node)


def _dict(f: Frame, node: cst.Dict) -> ExprId:
    keys = []
    values = []
    for element in node.elements:
        keys.append(expression(f, element.key) if isinstance(element, cst.DictElement) else NONE)
        values.append(expression(f, element.value))
    return f.emit(Map(tuple(keys), tuple(values)), node)


# --- operators --------------------------------------------------------------------------------------------------------


def _attribute(f: Frame, node: cst.Attribute) -> ExprId:
    value = node.value
    base = EXPRESSIONS.get(value.__class__, _unknown)(f, value)
    name = node.attr.value
    f.tables.mentions.add(name)
    return f.emit(Attr(base, name), node)


def _subscript(f: Frame, node: cst.Subscript) -> ExprId:
    base = expression(f, node.value)
    return f.emit(Index(base, subscript_index(f, node)), node)


def subscript_index(f: Frame, node: cst.Subscript) -> ExprId:
    """The row of what stands in the brackets of `node`."""
    elements = node.slice
    if len(elements) == 1 and not isinstance(elements[0].comma, cst.Comma):
        only = elements[0].slice
        if not getattr(only, "star", None):
            return _slice_item(f, only)
    items = []
    for element in elements:
        item = _slice_item(f, element.slice)
        items.append(f.emit(Star(item), element) if getattr(element.slice, "star", None) else item)
    return f.emit(Seq("tuple", tuple(items)), node)


def _slice_item(f: Frame, node: cst.BaseSlice) -> ExprId:
    if isinstance(node, cst.Index):
        return expression(f, node.value)
    if isinstance(node, cst.Slice):
        lower, upper, step = optional(f, node.lower), optional(f, node.upper), optional(f, node.step)
        return f.emit(Slice(lower, upper, step), node)
    return _unknown(f, node)


def _call(f: Frame, node: cst.Call) -> ExprId:
    func = node.func
    function = EXPRESSIONS.get(func.__class__, _unknown)(f, func)
    call = f.emit(Call(function, arguments(f, node.args) if node.args else ()), node)
    f.perform(call)
    return call


def arguments(f: Frame, nodes: Sequence[cst.Arg]) -> tuple[Arg, ...]:
    """The arguments of a call, in order."""
    found = []
    for node in nodes:
        value = EXPRESSIONS.get(node.value.__class__, _unknown)(f, node.value)
        keyword = node.keyword
        if keyword is not None:
            name = keyword.value
            f.tables.mentions.add(name)
            found.append(Arg("kw", name, value))
        elif not node.star:
            found.append(Arg("pos", "", value))
        else:
            found.append(Arg("star" if node.star == "*" else "starstar", "", value))
    return tuple(found)


def _binary(f: Frame, node: cst.BinaryOperation) -> ExprId:
    chain = [node]
    left = node.left
    while left.__class__ is cst.BinaryOperation:
        chain.append(left)
        left = left.left
    result = expression(f, left)
    for link in reversed(chain):
        right = expression(f, link.right)
        result = f.emit(Bin(_BINARY[link.operator.__class__], result, right), link)
    return result


def _unary(f: Frame, node: cst.UnaryOperation) -> ExprId:
    operand = node.expression
    operator = node.operator.__class__
    if operator is cst.Minus and isinstance(operand, cst.BaseNumber) and not operand.lpar:
        return f.emit(literals.number(operand, -1), node)  # type: ignore[arg-type]
    return f.emit(Unary(_UNARY[operator], expression(f, operand)), node)


def _comparison(f: Frame, node: cst.Comparison) -> ExprId:
    left = expression(f, node.left)
    ops = []
    rights = []
    for target in node.comparisons:
        ops.append(_COMPARE[target.operator.__class__])
        rights.append(expression(f, target.comparator))
    return f.emit(Compare(left, tuple(ops), tuple(rights)), node)


def _boolean(f: Frame, node: cst.BooleanOperation) -> ExprId:
    chain = [node]
    left = node.left
    while left.__class__ is cst.BooleanOperation:
        chain.append(left)
        left = left.left
    result = expression(f, left)
    for link in reversed(chain):
        is_or = link.operator.__class__ is cst.Or
        right = _guarded(f, link.right, result, negated=is_or)
        result = f.emit(BoolOp("or" if is_or else "and", result, right), link)
    return result


def _if_expression(f: Frame, node: cst.IfExp) -> ExprId:
    test = expression(f, node.test)
    f.step(Test(f.context, test))
    before = f.env.copy() if f.tables.has_walrus else f.env
    then = _guarded(f, node.body, test, negated=False, joins=False)
    after_then, f.env = f.env, before
    other = _guarded(f, node.orelse, test, negated=True, joins=False)
    if f.tables.has_walrus:
        f.env = merge([after_then, f.env]).copy()
    return f.emit(IfExp(test, then, other), node)


def _guarded(f: Frame, node: cst.BaseExpression, test: ExprId, *, negated: bool, joins: bool = True) -> ExprId:
    """The row of `node`, which is evaluated only if `test` holds (does not hold); `joins`: it may be skipped."""
    outer = f.context
    contexts, steps = len(f.contexts), len(f.steps)
    before = f.env.copy() if joins and f.tables.has_walrus else None
    f.context = f.inside(Context(outer, "if", test, negated))
    result = expression(f, node)
    f.context = outer
    if len(f.steps) == steps:
        del f.contexts[contexts:]
    if before is not None:
        f.env = merge([before, f.env]).copy()
    return result


def _named_expression(f: Frame, node: cst.NamedExpr) -> ExprId:
    value = expression(f, node.value)
    if isinstance(node.target, cst.Name):
        f.bind(node.target.value, value)
    return value


def _await(f: Frame, node: cst.Await) -> ExprId:
    return f.emit(Await(expression(f, node.expression)), node)


def _yield(f: Frame, node: cst.Yield) -> ExprId:
    f.is_generator = True
    is_from = isinstance(node.value, cst.From)
    inner = node.value.item if isinstance(node.value, cst.From) else node.value
    value = optional(f, inner)
    f.step(YieldStep(f.context, value, is_from))
    return f.emit(Yield(value, is_from), node)


# --- comprehensions ---------------------------------------------------------------------------------------------------


def _comprehension(kind: Literal["list", "set", "generator"]) -> Callable[[Frame, Any], ExprId]:
    def lower(f: Frame, node: Any) -> ExprId:
        return _comp(f, node, kind, None, node.elt)

    return lower


def _dict_comprehension(f: Frame, node: cst.DictComp) -> ExprId:
    return _comp(f, node, "dict", node.key, node.value)


def _starred_dict_comprehension(f: Frame, node: Any) -> ExprId:
    return _comp(f, node, "dict", None, node.value)


def _comp(
    f: Frame,
    node: Any,
    kind: Literal["list", "set", "dict", "generator"],
    key_node: cst.BaseExpression | None,
    element_node: cst.BaseExpression,
) -> ExprId:
    outer = f.context
    contexts, steps = len(f.contexts), len(f.steps)
    visible = len(f.comprehension)
    hidden: list[tuple[str, Any]] = []
    iterables = []
    part: cst.CompFor | None = node.for_in
    while part is not None:
        iterable = expression(f, part.iter)
        iterables.append(iterable)
        f.step(Iterate(f.context, iterable))
        f.context = f.inside(Context(f.context, "loop", iterable, False))
        _loop_variable(f, part.target, f.emit(Element(iterable), part.target), hidden)
        for condition in part.ifs:
            test = expression(f, condition.test)
            f.step(Test(f.context, test))
            f.context = f.inside(Context(f.context, "if", test, False))
        part = part.inner_for_in
    key = optional(f, key_node)
    element = expression(f, element_node)
    for name, flow in reversed(hidden):
        if flow is None:
            f.env.pop(name, None)
        else:
            f.env[name] = flow
    del f.comprehension[visible:]
    f.context = outer
    _drop_unused_contexts(f, contexts, steps)
    return f.emit(Comp(kind, element, key, tuple(iterables)), node)


def _drop_unused_contexts(f: Frame, contexts: int, steps: int) -> None:
    """Drop the last of the contexts from `contexts` on while none of the steps from `steps` on stands in them."""
    used = max([step.context for step in f.steps[steps:]])
    del f.contexts[max(contexts, used + 1) :]


def _loop_variable(f: Frame, target: cst.CSTNode, value: ExprId, hidden: list[tuple[str, Any]]) -> None:
    """Let the names of a comprehension's `target` be `value`; what they were goes to `hidden`."""
    if isinstance(target, cst.Name):
        hidden.append((target.value, f.env.get(target.value)))
        f.comprehension.append(target.value)
        f.env[target.value] = value
    elif isinstance(target, cst.Tuple | cst.List):
        for index, starred, node in places(target.elements):
            _loop_variable(f, node, f.emit(Unpack(value, index, starred), node), hidden)
    elif isinstance(target, cst.BaseExpression):
        assign(f, target, value)


# --- targets ----------------------------------------------------------------------------------------------------------


def places(elements: Sequence[cst.BaseElement]) -> list[tuple[int, bool, cst.BaseExpression]]:
    """For each target of an unpacking: its index as in `Unpack`, whether it is starred, its node."""
    found = []
    after_star = False
    for position, element in enumerate(elements):
        starred = element.__class__ is cst.StarredElement
        found.append((position - len(elements) if after_star else position, starred, element.value))
        after_star = after_star or starred
    return found


def assign(f: Frame, target: cst.CSTNode, value: ExprId, annotation: ExprId = NONE) -> None:
    """`target` gets `value`, which is `NONE` for a bare annotation."""
    kind = target.__class__
    if kind is cst.Name:
        f.bind(target.value, value, annotation)  # type: ignore[attr-defined]
    elif isinstance(target, cst.Attribute):
        base = expression(f, target.value)
        f.tables.mentions.add(target.attr.value)
        f.step(SetAttr(f.context, base, target.attr.value, value, annotation))
    elif isinstance(target, cst.Subscript):
        base = expression(f, target.value)
        index = subscript_index(f, target)
        if value != NONE:
            f.step(SetItem(f.context, base, index, value))
    elif isinstance(target, cst.Tuple | cst.List):
        _unpack(f, target.elements, value)


def _unpack(f: Frame, elements: Sequence[cst.BaseElement], value: ExprId) -> None:
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
    """The items of `value` where it is a tuple or list display without stars."""
    expr = f.exprs[value]
    if not isinstance(expr, Seq) or expr.kind == "set":
        return None
    if expr.kind == "list" and value != len(f.exprs) - 1:  # a list that was made earlier may have changed since
        return None
    if any(isinstance(f.exprs[item], Star) for item in expr.items):
        return None
    return expr.items


# --- parameters and lambdas -------------------------------------------------------------------------------------------


def parameters(f: Frame, node: cst.Parameters) -> tuple[list[ParamIR], list[cst.Param]]:
    """The parameters of a def with their defaults and annotations, which are read in the enclosing frame `f`, and the
    node of each."""
    found: list[ParamIR] = []
    nodes: list[cst.Param] = []

    def add(params: Sequence[cst.Param], kind: Literal["pos", "any", "star", "kw", "starstar"]) -> None:
        for param in params:
            default = optional(f, param.default)
            annotation = optional(f, param.annotation.annotation) if param.annotation is not None else NONE
            found.append(ParamIR(param.name.value, kind, default, annotation))
            nodes.append(param)

    add(node.posonly_params, "pos")
    add(node.params, "any")
    if isinstance(node.star_arg, cst.Param):
        add((node.star_arg,), "star")
    add(node.kwonly_params, "kw")
    if node.star_kwarg is not None:
        add((node.star_kwarg,), "starstar")
    return found, nodes


def bind_parameters(f: Frame, nodes: list[cst.Param]) -> None:
    """Let the names of the parameters be `Param` expressions in the def's own frame."""
    for index, node in enumerate(nodes):
        f.env[node.name.value] = f.emit(Param(index), node)


def _lambda(f: Frame, node: cst.Lambda) -> ExprId:
    tables = f.tables
    params, nodes = parameters(f, node.params)
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


def _walked(f: Frame, node: Any) -> ExprId:
    """A node that is only met in an odd place: read its value."""
    return expression(f, node.value)


#: Node class -> function that gives the row of such a node.
EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Frame, Any], ExprId]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Call: _call,
    cst.Subscript: _subscript,
    cst.SimpleString: _string,
    cst.Integer: _number,
    cst.Float: _number,
    cst.Imaginary: _number,
    cst.Ellipsis: _ellipsis,
    cst.ConcatenatedString: _concatenated,
    cst.FormattedString: _formatted,
    cst.List: _sequence("list"),
    cst.Tuple: _sequence("tuple"),
    cst.Set: _sequence("set"),
    cst.Dict: _dict,
    cst.StarredElement: _starred,
    cst.Element: _walked,
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.Comparison: _comparison,
    cst.BooleanOperation: _boolean,
    cst.IfExp: _if_expression,
    cst.NamedExpr: _named_expression,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.ListComp: _comprehension("list"),
    cst.SetComp: _comprehension("set"),
    cst.GeneratorExp: _comprehension("generator"),
    cst.DictComp: _dict_comprehension,
    cst.Lambda: _lambda,
}
# Template strings and `{**d for d in ds}` came with later versions of libcst.
for _kind, _lower in (("TemplatedString", _formatted), ("StarredDictComp", _starred_dict_comprehension)):
    if hasattr(cst, _kind):
        EXPRESSIONS[getattr(cst, _kind)] = _lower
