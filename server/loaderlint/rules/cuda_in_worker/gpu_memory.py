"""What the main process puts into GPU memory, and workers use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.cuda import KEEPS_DEVICE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Val
from loaderlint.project.reach.model import Loader, Model, WorkerCall, WorkerFunction
from loaderlint.rules.cuda_in_worker.cuda_conditions import ASKS, cure, severity_under
from loaderlint.rules.shared.cuda_uses import CudaUse, doubts_around, kept_on_gpu, moved_to_gpu, used_reads
from loaderlint.rules.shared.held_handles import is_held
from loaderlint.rules.shared.judgement import Candidate, Cure
from loaderlint.rules.shared.surrounding_code import assigned_in_main
from loaderlint.rules.shared.unresolved_places import Spot, site_key

_NOT_HELD = "the main process no longer holds it when the workers start"


class Brought(NamedTuple):
    """What the main process puts into GPU memory by a call, with its `text` for messages, and where workers read it."""

    text: str
    reader: Spot


def brought_to_gpu(function: WorkerFunction, model: Model) -> Iterator[Candidate[Brought]]:
    """What the main process has put into GPU memory, and workers use."""
    if not model.files.containing("cuda"):
        return
    done: set[tuple[Path, int, int]] = set()
    for moved in _moved_outside(function, model):
        done.add((moved.spot.frame.path, moved.spot.frame.piece, moved.spot.number))
        yield moved
    for frame in function.frames:
        for number, value in used_reads(frame, model):
            for held in value.ordered():
                if not isinstance(held, LibObject) or site_key(held.site) in done:
                    continue
                use = kept_on_gpu(held, model)
                if use is None or model.runs_in_worker(held.site.frame):
                    continue
                here, brought = Spot(use.call.frame, use.call.number), Brought(use.text, Spot(frame, number))
                conditions = doubts_around(frame, brought.reader.context, model)
                asked = ASKS if conditions is None else ""
                why_not = asked if is_held(held, value.origins, model) else _NOT_HELD
                done.update(() if why_not or conditions else [site_key(held.site)])
                severity = severity_under(conditions or use.is_conditional)
                doubts = max(use.doubts, _others(value, model))
                yield Candidate(brought, frame, here, cure(use, model), why_not, severity=severity, doubts=doubts)


def _others(value: Val, model: Model) -> int:
    """One doubt where a value may be something else that is not on the GPU."""
    return int(any(not isinstance(one, LibObject) or kept_on_gpu(one, model) is None for one in value.atoms))


# --- what the code around the loader moves ----------------------------------------------------------------------------


def _moved_outside(function: WorkerFunction, model: Model) -> Iterator[Candidate[Brought]]:
    """The attributes of datasets that the code which creates the loader moves to the GPU before: `data.rows =
    data.rows.cuda()`."""
    for frame in function.frames:
        inst, reached = frame.receiver, model.reached.get(frame)
        if not isinstance(inst, Instance) or reached is None:
            continue
        read = _read_by(frame, model)
        for loader in model.loaders_of(reached.bits()) if read else ():
            for name, step in _last_before(loader, inst, model).items():
                at = loader.site.frame if loader.site is not None else frame
                use = _moves(at, step, model) if name in read and not _is_renewed(inst, name, model) else None
                doubts = doubts_around(at, step.context, model) if use is not None else None
                if use is not None and doubts is not None and not use.is_off:
                    here, brought = Spot(at, use.call.number), Brought(use.text, Spot(frame, read[name]))
                    cures = _only_of(loader, cure(use, model))
                    yield Candidate(brought, frame, here, cures, doubts=max(use.doubts, doubts), key=here.key)


def _only_of(loader: Loader, cured: Cure) -> Cure:
    """A cure of what is moved for one loader: others may hold the dataset as it was."""
    return lambda one: cured(one) if one is loader else "the dataset is moved for another loader"


def _read_by(frame: Frame, model: Model) -> dict[str, int]:
    """The attributes of its object that a frame uses, each with an expression that reads it."""
    found: dict[str, int] = {}
    for number, _ in used_reads(frame, model):
        e = frame.code.exprs[number]
        if isinstance(e, ir.Attr) and ir.is_self(frame.code.exprs[e.base]):
            found.setdefault(e.name, number)
    return found


def _last_before(loader: Loader, inst: Instance, model: Model) -> dict[str, ir.SetAttr]:
    """The last assignments to attributes of a dataset in the def that creates its loader, before it does."""
    if loader.site is None:
        return {}
    created = loader.site.frame.code.evaluated_by(loader.site.expr)
    found: dict[str, ir.SetAttr] = {}
    for frame, number, step in assigned_in_main(inst, loader, model):
        if frame is loader.site.frame and created is not None and number < created:
            found[step.name] = step
    return found


def _moves(frame: Frame, step: ir.SetAttr, model: Model) -> CudaUse | None:
    """The call that moves to the GPU what a step assigns: `.to("cuda")`, also in `.to("cuda").float()`."""
    number = step.value
    call = model.ev.expr(frame, number)
    while isinstance(call, ir.Call):
        use = moved_to_gpu(WorkerCall(frame, number, call, model.ev.eval(call.func, frame), step.context), model)
        func = model.ev.expr(frame, call.func)
        if use is not None or not isinstance(func, ir.Attr) or func.name not in KEEPS_DEVICE:
            return use
        number = func.base
        call = model.ev.expr(frame, number)
    return None


def _is_renewed(inst: Instance, name: str, model: Model) -> bool:
    """Whether worker code assigns the attribute, too."""
    stores = model.ev.classes.stores(inst, name)
    return any(not store.construction and model.runs_in_worker(store.frame) for store in stores)
