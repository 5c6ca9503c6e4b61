"""Which bindings of a module's name can be valid at a piece at module level.

A long statement is cut into its clauses and the statements in them, so a binding may be sure in its block only: it
replaces what came before for the pieces that follow in this block. In a loop, what comes later is valid, too."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence

from loaderlint.project.evaluation.limits import MAX_BINDINGS
from loaderlint.project.modules.project_files import Binding, ProjectFile


def reaching(
    bindings: Sequence[Binding], before: int, file: ProjectFile
) -> tuple[Sequence[Binding], Sequence[Binding]]:
    """Those of a name's bindings that can be valid where piece `before` begins, in source order: those above it, and
    those that another turn of a loop comes by later. None that only type checkers see. Beyond `MAX_BINDINGS`, the
    search for what replaces the others stops."""
    around = (*file.around(before), -1)
    end = bisect_left(bindings, before, key=lambda one: one.piece)
    found: list[Binding] = []
    block: int | None = None
    for index in range(end - 1, -1, -1):
        one = bindings[index]
        if block is None and not one.type_checking:
            found.append(one)
            block = _sure_in(one, around, file)
        elif one.def_ and not one.type_checking:
            found.append(one)  # the function may be called later
        if len(found) > MAX_BINDINGS:
            break
    return found[::-1], _of_other_turns(bindings[end:], before, _inside(block, around), file)


def effective(bindings: Sequence[Binding]) -> list[Binding]:
    """Those of a name's bindings that can be valid after all of them: the last unconditional one, the conditional ones
    after it, and those in functions; none that only type checkers see. Beyond `MAX_BINDINGS`, the search for the
    unconditional one stops."""
    found: list[Binding] = []
    is_replaced = False
    for one in reversed(bindings):
        if one.type_checking or (is_replaced and not one.def_):
            continue
        found.append(one)
        is_replaced = is_replaced or not one.conditional
        if len(found) > MAX_BINDINGS:
            break
    return found[::-1]


def _sure_in(one: Binding, around: Collection[int], file: ProjectFile) -> int | None:
    """The innermost of the clauses `around` a piece (-1: the module) in which a binding before it certainly happens;
    None if it may not."""
    if not one.is_sure:
        return None
    clause = file.pieces[one.piece].parent
    while clause not in around:
        if not file.always_runs(clause):
            return None
        clause = file.pieces[clause].parent
    return clause


def _inside(block: int | None, around: Sequence[int]) -> Sequence[int]:
    """The clauses around a piece that lie in one of them."""
    return around if block is None else around[: around.index(block)]


def _of_other_turns(later: Iterable[Binding], before: int, clauses: Sequence[int], file: ProjectFile) -> list[Binding]:
    """The bindings, at a piece or after it, that the next turn of a loop around it meets. `clauses`: those around the
    piece that nothing before it in their blocks replaces, the innermost first."""
    whole = [one for one in (before, *clauses) if one >= 0 and _is_loop(one, before, file)]
    if not whole:
        return []
    loop = whole[-1]
    return [one for one in later if not one.type_checking and loop in (one.piece, *file.around(one.piece))]


def _is_loop(clause: int, before: int, file: ProjectFile) -> bool:
    """Whether a clause is a loop that comes by piece `before` in each turn: it is around it, or asks it."""
    return file.is_loop(clause) and (clause != before or file.pieces[clause].keyword == "while")
