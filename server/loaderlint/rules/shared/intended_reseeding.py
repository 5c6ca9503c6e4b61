"""Seeds that are the same intentionally: for evaluation, in one of several modes, or until the state is restored."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import INDICES
from loaderlint.project.reach.model import Model

_MODES = re.compile(r"val|test|eval|infer|predict|train|mode|split|stage|phase|determin|debug|fix|repro", re.I)
_EVALUATION = re.compile(r"Val(?![a-z])|Valid|Test|Eval|Infer|Predict|_val|_test|_eval")
_RESTORING = re.compile(r"\bset_state\b|\bsetstate\b|\bset_rng_state\b|\bfork_rng\b|\btemp_seed\b|\btemporary_seed\b")


def is_intended(frame: Frame, context: int, model: Model) -> bool:
    """Whether the def restores the state, or enters this context only for evaluation, in one of its modes, or for one
    index."""
    file = model.files.file(frame.path)
    if file is None or file.pieces[frame.piece].ask(_restores) or _EVALUATION.search(model.label(frame)):
        return True
    one = model.def_of(frame)
    while context > 0:
        here = one.contexts[context]
        if here.kind == "if" and any(map(_MODES.search, _words(here.expr, frame, model))):
            return True
        context = here.parent
    return False


def _restores(text: str) -> bool:
    return _RESTORING.search(text) is not None


def _words(test: int, frame: Frame, model: Model) -> Iterator[str]:
    """The names that a test reads."""
    match model.ev.expr(frame, test):
        case ir.Attr(base, name):
            yield name
            yield from _words(base, frame, model)
        case ir.Global(name) | ir.Capture(_, name):
            yield name
        case ir.Param(index):
            at_index = not model.ev.eval(test, frame).atoms.isdisjoint(INDICES)
            yield "mode" if at_index else model.def_of(frame).params[index].name
        case ir.Index(base, index):
            yield from (*_words(base, frame, model), *_words(index, frame, model))
        case ir.Const("str", str(text)):
            yield text
        case ir.Unary(_, operand):
            yield from _words(operand, frame, model)
        case ir.BoolOp(_, left, right):
            yield from (*_words(left, frame, model), *_words(right, frame, model))
        case ir.Compare(left, _, rights):
            for operand in (left, *rights):
                yield from _words(operand, frame, model)
