"""The methods of a Keras dataset that make its samples, and whether anything else calls them."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.call_sites import CallSite
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import MAX_CALLERS
from loaderlint.project.evaluation.values import FunctionRef, Instance, Method, Unknown, def_key, of, unknown
from loaderlint.project.reach.model import Model
from loaderlint.rules.keras_duplicate_randomness.keras_pools import Pool


def sample_frames(pool: Pool, model: Model) -> tuple[Frame, ...]:
    """The frames of the dataset's `__getitem__` in the processes of a pool."""
    method = model.ev.attribute(of(pool.dataset), "__getitem__", pool.call.frame, None)
    arguments = Arguments((unknown("index"),))
    return model.ev.calls.call(method, arguments, pool.call.frame, pool.call.number, {})[1]


def is_called_elsewhere(method: Frame, pool: Pool, model: Model) -> bool:
    """Whether something but the making of samples may call a method of the dataset."""
    run = {def_key(frame) for frame in model.run_by(sample_frames(pool, model))}
    for site in model.callers.sites(model.def_of(method).name):
        frames = () if def_key(site) in run else model.callers.frames(site.path, site.piece, site.def_)
        if len(frames) >= MAX_CALLERS or any(_may_call(site, frame, method, pool.dataset, model) for frame in frames):
            return True
    return False


def _may_call(site: CallSite, frame: Frame, method: Frame, dataset: Instance, model: Model) -> bool:
    """Whether a call may run the method: it does, or what it calls is neither known nor said by an annotation."""
    call = model.ev.expr(frame, site.expr)
    if not isinstance(call, ir.Call):
        return True
    callees = model.ev.eval(call.func, frame).atoms
    functions = (atom.function if isinstance(atom, Method) else atom for atom in callees)
    if any(isinstance(one, FunctionRef) and def_key(one) == def_key(method) for one in functions):
        return True
    return any(isinstance(atom, Unknown) for atom in callees) and not _is_annotated(call.func, frame, dataset, model)


def _is_annotated(callee: int, frame: Frame, dataset: Instance, model: Model) -> bool:
    """Whether it is a method of a parameter whose annotation names a class that the dataset does not derive from."""
    written = model.ev.expr(frame, callee)
    base = model.ev.expr(frame, written.base) if isinstance(written, ir.Attr) else None
    if not isinstance(written, ir.Attr) or not isinstance(base, ir.Param):
        return False
    if model.def_of(frame).params[base.index].annotation == NONE:
        return False
    classes = {atom.cls for atom in model.ev.eval(written.base, frame).only(Instance)}
    return bool(classes) and classes.isdisjoint(model.ev.classes.mro(dataset.cls))
