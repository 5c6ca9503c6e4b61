"""Converts libcst's tree to a bare tree, with the anchors of its nodes.

For lowering it equals the tree of Python's parser for the same code, so there is one lowering for both, and its nodes
have the same anchors. It is needed for code that only libcst can parse, such as code for a newer Python, and it maps
anchors to concrete nodes for fixes."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import libcst as cst

from loaderlint.syntax.anchors import NameOf, Node
from loaderlint.syntax.bare_tree import Tree, Unreadable, literal

_Node = TypeVar("_Node", bound=ast.AST)

_PREFIX = re.compile(r"[A-Za-z]*")
_CONSTANTS = {"None": None, "True": True, "False": False}

_OPERATORS: dict[type[cst.CSTNode], Callable[[], Any]] = {
    getattr(cst, name): getattr(ast, other)
    for name, other in (
        *(("Add", "Add"), ("Subtract", "Sub"), ("Multiply", "Mult"), ("Divide", "Div"), ("FloorDivide", "FloorDiv")),
        *(("Modulo", "Mod"), ("Power", "Pow"), ("LeftShift", "LShift"), ("RightShift", "RShift"), ("BitOr", "BitOr")),
        *(("BitAnd", "BitAnd"), ("BitXor", "BitXor"), ("MatrixMultiply", "MatMult"), ("And", "And"), ("Or", "Or")),
        *(("AddAssign", "Add"), ("SubtractAssign", "Sub"), ("MultiplyAssign", "Mult"), ("DivideAssign", "Div")),
        *(("FloorDivideAssign", "FloorDiv"), ("ModuloAssign", "Mod"), ("PowerAssign", "Pow")),
        *(("LeftShiftAssign", "LShift"), ("RightShiftAssign", "RShift"), ("BitOrAssign", "BitOr")),
        *(("BitAndAssign", "BitAnd"), ("BitXorAssign", "BitXor"), ("MatrixMultiplyAssign", "MatMult")),
        *(("Minus", "USub"), ("Plus", "UAdd"), ("BitInvert", "Invert"), ("Not", "Not")),
        *(("LessThan", "Lt"), ("GreaterThan", "Gt"), ("LessThanEqual", "LtE"), ("GreaterThanEqual", "GtE")),
        *(("Equal", "Eq"), ("NotEqual", "NotEq"), ("In", "In"), ("NotIn", "NotIn"), ("Is", "Is"), ("IsNot", "IsNot")),
    )
}


class Sources(NamedTuple):
    """The concrete nodes of the nodes of a bare tree, and of the names of its defs and handlers, by the `id` of the
    bare ones."""

    nodes: dict[int, cst.CSTNode]
    names: dict[int, cst.CSTNode]

    def of(self, node: Node) -> cst.CSTNode | None:
        """The concrete node of a bare one, if it has one."""
        return self.names.get(id(node.owner)) if isinstance(node, NameOf) else self.nodes.get(id(node))


def stripped(root: cst.CSTNode) -> tuple[Tree, Sources]:
    """The bare tree of a piece's node (`ParsedPiece.node`), and the concrete nodes of its nodes."""
    maker = _Maker()
    if isinstance(root, cst.ExceptHandler | cst.ExceptStarHandler):
        tree = Tree("except", (maker.handler(root),), True)
    elif isinstance(root, cst.Else | cst.Finally):
        tree = Tree("else" if isinstance(root, cst.Else) else "finally", (), True)
    else:
        tree = Tree("statements", maker.statements((root,)), True)
    return tree, maker.sources


def _spelled(name: str) -> str:
    """An identifier as Python normalises it (PEP 3131)."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


class _Maker:
    """Creates bare nodes, and records their concrete nodes."""

    def __init__(self) -> None:
        self.sources = Sources({}, {})

    def _at(self, made: _Node, node: cst.CSTNode) -> _Node:
        self.sources.nodes[id(made)] = node
        return made

    def _named(self, made: _Node, name: cst.CSTNode) -> _Node:
        self.sources.names[id(made)] = name
        return made

    # --- expressions

    def expression(self, node: cst.CSTNode) -> ast.expr:
        """The bare node of an expression."""
        return self._at(_EXPRESSIONS.get(node.__class__, _Maker._unknown)(self, node), node)

    def _optional(self, node: cst.CSTNode | None) -> ast.expr | None:
        return None if node is None else self.expression(node)

    def _unknown(self, node: cst.CSTNode) -> ast.expr:
        return Unreadable(node.__class__.__name__)

    def _name(self, node: cst.Name) -> ast.expr:
        name = node.value
        return ast.Constant(_CONSTANTS[name]) if name in _CONSTANTS else ast.Name(_spelled(name))

    def _ellipsis(self, node: cst.Ellipsis) -> ast.expr:
        return ast.Constant(...)

    def _number(self, node: cst.Integer | cst.Float | cst.Imaginary) -> ast.expr:
        try:
            return ast.Constant(int(node.value, 0) if isinstance(node, cst.Integer) else literal(node.value))
        except (ValueError, SyntaxError):  # an integer with more digits than Python converts
            return Unreadable("number")

    def _string(self, node: cst.SimpleString) -> ast.expr:
        return _constant(_value(node.value))

    def _concatenated(self, node: cst.ConcatenatedString) -> ast.expr:
        pieces: list[cst.BaseString] = []
        rest: cst.BaseString = node
        while isinstance(rest, cst.ConcatenatedString):
            pieces.append(rest.left)
            rest = rest.right
        pieces.append(rest)
        values = [_value(piece.value) for piece in pieces if isinstance(piece, cst.SimpleString)]
        if len(values) < len(pieces):
            return ast.JoinedStr([value for piece in pieces for value in self._values_of(piece)])
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) == len(values):
            return _constant("".join(texts))
        data = [value for value in values if isinstance(value, bytes)]
        return _constant(b"".join(data) if len(data) == len(values) else None)

    def _formatted(self, node: Any) -> ast.expr:
        return ast.JoinedStr(self._values_of(node))

    def _values_of(self, node: Any) -> list[ast.expr]:
        """What a string gives to one that is formatted: its text, or its parts."""
        if isinstance(node, cst.SimpleString):
            return [ast.Constant(_value(node.value) or "")]
        return self._parts(node.parts, node.start)

    def _parts(self, nodes: Iterable[Any], start: str) -> list[ast.expr]:
        """The expressions between the braces, and the text around them. `start`: the prefix and the opening quotes."""
        found: list[ast.expr] = []
        for node in nodes:
            inner = getattr(node, "expression", None)
            if inner is None:
                found.append(ast.Constant(_text_between(node.value, start)))
                continue
            spec = ast.JoinedStr(self._parts(node.format_spec, start)) if node.format_spec else None
            shown = node.conversion or ("r" if node.equal is not None else "")
            found.append(ast.FormattedValue(self.expression(inner), ord(shown) if shown else -1, spec))
        return found

    def _list(self, node: cst.List) -> ast.expr:
        return ast.List(self._elements(node.elements))

    def _tuple(self, node: cst.Tuple) -> ast.expr:
        return ast.Tuple(self._elements(node.elements))

    def _set(self, node: cst.Set) -> ast.expr:
        return ast.Set(self._elements(node.elements))

    def _elements(self, elements: Iterable[cst.BaseElement]) -> list[ast.expr]:
        return [self.expression(one.value if one.__class__ is cst.Element else one) for one in elements]

    def _starred(self, node: cst.StarredElement) -> ast.expr:
        return ast.Starred(self.expression(node.value))

    def _element(self, node: cst.Element) -> ast.expr:
        return self.expression(node.value)

    def _dict(self, node: cst.Dict) -> ast.expr:
        keys: list[ast.expr | None] = []
        values = []
        for element in node.elements:
            keys.append(self.expression(element.key) if isinstance(element, cst.DictElement) else None)
            values.append(self.expression(element.value))
        return ast.Dict(keys, values)

    def _attribute(self, node: cst.Attribute) -> ast.expr:
        return ast.Attribute(self.expression(node.value), _spelled(node.attr.value))

    def _subscript(self, node: cst.Subscript) -> ast.expr:
        value = self.expression(node.value)
        elements = node.slice
        if len(elements) == 1 and not isinstance(elements[0].comma, cst.Comma):
            only = elements[0].slice
            if not getattr(only, "star", None):
                return ast.Subscript(value, self._slice(only))
        items: list[ast.expr] = []
        for element in elements:
            item = self._slice(element.slice)
            items.append(self._at(ast.Starred(item), element.slice) if getattr(element.slice, "star", None) else item)
        return ast.Subscript(value, self._at(ast.Tuple(items), elements[0]))

    def _slice(self, node: cst.BaseSlice) -> ast.expr:
        if isinstance(node, cst.Slice):
            lower, upper, step = map(self._optional, (node.lower, node.upper, node.step))
            return self._at(ast.Slice(lower, upper, step), node)
        return self.expression(node.value if isinstance(node, cst.Index) else node)

    def _call(self, node: cst.Call) -> ast.expr:
        return ast.Call(self.expression(node.func), *self._arguments(node.args))

    def _arguments(self, nodes: Iterable[cst.Arg]) -> tuple[list[ast.expr], list[ast.keyword]]:
        """Arguments and keywords, with places that define their order."""
        found: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        for number, node in enumerate(nodes):
            value = self.expression(node.value)
            made: ast.expr | ast.keyword
            if node.keyword is not None or node.star == "**":
                made = ast.keyword(_spelled(node.keyword.value) if node.keyword else None, value)
                keywords.append(made)
            else:
                made = self._at(ast.Starred(value), node) if node.star else value
                found.append(made)
            made.lineno, made.col_offset = 1, number
        return found, keywords

    def _binary(self, node: cst.BinaryOperation) -> ast.expr:
        links = _chain(node)
        result = self.expression(links[-1].left)
        for link in reversed(links):
            operator = _OPERATORS[link.operator.__class__]()
            result = self._at(ast.BinOp(result, operator, self.expression(link.right)), link)
        return result

    def _boolean(self, node: cst.BooleanOperation) -> ast.expr:
        """Operands of a chain of one operator, without parentheses, are one node."""
        operator = node.operator.__class__
        values: list[ast.expr] = []
        left: cst.BaseExpression = node
        while left is node or _goes_on(left, operator):
            assert isinstance(left, cst.BooleanOperation)
            values.append(self.expression(left.right))
            left = left.left
        values.append(self.expression(left))
        values.reverse()
        return ast.BoolOp(_OPERATORS[operator](), values)

    def _unary(self, node: cst.UnaryOperation) -> ast.expr:
        return ast.UnaryOp(_OPERATORS[node.operator.__class__](), self.expression(node.expression))

    def _comparison(self, node: cst.Comparison) -> ast.expr:
        left = self.expression(node.left)
        operators = [_OPERATORS[target.operator.__class__]() for target in node.comparisons]
        return ast.Compare(left, operators, [self.expression(target.comparator) for target in node.comparisons])

    def _if_expression(self, node: cst.IfExp) -> ast.expr:
        return ast.IfExp(self.expression(node.test), self.expression(node.body), self.expression(node.orelse))

    def _named_expression(self, node: cst.NamedExpr) -> ast.expr:
        target: Any = self.expression(node.target)
        return ast.NamedExpr(target, self.expression(node.value))

    def _await(self, node: cst.Await) -> ast.expr:
        return ast.Await(self.expression(node.expression))

    def _yield(self, node: cst.Yield) -> ast.expr:
        if isinstance(node.value, cst.From):
            return ast.YieldFrom(self.expression(node.value.item))
        return ast.Yield(self._optional(node.value))

    def _list_comprehension(self, node: cst.ListComp) -> ast.expr:
        return ast.ListComp(self.expression(node.elt), self._generators(node.for_in))

    def _set_comprehension(self, node: cst.SetComp) -> ast.expr:
        return ast.SetComp(self.expression(node.elt), self._generators(node.for_in))

    def _generator(self, node: cst.GeneratorExp) -> ast.expr:
        return ast.GeneratorExp(self.expression(node.elt), self._generators(node.for_in))

    def _dict_comprehension(self, node: cst.DictComp) -> ast.expr:
        return ast.DictComp(self.expression(node.key), self.expression(node.value), self._generators(node.for_in))

    def _starred_dict_comprehension(self, node: Any) -> ast.expr:
        nothing: Any = None
        return ast.DictComp(self.expression(node.value), nothing, self._generators(node.for_in))

    def _generators(self, first: cst.CompFor) -> list[ast.comprehension]:
        found = []
        part: cst.CompFor | None = first
        while part is not None:
            conditions = [self.expression(condition.test) for condition in part.ifs]
            is_async = int(part.asynchronous is not None)
            target, iterable = self.expression(part.target), self.expression(part.iter)
            found.append(ast.comprehension(target, iterable, conditions, is_async))
            part = part.inner_for_in
        return found

    def _lambda(self, node: cst.Lambda) -> ast.expr:
        return ast.Lambda(self._parameters(node.params), self.expression(node.body))

    def _parameters(self, node: cst.Parameters) -> ast.arguments:
        plain = [*node.posonly_params, *node.params]
        star = self._parameter(node.star_arg) if isinstance(node.star_arg, cst.Param) else None
        return ast.arguments(
            posonlyargs=[self._parameter(one) for one in node.posonly_params],
            args=[self._parameter(one) for one in node.params],
            vararg=star,
            kwonlyargs=[self._parameter(one) for one in node.kwonly_params],
            kw_defaults=[self._optional(one.default) for one in node.kwonly_params],
            kwarg=self._parameter(node.star_kwarg) if node.star_kwarg is not None else None,
            defaults=[self.expression(one.default) for one in plain if one.default is not None],
        )

    def _parameter(self, node: cst.Param) -> ast.arg:
        annotation = self.expression(node.annotation.annotation) if node.annotation is not None else None
        return self._at(ast.arg(_spelled(node.name.value), annotation), node.name)

    # --- simple statements

    def statements(self, nodes: Iterable[cst.CSTNode]) -> list[ast.stmt]:
        """The bare nodes of statements."""
        found: list[ast.stmt] = []
        for node in nodes:
            if isinstance(node, cst.SimpleStatementLine):
                found += self.statements(node.body)
            else:
                make = _STATEMENTS.get(node.__class__)
                found.append(self._at(make(self, node) if make is not None else ast.Pass(), node))
        return found

    def _suite(self, node: cst.BaseSuite | cst.Else | cst.Finally | None) -> list[ast.stmt]:
        if isinstance(node, cst.Else | cst.Finally):
            node = node.body
        return self.statements(node.body) if node is not None else []

    def _expression_statement(self, node: cst.Expr) -> ast.stmt:
        return ast.Expr(self.expression(node.value))

    def _assign(self, node: cst.Assign) -> ast.stmt:
        value = self.expression(node.value)
        return ast.Assign([self.expression(target.target) for target in node.targets], value)

    def _annotated(self, node: cst.AnnAssign) -> ast.stmt:
        target: Any = self.expression(node.target)
        return ast.AnnAssign(target, self.expression(node.annotation.annotation), self._optional(node.value), 0)

    def _augmented(self, node: cst.AugAssign) -> ast.stmt:
        target: Any = self.expression(node.target)
        return ast.AugAssign(target, _OPERATORS[node.operator.__class__](), self.expression(node.value))

    def _delete(self, node: cst.Del) -> ast.stmt:
        target = node.target
        if isinstance(target, cst.Tuple) and not target.lpar:
            return ast.Delete(self._elements(target.elements))
        return ast.Delete([self.expression(target)])

    def _return(self, node: cst.Return) -> ast.stmt:
        return ast.Return(self._optional(node.value))

    def _raise(self, node: cst.Raise) -> ast.stmt:
        return ast.Raise(self._optional(node.exc), self._optional(node.cause.item if node.cause is not None else None))

    def _assert(self, node: cst.Assert) -> ast.stmt:
        return ast.Assert(self.expression(node.test), self._optional(node.msg))

    def _break(self, node: cst.Break) -> ast.stmt:
        return ast.Break()

    def _continue(self, node: cst.Continue) -> ast.stmt:
        return ast.Continue()

    def _import(self, node: cst.Import) -> ast.stmt:
        return ast.Import([self._alias(alias) for alias in node.names])

    def _import_from(self, node: cst.ImportFrom) -> ast.stmt:
        module = _dotted(node.module) if node.module is not None else None
        names = node.names
        if isinstance(names, cst.ImportStar):
            return ast.ImportFrom(module, [self._at(ast.alias("*"), names)], len(node.relative))
        return ast.ImportFrom(module, [self._alias(one) for one in names], len(node.relative))

    def _alias(self, node: cst.ImportAlias) -> ast.alias:
        return self._at(ast.alias(_dotted(node.name), _bound(node.asname)), node)

    def _global(self, node: cst.Global) -> ast.stmt:
        return ast.Global([_spelled(item.name.value) for item in node.names])

    def _nonlocal(self, node: cst.Nonlocal) -> ast.stmt:
        return ast.Nonlocal([_spelled(item.name.value) for item in node.names])

    def _type_alias(self, node: cst.TypeAlias) -> ast.stmt:
        return ast.Assign([self.expression(node.name)], self.expression(node.value))  # not every Python has a TypeAlias

    # --- compound statements

    def _if(self, node: cst.If) -> ast.stmt:
        branches = [node]
        while isinstance(branches[-1].orelse, cst.If):
            branches.append(branches[-1].orelse)
        last = branches[-1].orelse
        orelse: list[ast.stmt] = self._suite(last) if isinstance(last, cst.Else) else []
        for branch in reversed(branches[1:]):
            orelse = [self._at(ast.If(self.expression(branch.test), self._suite(branch.body), orelse), branch)]
        return ast.If(self.expression(node.test), self._suite(node.body), orelse)

    def _for(self, node: cst.For) -> ast.stmt:
        kind: Any = ast.For if node.asynchronous is None else ast.AsyncFor
        target, iterable = self.expression(node.target), self.expression(node.iter)
        made: ast.stmt = kind(target, iterable, self._suite(node.body), self._suite(node.orelse))
        return made

    def _while(self, node: cst.While) -> ast.stmt:
        return ast.While(self.expression(node.test), self._suite(node.body), self._suite(node.orelse))

    def _with(self, node: cst.With) -> ast.stmt:
        kind: Any = ast.With if node.asynchronous is None else ast.AsyncWith
        made: ast.stmt = kind([self._item(item) for item in node.items], self._suite(node.body))
        return made

    def _item(self, node: cst.WithItem) -> ast.withitem:
        target = self.expression(node.asname.name) if node.asname is not None else None
        return ast.withitem(self.expression(node.item), target)

    def _try(self, node: cst.Try | cst.TryStar) -> ast.stmt:
        handlers = [self.handler(handler) for handler in node.handlers]
        return ast.Try(self._suite(node.body), handlers, self._suite(node.orelse), self._suite(node.finalbody))

    def handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler) -> ast.ExceptHandler:
        """The bare node of an `except` clause."""
        made = ast.ExceptHandler(self._optional(node.type), _bound(node.name), self._suite(node.body))
        if node.name is not None:
            self._named(made, node.name.name)
        return self._at(made, node)

    def _function(self, node: cst.FunctionDef) -> ast.stmt:
        kind: Any = ast.FunctionDef if node.asynchronous is None else ast.AsyncFunctionDef
        decorators = [self.expression(decorator.decorator) for decorator in node.decorators]
        params = self._parameters(node.params)
        returns = self._optional(node.returns.annotation if node.returns is not None else None)
        made: ast.stmt = kind(_spelled(node.name.value), params, self._suite(node.body), decorators, returns)
        return self._named(made, node.name)

    def _class(self, node: cst.ClassDef) -> ast.stmt:
        decorators = [self.expression(decorator.decorator) for decorator in node.decorators]
        bases, keywords = self._arguments((*node.bases, *node.keywords))
        made = ast.ClassDef(_spelled(node.name.value), bases, keywords, self._suite(node.body), decorators)
        return self._named(made, node.name)

    # --- patterns

    def _match(self, node: cst.Match) -> ast.stmt:
        return ast.Match(self.expression(node.subject), [self._case(case) for case in node.cases])

    def _case(self, node: cst.MatchCase) -> ast.match_case:
        pattern, guard = self._pattern(node.pattern), self._optional(node.guard)
        return ast.match_case(pattern, guard, self._suite(node.body))

    def _pattern(self, node: cst.CSTNode) -> ast.pattern:
        return self._at(self._make_pattern(node), node)

    def _make_pattern(self, node: cst.CSTNode) -> ast.pattern:
        if isinstance(node, cst.MatchAs):
            return ast.MatchAs(self._pattern(node.pattern) if node.pattern is not None else None, _value_of(node.name))
        if isinstance(node, cst.MatchValue):
            return ast.MatchValue(self.expression(node.value))
        if isinstance(node, cst.MatchList | cst.MatchTuple):
            return ast.MatchSequence([self._sequence_item(item) for item in node.patterns])
        if isinstance(node, cst.MatchMapping):
            keys = [self.expression(element.key) for element in node.elements]
            patterns = [self._pattern(element.pattern) for element in node.elements]
            return ast.MatchMapping(keys, patterns, _value_of(node.rest))
        if isinstance(node, cst.MatchClass):
            positional = [self._pattern(element.value) for element in node.patterns]
            names = [_spelled(element.key.value) for element in node.kwds]
            keywords = [self._pattern(element.pattern) for element in node.kwds]
            return ast.MatchClass(self.expression(node.cls), positional, names, keywords)
        if isinstance(node, cst.MatchOr):
            return ast.MatchOr([self._pattern(option.pattern) for option in node.patterns])
        return ast.MatchSingleton(None)

    def _sequence_item(self, node: cst.CSTNode) -> ast.pattern:
        if isinstance(node, cst.MatchSequenceElement):
            return self._pattern(node.value)
        return self._at(ast.MatchStar(_value_of(node.name) if isinstance(node, cst.MatchStar) else None), node)


# --- names and texts --------------------------------------------------------------------------------------------------


def _chain(node: Any) -> list[Any]:
    """The left-nested operations from `node` on, outermost first."""
    links = [node]
    while links[-1].left.__class__ is node.__class__:
        links.append(links[-1].left)
    return links


def _goes_on(node: cst.BaseExpression, operator: type[cst.BaseBooleanOp]) -> bool:
    return isinstance(node, cst.BooleanOperation) and not node.lpar and isinstance(node.operator, operator)


def _dotted(node: cst.CSTNode) -> str:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(_spelled(node.attr.value))
        node = node.value
    parts.append(_spelled(node.value) if isinstance(node, cst.Name) else "")
    return ".".join(reversed(parts))


def _bound(node: cst.AsName | None) -> str | None:
    return _spelled(node.name.value) if node is not None and isinstance(node.name, cst.Name) else None


def _value_of(name: cst.Name | None) -> str | None:
    return _spelled(name.value) if name is not None else None


def _constant(value: str | bytes | None) -> ast.expr:
    return Unreadable("string") if value is None else ast.Constant(value)


def _text_between(text: str, start: str) -> str:
    """The text around the expressions of a formatted string, as Python reads it; a space, which no name has, if it
    cannot be read."""
    quotes = start.lstrip("rRfFtTbBuU")
    raw = "r" if "r" in start.lower() else ""
    value = _value(f"{raw}{quotes}{text.replace('{{', '{').replace('}}', '}')}{quotes}")
    return value if isinstance(value, str) else " "


def _value(text: str) -> str | bytes | None:
    """The value of a string or bytes literal, None if unknown."""
    if "\\" not in text:
        prefix = _PREFIX.match(text)[0]  # type: ignore[index]  # matches always
        if "b" not in prefix and "B" not in prefix:
            return _inside(text[len(prefix) :])
    try:
        value = literal(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str | bytes) else None


def _inside(quoted: str) -> str:
    """The text between the quotes."""
    if quoted[:3] in ('"""', "'''") and len(quoted) >= 6:
        inside = quoted[3:-3]
        return inside.replace("\r\n", "\n").replace("\r", "\n") if "\r" in inside else inside
    return quoted[1:-1]


#: Node class of libcst -> method that creates the bare expression.
_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[_Maker, Any], ast.expr]] = {
    cst.Name: _Maker._name,
    cst.Attribute: _Maker._attribute,
    cst.Call: _Maker._call,
    cst.Subscript: _Maker._subscript,
    cst.SimpleString: _Maker._string,
    cst.Integer: _Maker._number,
    cst.Float: _Maker._number,
    cst.Imaginary: _Maker._number,
    cst.Ellipsis: _Maker._ellipsis,
    cst.ConcatenatedString: _Maker._concatenated,
    cst.FormattedString: _Maker._formatted,
    cst.List: _Maker._list,
    cst.Tuple: _Maker._tuple,
    cst.Set: _Maker._set,
    cst.Dict: _Maker._dict,
    cst.StarredElement: _Maker._starred,
    cst.Element: _Maker._element,
    cst.BinaryOperation: _Maker._binary,
    cst.UnaryOperation: _Maker._unary,
    cst.Comparison: _Maker._comparison,
    cst.BooleanOperation: _Maker._boolean,
    cst.IfExp: _Maker._if_expression,
    cst.NamedExpr: _Maker._named_expression,
    cst.Await: _Maker._await,
    cst.Yield: _Maker._yield,
    cst.ListComp: _Maker._list_comprehension,
    cst.SetComp: _Maker._set_comprehension,
    cst.GeneratorExp: _Maker._generator,
    cst.DictComp: _Maker._dict_comprehension,
    cst.Lambda: _Maker._lambda,
}
#: The same for statements; all others do nothing.
_STATEMENTS: dict[type[cst.CSTNode], Callable[[_Maker, Any], ast.stmt]] = {
    cst.Expr: _Maker._expression_statement,
    cst.Assign: _Maker._assign,
    cst.AnnAssign: _Maker._annotated,
    cst.AugAssign: _Maker._augmented,
    cst.Del: _Maker._delete,
    cst.Return: _Maker._return,
    cst.Raise: _Maker._raise,
    cst.Assert: _Maker._assert,
    cst.Break: _Maker._break,
    cst.Continue: _Maker._continue,
    cst.Import: _Maker._import,
    cst.ImportFrom: _Maker._import_from,
    cst.Global: _Maker._global,
    cst.Nonlocal: _Maker._nonlocal,
    cst.TypeAlias: _Maker._type_alias,
    cst.If: _Maker._if,
    cst.Match: _Maker._match,
    cst.For: _Maker._for,
    cst.While: _Maker._while,
    cst.With: _Maker._with,
    cst.Try: _Maker._try,
    cst.TryStar: _Maker._try,
    cst.FunctionDef: _Maker._function,
    cst.ClassDef: _Maker._class,
}
# Template strings, `{**d for d in ds}` and Python 3.15's lazy imports came with later versions of libcst.
for _table, _kind, _make in (
    (_EXPRESSIONS, "TemplatedString", _Maker._formatted),
    (_EXPRESSIONS, "StarredDictComp", _Maker._starred_dict_comprehension),
    (_STATEMENTS, "LazyImport", _Maker._import),
    (_STATEMENTS, "LazyImportFrom", _Maker._import_from),
):
    if hasattr(cst, _kind):
        _table[getattr(cst, _kind)] = _make  # type: ignore[assignment]
