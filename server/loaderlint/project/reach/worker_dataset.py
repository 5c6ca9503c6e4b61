"""Calls of methods on the dataset that a worker holds: `get_worker_info().dataset.reseed()`."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibMember, LibObject

WORKER_INFO = "torch.utils.data.get_worker_info"


def method_calls(frame: Frame, dataset: Instance, ev: Evaluator) -> Iterator[tuple[int, tuple[Frame, ...]]]:
    """The calls in a frame of methods of the worker's dataset, by the numbers of their expressions, each with the
    frames that it leads to if the loader holds `dataset`."""
    if not frame.code.attributes("dataset"):
        return
    for step, call in frame.code.calls:
        for name in dict.fromkeys(_methods(call, frame, ev)):
            member = ev.classes.member(dataset.cls, name)
            if member is not None and member.function is not None:
                arguments = ev.calls.arguments(call, frame)
                yield step.call, ev.functions.invoke(member.function, dataset, member.owner, arguments, frame)[1]


def is_worker_dataset(atom: object) -> bool:
    """Whether a value is `get_worker_info().dataset`."""
    match atom:
        case LibMember(LibObject(name), "dataset"):
            return name == WORKER_INFO
    return False


def _methods(call: ir.Call, frame: Frame, ev: Evaluator) -> Iterator[str]:
    """The names of the methods that a call may call on the worker's dataset."""
    if not isinstance(ev.expr(frame, call.func), ir.Attr):
        return
    for atom in ev.eval(call.func, frame).ordered():
        if isinstance(atom, LibMember) and is_worker_dataset(atom.owner):
            yield atom.name
