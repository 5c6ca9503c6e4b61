"""Loops that call one step of a pipeline after another: `for step in self.steps: sample = step(sample)`.

Each step gets what the step before it gave, as in a `Compose` of a library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.loops import StepLoop
from loaderlint.project.evaluation import library_values
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import SeqOf, Val, join, of

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_MAX_STEPS = 64
#: The values of the locals that go round in a loop.
_Locals = dict[int, Val]


def steps_of(ev: Evaluator, loop: StepLoop, frame: Frame) -> tuple[Val, ...] | None:
    """The steps that a loop calls, in order; None if they are not in sight."""
    atoms = ev.eval(loop.steps, frame).atoms
    (only,) = atoms if len(atoms) == 1 else (None,)
    if not isinstance(only, SeqOf) or only.kind == "set" or len(only.items) > _MAX_STEPS:
        return None
    return only.items


def run(ev: Evaluator, loop: StepLoop, steps: tuple[Val, ...], frame: Frame) -> _Locals:
    """What the locals that go round in a loop are after it, or anywhere in it if the loop itself reads them. Notes the
    result of the call."""
    try:
        turns = list(_turns(ev, loop, steps, frame))
    except BaseException:
        for local in loop.carried:
            frame.memo.pop(local, None)  # what is known so far must not be taken for the answer
        raise
    ends = {local: join(turn[local] for turn in turns) if loop.is_read else turns[-1][local] for local in loop.carried}
    frame.memo.update(ends)
    return ends


def _turns(ev: Evaluator, loop: StepLoop, steps: tuple[Val, ...], frame: Frame) -> Iterator[_Locals]:
    """The locals before the first step, and after each step."""
    given = {local: _entering(ev, local, frame) for local in loop.carried}
    frame.memo.update(given)
    yield given
    results: list[Val] = []
    certain = ev.liveness.always_runs(loop.context, loop.loop, frame)
    for step in () if ev.liveness.is_dead(loop.context, frame) else steps:
        result = _called(ev, loop, step, frame)
        results.append(result)
        after = {local: _bound(ev, again, result, loop, frame) for local, again in loop.carried.items()}
        given = after if certain else {local: join((given[local], value)) for local, value in after.items()}
        frame.memo.update(given)
        yield given
    frame.memo[loop.call] = join(results)


def _entering(ev: Evaluator, local: int, frame: Frame) -> Val:
    """What a local is before the loop."""
    e = ev.expr(frame, local)
    choices = ev.liveness.live(e.choices, frame) if isinstance(e, ir.Phi) else ()
    return join([ev.eval(choice, frame) for choice in choices if choice < local])


def _called(ev: Evaluator, loop: StepLoop, step: Val, frame: Frame) -> Val:
    """What a step gives for the present values of the locals."""
    call = ev.expr(frame, loop.call)
    assert isinstance(call, ir.Call)
    arguments = ev.calls.arguments(call, frame)
    if len(call.args) > 1 or not arguments.positional:
        result, targets = ev.calls.call(step, arguments, frame, loop.call, {})
        frame.add_targets(loop.call, targets)
        return result
    results = []
    for atom in step.ordered():
        result, targets = ev.calls.call(of(atom), arguments, frame, loop.call, {})
        frame.add_targets(loop.call, targets)
        results.append((atom, result))
    return library_values.handed_on(arguments.positional[0], step, results)


def _bound(ev: Evaluator, again: int, result: Val, loop: StepLoop, frame: Frame) -> Val:
    """What a local is bound to when a step gave this result."""
    e = ev.expr(frame, again)
    if isinstance(e, ir.Unpack):
        return library_values.unpack(ev, result, e.index, e.starred, frame, again)
    return result
