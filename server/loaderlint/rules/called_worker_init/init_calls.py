"""Whether a value can be called with the number of a worker, as a worker_init_fn is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, ParamIR
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.values import Atom, FunctionRef, Literal_, Method, PartialOf, unknown
from loaderlint.project.reach.model import Model

#: What a worker_init_fn is called with.
WORKER_ID = Arguments((unknown("worker id"),))


def refusal(atom: Atom, model: Model) -> str | None:
    """Why a worker_init_fn cannot be called, and what to do; None if it can, or if that is not known."""
    match atom:
        case Literal_(kind, _, "") if kind != "NoneType":
            return f"a value of type {kind} cannot be called; pass a function of the worker's number"
        case FunctionRef():
            return wrong_arguments(atom, WORKER_ID, 0, model)
        case Method(function, _, _):
            return wrong_arguments(function, WORKER_ID, 1, model)
        case PartialOf(FunctionRef() as function, site):
            call = model.ev.expr(site.frame, site.expr)
            if isinstance(call, ir.Call):
                return wrong_arguments(
                    function, model.ev.calls.arguments(call, site.frame, skip=1).before(WORKER_ID), 0, model
                )
    return None


def wrong_arguments(function: FunctionRef, arguments: Arguments, bound: int, model: Model) -> str | None:
    """Why a function of the project cannot be called with these arguments (`bound`: how many parameters are filled)."""
    one = def_of(function, model)
    plain = model.ev.functions.decoration(function) in ("plain", "static", "class")
    if one is None or not plain or arguments.more_positional or arguments.more_keywords:
        return None
    filled = 0 if model.ev.functions.decoration(function) == "static" else bound
    slots = [param for param in one.params[filled:] if param.kind in ("pos", "any")]
    given = len(arguments.positional)
    name = "this lambda" if one.kind == "lambda" else f"`{one.name}`"
    if given > len(slots) and not any(param.kind == "star" for param in one.params):
        return f"{name} takes no argument, but is called with the worker's number; give it a parameter `worker_id`"
    missing = [param.name for param in _open(one.params, slots[given:], arguments) if param.default == NONE]
    if missing:
        return (
            f"{name} is called with only the worker's number and lacks `{missing[0]}`; bind it with functools.partial"
        )
    twice = {param.name for param in slots[:given]} & {keyword for keyword, _ in arguments.keywords}
    if twice:
        both = "as a bound argument and as the worker's number"
        return f"{name} gets `{min(twice)}` twice, {both}; name another parameter `worker_id`"
    return None


def _open(params: Sequence[ParamIR], left: Sequence[ParamIR], arguments: Arguments) -> Iterator[ParamIR]:
    """The parameters that neither a position nor a keyword fills."""
    named = {keyword for keyword, _ in arguments.keywords}
    for param in (*left, *(param for param in params if param.kind == "kw")):
        if param.name not in named:
            yield param


def def_of(function: FunctionRef, model: Model) -> ir.DefIR | None:
    """The def of a function of the project."""
    facts = model.ev.facts(function.path, function.piece)
    return facts.ir.defs[function.def_] if facts else None
