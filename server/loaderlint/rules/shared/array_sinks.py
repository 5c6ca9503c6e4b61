"""Where sample code makes tensors from arrays: PyTorch's functions, torchvision's transforms, and the default collate
function, which makes them from whatever a sample holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import MEMORY_SHARERS, ONLY_ARRAYS, TENSOR_MAKERS, TENSOR_TRANSFORMS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerCall, WorkerFunction
from loaderlint.rules.shared.array_flow import ANYTHING, ArrayFlow, Found, pipeline_steps
from loaderlint.rules.shared.unresolved_places import Spot

#: The loaders that collate samples with PyTorch's `default_collate` if they are told nothing else.
_COLLATING = frozenset({"torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader"})
#: Datasets that change the samples of the datasets they hold.
_CHANGING = ("monai.", "torch_geometric.", "torchvision.")
_MAKERS = TENSOR_MAKERS | MEMORY_SHARERS


class Sink(NamedTuple):
    """Expression `number` of which `call` makes a tensor, in `frame` (the default collate function: no call).
    `where` names what makes it. `spot`: of the expression, or of the call where that is no expression of it.
    `arrays_only`: it takes nothing else. `torchvision`: one of torchvision's functions or transforms makes it.
    `found`: what makes the array."""

    frame: Frame
    number: int
    call: int
    where: str
    spot: Spot
    arrays_only: bool
    torchvision: bool
    collated: bool
    exposure: Exposure
    found: tuple[Found, ...]


class Conversion(NamedTuple):
    """A call with the argument `first` that may make a tensor of it: of these library functions, of objects of these
    transforms, or of a pipeline of such."""

    call: WorkerCall
    first: int
    functions: frozenset[str]
    transforms: frozenset[str]


class Conversions:
    """What several rules ask of the frames of one model: what their values are passed to."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[Frame, list[Conversion]] = {}
        self._collated: dict[Frame, Exposure | None] = {}

    def of(self, frame: Frame) -> list[Conversion]:
        """The calls that may make a tensor of an argument, but those that stand in a `try`: what they raise may be
        expected."""
        known = self._known.get(frame)
        if known is None:
            known = self._known[frame] = list(self._find(frame))
        return known

    def _find(self, frame: Frame) -> Iterator[Conversion]:
        around = self._model.def_of(frame).around
        for call in self._model.frame_calls(frame):
            first = next((arg.value for arg in call.call.args if arg.kind == "pos"), NONE)
            if first == NONE or any(here.kind == "try" for here in around(call.context)):
                continue
            functions = _MAKERS.intersection(a.name for a in call.callee.atoms if isinstance(a, Lib))
            transforms = TENSOR_TRANSFORMS.intersection(a.name for a in call.callee.atoms if isinstance(a, LibObject))
            if functions or transforms or pipeline_steps(call.call, frame, self._model.ev):
                yield Conversion(call, first, functions, transforms)

    def collated(self, frame: Frame) -> Exposure | None:
        """The loaders that begin a sample with this frame and collate what it returns with the default function."""
        if frame not in self._collated:
            self._collated[frame] = _collated_by_default(frame, self._model)
        return self._collated[frame]


def sinks(function: WorkerFunction, model: Model, flow: ArrayFlow, makers: frozenset[str]) -> Iterator[Sink]:
    """Where a function makes tensors with one of `makers` of what `flow` looks for."""
    for frame in function.frames:
        exposure = model.exposure(frame, 0, parts=("sample", "collate"))
        for one in model.once(Conversions).of(frame) if exposure else ():
            if exposure:
                yield from _converted(one, model, flow, makers, exposure)
        yield from _collated(frame, model, flow)


def _converted(
    one: Conversion, model: Model, flow: ArrayFlow, makers: frozenset[str], exposure: Exposure
) -> Iterator[Sink]:
    """A call that makes a tensor of its argument: of a function, a transform, or a pipeline with such a transform."""
    frame, number, first = one.call.frame, one.call.number, one.first
    names = one.functions & makers
    if names or one.transforms:
        step = next(s for _, s in model.steps_of(frame, ir.Perform) if s.call == number)
        found = flow.found(first, frame, (), step)
        where = f"`{sorted(names or one.transforms)[0]}`"
    else:
        found = flow.found_in_pipeline(number, frame, TENSOR_TRANSFORMS)
        where = "`ToTensor`"
    if found:
        only = not names or bool(names & ONLY_ARRAYS)
        torchvision = all(name.startswith("torchvision.") for name in names)
        spot = _spot(first, number, frame, model)
        where = where.replace("torchvision.transforms.functional.", "").replace("torchvision.transforms.", "")
        yield Sink(frame, first, number, where, spot, only, torchvision, False, exposure, tuple(found))


def _spot(argument: int, call: int, frame: Frame, model: Model) -> Spot:
    """Where an argument stands, if it is no local that was bound elsewhere; else the call."""
    is_inside = model.place(frame, argument).anchor > model.place(frame, call).anchor
    return Spot(frame, argument if is_inside else call)


def _collated(frame: Frame, model: Model, flow: ArrayFlow) -> Iterator[Sink]:
    """What a sample that goes to the default collate function holds."""
    exposure = model.once(Conversions).collated(frame)
    if exposure is None:
        return
    gives: type[ir.YieldStep | ir.Return] = ir.YieldStep if model.def_of(frame).is_generator else ir.Return
    for number, step in model.steps_of(frame, gives):
        if step.value == NONE:
            continue
        found = flow.found(step.value, frame, ANYTHING, step)
        if found:
            where, spot = "the default collate function", Spot(frame, number, "step")
            yield Sink(frame, step.value, NONE, where, spot, False, False, True, exposure, tuple(found))


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
    if not loader.argument("collate_fn").is_none:
        return False
    holders = [a for a in loader.argument("dataset").atoms if isinstance(a, Instance | LibObject)]
    changing = any(isinstance(a, LibObject) and a.name.startswith(_CHANGING) for a in holders)
    return not changing
