"""Calls of `torch.load` that bring tensors back to the device that they were saved from."""

from __future__ import annotations

from loaderlint.findings.finding import Fix, SetArgument
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.judgement import WorkerVerdict

_LOAD = Lib("torch.load")


def loads_anywhere(call: WorkerCall, model: Model) -> bool:
    """Whether a call is `torch.load` without a map_location."""
    if _LOAD not in call.callee.atoms:
        return False
    if any(Lib("torch.save") in other.callee.atoms for other in model.frame_calls(call.frame)):
        return False  # a cache: the worker saves what it has computed itself, on the CPU
    return model.ev.calls.arguments(call.call, call.frame).get("map_location", 1) is None


def fix_of_load(verdict: WorkerVerdict[WorkerCall], model: Model) -> Fix:
    """Load to the CPU; unsafe where a loader without workers loads too, whose tensors would come to another device."""
    bits = [model.reached[call.frame].bits() for call in verdict.together]
    loading = [one for one in model.loaders if any(b >> one.index & 1 for b in bits)]
    alone = all(one in verdict.exposure.loaders for one in loading)
    intent = SetArgument(verdict.spot.place(model), "map_location", '"cpu"', 1)
    return Fix('Load to the CPU: `map_location="cpu"`', "safe" if alone else "unsafe", (intent,))
