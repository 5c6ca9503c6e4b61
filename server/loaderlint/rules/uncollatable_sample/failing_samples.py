"""Samples that fail before anything is batched: `self.labels[index]`, where `self.labels` is always None."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.reach.model import Model


def used_none(frame: Frame, step: int, model: Model) -> Iterator[Evidence]:
    """Where a method, before it comes to a step, always uses an attribute of its object as None cannot be used, while
    every assignment in sight stores None there: the first such place."""
    one, code = model.def_of(frame), frame.code
    context = one.steps[step].context
    for number in sorted(code.expressions()):
        e = code.exprs[number]
        if not isinstance(e, ir.Attr) or not ir.is_self(code.exprs[e.base]):
            continue
        uses = (use for use in code.none_uses(number) if use <= step and one.is_within(context, one.steps[use].context))
        if any(True for _ in uses) and model.ev.eval(number, frame).is_none and not _is_set(e.name, model):
            text = f"the sample raises TypeError here already: nothing but None is stored in `self.{e.name}`"
            yield Evidence(model.place(frame, number), text)
            return


def _is_set(name: str, model: Model) -> bool:
    """Whether code that does not belong to an object may set its attribute of a name."""
    files = (model.files.file(path) for path in model.files.containing(name))
    return any(True for file in files if file is not None for _ in file.asking(_sets, name))


@needs_word
def _sets(text: str, name: str) -> bool:
    named = re.escape(name)
    return re.search(rf"(?<!\bself)\.{named}\s*=[^=]|setattr\([^)\n]*\b{named}\b", text) is not None
