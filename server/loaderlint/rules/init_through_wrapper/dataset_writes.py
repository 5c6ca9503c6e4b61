"""The attributes that a worker_init_fn sets on the dataset of its worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, Place, Wrap
from loaderlint.knowledge.library_datasets import OWN_ATTRIBUTES
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibObject
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.reach.worker_dataset import is_worker_dataset


class Write(NamedTuple):
    """An attribute that a frame sets on the worker's dataset; `base` is the expression that is set on."""

    frame: Frame
    base: int
    name: str
    place: Place


def writes_on_dataset(frame: Frame, model: Model) -> Iterator[Write]:
    """The attributes that a frame sets on `get_worker_info().dataset`, and on nothing else."""
    for number, step in model.steps(frame):
        if isinstance(step, ir.SetAttr) and _is_worker_dataset(step.base, frame, model):
            yield Write(frame, step.base, step.name, model.step_place(frame, number))
        call = model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
        if isinstance(step, ir.Perform) and isinstance(call, ir.Call) and len(call.args) == 3:
            key = model.ev.eval(call.args[1].value, frame).literal
            if Lib("builtins.setattr") in model.ev.eval(call.func, frame).atoms and key is not None:
                if _is_worker_dataset(call.args[0].value, frame, model):
                    yield Write(frame, call.args[0].value, str(key.value), model.place(frame, step.call))


def _is_worker_dataset(number: int, frame: Frame, model: Model) -> bool:
    atoms = model.ev.eval(number, frame).atoms
    return bool(atoms) and all(is_worker_dataset(atom) for atom in atoms)


def unwrapping_fixes(write: Write, model: Model) -> tuple[Fix, ...]:
    """Go into the Subset, where each loader with the function holds one, around no other wrapper."""
    reached = model.reached[write.frame]
    loaders = [one for one in model.loaders if reached.loaders.get("init", 0) >> one.index & 1]
    if not all(_holds_subset(one, model) for one in loaders) or _uses_wrapper(write, model):
        return ()
    if not isinstance(model.ev.expr(write.frame, write.base), ir.Attr):
        return ()
    into = Wrap(model.place(write.frame, write.base), "", ".dataset")
    return (Fix("Set it on the dataset inside the Subset", "unsafe", (into,)),)


def _holds_subset(loader: Loader, model: Model) -> bool:
    held = loader.argument("dataset").ordered()
    return all(isinstance(atom, LibObject) and atom.name == "torch.utils.data.Subset" for atom in held)


def _uses_wrapper(write: Write, model: Model) -> bool:
    """Whether the function reads the wrapper's own attributes, through the same name."""
    own = {name for names in OWN_ATTRIBUTES.values() for name in names}
    return any(
        isinstance(e := model.ev.expr(write.frame, number), ir.Attr) and e.base == write.base and e.name in own
        for number in model.ev.evaluated(write.frame)
    )
