"""Where a module that workers run imports cv2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.opencv import BY_SIZE, FOR_BYTES, FOR_LARGE_IMAGES, SERIAL
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.base import WorkerModule
from loaderlint.rules.opencv_threads_in_workers.small_images import gets_large_size, is_large, is_of_data_file, is_small
from loaderlint.rules.shared.unresolved_places import Spot


class Import(NamedTuple):
    """An import of cv2. `plain`: at module level, under no condition."""

    spot: Spot
    plain: bool


def imports_of_cv2(module: WorkerModule, model: Model) -> Iterator[Import]:
    """Where cv2 is imported: at module level first, then in the functions that workers run."""
    file = model.files.file(module.path)
    if file is None or not file.mentioning("cv2"):
        return  # as in most modules that workers run: do not parse them for it
    for binding in file.bindings_holding("cv2"):
        spot = Spot(model.ev.body(module.path, binding.piece), binding.step, "step")
        if binding.def_ == 0 and _imports_cv2(spot, model):
            yield Import(spot, not binding.conditional)
    for function in module.functions:
        for frame in function.frames[:1]:
            spots = (Spot(frame, step, "step") for step in range(len(model.def_of(frame).steps)))
            yield from (Import(spot, plain=False) for spot in spots if _imports_cv2(spot, model))


def _imports_cv2(spot: Spot, model: Model) -> bool:
    """Whether a step binds cv2 or a part of it."""
    file = model.files.file(spot.frame.path)
    one = model.ev.def_of(spot.frame)
    if one is None or spot.number < 0 or file is None or not file.pieces[spot.frame.piece].holds("cv2"):
        return False
    step = one.steps[spot.number]
    value = model.ev.expr(spot.frame, step.value) if isinstance(step, ir.Bind) else None
    return isinstance(value, ir.Imported) and value.module.partition(".")[0] == "cv2" and value.level == 0


def starts_threads(call: WorkerCall, model: Model) -> bool:
    """Whether a call may be one of an OpenCV function that uses its threads."""
    return bool(_starting(call, model))


def _may_start(name: str, call: WorkerCall, model: Model) -> bool:
    if not name.startswith("cv2.") or name.startswith("cv2.ocl.") or name in SERIAL or name in FOR_LARGE_IMAGES:
        return False
    return name not in BY_SIZE | FOR_BYTES or not is_small(
        name, model.ev.calls.arguments(call.call, call.frame), model.ev
    )


def surely_starts_threads(call: WorkerCall, model: Model) -> bool:
    """Whether the image of a call that may start threads is large enough for them, and of a type for which it starts
    some, as far as these matter."""
    arguments = model.ev.calls.arguments(call.call, call.frame)

    def is_sure(name: str) -> bool:
        if name in FOR_BYTES:
            return not is_of_data_file(arguments, model.ev)
        return name not in BY_SIZE or is_large(name, arguments, model.ev)

    return any(map(is_sure, _starting(call, model)))


def starts_threads_of_any_size(call: WorkerCall, model: Model) -> bool:
    """Whether a call starts threads whatever size its image has, or gives it a size that is large enough."""
    arguments = model.ev.calls.arguments(call.call, call.frame)
    return any(name not in BY_SIZE or gets_large_size(name, arguments, model.ev) for name in _starting(call, model))


def _starting(call: WorkerCall, model: Model) -> list[str]:
    """The OpenCV functions that a call may run and that may start threads."""
    return [atom.name for atom in call.callee.only(Lib) if _may_start(atom.name, call, model)]
