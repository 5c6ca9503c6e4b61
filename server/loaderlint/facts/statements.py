"""Statements of the tree to steps, and the ways through them. One function a node class, found in `STATEMENTS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import libcst as cst

from loaderlint.facts.expressions import (
    EXPRESSIONS,
    arguments,
    assign,
    bind_parameters,
    expression,
    is_false,
    is_true,
    optional,
    parameters,
    subscript_index,
)
from loaderlint.facts.flow import UNBOUND, Env, join, merge, thrown
from loaderlint.facts.frame import Frame
from loaderlint.facts.ir import (
    NONE,
    Attr,
    Augment,
    Augmented,
    Caught,
    Context,
    DefIR,
    Delete,
    Element,
    Enter,
    Entered,
    Evaluate,
    ExprId,
    Imported,
    Index,
    Iterate,
    MakeDef,
    Opaque,
    Raise,
    Return,
    SetAttr,
    SetItem,
    Star,
    StarImport,
    Test,
    Unpack,
)
from loaderlint.facts.names import Bindings, add_pattern, collect, imported_name

_AUGMENTED: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.MatrixMultiplyAssign: "@",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
}

#: Context managers after whose body the program goes on even if the body raises.
_SWALLOWING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})


def block(f: Frame, statements: Any) -> None:
    """Read the statements of a suite. Leaves `f.context` where the last one was."""
    for node in statements:
        lower = STATEMENTS.get(node.__class__)
        if lower is not None:
            f.statement = f.index.get(id(node), -1)
            lower(f, node)


# --- simple statements ------------------------------------------------------------------------------------------------


def _line(f: Frame, node: cst.SimpleStatementLine) -> None:
    block(f, node.body)


def _expression(f: Frame, node: cst.Expr) -> None:
    value = node.value
    # A string that stands alone, a docstring or a kind of comment, says nothing.
    if isinstance(value, cst.SimpleString | cst.ConcatenatedString):
        return
    f.step(Evaluate(f.context, expression(f, value)))


def _assign(f: Frame, node: cst.Assign) -> None:
    value = EXPRESSIONS[node.value.__class__](f, node.value)
    for target in node.targets:
        assign(f, target.target, value)


def _annotated(f: Frame, node: cst.AnnAssign) -> None:
    value = optional(f, node.value)
    annotation = expression(f, node.annotation.annotation)
    assign(f, node.target, value, annotation)


def _augmented(f: Frame, node: cst.AugAssign) -> None:
    target = node.target
    op = _AUGMENTED[node.operator.__class__]
    if isinstance(target, cst.Attribute):
        base = expression(f, target.value)
        f.tables.mentions.add(target.attr.value)
        old = f.emit(Attr(base, target.attr.value), target)
        value = expression(f, node.value)
        f.step(Augment(f.context, old, op, value, "attr"))
        new = f.emit(Augmented(op, old, value), node)
        f.step(SetAttr(f.context, base, target.attr.value, new, NONE))
    elif isinstance(target, cst.Subscript):
        base = expression(f, target.value)
        index = subscript_index(f, target)
        old = f.emit(Index(base, index), target)
        value = expression(f, node.value)
        f.step(Augment(f.context, old, op, value, "item"))
        new = f.emit(Augmented(op, old, value), node)
        f.step(SetItem(f.context, base, index, new))
    else:
        old = expression(f, target)
        value = expression(f, node.value)
        f.step(Augment(f.context, old, op, value, "name"))
        assign(f, target, f.emit(Augmented(op, old, value), node))


def _delete(f: Frame, node: cst.Del) -> None:
    _delete_target(f, node.target)


def _delete_target(f: Frame, target: cst.CSTNode) -> None:
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            _delete_target(f, element.value)
        return
    f.step(Delete(f.context, expression(f, target)))
    if isinstance(target, cst.Name):
        f.env.pop(target.value, None)


def _return(f: Frame, node: cst.Return) -> None:
    f.step(Return(f.context, optional(f, node.value)))
    f.live = False


def _raise(f: Frame, node: cst.Raise) -> None:
    value = optional(f, node.exc)
    if node.cause is not None:
        expression(f, node.cause.item)
    f.step(Raise(f.context, value))
    f.live = False


def _assert(f: Frame, node: cst.Assert) -> None:
    test = expression(f, node.test)
    f.step(Test(f.context, test))
    if node.msg is not None:
        outer, contexts, steps, env = f.context, len(f.contexts), len(f.steps), f.env.copy()
        f.context = f.inside(Context(outer, "if", test, True))
        expression(f, node.msg)
        f.context, f.env = outer, env
        if len(f.steps) == steps:
            del f.contexts[contexts:]
    if is_false(f, test):
        f.live = False


def _break(f: Frame, node: cst.Break) -> None:
    if f.live and f.loops:
        f.loops[-1][0].append(f.env.copy())
    f.live = False


def _continue(f: Frame, node: cst.Continue) -> None:
    if f.live and f.loops:
        f.loops[-1][1].append(f.env.copy())
    f.live = False


def _import(f: Frame, node: cst.Import) -> None:
    for alias in node.names:
        parts = _dotted(alias.name)
        f.tables.mentions.update(parts)
        module = ".".join(parts) if alias.asname is not None else parts[0]
        f.bind(imported_name(alias), f.emit(Imported(module, None, 0), alias))


def _import_from(f: Frame, node: cst.ImportFrom) -> None:
    parts = _dotted(node.module) if node.module is not None else []
    module = ".".join(parts)
    level = len(node.relative)
    f.tables.mentions.update(parts)
    if isinstance(node.names, cst.ImportStar):
        f.step(StarImport(f.context, module, level))
        return
    for alias in node.names:
        name = ".".join(_dotted(alias.name))
        f.tables.mentions.add(name)
        f.bind(imported_name(alias), f.emit(Imported(module, name, level), alias))


def _dotted(node: cst.BaseExpression) -> list[str]:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    parts.append(node.value if isinstance(node, cst.Name) else "")
    return parts[::-1]


def _type_alias(f: Frame, node: cst.TypeAlias) -> None:
    f.bind(node.name.value, expression(f, node.value))


# --- branches ---------------------------------------------------------------------------------------------------------


def _if(f: Frame, node: cst.If) -> None:
    outer, reached = f.context, f.live
    ends: list[tuple[Env, int]] = []
    branch: cst.If | cst.Else | None = node
    while isinstance(branch, cst.If):
        f.at(branch)
        parent = f.context
        then = f.suite("if")
        test = expression(f, branch.test)
        f.step(Test(parent, test))
        before = f.env
        f.env = before.copy()
        f.headed(then, test)
        block(f, branch.body.body)
        then_ends = f.live
        if then_ends:
            ends.append((f.env, f.context))
        f.env, f.live, f.context = before, reached, parent
        branch = branch.orelse
        if branch is not None or not then_ends:
            f.context = f.inside(Context(parent, "if", test, True))
    if branch is not None:
        block(f, branch.body.body)
    if f.live:
        ends.append((f.env, f.context))
    f.context = _common(f, [context for _, context in ends]) if ends else outer
    f.continue_from([env for env, _ in ends], f.env)


def _common(f: Frame, contexts: list[int]) -> int:
    """The innermost context that all of `contexts` stand in."""
    result = contexts[0]
    for context in contexts[1:]:
        while context != result:
            # A context has a larger number than its parent.
            if context > result:
                context = f.contexts[context].parent
            else:
                result = f.contexts[result].parent
    return result


def _match(f: Frame, node: cst.Match) -> None:
    outer, reached = f.context, f.live
    subject = expression(f, node.subject)
    ends: list[Env] = []
    exhausted = False
    for case in node.cases:
        before = f.env
        f.env, f.live = before.copy(), reached
        f.context = f.inside(Context(outer, "match", subject, False))
        f.at(case)
        _pattern(f, case.pattern, subject)
        if case.guard is not None:
            guard = expression(f, case.guard)
            f.step(Test(f.context, guard))
            f.context = f.inside(Context(f.context, "if", guard, False))
        elif isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None:
            exhausted = True
        block(f, case.body.body)
        if f.live:
            ends.append(f.env)
        f.env, f.context = before, outer
    if not exhausted and reached:
        ends.append(f.env)
    f.continue_from(ends, f.env)


def _pattern(f: Frame, node: cst.CSTNode | None, value: ExprId) -> None:
    """Bind the names of the pattern `node`, which `value` is matched with."""
    if isinstance(node, cst.MatchAs):
        _pattern(f, node.pattern, value)
        if node.name is not None:
            f.bind(node.name.value, value)
    elif isinstance(node, cst.MatchValue):
        expression(f, node.value)
    elif isinstance(node, cst.MatchList | cst.MatchTuple):
        _sequence_pattern(f, node, value)
    elif isinstance(node, cst.MatchMapping):
        for element in node.elements:
            key = expression(f, element.key)
            _pattern(f, element.pattern, f.emit(Index(value, key), element))
        if node.rest is not None:
            f.bind(node.rest.value, f.emit(Opaque("match pattern"), node.rest))
    elif isinstance(node, cst.MatchClass):
        expression(f, node.cls)
        for positional in node.patterns:
            _pattern(f, positional.value, f.emit(Opaque("match pattern"), positional))
        for keyword in node.kwds:
            f.tables.mentions.add(keyword.key.value)
            _pattern(f, keyword.pattern, f.emit(Attr(value, keyword.key.value), keyword))
    elif isinstance(node, cst.MatchOr):
        _or_pattern(f, node, value)


def _sequence_pattern(f: Frame, node: cst.MatchList | cst.MatchTuple, value: ExprId) -> None:
    count = len(node.patterns)
    after_star = False
    for position, item in enumerate(node.patterns):
        index = position - count if after_star else position
        if isinstance(item, cst.MatchStar):
            after_star = True
            if item.name is not None:
                f.bind(item.name.value, f.emit(Unpack(value, index, True), item))
        elif isinstance(item, cst.MatchSequenceElement):
            _pattern(f, item.value, f.emit(Unpack(value, index, False), item))


def _or_pattern(f: Frame, node: cst.MatchOr, value: ExprId) -> None:
    for option in node.patterns:
        if isinstance(option.pattern, cst.MatchValue):
            expression(f, option.pattern.value)
        elif isinstance(option.pattern, cst.MatchClass):
            expression(f, option.pattern.cls)
    names: list[str] = []
    add_pattern(node, names)
    for name in dict.fromkeys(names):
        f.bind(name, f.emit(Opaque("match pattern"), node))


# --- loops ------------------------------------------------------------------------------------------------------------


def _for(f: Frame, node: cst.For) -> None:
    outer, reached = f.context, f.live
    body = f.suite("loop")
    iterable = expression(f, node.iter)
    f.step(Iterate(outer, iterable))
    before = f.env
    marks = f.open_loop(node)
    head = f.env
    f.env = head.copy()
    f.headed(body, iterable)
    assign(f, node.target, f.emit(Element(iterable), node.target))
    block(f, node.body.body)
    breaks = f.close_loop(marks, before)
    _after_loop(f, node, breaks, head, reached, outer)


def _while(f: Frame, node: cst.While) -> None:
    outer, reached = f.context, f.live
    before = f.env
    marks = f.open_loop(node)
    body = f.suite("while")
    test = expression(f, node.test)
    f.step(Test(outer, test))
    head = f.env
    f.env = head.copy()
    f.headed(body, test)
    block(f, node.body.body)
    breaks = f.close_loop(marks, before)
    _after_loop(f, node, breaks, head, reached and not is_true(f, test), outer)


def _after_loop(f: Frame, node: cst.For | cst.While, breaks: list[Env], head: Env, ends: bool, outer: int) -> None:
    """Go on behind a loop that `ends` by itself with the environment `head`, or by one of its `breaks`."""
    f.env, f.live, f.context = head, ends, outer
    if node.orelse is not None:
        f.env = head.copy()
        f.at(node.orelse)
        f.context = f.inside(Context(outer, "loop_else", NONE, False))
        block(f, node.orelse.body.body)
        f.context = outer
    if f.live:
        breaks.append(f.env)
    f.continue_from(breaks, head)


# --- with and try -----------------------------------------------------------------------------------------------------


def _with(f: Frame, node: cst.With) -> None:
    outer, reached = f.context, f.live
    swallows = False
    for item in node.items:
        body = f.suite("with")
        manager = expression(f, item.item)
        swallows = swallows or _swallows(item.item)
        f.step(Enter(f.context, manager))
        f.headed(body, manager)
        if item.asname is not None:
            assign(f, item.asname.name, f.emit(Entered(manager), item))
    before, start = f.env.copy(), len(f.log)
    block(f, node.body.body)
    f.context = outer
    if swallows and reached:
        left = [f.env] if f.live else []
        f.continue_from([*left, thrown(before, f.log[start:])], f.env)


def _swallows(node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Call):
        return False
    func = node.func
    name = func.attr if isinstance(func, cst.Attribute) else func
    return isinstance(name, cst.Name) and name.value in _SWALLOWING


def _try(f: Frame, node: cst.Try | cst.TryStar) -> None:
    outer, reached = f.context, f.live
    before, start = f.env.copy(), len(f.log)
    breaks, continues = [len(jumps) for jumps in f.loops[-1]] if f.loops else (0, 0)
    ends: list[Env] = []
    _suite(f, node.body, outer, "try")
    after_body = len(f.log)
    if node.orelse is not None:
        _suite(f, node.orelse.body, outer, "try_else")
    if f.live:
        ends.append(f.env)
    raised = thrown(before, f.log[start:after_body])
    for handler in node.handlers:
        f.env, f.live = raised.copy(), reached
        except_clause(f, handler)
        f.context = outer
        if f.live:
            ends.append(f.env)
    if node.finalbody is None:
        f.continue_from(ends, raised)
        return
    jumps = [*f.loops[-1][0][breaks:], *f.loops[-1][1][continues:]] if f.loops else []
    after = len(f.log)
    _finally(f, node.finalbody, ends, thrown(before, f.log[start:]), reached)
    # A `break` or `continue` goes through the `finally` as well.
    for env in jumps:
        for name, flow in f.log[after:]:
            env[name] = join(env.get(name, UNBOUND), flow)


def _suite(f: Frame, suite: cst.BaseSuite, outer: int, kind: Literal["try", "try_else", "finally"]) -> None:
    f.context = f.inside(Context(outer, kind, NONE, False))
    block(f, suite.body)
    f.context = outer


def except_clause(f: Frame, node: cst.ExceptHandler | cst.ExceptStarHandler) -> None:
    """Read one handler; leaves `f.context` inside it."""
    f.at(node)
    body = f.suite("except")
    caught = optional(f, node.type)
    f.headed(body, caught)
    name = node.name.name if node.name is not None else None
    if name is not None:
        assign(f, name, f.emit(Caught(caught), node.name))
    block(f, node.body.body)
    if isinstance(name, cst.Name):  # Python deletes it at the end of the handler
        f.env.pop(name.value, None)


def _finally(f: Frame, node: cst.Finally, ends: list[Env], raised: Env, reached: bool) -> None:
    """Read a `finally` that is entered from `ends` or, where an exception passes, with `raised`; go on from `ends`."""
    f.env, f.live = merge([*ends, raised]).copy(), reached
    start = len(f.log)
    _suite(f, node.body, f.context, "finally")
    if not f.live or not ends:
        f.live = False
        return
    last = f.env
    f.env = merge(ends).copy()
    for name, _ in f.log[start:]:
        if name in last:
            f.env[name] = last[name]


# --- defs -------------------------------------------------------------------------------------------------------------


def _function(f: Frame, node: cst.FunctionDef) -> None:
    tables = f.tables
    name = node.name.value
    # First: a method's own def is the first of its piece, lambdas among its defaults come later.
    number = tables.reserve(f.index.get(id(node), -1), f.index.get(id(node.name), -1))
    decorators = tuple([expression(f, decorator.decorator) for decorator in node.decorators])
    params, nodes = parameters(f, node.params)
    inner = Frame(tables, f, number, is_function=True)
    inner.declare(_bindings(f, node), [param.name for param in params])
    bind_parameters(inner, nodes)
    block(inner, node.body.body)
    tables.defs[number] = DefIR(
        "function" if node.asynchronous is None else "async_function",
        name,
        f.number,
        tuple(params),
        decorators,
        (),
        (),
        tuple(inner.contexts),
        tuple(inner.steps),
        inner.live,
        inner.is_generator,
    )
    tables.step_anchors[number] = tuple(inner.step_anchors)
    tables.mentions.add(name)
    f.bind(name, f.emit(MakeDef(number), node))


def _class(f: Frame, node: cst.ClassDef) -> None:
    tables = f.tables
    name = node.name.value
    number = tables.reserve(f.index.get(id(node), -1), f.index.get(id(node.name), -1))
    decorators = tuple([expression(f, decorator.decorator) for decorator in node.decorators])
    bases = tuple([_base(f, base) for base in node.bases])
    keywords = tuple([(arg.name or "**", arg.value) for arg in arguments(f, node.keywords)])
    inner = Frame(tables, f, number, is_function=False)
    inner.declare(_bindings(f, node))
    block(inner, node.body.body)
    tables.defs[number] = DefIR(
        "class",
        name,
        f.number,
        (),
        decorators,
        bases,
        keywords,
        tuple(inner.contexts),
        tuple(inner.steps),
        inner.live,
        False,
    )
    tables.step_anchors[number] = tuple(inner.step_anchors)
    tables.mentions.add(name)
    f.bind(name, f.emit(MakeDef(number), node))


def _base(f: Frame, node: cst.Arg) -> ExprId:
    base = expression(f, node.value)
    return f.emit(Star(base), node) if node.star else base


def _bindings(f: Frame, node: cst.FunctionDef | cst.ClassDef) -> Bindings:
    found = Bindings(f.tables.walrus.get(id(node), ()))
    collect(node.body.body, found)
    return found


#: Node class -> function that reads such a statement; what is not here does nothing.
STATEMENTS: dict[type[cst.CSTNode], Callable[[Frame, Any], None]] = {
    cst.SimpleStatementLine: _line,
    cst.Expr: _expression,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Del: _delete,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Assert: _assert,
    cst.Break: _break,
    cst.Continue: _continue,
    cst.Import: _import,
    cst.ImportFrom: _import_from,
    cst.TypeAlias: _type_alias,
    cst.If: _if,
    cst.Match: _match,
    cst.For: _for,
    cst.While: _while,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
}
# Python 3.15's lazy imports say the same as the others.
for _kind, _lower in (("LazyImport", _import), ("LazyImportFrom", _import_from)):
    if hasattr(cst, _kind):
        STATEMENTS[getattr(cst, _kind)] = _lower
