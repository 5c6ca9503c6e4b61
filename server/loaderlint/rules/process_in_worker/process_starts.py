"""What starts processes in the code of workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.process_starts import STARTED, STARTS_PROCESSES, plain
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibMember, LibObject
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.process_in_worker.nested_loaders import gone_through, loaders_at
from loaderlint.rules.shared.process_guards import callers_of, is_guarded, is_once
from loaderlint.rules.shared.unresolved_places import Spot, spot_of


class Start(NamedTuple):
    """A place where a frame starts processes. `what`: the call as messages show it; `doubts`: unknown conditions;
    `instead`: what to do; `use`: where it happens, if that is another place; `guarded`: after a look at the process."""

    frame: Frame
    spot: Spot
    what: str
    doubts: int
    instead: str
    use: Spot | None = None
    guarded: bool = False


def process_starts(frame: Frame, model: Model) -> Iterator[Start]:
    """The calls that start processes."""
    for call in model.frame_calls(frame):
        what = _started_by(call, model)
        ways = list(callers_of(call, model)) if what else []
        if what:
            guarded = any(is_guarded(where, context, model) for where, context in ways)
            doubts = 1 if any(is_once(where, context, model) for where, context in ways) else 0
            instead = "use threads, or do it before the workers start"
            yield Start(frame, Spot(frame, call.number), f"`{what}`", doubts, instead, guarded=guarded)


def _started_by(call: WorkerCall, model: Model) -> str:
    """What a call starts: 'multiprocessing.Pool'; '' if it starts no process or that is not sure."""
    names = {_name(atom) for atom in call.callee.atoms}
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and func.name == "start":
        bases = model.ev.eval(func.base, call.frame).atoms
        names = {f"{name}.start" if (name := _process_class(base, model)) else "" for base in bases}
    return names.pop() if len(names) == 1 else ""


def _name(atom: Atom) -> str:
    """The call that starts processes by itself, '' for others."""
    name = ""
    if isinstance(atom, Lib):
        name = plain(atom.name)
    elif isinstance(atom, LibMember) and isinstance(atom.owner, LibObject):
        name = plain(f"{atom.owner.name}.{atom.name}")
    return name if name in STARTS_PROCESSES else ""


def _process_class(atom: Atom, model: Model) -> str:
    """The library class of an object that `start()` makes a process of, '' for other objects."""
    if isinstance(atom, LibObject):
        return plain(atom.name) if plain(atom.name) in STARTED else ""
    if isinstance(atom, Instance) and model.ev.classes.member(atom.cls, "start") is None:
        if any(plain(base) in STARTED for base in model.ev.classes.library_bases(atom.cls)):
            return model.ev.classes.name(atom.cls)
    return ""


def nested_starts(frame: Frame, model: Model) -> Iterator[Start]:
    """The loaders with workers of their own that are iterated over."""
    for number, site in gone_through(frame, model) if model.once(_have_workers) else ():
        loaders = loaders_at(site, model)
        answers = {loader.has_workers() for loader in loaders}
        if "yes" in answers:
            what = f"the loader `{loaders[0].name}` with workers of its own"
            doubts = 0 if answers == {"yes"} else 1
            yield Start(frame, spot_of(site), what, doubts, "give it `num_workers=0`", Spot(frame, number))


def _have_workers(model: Model) -> bool:
    """Whether some loader is sure to have workers."""
    return any(loader.site is not None and loader.has_workers() == "yes" for loader in model.loaders)
