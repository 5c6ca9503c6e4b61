"""Where sample code converts arrays to tensors: PyTorch's functions, torchvision's transforms, and the default collate
function, which converts every array in a sample."""

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

#: The loaders that collate samples with PyTorch's `default_collate` by default.
_COLLATING = frozenset({"torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader"})
#: Datasets that change the samples of the datasets that they wrap.
_CHANGING = ("monai.", "torch_geometric.", "torchvision.")
_MAKERS = TENSOR_MAKERS | MEMORY_SHARERS


class Sink(NamedTuple):
    """Expression `number` of `frame`, which `call` converts to a tensor (None: the default collate function). `where`
    names the converter. `spot`: of the expression if it is written in the call, else of the call. `arrays_only`: the
    converter accepts nothing else. `torchvision`: it is one of torchvision's functions or transforms. `found`: the
    expression that creates the array."""

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
    """A call that may convert its argument `first` to a tensor: of these library functions, of these transforms, or of
    a pipeline of such transforms."""

    call: WorkerCall
    first: int
    functions: frozenset[str]
    transforms: frozenset[str]


class Conversions:
    """The conversions in the frames of one model, which several rules need."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[Frame, list[Conversion]] = {}
        self._collated: dict[Frame, Exposure | None] = {}

    def of(self, frame: Frame) -> list[Conversion]:
        """The calls that may convert an argument to a tensor, except for those in a `try`: their error may be
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
        """The loaders that call this frame for a sample and collate its result with the default function."""
        if frame not in self._collated:
            self._collated[frame] = _collated_by_default(frame, self._model)
        return self._collated[frame]


def sinks(function: WorkerFunction, model: Model, flow: ArrayFlow, makers: frozenset[str]) -> Iterator[Sink]:
    """Where a function converts what `flow` searches for to tensors with one of `makers`."""
    for frame in function.frames:
        exposure = model.exposure(frame, 0, parts=("sample", "collate"))
        for one in model.once(Conversions).of(frame) if exposure else ():
            if exposure:
                yield from _converted(one, model, flow, makers, exposure)
        yield from _collated(frame, model, flow)


def _converted(
    one: Conversion, model: Model, flow: ArrayFlow, makers: frozenset[str], exposure: Exposure
) -> Iterator[Sink]:
    """A call that converts its argument to a tensor: of a function, a transform, or a pipeline with such a
    transform."""
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
    """The argument, or the call if the argument is a local that is bound elsewhere."""
    is_inside = model.place(frame, argument).anchor > model.place(frame, call).anchor
    return Spot(frame, argument if is_inside else call)


def _collated(frame: Frame, model: Model, flow: ArrayFlow) -> Iterator[Sink]:
    """The contents of a sample that the default collate function gets."""
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
    """The loaders that call this frame for a sample and collate its result with the default function."""
    reached = model.reached.get(frame)
    name = model.def_of(frame).name if reached else ""
    if reached is None or name not in ("__getitem__", "__iter__"):
        return None
    bits = 0
    for loader in model.loaders_of(reached.loaders.get("sample", 0)):
        begins = loader.index in reached.parents and reached.parents[loader.index] is None
        if begins and _collates_by_default(loader, frame):
            bits |= 1 << loader.index
    return model.exposed(bits, reached, 0)


def _collates_by_default(loader: Loader, frame: Frame) -> bool:
    if loader.out_of_sight or loader.kind.name not in _COLLATING:
        return False
    if not loader.argument("collate_fn").is_none:
        return False
    holders = [a for a in loader.argument("dataset").atoms if isinstance(a, Instance | LibObject)]
    changing = any(isinstance(a, LibObject) and a.name.startswith(_CHANGING) for a in holders)
    return not changing
