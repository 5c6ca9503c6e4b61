"""Arrays that are copied on one way to the tensor only, by what they hold: `if x.max() > 1: x = x / 255`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.array_sinks import Sink


def is_copied_in_another_branch(sink: Sink, model: Model) -> bool:
    """Whether a test of the array decides if arithmetic makes a new one of it before the conversion. Most samples may
    take the branch that copies, so the program may have run for long."""
    exprs = sink.frame.code.exprs
    return any(_copies_one(exprs[number], sink.frame, model) for number in ir.made_of(exprs, (sink.number,)))


def _copies_one(joined: ir.Expr, frame: Frame, model: Model) -> bool:
    match joined:
        case ir.Phi(choices):
            return any(_is_copy(one, choices, _tests_around(one, frame, model), frame) for one in choices)
        case ir.IfExp(test, then, other):
            return any(_is_copy(one, (then, other), [test], frame) for one in (then, other))
    return False


def _is_copy(number: int, choices: tuple[int, ...], tests: list[int], frame: Frame) -> bool:
    """Whether one of these choices is made of another one by arithmetic, under a test that asks about the latter."""
    exprs = frame.code.exprs
    if not isinstance(exprs[number], ir.Bin):
        return False
    left = set(ir.made_of(exprs, (number,))).intersection(choices) - {number}
    return bool(left) and any(left.intersection(ir.made_of(exprs, (test,))) for test in tests)


def _tests_around(number: int, frame: Frame, model: Model) -> list[int]:
    """The tests of the branches that bind an expression to a name."""
    around = model.def_of(frame).around
    contexts = (here for _, step in frame.code.bindings.get(number, ()) for here in around(step.context))
    return [here.expr for here in contexts if here.kind == "if"]
