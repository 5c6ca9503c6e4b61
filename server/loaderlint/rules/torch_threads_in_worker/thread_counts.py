"""How many threads `torch.set_num_threads` sets."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, LibObject, Literal_
from loaderlint.project.reach.model import Model, WorkerCall

#: Calls that give the number of the machine's cores.
_CORES = frozenset(
    {
        "os.cpu_count",
        "os.process_cpu_count",
        "multiprocessing.cpu_count",
        "torch.multiprocessing.cpu_count",
        "psutil.cpu_count",
    }
)


class Threads(NamedTuple):
    """The number of threads that a call in `frame` sets: its `text` for messages, and whether it is `certain` that
    there are several."""

    frame: Frame
    text: str
    certain: bool


def threads_asked_for(call: WorkerCall, model: Model) -> Threads | None:
    """The number of threads that the call sets; None if that is one or unknown."""
    passed = model.ev.calls.arguments(call.call, call.frame).positional
    if not passed:
        return None
    several = [text for atom in passed[0].ordered() if (text := _several(atom))]
    return Threads(call.frame, several[0], len(several) == len(passed[0].atoms)) if several else None


def _several(atom: Atom) -> str:
    """The number that an atom stands for if it is more than one, else ''."""
    match atom:
        case Literal_("int", int(number), _) if number > 1:
            return str(number)
        case LibObject(name, _) if name in _CORES:
            return f"{name}()"
    return ""
