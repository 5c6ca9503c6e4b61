"""Functions that run in new processes: `mp.spawn(train, args=(options,), nprocs=gpus)` calls `train(rank, options)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.knowledge.process_launchers import Launcher, launcher
from loaderlint.project.evaluation import containers
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Lib, LibMember, LibObject, MapOf, SeqOf, Val, unknown

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The number of the process, which the first parameter gets.
_RANK = unknown("the number of the process")


def run(
    ev: Evaluator, name: str, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
) -> tuple[Frame, ...]:
    """The frames that a call of library function `name` runs in new processes; none if it starts no processes."""
    how = launcher(name)
    function = arguments.get(*how.function) if how is not None else None
    if how is None or function is None:
        return ()
    return ev.calls.call(function, _passed(how, arguments), frame, number, seen)[1]


def function_of(ev: Evaluator, call: ir.Call, callee: Val, frame: Frame) -> Val | None:
    """What a call runs in new processes; None if its callee starts none."""
    for atom in callee.atoms:
        how = launcher(_full_name(atom))
        if how is not None:
            return ev.calls.arguments(call, frame).get(*how.function)
    return None


def starts_processes(callees: Iterable[Atom]) -> bool:
    """Whether one of several callees runs a function in new processes."""
    return any(launcher(_full_name(one)) is not None for one in callees)


def _full_name(atom: Atom) -> str:
    """The name of a library function, or of a method of a library object; '' for anything else."""
    if isinstance(atom, LibMember):
        return f"{atom.owner.name}.{atom.name}" if isinstance(atom.owner, LibObject) else ""
    return atom.name if isinstance(atom, Lib) else ""


def _passed(how: Launcher, arguments: Arguments) -> Arguments:
    """The arguments that a launcher passes to its function."""
    args = arguments.get(*how.args)
    listed = args.only(SeqOf) if args is not None else []
    is_known = args is None or args.is_none or (len(listed) == 1 and len(args.atoms) == 1)
    items = listed[0].items if is_known and listed else ()
    kwargs = arguments.get(how.kwargs) if how.kwargs else None
    maps = kwargs.only(MapOf) if kwargs is not None else []
    is_written = kwargs is None or (len(maps) == len(kwargs.atoms) and all(None not in one.keys for one in maps))
    first = (_RANK,) if how.ranked else ()
    return Arguments((*first, *items), tuple(containers.either(maps)), not is_known, not is_written)
