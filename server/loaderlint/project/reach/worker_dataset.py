"""Calls of methods on the dataset that a worker holds, and on the objects in its attributes:
`get_worker_info().dataset.reseed()`, `get_worker_info().dataset.store.reopen()`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibMember, LibObject

WORKER_INFO = "torch.utils.data.get_worker_info"


def method_calls(frame: Frame, dataset: Instance, ev: Evaluator) -> Iterator[tuple[int, tuple[Frame, ...]]]:
    """The calls in a frame of methods of the worker's dataset, and of what it holds, by the numbers of their
    expressions, each with the frames that it leads to if the loader holds `dataset`."""
    if not frame.code.attributes("dataset"):
        return
    for step, call in frame.code.calls:
        for *attributes, name in dict.fromkeys(_read_of_dataset(call, frame, ev)):
            for owner in _held(dataset, attributes, ev):
                member = ev.classes.member(owner.cls, name)
                if member is not None and member.function is not None:
                    arguments = ev.calls.arguments(call, frame)
                    yield step.call, ev.functions.invoke(member.function, owner, member.owner, arguments, frame)[1]


def _held(dataset: Instance, attributes: Sequence[str], ev: Evaluator) -> list[Instance]:
    """The objects of the project that an attribute of a dataset may be, or one of its own attributes."""
    owners = [dataset]
    for name in attributes:
        owners = [one for owner in owners for one in ev.classes.field(owner, name).only(Instance)]
    return owners


def is_worker_dataset(atom: object) -> bool:
    """Whether a value is `get_worker_info().dataset`."""
    match atom:
        case LibMember(LibObject(name), "dataset"):
            return name == WORKER_INFO
    return False


def _read_of_dataset(call: ir.Call, frame: Frame, ev: Evaluator) -> Iterator[tuple[str, ...]]:
    """The names by which a call may read the method that it calls from the worker's dataset: `("store", "reopen")`."""
    if not isinstance(ev.expr(frame, call.func), ir.Attr):
        return
    for atom in ev.eval(call.func, frame).ordered():
        names = _names_after_dataset(atom)
        if names:
            yield names


def _names_after_dataset(atom: Atom) -> tuple[str, ...]:
    """The names of the attributes by which a value is read from the worker's dataset; () if it is not."""
    names: tuple[str, ...] = ()
    while isinstance(atom, LibMember):
        if is_worker_dataset(atom):
            return names
        names = (atom.name, *names)
        atom = atom.owner
    return ()
