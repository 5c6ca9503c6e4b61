"""Which definitions of a local reach a place.

An environment maps a name to a *flow*: an expression number, or a sorted tuple of alternatives where paths have met.
Nothing is added to the expression table for an alternative that nobody reads: `Frame.read` settles a flow into an
expression when its name is read.

Negative numbers in a flow are `UNBOUND` (a path on which the name has no value) and loop marks: what a name is at the
head of a loop whose end has not been seen yet.
"""

from __future__ import annotations

#: A path on which the name is not bound.
UNBOUND = -2
#: Loop marks count down from here.
FIRST_MARK = -3

Flow = int | tuple[int, ...]
Env = dict[str, Flow]


def join(left: Flow, right: Flow) -> Flow:
    """The alternatives of both."""
    if left == right:
        return left
    choices = {left} if isinstance(left, int) else set(left)
    if isinstance(right, int):
        choices.add(right)
    else:
        choices.update(right)
    return tuple(sorted(choices)) if len(choices) > 1 else choices.pop()


def merge(envs: list[Env]) -> Env:
    """The environment where the paths with `envs` (at least one) meet. The result may be one of them."""
    result = envs[0]
    for env in envs[1:]:
        result = _merge(result, env)
    return result


def _merge(left: Env, right: Env) -> Env:
    if left == right:
        return left
    result = left.copy()
    for name, flow in right.items():
        other = left.get(name, UNBOUND)
        if other != flow:
            result[name] = join(other, flow)
    if len(result) != len(right):
        for name, flow in left.items():
            if name not in right:
                result[name] = join(flow, UNBOUND)
    return result


def thrown(before: Env, bound: list[tuple[str, Flow]]) -> Env:
    """The environment in which an exception is handled: raised at any point after `before` while `bound` happened."""
    result = before.copy()
    for name, flow in bound:
        result[name] = join(result.get(name, UNBOUND), flow)
    return result


def expand(flow: Flow, finished: dict[int, Flow], settled: dict[int, int]) -> set[int]:
    """The alternatives of `flow`. A mark is replaced by its expression if it is in `settled`, else by the flow that its
    loop turned out to have if it is in `finished`; other marks stay."""
    found: set[int] = set()
    seen: set[int] = set()
    stack = [flow] if isinstance(flow, int) else list(flow)
    while stack:
        choice = stack.pop()
        if choice > FIRST_MARK:
            found.add(choice)
        elif choice in settled:
            found.add(settled[choice])
        elif choice not in finished:
            found.add(choice)
        elif choice not in seen:
            seen.add(choice)
            meaning = finished[choice]
            stack.extend((meaning,) if isinstance(meaning, int) else meaning)
    return found
