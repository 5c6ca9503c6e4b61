"""Loops: the locals that they carry from one iteration to the next, and those that run the steps of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from loaderlint.facts import ir

#: At most this many locals of one cycle are evaluated before the rest of it.
_MAX_HEADS = 8


def heads_of_cycles(exprs: Sequence[ir.Expr]) -> Mapping[int, tuple[int, ...]]:
    """For each expression that depends on itself through a loop, the loop-carried locals of its cycle, in source order.

    They are evaluated first. Each starts with its value before the loop, so the rest of the cycle does not depend on
    which of its expressions is evaluated first."""
    if not any(_is_carried(number, e) for number, e in enumerate(exprs)):
        return {}
    found: dict[int, tuple[int, ...]] = {}
    for cycle in _cycles(exprs):
        heads = tuple(sorted(one for one in cycle if _is_carried(one, exprs[one])))[:_MAX_HEADS]
        found.update(dict.fromkeys(cycle, heads))
    return found


def _is_carried(number: int, e: ir.Expr) -> bool:
    """Whether an expression is a loop-carried local: a later expression binds it for the next iteration."""
    return type(e) is ir.Phi and any(choice > number for choice in e.choices)


def _cycles(exprs: Sequence[ir.Expr]) -> Iterator[list[int]]:
    """The strongly connected components of several expressions, by Tarjan's algorithm without recursion."""
    index: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_: dict[int, None] = {}  # visited, in no component yet
    for root in range(len(exprs)):
        path = [] if root in index else [(root, iter((root,)))]
        while path:
            number, rest = path[-1]
            below = next(rest, None)
            if below is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[number])
                if number in open_ and lowest[number] == index[number]:
                    cycle = [number]
                    while (last := open_.popitem()[0]) != number:
                        cycle.append(last)
                    if len(cycle) > 1:
                        yield cycle
            elif below in open_:
                lowest[number] = min(lowest[number], index[below])
            elif below not in index and below != ir.NONE:
                index[below] = lowest[below] = len(index)
                open_[below] = None
                path.append((below, iter(ir.operands(exprs[below]))))


class StepLoop(Struct, frozen=True):
    """A loop that passes the result of one step to the next: `for step in steps: x = step(x)`.

    - `steps`: the expression whose items are called.
    - `call`: the call of a step, in context `context`. The loop is context `loop`.
    - `carried`: for each loop-carried local, the expression that binds it: the call, or an `Unpack` of it.
    - `is_read`: whether anything else in the loop reads one of these locals."""

    steps: int
    call: int
    context: int
    loop: int
    carried: Mapping[int, int]
    is_read: bool


def step_loops(exprs: Sequence[ir.Expr], one: ir.DefIR) -> dict[int, StepLoop]:
    """The loops of this kind in a def, by their loop-carried locals."""
    found: dict[int, StepLoop] = {}
    for step in one.steps:
        if type(step) is ir.Perform and (loop := _step_loop(exprs, one, step)) is not None:
            found.update(dict.fromkeys(loop.carried, loop))
    return found


def _step_loop(exprs: Sequence[ir.Expr], one: ir.DefIR, step: ir.Perform) -> StepLoop | None:
    call = exprs[step.call] if step.call != ir.NONE else None
    steps = _gone_through(exprs, call.func) if type(call) is ir.Call else ir.NONE
    if type(call) is not ir.Call or steps == ir.NONE:
        return None
    loop = next(one.loops_around(step.context), 0)
    locals_ = {arg.value for arg in call.args if arg.value != ir.NONE and _is_carried(arg.value, exprs[arg.value])}
    carried = {local: _bound_by(exprs, local, step.call) for local in locals_}
    others = [arg.value for arg in call.args if arg.value not in carried]
    if not loop or not carried or ir.NONE in carried.values() or not locals_.isdisjoint(ir.made_of(exprs, others)):
        return None
    read = _reads(exprs, (step for step in one.steps if one.is_within(step.context, loop)), locals_, step.call)
    return StepLoop(steps, step.call, step.context, loop, carried, read)


def _gone_through(exprs: Sequence[ir.Expr], func: int) -> int:
    """The expression of which a callee is an item, in a loop over it or over `enumerate` of it; `NONE` otherwise."""
    e = exprs[func] if func != ir.NONE else None
    if type(e) is ir.Element:
        return e.iterable
    item = exprs[e.value] if type(e) is ir.Unpack and e.index == 1 else None
    listed = exprs[item.iterable] if type(item) is ir.Element else None
    if type(listed) is ir.Call and exprs[listed.func] == ir.Global("enumerate") and listed.args:
        return listed.args[0].value
    return ir.NONE


def _bound_by(exprs: Sequence[ir.Expr], local: int, call: int) -> int:
    """The expression that binds a loop-carried local, if it is the call or a part of its result; else `NONE`."""
    e = exprs[local]
    later = [choice for choice in e.choices if choice > local] if type(e) is ir.Phi else []
    if len(later) != 1:
        return ir.NONE
    again = exprs[later[0]]
    is_part = type(again) is ir.Unpack and again.value == call and not again.starred
    return later[0] if later[0] == call or is_part else ir.NONE


def _reads(exprs: Sequence[ir.Expr], steps: Iterable[ir.Step], locals_: set[int], call: int) -> bool:
    """Whether steps read one of the locals other than as an argument of the call."""
    waiting = [number for step in steps for number in ir.step_expressions(step)]
    seen = {ir.NONE, call}
    while waiting:
        number = waiting.pop()
        if number in locals_:
            return True
        if number not in seen:
            seen.add(number)
            waiting += ir.operands(exprs[number])
    return False
