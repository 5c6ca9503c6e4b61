"""Dominance and exclusion in a def: what always runs before something else, and what never runs together with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model


def always_comes_by(contexts: Iterable[int], at: int, frame: Frame, model: Model) -> bool:
    """Whether context `at` is reached only through one of `contexts`, which come before it."""
    one = model.def_of(frame)
    ways = {0, *one.enclosing(at)}
    covered = set(contexts)
    waiting = list(covered)
    while waiting:
        context = waiting.pop()
        if context in ways or any(_is_same_branch(context, way, frame, model) for way in ways):
            return True
        if context > 0 and _covers_parent(context, covered, frame, model):
            parent = one.contexts[context].parent
            waiting += [] if parent in covered else [parent]
            covered.add(parent)
    return False


def never_both(one: int, other: int, frame: Frame, model: Model) -> bool:
    """Whether a call evaluates at most one of two expressions: they stand in different branches of an `if` or `match`
    that no loop repeats, or of a conditional expression."""
    code = frame.code
    if are_apart(code.read_in(one), code.read_in(other), frame, model):
        return True
    choices = (e for number in model.ev.evaluated(frame) if isinstance(e := model.ev.expr(frame, number), ir.IfExp))
    return any(_parts(one, other, e, code.exprs) for e in choices)


def are_apart(one: int, other: int, frame: Frame, model: Model) -> bool:
    """Whether two contexts are in different branches of an `if` or `match` that no loop repeats."""
    def_ = model.def_of(frame)
    return any(
        mine != yours and _are_alternatives(def_.contexts[mine], def_.contexts[yours], frame, model)
        for mine, yours in product(_branches(one, def_), _branches(other, def_))
    )


def _branches(context: int, one: ir.DefIR) -> list[int]:
    """The branches around a context; none in a loop, which may take another branch each time."""
    return [] if one.is_in_loop(context) else list(one.enclosing(context))


def _are_alternatives(one: ir.Context, other: ir.Context, frame: Frame, model: Model) -> bool:
    if one.kind == other.kind == "match":
        return (one.parent, one.expr) == (other.parent, other.expr)
    is_test = one.kind == other.kind == "if" and one.negated != other.negated
    return is_test and is_alike(one.expr, other.expr, model.facts(frame).ir.exprs)


def _parts(one: int, other: int, choice: ir.IfExp, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a conditional expression chooses one of two expressions."""
    then, otherwise = set(ir.made_of(exprs, (choice.then,))), set(ir.made_of(exprs, (choice.other,)))
    apart = then - otherwise, otherwise - then
    return (one in apart[0] and other in apart[1]) or (other in apart[0] and one in apart[1])


def _covers_parent(context: int, covered: set[int], frame: Frame, model: Model) -> bool:
    """Whether every path through the parent of a context passes a covered one."""
    one = model.def_of(frame)
    here = one.contexts[context]
    beside = [(n, other) for n, other in enumerate(one.contexts) if other.parent == here.parent and n != context]
    match here.kind:
        case "with" | "finally":
            return True
        case "if":
            others = [n for n, other in beside if (other.kind, other.expr) == ("if", here.expr)]
            if model.ev.liveness.truth(here.expr, frame) is (not here.negated):
                return True
            return any(n in covered for n in others)
        case "try":
            return all(n in covered or _leaves(n, one) for n in one.handlers(context))
    return False


def _leaves(context: int, one: ir.DefIR) -> bool:
    return any(isinstance(step, ir.Return | ir.Raise) and step.context == context for step in one.steps)


def _is_same_branch(context: int, other: int, frame: Frame, model: Model) -> bool:
    """Whether two branches of different statements have the same condition: `if self.fixed: ...` twice."""
    contexts = model.def_of(frame).contexts
    one, two = contexts[context], contexts[other]
    if (one.kind, one.negated) != (two.kind, two.negated) or one.kind != "if":
        return False
    return is_alike(one.expr, two.expr, model.facts(frame).ir.exprs)


def is_alike(one: int, two: int, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether two expressions are written alike and read the same locals."""
    if one == two:
        return True
    if ir.NONE in (one, two) or type(exprs[one]) is not type(exprs[two]) or _is_partly_unknown(exprs[one]):
        return False
    parts, others = ir.operands(exprs[one]), ir.operands(exprs[two])
    if len(parts) != len(others) or _names(exprs[one]) != _names(exprs[two]):
        return False
    return all(is_alike(part, other, exprs) for part, other in zip(parts, others, strict=True))


def is_passed(
    one: int,
    exprs: Sequence[ir.Expr],
    two: int,
    others: tuple[ir.Expr, ...],
    passed: Mapping[int, int],
    same_file: bool,
) -> bool:
    """Whether expression `one` of a function reads as `two` of a caller, which passes expressions for the parameters.
    Names of a module mean the same in one file only."""
    e = exprs[one]
    if type(e) is ir.Param:
        return e.index in passed and is_alike(passed[e.index], two, others)
    if type(e) is not type(others[two]) or isinstance(e, ir.Capture) or _is_partly_unknown(e):
        return False
    if isinstance(e, ir.Global) and not same_file:
        return False
    parts, of_caller = ir.operands(e), ir.operands(others[two])
    if len(parts) != len(of_caller) or _names(e) != _names(others[two]):
        return False
    return all(
        is_passed(part, exprs, other, others, passed, same_file) for part, other in zip(parts, of_caller, strict=True)
    )


def _is_partly_unknown(e: ir.Expr) -> bool:
    """Whether two expressions may differ although their parts do not: each choice of a local may have been made, and
    the constant parts of a text that gives no name are not known."""
    return isinstance(e, ir.Phi | ir.Opaque) or (isinstance(e, ir.Text) and not e.texts)


def _names(e: ir.Expr) -> tuple[object, ...]:
    """The parts of an expression that are not expressions themselves: names, operators, constants."""
    match e:
        case ir.Const() | ir.Param() | ir.Capture() | ir.Global() | ir.Imported() | ir.MakeDef():
            return tuple(e)
        case ir.Call(_, args):
            return tuple((arg.kind, arg.name) for arg in args)
        case ir.Attr(_, name):
            return (name,)
        case ir.Text(_, texts, formats):
            return (texts, formats)
        case ir.Bin(op, _, _) | ir.Unary(op, _) | ir.BoolOp(op, _, _) | ir.Augmented(op, _, _):
            return (op,)
        case ir.Compare(_, ops, _):
            return ops
        case ir.Unpack(_, index, starred):
            return (index, starred)
        case ir.Seq(kind, _) | ir.Comp(kind, _, _, _):
            return (kind,)
    return ()
