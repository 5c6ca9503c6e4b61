"""The definitions of a local that reach a place.

An environment maps a name to a *flow*: an expression number, or a sorted tuple of alternatives where paths have met.
Alternatives that are never read are not added to the expression table: `Frame.read` converts a flow to an expression
when its name is read.

Negative numbers in a flow are `UNBOUND` (a path on which the name has no value) and loop marks: the value of a name at
the head of a loop that has not been lowered to its end yet.

A def has one environment, which records its changes. The cost of a branch therefore depends only on what it binds: its
changes are taken out (`Changes`), and applied again where paths meet.
"""

from __future__ import annotations

from collections.abc import Iterable

#: A path on which the name is not bound.
UNBOUND = -2
#: Loop marks count down from here.
FIRST_MARK = -3
#: The maximum number of definitions that may reach a place. Beyond it, the name is unknown there: a def with hundreds
#: of branches that all assign one name is generated code, and each read would repeat all of them.
MAX_CHOICES = 256

Flow = int | tuple[int, ...]
#: The values of names after some changes; None for one without a value.
Changes = dict[str, Flow | None]


class Env:
    """The values of names at the current place."""

    __slots__ = ("_trail", "_values")

    def __init__(self) -> None:
        self._values: dict[str, Flow] = {}
        #: each change: the name, and its value before
        self._trail: list[tuple[str, Flow | None]] = []

    def get(self, name: str) -> Flow | None:
        """The value of a name; None if it has none."""
        return self._values.get(name)

    def set(self, name: str, flow: Flow | None) -> None:
        """Set the value of a name; None removes it."""
        self._trail.append((name, self._values.get(name)))
        if flow is None:
            self._values.pop(name, None)
        else:
            self._values[name] = flow

    def mark(self) -> int:
        """The current state, for `changes` and `undo`."""
        return len(self._trail)

    def changes(self, mark: int) -> Changes:
        """The current values of the names that have changed since `mark`."""
        return {name: self._values.get(name) for name, _ in self._trail[mark:]}

    def undo(self, mark: int) -> None:
        """Go back to the state at `mark`."""
        trail = self._trail
        while len(trail) > mark:
            name, flow = trail.pop()
            if flow is None:
                self._values.pop(name, None)
            else:
                self._values[name] = flow

    def take(self, mark: int) -> Changes:
        """Undo the changes since `mark`, and return them."""
        changes = self.changes(mark)
        self.undo(mark)
        return changes

    def apply(self, changes: Changes) -> None:
        """Apply changes."""
        for name, flow in changes.items():
            self.set(name, flow)


def join(flows: Iterable[Flow | None]) -> Flow | None:
    """The alternatives of all flows; None if no path has a value."""
    choices: set[int] = set()
    bound = False
    for flow in flows:
        if flow is None:
            choices.add(UNBOUND)
            continue
        bound = True
        if isinstance(flow, int):
            choices.add(flow)
        else:
            choices.update(flow)
    if not bound:
        return None
    return tuple(sorted(choices)) if len(choices) > 1 else choices.pop()


def expand(flow: Flow, finished: dict[int, Flow], settled: dict[int, int]) -> set[int] | None:
    """The alternatives of `flow`, None if there are more than `MAX_CHOICES`. A mark is replaced by its expression if it
    is in `settled`, else by the flow of its loop if it is in `finished`; other marks stay."""
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
        if len(found) > MAX_CHOICES or len(seen) > MAX_CHOICES:
            return None
    return found
