"""How long a loader and its workers live, and what is set on its dataset while they do."""

from __future__ import annotations

from collections.abc import Set

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Site
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.epoch_loops import (
    Loop,
    goes_through,
    is_loader,
    loops_around,
    step_context,
    step_goes_through,
)
from loaderlint.rules.shared.loader_traits import persist_if_any
from loaderlint.rules.stale_persistent_state.dataset_changes import Change
from loaderlint.rules.stale_persistent_state.replaced_loaders import is_replaced, place_of

#: Methods that Lightning calls in each epoch.
_HOOKS = frozenset(
    """
    on_train_epoch_start on_train_epoch_end on_epoch_start on_epoch_end training_epoch_end on_validation_epoch_end
    """.split()
)


def creation_of(site: Site, model: Model) -> tuple[Frame, int]:
    """Where a loader comes into being, as a frame and a context: where the object is made that keeps it, if it makes
    its loader once."""
    owner = site.frame.receiver
    if isinstance(owner, Instance) and owner.site is not None and _is_kept(site, owner, model):
        return owner.site.frame, step_context(owner.site, model)
    return site.frame, step_context(site, model)


def _is_kept(site: Site, owner: Instance, model: Model) -> bool:
    """Whether an object keeps a loader behind a test of the attribute that holds it, and nothing takes it away."""
    frame = site.frame
    names = {
        step.name
        for _, step in frame.code.steps_of(ir.SetAttr)
        if step.value == site.expr and ir.is_self(model.ev.expr(frame, step.base))
    }
    tests = [one.expr for one in model.def_of(frame).around(step_context(site, model)) if one.kind == "if"]
    for e in (model.ev.expr(frame, number) for number in ir.made_of(frame.code.exprs, tests)):
        if isinstance(e, ir.Attr) and e.name in names and ir.is_self(model.ev.expr(frame, e.base)):
            stores = model.ev.classes.stores(owner, e.name)
            return all(store.construction or store.value.literal is None for store in stores)
    return False


def persists(loader: Loader, model: Model) -> bool:
    """Whether the loader has workers that live on."""
    if loader.persistent is not None:
        return loader.persistent
    return loader.has_workers() == "yes" and persist_if_any(loader, model)


def is_late(change: Change, loader: Loader, made_in: Set[object], model: Model) -> bool:
    """Whether it is set again and again while the loader lives: in a loop that iterates over the loader."""
    if model.def_of(change.frame).name in _HOOKS:
        return True
    loops = [loop for loop in loops_around(change.frame, change.context, model) if loop.key not in made_in]
    return any(
        goes_through(loop, loader, model)
        and not _starts_anew(loop, loader, model)
        and not is_replaced(change, loop, loader, model)
        for loop in loops
    )


def is_between(change: Change, loader: Loader, model: Model) -> bool:
    """Whether the code around a change goes through the loader before it, and once more after it: first the training,
    `loader.dataset.stage = 2`, then the training again."""
    frame = change.frame
    steps = list(model.steps(frame))
    here = place_of(change, steps)
    passes = [number for number, step in steps if step_goes_through(step, frame, loader, model)]
    return here is not None and any(n < here for n in passes) and any(n > here for n in passes)


def starts_so(change: Change, model: Model) -> bool:
    """Whether it is set to the value with which the workers start."""
    stores = model.ev.classes.stores(change.owner, change.attribute)
    made = [store.value.literal for store in stores if store.construction]
    return change.constant is not None and any(one is None or one.value == change.constant.value for one in made)


def _starts_anew(loop: Loop, loader: Loader, model: Model) -> bool:
    """Whether the loop makes the loader start new workers: `loader.reset()`, `loader._iterator = None`."""
    for _, step in model.steps(loop.frame):
        if isinstance(step, ir.SetAttr) and step.name == "_iterator":
            return True
        call = model.ev.expr(loop.frame, step.call) if isinstance(step, ir.Perform) else None
        func = model.ev.expr(loop.frame, call.func) if isinstance(call, ir.Call) else None
        if isinstance(func, ir.Attr) and func.name == "reset" and is_loader(func.base, loop.frame, loader, model):
            return True
    return False


def is_constant(change: Change, changes: list[Change], model: Model) -> bool:
    """Whether it is set to one and the same value in every epoch: the workers start with that."""
    alike = [one for one in changes if (one.owner, one.attribute) == (change.owner, change.attribute)]
    if change.constant is None or any(one.constant != change.constant for one in alike):
        return False
    contexts = model.def_of(change.frame).contexts
    return change.context == 0 or contexts[change.context].kind in ("loop", "while", "with")
