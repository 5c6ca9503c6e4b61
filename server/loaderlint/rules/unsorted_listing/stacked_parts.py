"""The files of one sample whose order the sample keeps: the frames of a clip, stacked or stored one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Severity
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibObject
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.listing_order import ListingOrder, counted_loop
from loaderlint.rules.unsorted_listing.listing_uses import ListingUse, stable

_STACKING = frozenset("stack cat concat concatenate vstack hstack dstack".split())
_STACKED = frozenset(f"{module}.{name}" for module in ("numpy", "torch") for name in _STACKING)
#: What gives the same for any order of its parts.
_UNORDERED = frozenset("mean sum max min amax amin std var median nanmean nansum sort any all".split())
_ARRAYS = ("numpy.", "torch.")


def stacked(entry: Frame, model: Model) -> Iterator[ListingUse]:
    """The listings that a sample makes, and whose files it puts one after the other: the frames of a clip. If it takes
    only some of them, it may take others."""
    order, frames = ListingOrder(model), model.run_by([entry])
    for frame in frames:
        for number in (*_stacked_in(frame, model), *_stored_in(frame, model)):
            for each in stable(order.of(number, frame)):
                if not each.sorted and each.listing.frame in frames:
                    severity = Severity.WARNING if each.cut or each.capped else Severity.INFORMATION
                    yield ListingUse(each.listing, severity, "the parts of each sample of {} have no fixed order:")


def _stacked_in(frame: Frame, model: Model) -> Iterator[int]:
    """The sequences that a def stacks: `np.stack(frames)`."""
    for call in model.calls_named(frame, _STACKING):
        is_stack = any(isinstance(atom, Lib) and atom.name in _STACKED for atom in call.callee.atoms)
        if call.call.args and is_stack and not _is_reduced(call.number, frame):
            yield call.call.args[0].value


def _stored_in(frame: Frame, model: Model) -> Iterator[int]:
    """The sequences whose items a loop stores in an array by the number of its turn: `clip[:, turn] = read(name)`."""
    exprs = frame.code.exprs
    for _, step in model.steps_of(frame, ir.SetItem):
        loops = {counted_loop(exprs[part], frame, model) for part in ir.made_of(exprs, (step.index,))} - {NONE}
        arrays = model.ev.eval(step.base, frame).only(LibObject) if loops else []
        if any(one.name.startswith(_ARRAYS) for one in arrays) and not _is_reduced(step.base, frame):
            for loop in sorted(loops):
                yield from _gone_through(loop, step.value, frame, model)


def _gone_through(loop: int, stored: int, frame: Frame, model: Model) -> Sequence[int]:
    """What a loop that counts its turns goes through: the arguments of `zip` and `enumerate`, or the sequence that is
    indexed by the number of the turn in what is `stored`."""
    exprs = frame.code.exprs
    call = exprs[loop]
    if not isinstance(call, ir.Call) or not call.args:
        return ()
    inner = exprs[call.args[0].value]
    if isinstance(inner, ir.Call) and Lib("builtins.zip") in model.ev.eval(inner.func, frame).atoms:
        return [arg.value for arg in inner.args]
    indexed = [e for part in ir.made_of(exprs, (stored,)) if isinstance(e := exprs[part], ir.Index)]
    by_turn = [e.base for e in indexed if counted_loop(exprs[e.index], frame, model) == loop]
    return by_turn or [call.args[0].value]


def _is_reduced(number: int, frame: Frame) -> bool:
    """Whether a def takes the mean, the sum or the like of what an expression stacks."""
    exprs = frame.code.exprs
    for _, call in frame.code.calls:
        func = exprs[call.func] if call.func != ir.NONE else None
        if isinstance(func, ir.Attr) and func.name in _UNORDERED:
            if func.base == number or any(arg.value == number for arg in call.args):
                return True
    return False


__all__ = ["stacked"]
