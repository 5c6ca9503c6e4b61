"""Keras datasets whose samples are made in processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Certainty
from loaderlint.knowledge.keras import (
    DATASET_ARGUMENTS,
    DATASETS,
    FLAG_POSITION,
    KERAS_3,
    POOLED_METHODS,
    WORKERS_POSITION,
)
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.library_calls import passed_to_library
from loaderlint.project.evaluation.values import (
    NONE_VALUE,
    ClassRef,
    Instance,
    LibMember,
    Literal_,
    Site,
    Unknown,
    Val,
    of,
)
from loaderlint.project.reach.model import Model, WorkerCall

Answer = Literal["yes", "no", "maybe"]
#: The argument that requests processes.
FLAG = "use_multiprocessing"


class Pool(NamedTuple):
    """A dataset whose samples are created in processes. `call`: where that is requested; `alone`: by one process."""

    dataset: Instance
    call: WorkerCall
    certainty: Certainty
    alone: bool


def keras_pools(call: WorkerCall, model: Model) -> Iterator[Pool]:
    """The datasets for which a call requests processes."""
    for dataset in _constructed(call, model):
        yield from _pool(dataset, passed_to_library(model.ev, dataset), call, FLAG_POSITION, WORKERS_POSITION, model)
    if isinstance(model.ev.expr(call.frame, call.call.func), ir.Attr) and _has_old_arguments(call, model):
        arguments = model.ev.calls.arguments(call.call, call.frame)
        passed = next((v for v in (arguments.get(n, 0) for n in DATASET_ARGUMENTS) if v is not None), None)
        for one in passed.only(Instance) if passed is not None else ():
            if is_keras_dataset(one.cls, model):
                yield from _pool(one, arguments, call, None, None, model)


def _constructed(call: WorkerCall, model: Model) -> Iterator[Instance]:
    """The Keras datasets that a call constructs: `Noisy(...)`, or `super().__init__(...)` in its constructor."""
    for atom in call.callee.only(ClassRef, LibMember):
        made: Instance | None = None
        if isinstance(atom, ClassRef):
            made = Instance(atom, Site(call.frame, call.number))
        elif isinstance(atom, LibMember) and atom.name == "super.__init__" and isinstance(atom.owner, Instance):
            made = atom.owner
        if made is not None and is_keras_dataset(made.cls, model):
            yield made


def is_keras_dataset(cls: ClassRef, model: Model) -> bool:
    """Whether a class of the project derives from Keras's base of datasets."""
    return not DATASETS.isdisjoint(model.ev.classes.library_bases(cls))


def _has_old_arguments(call: WorkerCall, model: Model) -> bool:
    """Whether a call is one of a method that takes `use_multiprocessing` in Keras 2, and Keras may be that."""
    func = model.ev.expr(call.frame, call.call.func)
    if not isinstance(func, ir.Attr) or func.name not in POOLED_METHODS:
        return False
    packages = model.environment_at(call.frame.path).packages or {}
    return not any(name in packages and packages[name].before(border) == "no" for name, border in KERAS_3)


def _pool(
    dataset: Instance, arguments: Arguments, call: WorkerCall, flag: int | None, workers: int | None, model: Model
) -> Iterator[Pool]:
    count = arguments.get("workers", workers) or of(Literal_("int", 1))
    asked, some = _at_least(arguments.get(FLAG, flag) or NONE_VALUE, 1), _at_least(count, 1)
    if "no" in (asked, some):
        return
    certainty: Certainty = "proven" if asked == some == "yes" else "possible"
    yield Pool(dataset, call, certainty, _at_least(count, 2) == "no")


def _at_least(value: Val, least: int) -> Answer:
    """Whether a number (or True) is at least `least`; unknown arguments are assumed to be omitted. An option that is
    off by default may be switched on."""
    answers: set[Answer] = set()
    for atom in value.atoms:
        if isinstance(atom, Literal_):
            number = atom.value if isinstance(atom.value, int | float) else 0
            may_be_set = atom.value is False and atom.configured
            answers.add("yes" if number >= least else "maybe" if may_be_set else "no")
        else:
            answers.add("no" if atom == Unknown("kwargs") else "maybe")
    return answers.pop() if len(answers) == 1 else "maybe"
