"""The fix: begin again in `__iter__`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertStatement, Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.exhausted_iterable.exhausted_iterators import Exhausted
from loaderlint.rules.shared.expression_source import source_of


def restarting_fixes(frame: Frame, spent: Exhausted, model: Model) -> tuple[Fix, ...]:
    """Set again in `__iter__` what the constructor sets."""
    assert isinstance(frame.receiver, Instance)
    lines: list[str] = []
    intents: list[InsertStatement] = []
    for name in spent.attributes:
        stores = [s for s in model.ev.classes.stores(frame.receiver, name) if s.construction]
        if len(stores) != 1:
            return ()
        made = model.def_of(stores[0].frame).steps[stores[0].step]
        text, needed = source_of(made.value, stores[0].frame, model) if isinstance(made, ir.SetAttr) else (None, [])
        if text is None:
            return ()
        if needed:
            intents.append(
                InsertStatement(model.step_place(stores[0].frame, stores[0].step), "\n".join(needed), "before")
            )
        lines.append(f"self.{name} = {text}")
    place: Place = model.step_place(frame, spent.step)
    restart = InsertStatement(place, "\n".join(lines), "before")
    return (Fix("Reset it in `__iter__`", "unsafe", (*intents, restart)),)
