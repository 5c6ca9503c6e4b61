"""When a bare `next` raises StopIteration."""

from __future__ import annotations

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Severity
from loaderlint.knowledge.iterators import FOUND_FILES_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.one_shot_iterators import Kept, kept, one_shot


class Risk(Struct, frozen=True):
    """A call of `next` that may raise: when, and how loud that is. `doubtful`: what it goes over is not known, and may
    never end. `searches`: it looks for an item that meets a condition."""

    when: str
    severity: Severity
    doubtful: bool = False
    searches: bool = False


def risk_of_next(items: int, frame: Frame, model: Model) -> Risk | None:
    """When `next` of an expression raises; None where it is not known to."""
    found = kept(items, frame, model) or _kept_in_list(items, frame, model)
    if found is not None:
        return Risk(f"once `{found.described}` runs out", Severity.ERROR, found.made.doubtful)
    made = one_shot(items, frame, model)
    if made is None or not made.searches:
        return None  # an iterator over something that is there: `next(iter(self.paths))`
    e = model.ev.expr(made.frame, made.expr)
    func = model.ev.expr(made.frame, e.func) if isinstance(e, ir.Call) else None
    files = isinstance(func, ir.Attr) and func.name in (*FOUND_FILES_METHODS, "iglob", "scandir")
    if files:
        return Risk("where no file is found", Severity.WARNING)
    # who searches usually knows that it is there
    return Risk("where nothing matches", Severity.INFORMATION, searches=True)


def _kept_in_list(items: int, frame: Frame, model: Model) -> Kept | None:
    """`next(self.iterators[i])` of a list of iterators that the constructor makes."""
    e = model.ev.expr(frame, items)
    base = model.ev.expr(frame, e.base) if isinstance(e, ir.Index) else None
    owners = model.ev.eval(base.base, frame).only(Instance) if isinstance(base, ir.Attr) else []
    if not isinstance(base, ir.Attr) or len(owners) != 1:
        return None
    stores = model.ev.classes.stores(owners[0], base.name)
    if len(stores) != 1 or not stores[0].construction or _sets_items(base.name, model):
        return None
    step = model.def_of(stores[0].frame).steps[stores[0].step]
    value = model.ev.expr(stores[0].frame, step.value) if isinstance(step, ir.SetAttr) else None
    element = value.element if isinstance(value, ir.Comp) and value.kind in ("list", "dict") else NONE
    made = one_shot(element, stores[0].frame, model)
    return Kept(f"{base.name}[...]", owners[0], made) if made else None


def _sets_items(name: str, model: Model) -> bool:
    """Whether workers put something into an attribute of this name: `self.iterators[i] = iter(...)`."""
    for frame in model.reached:
        for step in model.def_of(frame).steps:
            base = model.ev.expr(frame, step.base) if isinstance(step, ir.SetItem) else None
            if isinstance(base, ir.Attr) and base.name == name:
                return True
    return False
