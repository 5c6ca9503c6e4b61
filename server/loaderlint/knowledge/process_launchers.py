"""Library calls that run a function of the project in new processes, and what they pass to it.

Sources: torch 2.9 `multiprocessing/spawn.py` (`_wrap`: `fn(i, *args)`), CPython `multiprocessing/process.py` (`run`),
accelerate 1.0 `launchers.py` (`PrepareForLaunch`: `launcher(*args)`), detectron2 0.6 `engine/launch.py`
(`main_func(*args)`), torch_xla 2.5 `distributed/xla_multiprocessing.py` (`fn(index, *args)`)."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from loaderlint.knowledge.process_starts import plain


class Launcher(NamedTuple):
    """A call that runs a function in new processes. `function`, `args`, `kwargs`: its parameters, by name and position,
    for the function and what it gets; `kwargs` is '' if there is none. `ranked`: whether the function first gets the
    number of its process."""

    function: tuple[str, int]
    args: tuple[str, int]
    kwargs: str = ""
    ranked: bool = False


_SPAWN = Launcher(("fn", 0), ("args", 1), ranked=True)
_CALLED = Launcher(("function", 0), ("args", 1))
_PROCESS = Launcher(("target", 1), ("args", 3), "kwargs")
_DETECTRON = Launcher(("main_func", 0), ("args", 5))

#: Launchers by full name, as `plain` gives it.
LAUNCHERS = MappingProxyType(
    {
        "multiprocessing.spawn": _SPAWN,
        "multiprocessing.spawn.spawn": _SPAWN,
        "multiprocessing.start_processes": _SPAWN,
        "multiprocessing.spawn.start_processes": _SPAWN,
        "torch_xla.launch": _SPAWN,
        "torch_xla.distributed.xla_multiprocessing.spawn": _SPAWN,
        "multiprocessing.Process": _PROCESS,
        "accelerate.notebook_launcher": _CALLED,
        "accelerate.debug_launcher": _CALLED,
        "accelerate.launchers.notebook_launcher": _CALLED,
        "accelerate.launchers.debug_launcher": _CALLED,
        "detectron2.engine.launch": _DETECTRON,
        "detectron2.engine.launch.launch": _DETECTRON,
    }
)

#: The last parts of their names.
LAUNCHER_WORDS = frozenset(name.rpartition(".")[2] for name in LAUNCHERS)


def launcher(name: str) -> Launcher | None:
    """How the library call with this full name runs a function in new processes; None if it does not."""
    return LAUNCHERS.get(plain(name)) if name.rpartition(".")[2] in LAUNCHER_WORDS else None
