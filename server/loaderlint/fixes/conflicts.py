"""Whether the changes of a file fit together: no two overlap, and two at the same place can be merged."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.fixes.class_members import method_changes
from loaderlint.fixes.draft import EXPRESSION, LINES, NO_PLAN, WRAP_END, WRAP_START, Draft, Plan
from loaderlint.fixes.edit_arguments import argument_changes
from loaderlint.fixes.file_edits import Change, Refused
from loaderlint.fixes.inserted_code import header_changes


class Fitting(Struct):
    """The changes of a plan that fit together, in the order of the text."""

    plan: Plan
    changes: list[Change]

    def copy(self) -> Fitting:
        """The same, to be extended."""
        return Fitting(self.plan, self.changes.copy())

    def extend(self, draft: Draft) -> None:
        """Take in the changes of a draft whose plan goes on this one. Raises Refused, this then half extended. The new
        changes are compared with their neighbours alone: of thousands of fixes, each may conflict with another."""
        for change in draft.plan.changes[len(self.plan.changes) :]:
            at = bisect_right(self.changes, _order(change), key=_order)
            if not _is_change(change, draft) or self.changes[at - 1 : at] == [change]:
                continue
            for first, second in pairwise((*self.changes[max(at - 1, 0) : at], change, *self.changes[at : at + 1])):
                _meet(first, second)
            self.changes.insert(at, change)
        self.plan = draft.plan


NOTHING = Fitting(NO_PLAN, [])


def fitting(draft: Draft) -> Fitting:
    """The changes of a draft's plan. Raises Refused if some conflict."""
    changes = _sorted_changes(draft)
    for first, second in pairwise(changes):
        _meet(first, second)
    return Fitting(draft.plan, changes)


def goes_on(plan: Plan, known: Plan) -> bool:
    """Whether a plan that has grown from the known one has more changes and nothing else."""
    return replace(plan, changes=known.changes) == known


def _sorted_changes(draft: Draft) -> list[Change]:
    """All changes of a file, in the order of the text."""
    changes = [*draft.plan.changes, *header_changes(draft), *argument_changes(draft), *method_changes(draft)]
    changes = [change for change in dict.fromkeys(changes) if _is_change(change, draft)]
    draft.spend(len(changes) / 2)
    return sorted(changes, key=_order)


def _is_change(change: Change, draft: Draft) -> bool:
    return draft.text[change.start : change.end] != change.text


def _order(change: Change) -> tuple[int, bool, int, int]:
    return change.start, change.end > change.start, change.rank, change.end


def all_changes(draft: Draft) -> list[Change]:
    """All changes of a file, sorted, no two at one place. Raises Refused if some conflict."""
    joined: list[Change] = []
    for change in _sorted_changes(draft):
        if not joined or not _meet(joined[-1], change):
            joined.append(change)
            continue
        last = joined[-1]
        joined[-1] = Change(last.start, change.end, last.text + change.text, change.rank)
    return joined


def _meet(first: Change, second: Change) -> bool:
    """Whether two changes, `first` not after `second`, are at one place and become one. Refused if they conflict."""
    if second.start < first.end:
        raise Refused("two changes overlap")
    if second.start > first.end:
        return False
    if first.end > first.start and second.end > second.start:
        return False  # two ranges that touch
    if first.rank >= LINES or second.rank >= LINES:
        return second.start == first.start
    ranks = (first.rank, second.rank)
    if first.rank == second.rank or EXPRESSION in ranks and (WRAP_START in ranks or WRAP_END in ranks):
        raise Refused("two changes are at one place")
    return second.start == first.start
