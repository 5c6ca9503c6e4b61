"""Lowers the statements of the bare tree to steps, and tracks the control flow through them. There is one function for
each node class, in `STATEMENTS`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from loaderlint.facts.bound_names import Bindings, add_pattern, collect, imported_name
from loaderlint.facts.ir import (
    NONE,
    Attr,
    Augment,
    Augmented,
    Caught,
    Const,
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
    StarImport,
    Test,
    Unpack,
)
from loaderlint.facts.lower_expressions import (
    OPERATORS,
    assign,
    bind_parameters,
    expression,
    is_false,
    is_true,
    keyword,
    optional,
    parameters,
)
from loaderlint.facts.lowering_state import Frame
from loaderlint.facts.reaching_definitions import Changes

#: Context managers that suppress exceptions: the program continues after the body even if it raises.
_SWALLOWING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})


def block(f: Frame, statements: Iterable[ast.AST]) -> None:
    """Lower the statements of a suite. `f.context` is then that of the last one. What follows a `return` or a `raise`
    never runs, as if it stood under `if False`."""
    reached, tested = f.live, f.tested.mark()
    for node in statements:
        if reached and not f.live:
            reached = False
            f.context = f.inside(Context(f.context, "if", f.emit(Const("bool", False), node), False))
        lower = STATEMENTS.get(node.__class__)
        if lower is not None:
            f.statement = f.index.get(id(node), -1)
            lower(f, node)
    f.tested.forget(tested)


# --- simple statements ------------------------------------------------------------------------------------------------


def _expression(f: Frame, node: ast.Expr) -> None:
    value = node.value
    # A literal on its own (a docstring, `...`) does nothing, nor does a name: the first word of a statement being typed
    # is one for a while, and so causes no linking.
    if isinstance(value, ast.Constant | ast.Name):
        return
    f.step(Evaluate(f.context, expression(f, value)))


def _assign(f: Frame, node: ast.Assign) -> None:
    value = expression(f, node.value)
    for target in node.targets:
        assign(f, target, value)


def _annotated(f: Frame, node: ast.AnnAssign) -> None:
    value = optional(f, node.value)
    annotation = expression(f, node.annotation)
    assign(f, node.target, value, annotation)


def _augmented(f: Frame, node: ast.AugAssign) -> None:
    target: ast.expr = node.target
    op = OPERATORS[node.op.__class__]
    if isinstance(target, ast.Attribute):
        base = expression(f, target.value)
        f.tables.mentions.add(target.attr)
        old = f.emit(Attr(base, target.attr), target)
        value = expression(f, node.value)
        f.step(Augment(f.context, old, op, value, "attr"))
        new = f.emit(Augmented(op, old, value), node)
        f.step(SetAttr(f.context, base, target.attr, new, NONE))
    elif isinstance(target, ast.Subscript):
        base = expression(f, target.value)
        index = expression(f, target.slice)
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


def _delete(f: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        _delete_target(f, target)


def _delete_target(f: Frame, target: ast.expr) -> None:
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            _delete_target(f, element)
        return
    f.step(Delete(f.context, expression(f, target)))
    if isinstance(target, ast.Name):
        f.env.set(target.id, None)


def _return(f: Frame, node: ast.Return) -> None:
    f.step(Return(f.context, optional(f, node.value)))
    f.live = False


def _raise(f: Frame, node: ast.Raise) -> None:
    value = optional(f, node.exc)
    optional(f, node.cause)
    f.step(Raise(f.context, value))
    f.live = False


def _assert(f: Frame, node: ast.Assert) -> None:
    test = expression(f, node.test)
    f.step(Test(f.context, test))
    if node.msg is not None:
        outer, contexts, steps, before = f.context, len(f.contexts), len(f.steps), f.env.mark()
        f.context = f.inside(Context(outer, "if", test, True))
        expression(f, node.msg)
        f.context = outer
        f.env.undo(before)
        if len(f.steps) == steps:
            del f.contexts[contexts:]
    if is_false(f, test):
        f.live = False


def _break(f: Frame, node: ast.Break) -> None:
    f.jump(out=True)


def _continue(f: Frame, node: ast.Continue) -> None:
    f.jump(out=False)


def _import(f: Frame, node: ast.Import) -> None:
    for alias in node.names:
        parts = alias.name.split(".")
        f.tables.mentions.update(parts)
        module = alias.name if alias.asname is not None else parts[0]
        f.bind(imported_name(alias), f.emit(Imported(module, None, 0), alias))


def _import_from(f: Frame, node: ast.ImportFrom) -> None:
    module = node.module or ""
    if module:
        f.tables.mentions.update(module.split("."))
    if node.names[0].name == "*":
        f.step(StarImport(f.context, module, node.level))
        return
    for alias in node.names:
        f.tables.mentions.add(alias.name)
        f.bind(imported_name(alias), f.emit(Imported(module, alias.name, node.level), alias))


def _type_alias(f: Frame, node: Any) -> None:
    f.bind(node.name.id, expression(f, node.value))


# --- branches ---------------------------------------------------------------------------------------------------------


def _if(f: Frame, node: ast.If) -> None:
    outer, reached, start = f.context, f.live, f.env.mark()
    ends: list[tuple[Changes, int]] = []
    first: tuple[int, bool] | None = None
    orelse: Sequence[ast.stmt] = (node,)
    # `elif`, and an `if` alone in an `else`, are the same.
    while len(orelse) == 1 and isinstance(branch := orelse[0], ast.If):
        f.at(branch)
        parent = f.context
        then = f.suite("if")
        test = expression(f, branch.test)
        f.step(Test(parent, test))
        before = f.env.mark()
        f.headed(then, test)
        f.narrow(test, True)
        block(f, branch.body)
        then_ends = f.live
        first = first or (test, then_ends)
        if then_ends:
            ends.append((f.env.changes(start), f.context))
        f.env.undo(before)
        f.live, f.context = reached, parent
        orelse = branch.orelse
        if orelse or not then_ends:
            f.context = f.inside(Context(parent, "if", test, True))
            f.narrow(test, False)
    block(f, orelse)
    if f.live:
        ends.append((f.env.changes(start), f.context))
    f.context = _common(f, [context for _, context in ends]) if ends else outer
    _continue_behind(f, [end for end, _ in ends], start, first[0] if first is not None and first[1] else NONE)


def _continue_behind(f: Frame, changes: list[Changes], start: int, test: int) -> None:
    """Continue where the ways through an `if` statement meet. `test`: what is true on the first of them and false on
    the others; `NONE` if there is no such test."""
    if test == NONE or len(changes) < 2:
        f.continue_from(changes, start)
        return
    f.env.undo(start)
    held, failed = changes[0], f.meet(changes[1:])
    ways = [{name: way.get(name, f.env.get(name)) for name in (*held, *failed)} for way in (held, failed)]
    f.continue_from(changes, start)
    f.decide(test, *ways)


def _common(f: Frame, contexts: list[int]) -> int:
    """The innermost context around all of `contexts`."""
    result = contexts[0]
    inside = {result}  # known to be in the result: a chain of elif visits each context once
    for context in contexts[1:]:
        while context not in inside:
            # A context has a larger number than its parent.
            if context > result:
                inside.add(context)
                context = f.contexts[context].parent
            else:
                result = f.contexts[result].parent
                inside.add(result)
    return result


def _match(f: Frame, node: ast.Match) -> None:
    outer, reached = f.context, f.live
    subject = expression(f, node.subject)
    start = f.env.mark()
    ends: list[Changes] = []
    exhausted = False
    for case in node.cases:
        f.live = reached
        f.context = f.inside(Context(outer, "match", subject, False))
        f.at(case.pattern)
        _pattern(f, case.pattern, subject)
        if case.guard is not None:
            guard = expression(f, case.guard)
            f.step(Test(f.context, guard))
            f.context = f.inside(Context(f.context, "if", guard, False))
        elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
            exhausted = True
        block(f, case.body)
        if f.live:
            ends.append(f.env.changes(start))
        f.env.undo(start)
        f.context = outer
    if not exhausted and reached:
        ends.append({})
    f.continue_from(ends, start)


def _pattern(f: Frame, node: ast.pattern | None, value: ExprId) -> None:
    """Bind the names of the pattern `node`, which `value` is matched against."""
    if isinstance(node, ast.MatchAs):
        _pattern(f, node.pattern, value)
        if node.name is not None:
            f.bind(node.name, value)
    elif isinstance(node, ast.MatchValue):
        expression(f, node.value)
    elif isinstance(node, ast.MatchSequence):
        _sequence_pattern(f, node, value)
    elif isinstance(node, ast.MatchMapping):
        for key_node, inner in zip(node.keys, node.patterns, strict=True):
            key = expression(f, key_node)
            _pattern(f, inner, f.emit(Index(value, key), inner))
        if node.rest is not None:
            f.bind(node.rest, f.emit(Opaque("match pattern"), node))
    elif isinstance(node, ast.MatchClass):
        expression(f, node.cls)
        for inner in node.patterns:
            _pattern(f, inner, f.emit(Opaque("match pattern"), inner))
        for name, inner in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            f.tables.mentions.add(name)
            _pattern(f, inner, f.emit(Attr(value, name), inner))
    elif isinstance(node, ast.MatchOr):
        _or_pattern(f, node, value)


def _sequence_pattern(f: Frame, node: ast.MatchSequence, value: ExprId) -> None:
    count = len(node.patterns)
    after_star = False
    for position, item in enumerate(node.patterns):
        index = position - count if after_star else position
        if isinstance(item, ast.MatchStar):
            after_star = True
            if item.name is not None:
                f.bind(item.name, f.emit(Unpack(value, index, True), item))
        else:
            _pattern(f, item, f.emit(Unpack(value, index, False), item))


def _or_pattern(f: Frame, node: ast.MatchOr, value: ExprId) -> None:
    for option in node.patterns:
        if isinstance(option, ast.MatchValue):
            expression(f, option.value)
        elif isinstance(option, ast.MatchClass):
            expression(f, option.cls)
    names: list[str] = []
    add_pattern(node, names)
    for name in dict.fromkeys(names):
        f.bind(name, f.emit(Opaque("match pattern"), node))


# --- loops ------------------------------------------------------------------------------------------------------------


def _for(f: Frame, node: ast.For | ast.AsyncFor) -> None:
    outer, reached = f.context, f.live
    body = f.suite("loop")
    iterable = expression(f, node.iter)
    f.step(Iterate(outer, iterable))
    loop = f.open_loop(node)
    head = f.env.mark()
    f.headed(body, iterable)
    assign(f, node.target, f.emit(Element(iterable), node.target))
    block(f, node.body)
    breaks = f.close_loop(head)
    _after_loop(f, node.orelse, breaks, loop.start, reached, outer)


def _while(f: Frame, node: ast.While) -> None:
    outer, reached = f.context, f.live
    loop = f.open_loop(node)
    body = f.suite("while")
    test = expression(f, node.test)
    f.step(Test(outer, test))
    head = f.env.mark()
    f.headed(body, test)
    block(f, node.body)
    breaks = f.close_loop(head)
    _after_loop(f, node.orelse, breaks, loop.start, reached and not is_true(f, test), outer)


def _after_loop(f: Frame, orelse: list[ast.stmt], breaks: list[Changes], start: int, ends: bool, outer: int) -> None:
    """Continue after a loop that `ends` by itself, with the environment of its head, or by one of its `breaks`; `start`
    is before the loop."""
    f.live, f.context = ends, outer
    head = f.env.mark()
    if orelse:
        f.context = f.inside(Context(outer, "loop_else", NONE, False))
        block(f, orelse)
        f.context = outer
    if f.live:
        breaks.append(f.env.changes(start))
    if not breaks:
        f.env.undo(head)
    f.continue_from(breaks, start)


# --- with and try -----------------------------------------------------------------------------------------------------


def _with(f: Frame, node: ast.With | ast.AsyncWith) -> None:
    outer, reached = f.context, f.live
    swallows = False
    for item in node.items:
        body = f.suite("with")
        manager = expression(f, item.context_expr)
        swallows = swallows or _swallows(item.context_expr)
        f.step(Enter(f.context, manager))
        f.headed(body, manager)
        if item.optional_vars is not None:
            assign(f, item.optional_vars, f.emit(Entered(manager), item.context_expr))
    start, logged = f.env.mark(), len(f.log)
    block(f, node.body)
    f.context = outer
    if swallows and reached:
        left = [f.env.changes(start)] if f.live else []
        f.env.undo(start)
        f.continue_from([*left, f.thrown(logged, len(f.log))], start)


def _swallows(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    if isinstance(func, ast.Attribute):
        return func.attr in _SWALLOWING
    return isinstance(func, ast.Name) and func.id in _SWALLOWING


def _try(f: Frame, node: ast.Try) -> None:
    outer, reached = f.context, f.live
    start, logged = f.env.mark(), len(f.log)
    breaks, continues = (len(f.loops[-1].breaks), len(f.loops[-1].continues)) if f.loops else (0, 0)
    ends: list[Changes] = []
    _suite(f, node.body, outer, "try")
    after_body = len(f.log)
    if node.orelse:
        _suite(f, node.orelse, outer, "try_else")
    if f.live:
        ends.append(f.env.changes(start))
    f.env.undo(start)
    raised = f.thrown(logged, after_body)
    for handler in node.handlers:
        f.env.apply(raised)
        f.live = reached
        except_clause(f, handler)
        f.context = outer
        if f.live:
            ends.append(f.env.changes(start))
        f.env.undo(start)
    if not node.finalbody:
        if not ends:
            f.env.apply(raised)
        f.continue_from(ends, start)
        return
    jumps = [*f.loops[-1].breaks[breaks:], *f.loops[-1].continues[continues:]] if f.loops else []
    after = len(f.log)
    _finally(f, node.finalbody, ends, f.thrown(logged, after), start, reached)
    # A `break` or `continue` runs the `finally` as well.
    for changes in jumps:
        f.add_bindings(changes, after)


def _suite(f: Frame, statements: list[ast.stmt], outer: int, kind: Literal["try", "try_else", "finally"]) -> None:
    f.context = f.inside(Context(outer, kind, NONE, False))
    block(f, statements)
    f.context = outer


def except_clause(f: Frame, node: ast.ExceptHandler) -> None:
    """Lower one handler. `f.context` is then inside it."""
    f.at(node)
    body = f.suite("except")
    caught = optional(f, node.type)
    f.headed(body, caught)
    name = node.name
    if name is not None:
        f.bind(name, f.put(Caught(caught), f.tables.names.get(id(node), -1)))
    block(f, node.body)
    if name is not None:  # Python deletes it at the end of the handler
        f.env.set(name, None)


def _finally(
    f: Frame, statements: list[ast.stmt], ends: list[Changes], raised: Changes, start: int, reached: bool
) -> None:
    """Lower a `finally` that is entered from `ends` or, if an exception passes, with `raised`, and continue from
    `ends`. The environment is that at `start`, to which they are changes."""
    f.env.apply(f.meet([*ends, raised]))
    f.live = reached
    logged = len(f.log)
    _suite(f, statements, f.context, "finally")
    if not f.live or not ends:
        f.live = False
        return
    last = {name: f.env.get(name) for name, _ in f.log[logged:]}
    f.env.undo(start)
    f.env.apply(f.meet(ends))
    f.env.apply({name: flow for name, flow in last.items() if flow is not None})


# --- defs -------------------------------------------------------------------------------------------------------------


def _function(f: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    tables = f.tables
    name = node.name
    # First: a method's own def is the first of its piece, lambdas among its defaults come later.
    number = tables.reserve(tables.index.get(id(node), -1), tables.names.get(id(node), -1))
    decorators = tuple([expression(f, decorator) for decorator in node.decorator_list])
    params, nodes = parameters(f, node.args)
    inner = Frame(tables, f, number, is_function=True)
    inner.declare(_bindings(f, node), [param.name for param in params])
    bind_parameters(inner, nodes)
    block(inner, node.body)
    tables.defs[number] = DefIR(
        "async_function" if isinstance(node, ast.AsyncFunctionDef) else "function",
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


def _class(f: Frame, node: ast.ClassDef) -> None:
    tables = f.tables
    name = node.name
    number = tables.reserve(tables.index.get(id(node), -1), tables.names.get(id(node), -1))
    decorators = tuple([expression(f, decorator) for decorator in node.decorator_list])
    bases = tuple([expression(f, base) for base in node.bases])
    keywords = tuple([(arg.name or "**", arg.value) for arg in [keyword(f, one) for one in node.keywords]])
    inner = Frame(tables, f, number, is_function=False)
    inner.declare(_bindings(f, node))
    block(inner, node.body)
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


def _bindings(f: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Bindings:
    found = Bindings(f.tables.walrus.get(id(node), ()))
    collect(node.body, found)
    return found


#: Node class -> function that lowers such a statement; other statements do nothing.
STATEMENTS: dict[type[ast.AST], Callable[[Frame, Any], None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.If: _if,
    ast.Match: _match,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
}
# Not every Python has these.
for _kind, _lower in (("TryStar", _try), ("TypeAlias", _type_alias)):
    if hasattr(ast, _kind):
        STATEMENTS[getattr(ast, _kind)] = _lower
