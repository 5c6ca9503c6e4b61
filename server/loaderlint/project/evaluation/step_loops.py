"""Loops that call one step of a pipeline after another: `for step in self.steps: sample = step(sample)`.

Each step gets the result of the step before it, as in a `Compose` of a library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.loops import StepLoop
from loaderlint.project.evaluation import item_values, library_calls
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import SeqOf, Val, join, of

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_MAX_STEPS = 64
#: The values of loop-carried locals.
_Locals = dict[int, Val]


def steps_of(ev: Evaluator, loop: StepLoop, frame: Frame) -> tuple[Val, ...] | None:
    """The steps that a loop calls, in order; None if they are not known."""
    atoms = ev.eval(loop.steps, frame).atoms
    (only,) = atoms if len(atoms) == 1 else (None,)
    if not isinstance(only, SeqOf) or only.kind == "set" or len(only.items) > _MAX_STEPS:
        return None
    return only.items


def run(ev: Evaluator, loop: StepLoop, steps: tuple[Val, ...], frame: Frame) -> _Locals:
    """What the loop-carried locals are after the loop, or anywhere in it if the loop itself reads them. Also notes the
    result of the call."""
    try:
        iterations = list(_iterations(ev, loop, steps, frame))
    except BaseException:
        for local in loop.carried:
            frame.memo.pop(local, None)  # what is known so far must not be taken for the answer
        raise
    ends = {
        local: join(one[local] for one in iterations) if loop.is_read else iterations[-1][local]
        for local in loop.carried
    }
    frame.memo.update(ends)
    return ends


def _iterations(ev: Evaluator, loop: StepLoop, steps: tuple[Val, ...], frame: Frame) -> Iterator[_Locals]:
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


def entering(ev: Evaluator, choices: Sequence[int], local: int, frame: Frame) -> Val:
    """What a loop-carried local is before the loop; `choices` are those of its definitions that may reach it."""
    return join([ev.eval(choice, frame) for choice in choices if choice < local])


def _entering(ev: Evaluator, local: int, frame: Frame) -> Val:
    e = ev.expr(frame, local)
    assert isinstance(e, ir.Phi)
    return entering(ev, ev.liveness.live(e.choices, frame, local), local, frame)


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
    return library_calls.handed_on(arguments.positional[0], step, results)


def _bound(ev: Evaluator, again: int, result: Val, loop: StepLoop, frame: Frame) -> Val:
    """What a local is bound to when a step gave this result."""
    e = ev.expr(frame, again)
    if isinstance(e, ir.Unpack):
        return item_values.unpack(ev, result, e.index, e.starred, frame, again)
    return result
