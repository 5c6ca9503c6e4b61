"""Seeding calls in workers: where their seed is written, and how often they run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Place
from loaderlint.knowledge.higher_order import KEEPING_DECORATORS
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Lib
from loaderlint.project.reach.model import Loader, Model, WorkerCall

#: A seed is followed through at most this many calls.
_MAX_HELPERS = 8
#: How often a worker runs it: for each sample, or once (for an iterable dataset: once in each epoch).
Often = Literal["sample", "once", "epoch"]
_LIBRARIES = ("numpy", "python", "torch", "all")
#: How a fix writes the seeding calls.
SEED_CALLS = MappingProxyType(
    {
        "numpy.random.seed": "{numpy}.random.seed",
        "random.seed": "{random}.seed",
        "torch.manual_seed": "{torch}.manual_seed",
    }
)


def seeds_of(call: WorkerCall) -> Iterator[tuple[str, int]]:
    """The global states that a call seeds, each as the seeding function's name and the seed's expression."""
    seed = next((a.value for a in call.call.args[:1] if a.kind in ("pos", "kw")), None)
    for atom in call.callee.only(Lib) if seed is not None else ():
        if SEEDERS.get(atom.name) in _LIBRARIES and not atom.name.endswith("set_state"):
            assert seed is not None
            yield atom.name, seed


class Written(NamedTuple):
    """Where a seed is written: expression `number` of `frame`, passed in the call `at` there. Both are the seeding call
    if the seed comes from outside worker code."""

    frame: Frame
    at: int
    number: int


def written(call: WorkerCall, seed: int, loader: Loader, model: Model) -> Written:
    """Where the seed (expression `seed`) of a seeding call is written: through the parameters of helpers up to the call
    that passes it."""
    frame, number = call.frame, call.number
    for _ in range(_MAX_HELPERS):
        if not isinstance(model.ev.expr(frame, seed), ir.Param):
            return Written(frame, number, seed)
        reached = model.reached.get(frame)
        parent = reached.parents.get(loader.index) if reached else None
        passed = _passed(parent, frame, seed, model) if parent else None
        if parent is None or passed is None:
            break
        frame, (number, seed) = parent, passed
    return Written(frame, number, number)


def _passed(caller: Frame, callee: Frame, param: int, model: Model) -> tuple[int, int] | None:
    """The call in `caller` that leads to `callee`, and the argument that it passes for the parameter `param`."""
    e = model.ev.expr(callee, param)
    number = model.call_to(caller, callee)
    call = model.ev.expr(caller, number) if number is not None else None
    if number is None or not isinstance(e, ir.Param) or not isinstance(call, ir.Call):
        return None
    name = model.def_of(callee).params[e.index].name
    position = e.index - (callee.receiver is not None)
    for index, arg in enumerate(call.args):
        if arg.kind in ("star", "starstar"):
            return None
        if arg.name == name or (arg.kind == "pos" and index == position):
            return number, arg.value
    return None


def statements(calls: Iterable[Written], model: Model) -> list[Place | None]:
    """For each seeding call the statement that consists of it alone; None if there is none."""
    places = list(calls)
    alone = {
        frame: {step.expr: number for number, step in model.steps_of(frame, ir.Evaluate)}
        for frame in dict.fromkeys(one.frame for one in places)
    }
    numbers = [alone[one.frame].get(one.at) for one in places]
    return [
        None if number is None else model.step_place(one.frame, number)
        for one, number in zip(places, numbers, strict=True)
    ]


def is_for_workers(frame: Frame, model: Model) -> bool:
    """Whether only workers, and code that iterates over the dataset, run a def."""
    callers = model.callers.frames(frame.path, frame.piece, frame.def_)
    return model.def_of(frame).name.startswith("__") or all(caller in model.reached for caller in callers)


def bound_name(frame: Frame, number: int, model: Model) -> str | None:
    """The only local name that expression `number` is bound to; None if there is none or more than one."""
    names = {s.name for s in model.def_of(frame).steps if isinstance(s, ir.Bind) and s.value == number}
    return names.pop() if len(names) == 1 else None


def is_read_only_in(calls: set[int], frame: Frame, number: int, model: Model) -> bool:
    """Whether a value that is bound to a name is read by these calls alone."""
    name = bound_name(frame, number, model)
    file = model.files.file(frame.path)
    if name is None or file is None:
        return False
    return file.pieces[frame.piece].ask(occurrences, name) == len(calls) + 1


def occurrences(text: str, name: str) -> int:
    """How often a text names a variable (an attribute of that name does not count)."""
    return len(re.findall(rf"(?<![.\w]){re.escape(name)}\b", text))


# --- how often --------------------------------------------------------------------------------------------------------


def often(call: WorkerCall, loader: Loader, model: Model) -> Often:
    """How often the workers of the loader run a call in sample code."""
    links = model.chain(call.frame, loader)
    if any(_keeps_its_result(frame, model) for frame in links):
        return "once"
    places = on_the_way(call, loader, model)
    if any(is_behind_a_flag(*place, links[at + 1 :], model) for at, place in enumerate(places)):
        return "once"
    if model.def_of(links[0]).name != "__iter__":
        return "sample"
    looped = any(kind in ("loop", "while") for place in places for kind in _kinds_around(*place, model))
    return "sample" if looped else "epoch"


def _keeps_its_result(frame: Frame, model: Model) -> bool:
    """Whether a def runs once, and what it has returned is kept: a `cached_property`, a function with `lru_cache`."""
    function = FunctionRef(frame.path, frame.piece, frame.def_, frame.scope)
    return frame.def_ > 0 and model.ev.functions.is_decorated(function, KEEPING_DECORATORS)


def on_the_way(call: WorkerCall, loader: Loader, model: Model) -> list[tuple[Frame, int]]:
    """The calls of the chain from the loader to a call, and the call itself, each as (frame, context)."""
    return [*_calls_between(model.chain(call.frame, loader), model), (call.frame, call.context)]


def _calls_between(links: tuple[Frame, ...], model: Model) -> Iterator[tuple[Frame, int]]:
    """Where each link of a chain calls the next: the frame and the context of the call."""
    for before, after in zip(links, links[1:], strict=False):
        number = model.call_to(before, after)
        steps = model.def_of(before).steps
        context = next((s.context for s in steps if isinstance(s, ir.Perform) and s.call == number), 0)
        yield before, context


def _kinds_around(frame: Frame, context: int, model: Model) -> Iterator[str]:
    return (here.kind for here in model.def_of(frame).around(context))


def is_behind_a_flag(frame: Frame, context: int, called: tuple[Frame, ...], model: Model) -> bool:
    """Whether `context` is entered only once: `if not self.seeded: ...; self.seeded = True`. The flag may be set in the
    functions that are `called` there."""
    one = model.def_of(frame)
    while context > 0:
        here = one.contexts[context]
        if here.kind == "if" and here.expr != NONE:
            names = set(_flags(here.expr, frame, model))
            if any(_sets(step, names) and one.is_within(step.context, context) for step in one.steps):
                return True
            if any(_sets(step, names) for each in called for step in model.def_of(each).steps):
                return True
        context = here.parent
    return False


def _flags(test: int, frame: Frame, model: Model) -> Iterator[str]:
    """The attributes and globals that a test reads."""
    match model.ev.expr(frame, test):
        case ir.Attr(_, name) | ir.Global(name):
            yield name
        case ir.Unary(_, operand):
            yield from _flags(operand, frame, model)
        case ir.BoolOp(_, left, right):
            yield from _flags(left, frame, model)
            yield from _flags(right, frame, model)
        case ir.Compare(left, _, rights):
            for operand in (left, *rights):
                yield from _flags(operand, frame, model)
        case ir.Call(_, args):  # hasattr(self, "seeded"), getattr(self, "seeded", False)
            for arg in args:
                e = model.ev.expr(frame, arg.value)
                if isinstance(e, ir.Const) and isinstance(e.value, str):
                    yield e.value


def _sets(step: ir.Step, names: set[str]) -> bool:
    if isinstance(step, ir.Bind):
        return step.scope == "global" and step.name in names
    return isinstance(step, ir.SetAttr) and step.name in names
