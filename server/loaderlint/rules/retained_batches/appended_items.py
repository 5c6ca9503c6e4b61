"""What a loop appends of each item to a list that outlives the loop."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import TENSOR_MEMORY_ATTRIBUTES, TENSOR_MEMORY_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import SeqOf
from loaderlint.project.reach.model import MainFunction, Model
from loaderlint.rules.retained_batches.loader_names import is_named_as_loader
from loaderlint.rules.shared.called_libraries import library_names


class Append(NamedTuple):
    """`step` calls `append` of `to` with `kept`, directly in the loop that is context `loop`. `sources`: what is gone
    over, from whose items `kept` is taken."""

    step: ir.Perform
    to: int
    kept: int
    loop: int
    sources: frozenset[int]


def appends(function: MainFunction) -> list[Append]:
    """Where it is written that a part of each batch may be kept, in a def with a loop over what is called as a loader
    may be. Finding the callers of every function with a loop would take most of a check."""
    steps = function.written.steps
    found = [one for step in steps if (one := _as_append(step, function)) is not None]
    sources = {step.iterable for step in steps if isinstance(step, ir.Iterate)} if found else set[int]()
    if not any(is_named_as_loader(source, function) for source in sources):
        return []
    return [one._replace(sources=taken) for one in found if (taken := _taken_from(one.kept, sources, function))]


def _as_append(step: ir.Step, function: MainFunction) -> Append | None:
    """`kept.append(x)` directly in a loop, of a list that is not emptied."""
    call = function.exprs[step.call] if isinstance(step, ir.Perform) else None
    func = function.exprs[call.func] if isinstance(call, ir.Call) and len(call.args) == 1 else None
    if not isinstance(step, ir.Perform) or not isinstance(call, ir.Call):
        return None
    if not isinstance(func, ir.Attr) or func.name != "append":
        return None
    loop = _enclosing_loop(step.context, function.written)
    return None if loop is None else Append(step, func.base, call.args[0].value, loop, frozenset())


def _taken_from(number: int, sources: set[int], function: MainFunction) -> frozenset[int]:
    """Those of `sources` in the memory of whose items an expression, as it is written, may lie (see `batch_parts`)."""
    found = set[int]()
    waiting, seen = [number], {NONE}
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        match function.exprs[one]:
            case ir.Element(iterable) if iterable in sources:
                found.add(iterable)
            case ir.Seq(_, items) | ir.Map(_, items):
                waiting += items
            case ir.Unpack(inner, _, False) | ir.Index(inner, _):
                waiting.append(inner)
            case ir.Attr(inner, name) if name in TENSOR_MEMORY_ATTRIBUTES:
                waiting.append(inner)
            case ir.Call(func, _) if type(method := function.exprs[func]) is ir.Attr:
                waiting += [method.base] if method.name in TENSOR_MEMORY_METHODS else []
    return frozenset(found)


def _enclosing_loop(context: int, one: ir.DefIR) -> int | None:
    """The loop that a context is in directly; None if it is run under a condition, or there is none: a loop that is
    left early keeps few batches."""
    contexts = one.contexts
    while context > 0 and contexts[context].kind == "with":
        context = contexts[context].parent
    return context if context > 0 and contexts[context].kind == "loop" else None


def outlives(base: int, loop: int, frame: Frame, model: Model) -> bool:
    """Whether a list is made before the loop and not emptied in it."""
    one = model.def_of(frame)
    e = model.ev.expr(frame, base)
    if isinstance(e, ir.Index):
        return outlives(e.base, loop, frame, model)
    if isinstance(e, ir.Attr):
        return bool(model.ev.eval(base, frame).only(SeqOf)) and not _is_emptied(base, frame, model)
    made = isinstance(e, ir.Map) or (isinstance(e, ir.Seq) and e.kind == "list")
    if isinstance(e, ir.Call):
        made = bool(library_names(e.func, frame, model) & {"builtins.list", "builtins.dict", "collections.defaultdict"})
    bound = [step.context for _, step in frame.code.bindings.get(base, ())]
    inside = any(one.is_within(context, loop) for context in bound)
    return made and bool(bound) and not inside and not _is_emptied(base, frame, model)


def _is_emptied(base: int, frame: Frame, model: Model) -> bool:
    return model.ev.expr(frame, base) in model.remembered(_emptied, frame)


def _emptied(frame: Frame, model: Model) -> frozenset[ir.Expr]:
    """What is emptied in the piece of a frame, or loses items."""
    exprs = model.facts(frame).ir.exprs
    words = {"clear", "pop", "popleft"}
    return frozenset(exprs[e.base] for e in exprs if isinstance(e, ir.Attr) and e.name in words)
