"""Dominance in a def: what always runs before something else, whichever branches are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model


def always_comes_by(contexts: Iterable[int], at: int, frame: Frame, model: Model) -> bool:
    """Whether context `at` is reached only through one of `contexts`, which come before it."""
    one = model.def_of(frame)
    ways = {at, 0, *_outer(at, one)}
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


def _outer(context: int, one: ir.DefIR) -> Iterator[int]:
    while context > 0:
        context = one.contexts[context].parent
        yield context


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
    if ir.NONE in (one, two) or type(exprs[one]) is not type(exprs[two]) or isinstance(exprs[one], ir.Phi):
        return False
    parts, others = ir.operands(exprs[one]), ir.operands(exprs[two])
    if len(parts) != len(others) or _names(exprs[one]) != _names(exprs[two]):
        return False
    return all(is_alike(part, other, exprs) for part, other in zip(parts, others, strict=True))


def _names(e: ir.Expr) -> tuple[object, ...]:
    """The parts of an expression that are not expressions themselves: names, operators, constants."""
    match e:
        case ir.Const() | ir.Param() | ir.Capture() | ir.Global() | ir.Imported() | ir.MakeDef() | ir.Opaque():
            return tuple(e)
        case ir.Call(_, args):
            return tuple((arg.kind, arg.name) for arg in args)
        case ir.Attr(_, name):
            return (name,)
        case ir.Bin(op, _, _) | ir.Unary(op, _) | ir.BoolOp(op, _, _) | ir.Augmented(op, _, _):
            return (op,)
        case ir.Compare(_, ops, _):
            return ops
        case ir.Unpack(_, index, starred):
            return (index, starred)
        case ir.Seq(kind, _) | ir.Comp(kind, _, _, _):
            return (kind,)
    return ()
