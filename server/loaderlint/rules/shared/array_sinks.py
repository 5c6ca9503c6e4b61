"""Where sample code makes tensors of arrays: PyTorch's functions, torchvision's transforms, and the default collate
function, which makes them of whatever a sample holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings import Place
from loaderlint.knowledge.arrays import ONLY_ARRAYS, TENSOR_TRANSFORMS
from loaderlint.project.frames import Frame
from loaderlint.project.model import Exposure, Loader, Model, WorkerCall, WorkerFunction
from loaderlint.project.values import Instance, Lib, LibObject
from loaderlint.rules.shared.array_flow import ANYTHING, ArrayFlow, Found

#: The loaders that collate samples with PyTorch's `default_collate` if they are told nothing else.
_COLLATING = frozenset({"torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader"})
#: Datasets that change the samples of the datasets they hold.
_CHANGING = ("monai.", "torch_geometric.", "torchvision.")


class Sink(NamedTuple):
    """Expression `number` of which `call` makes a tensor, in `frame` (the default collate function: no call).
    `where` names what makes it. `place`: of the expression, or of the call where that is no expression of it.
    `arrays_only`: it takes nothing else. `found`: what makes the array."""

    frame: Frame
    number: int
    call: int
    where: str
    place: Place
    arrays_only: bool
    collated: bool
    exposure: Exposure
    found: tuple[Found, ...]


def sinks(function: WorkerFunction, model: Model, flow: ArrayFlow, makers: Collection[str]) -> Iterator[Sink]:
    """Where a function makes tensors with one of `makers` of what `flow` looks for."""
    for frame in function.frames:
        exposure = model.exposure(frame, 0, parts=("sample", "collate"))
        for call in model.frame_calls(frame) if exposure else ():
            if exposure and not _is_tried(call, model):
                yield from _converted(call, model, flow, makers, exposure)
        yield from _collated(frame, model, flow)


def _is_tried(call: WorkerCall, model: Model) -> bool:
    """Whether a call stands in a `try`: what it raises may be expected."""
    return any(here.kind == "try" for here in model.def_of(call.frame).around(call.context))


def _converted(
    call: WorkerCall, model: Model, flow: ArrayFlow, makers: Collection[str], exposure: Exposure
) -> Iterator[Sink]:
    """A call that makes a tensor of its argument: of a function, a transform, or a pipeline with such a transform."""
    frame, number = call.frame, call.number
    first = next((arg.value for arg in call.call.args if arg.kind == "pos"), NONE)
    if first == NONE:
        return
    names = {a.name for a in call.callee.atoms if isinstance(a, Lib)} & set(makers)
    objects = {a.name for a in call.callee.atoms if isinstance(a, LibObject)} & TENSOR_TRANSFORMS
    if names or objects:
        step = next(s for _, s in model.steps_of(frame, ir.Perform) if s.call == number)
        found = flow.found(first, frame, (), step)
        where = f"`{sorted(names or objects)[0]}`"
    else:
        found = flow.found_in_pipeline(number, frame, TENSOR_TRANSFORMS)
        where = "`ToTensor`"
    if found:
        only = not names or bool(names & ONLY_ARRAYS)
        place = _place(first, frame, model, model.place(frame, number))
        where = where.replace("torchvision.transforms.functional.", "").replace("torchvision.transforms.", "")
        yield Sink(frame, first, number, where, place, only, False, exposure, tuple(found))


def _place(number: int, frame: Frame, model: Model, call: Place) -> Place:
    """Where an argument stands, if it is no local that was bound elsewhere."""
    place = model.place(frame, number)
    return place if place.anchor > call.anchor else call


def _collated(frame: Frame, model: Model, flow: ArrayFlow) -> Iterator[Sink]:
    """What a sample that goes to the default collate function holds."""
    exposure = _collated_by_default(frame, model)
    if exposure is None:
        return
    gives: type[ir.YieldStep | ir.Return] = ir.YieldStep if model.def_of(frame).is_generator else ir.Return
    for number, step in model.steps_of(frame, gives):
        if step.value == NONE:
            continue
        found = flow.found(step.value, frame, ANYTHING, step)
        if found:
            place = model.step_place(frame, number)
            where = "the default collate function"
            yield Sink(frame, step.value, NONE, where, place, False, True, exposure, tuple(found))


def _collated_by_default(frame: Frame, model: Model) -> Exposure | None:
    """The loaders that begin a sample with this frame and collate what it returns with the default function."""
    reached = model.reached.get(frame)
    name = model.def_of(frame).name if reached else ""
    if reached is None or name not in ("__getitem__", "__iter__"):
        return None
    bits = 0
    for loader in model.loaders_of(reached.loaders.get("sample", 0)):
        begins = loader.index in reached.parents and reached.parents[loader.index] is None
        if begins and _collates_by_default(loader, frame):
            bits |= 1 << loader.index
    return model.exposed(bits, reached.possible, 0)


def _collates_by_default(loader: Loader, frame: Frame) -> bool:
    if loader.out_of_sight or loader.kind.name not in _COLLATING:
        return False
    literal = loader.argument("collate_fn").literal
    if literal is None or literal.value is not None:
        return False
    holders = [a for a in loader.argument("dataset").atoms if isinstance(a, Instance | LibObject)]
    changing = any(isinstance(a, LibObject) and a.name.startswith(_CHANGING) for a in holders)
    return not changing
