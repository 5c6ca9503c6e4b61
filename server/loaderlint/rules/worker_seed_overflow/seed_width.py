"""How wide a seed is that is derived from torch's: torch gives each worker a number of 63 bits, NumPy takes 32."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, LibMember, LibObject, SeqOf
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.constant_numbers import constant
from loaderlint.rules.shared.seed_sources import seed_sources

#: The largest seed of NumPy, plus one.
NUMPY_LIMIT = 2**32
_TORCH_LIMIT = 2**63
_TORCH_SEEDS = frozenset({"torch.initial_seed", "torch.random.initial_seed", "torch.seed", "torch.random.seed"})
_KEEPING = frozenset({"builtins.int", "builtins.abs", "builtins.sum", "numpy.array", "numpy.asarray", "numpy.int64"})
_MAX_DEPTH = 8


def reach(number: int, frame: Frame, model: Model, depth: int = 0) -> int | None:
    """About how far the seed that is expression `number` reaches, if it comes from torch's seed of the worker; None if
    it does not, or if that is not known. What is added to it is taken as small."""
    if depth > _MAX_DEPTH:
        return None
    match model.ev.expr(frame, number):
        case ir.Bin(op, left, right) | ir.Augmented(op, left, right):
            return _of_operation(op, left, right, frame, model, depth)
        case ir.Phi(choices):
            return _least([reach(choice, frame, model, depth + 1) for choice in choices])
        case ir.IfExp(_, then, other):
            return _least([reach(choice, frame, model, depth + 1) for choice in (then, other)])
    return _least([_of_atom(atom, model, depth) for atom in model.ev.eval(number, frame).ordered()])


def _least(found: list[int | None]) -> int | None:
    """The least of the reaches: with one that is not known, none is."""
    known = [one for one in found if one is not None]
    return min(known) if known and len(known) == len(found) else None


def _most(found: list[int | None]) -> int | None:
    return max((one for one in found if one is not None), default=None)


def _of_atom(atom: Atom, model: Model, depth: int) -> int | None:
    match atom:
        case LibObject(name, site) if name in _TORCH_SEEDS:
            return _TORCH_LIMIT if model.runs_in_worker(site.frame) else None
        case LibMember(LibObject("torch.utils.data.get_worker_info"), "seed"):
            return _TORCH_LIMIT
        case LibObject("builtins.operation", site):
            return reach(site.expr, site.frame, model, depth + 1)
        case LibObject(name, site) if name in _KEEPING:
            call = model.ev.expr(site.frame, site.expr)
            first = call.args[0].value if isinstance(call, ir.Call) and call.args else None
            return None if first is None else reach(first, site.frame, model, depth + 1)
        case SeqOf(_, items):
            return _most([_of_atom(one, model, depth + 1) for item in items for one in item.ordered()])
    return None


def _of_operation(op: str, left: int, right: int, frame: Frame, model: Model, depth: int) -> int | None:
    first, second = (reach(operand, frame, model, depth + 1) for operand in (left, right))
    by = constant(right, frame, model)
    match op:
        case "*" if first is not None and by != 1:
            return first * (by or 2)  # the second worker's number, plus one, say
        case "<<" if first is not None and by is not None:
            return first << min(by, 64)
        case "+" | "*" | "|" | "^" | "<<":
            return _most([first, second])
        case "-":
            small = by is not None or set(seed_sources(right, frame, model)) == {"worker id"}
            return first if small else None
        case "&":
            mask = by if by is not None else constant(left, frame, model)
            known = _most([first, second])
            return None if mask is None or known is None else min(known, mask + 1)
    if first is None or by is None or by <= 0:
        return None
    match op:
        case "%":
            return min(first, by)
        case "//":
            return first // by
        case ">>":
            return first >> min(by, 64)
    return None
