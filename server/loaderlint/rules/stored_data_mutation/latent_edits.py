"""Edits that no read of the program sees: each item is edited once, in the only pass that the program makes."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Origin, is_index
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.shared.repeated_samples import may_repeat_samples
from loaderlint.rules.stored_data_mutation.edit_lifetime import StoredEdit
from loaderlint.rules.stored_data_mutation.single_passes import is_read_once

_MAX_CALLERS = 16


def is_latent(one: StoredEdit, frame: Frame, exposure: Exposure, model: Model) -> bool:
    """Whether nothing reads what an edit in `frame` changes: one loader runs it, the program reads that loader once,
    and no sample takes an item that another one has edited. A file keeps the change for the next program."""
    if len(exposure.loaders) != 1 or one.held in ("file", "shared"):
        return False
    loader = exposure.lead
    if not _takes_each_item_once(loader, model) or not is_read_once(loader, model):
        return False
    return _is_item_of_sample(one.origin, loader, model) and _runs_once_per_sample(frame, loader, model)


def _takes_each_item_once(loader: Loader, model: Model) -> bool:
    known = all(loader.argument(name).unknown is None for name in ("sampler", "batch_sampler"))
    return known and not may_repeat_samples(loader, model)


def _is_item_of_sample(origin: Origin, loader: Loader, model: Model) -> bool:
    """Whether what is edited is the item at the sample's index, which only the samples of this loader read: items at
    other places may be the same for several samples."""
    owner, path = origin.owner, origin.path
    if not isinstance(owner, Instance) or len(path) < 2 or path[1] != "[]" or _repeats(owner, path[0], model):
        return False
    frames = model.reached_on(owner)
    if any(model.reached[frame].bits() != 1 << loader.index for frame in frames):
        return False  # another loader reads what this one has edited
    return all(_reads_at_index(path[0], frame, model) for frame in frames)


def _reads_at_index(name: str, frame: Frame, model: Model) -> bool:
    """Whether a method reads attribute `name` of its object for its length and the item at the sample's index only."""
    exprs = frame.code.exprs
    reads = {number for number, base in frame.code.attributes(name) if ir.is_self(exprs[base])}
    used = [exprs[number] for number in frame.code.expressions() if not reads.isdisjoint(ir.operands(exprs[number]))]
    return all(_is_at_index(e, frame, model) for e in used)


def _is_at_index(e: ir.Expr, frame: Frame, model: Model) -> bool:
    if isinstance(e, ir.Call):
        func = frame.code.exprs[e.func]
        return type(func) is ir.Global and func.name == "len"
    return isinstance(e, ir.Index) and is_index(model.ev.eval(e.index, frame))


def _repeats(owner: Instance, name: str, model: Model) -> bool:
    """Whether a collection that the object stores holds one item several times: `[blank] * 8`."""
    return any(_is_repetition(store.frame, store.step) for store in model.ev.classes.stores(owner, name))


def _is_repetition(frame: Frame, number: int) -> bool:
    step = frame.code.one.steps[number] if frame.code.one is not None else None
    e = frame.code.exprs[step.value] if isinstance(step, ir.SetAttr) else None
    if isinstance(e, ir.Comp):
        return isinstance(frame.code.exprs[e.element], ir.Param | ir.Capture | ir.Global | ir.Attr | ir.Phi)
    return (
        isinstance(e, ir.Bin)
        and e.op == "*"
        and any(isinstance(frame.code.exprs[n], ir.Seq) for n in (e.left, e.right))
    )


def _runs_once_per_sample(frame: Frame, loader: Loader, model: Model) -> bool:
    """Whether a sample runs a frame once: one call leads to it from the loader, and no loop repeats that."""
    for _ in range(_MAX_CALLERS):
        callers = [(caller, at) for caller, at in model.callers_of(frame) if loader in _running(caller, model)]
        if model.reached[frame].parents.get(loader.index) is None:
            return not callers
        if len(callers) != 1:
            return False
        caller, number = callers[0]
        if any(map(model.def_of(caller).is_in_loop, caller.code.contexts_of(number))):
            return False
        frame = caller
    return False


def _running(frame: Frame, model: Model) -> list[Loader]:
    return list(model.loaders_of(model.reached[frame].bits()))
