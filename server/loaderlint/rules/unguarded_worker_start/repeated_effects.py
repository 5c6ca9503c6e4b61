"""What a spawned worker would do again when it runs the module-level code of the script once more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.knowledge.lasting_effects import ANEW, ASKING, OPENING, REMOVING, REMOVING_METHODS
from loaderlint.knowledge.value_types import is_path
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Lib, LibMember, LibObject
from loaderlint.project.reach.model import Model
from loaderlint.project.reach.scripts import in_main_guard, main_guard_contexts, module_level

#: How many functions are followed.
_MAX_FRAMES = 200


def has_effects_before(path: Path, first: int, model: Model) -> bool:
    """Whether module-level code above piece `first` of a script, or what it calls, asks the user, removes or moves
    files, or begins a file anew."""
    return any(_has_effect(call, frame, model) for frame, call in _run_before(path, first, model))


def _run_before(path: Path, first: int, model: Model) -> Iterator[tuple[Frame, ir.Call]]:
    file = model.files.file(path)
    pieces = [piece for piece in module_level(file) if piece < first and not in_main_guard(file, piece)] if file else []
    bodies = [model.ev.body(path, piece) for piece in pieces]
    seen = set(bodies)
    queue = deque(bodies)
    while queue:
        frame = queue.popleft()
        guarded = main_guard_contexts(frame.facts) if frame.def_ == 0 else ()
        for step, call in model.ev.performed(frame):
            if step.context in guarded or model.ev.liveness.is_dead(step.context, frame):
                continue
            yield frame, call
            fresh = [one for one in model.ev.targets(step.call, frame) if one not in seen]
            queue.extend(fresh if len(seen) < _MAX_FRAMES else ())
            seen.update(fresh)


def _has_effect(call: ir.Call, frame: Frame, model: Model) -> bool:
    atoms = model.ev.eval(call.func, frame).atoms
    if any(isinstance(one, Lib) and one.name == OPENING for one in atoms):
        mode = model.ev.calls.arguments(call, frame).get("mode", 1)
        literal = mode.literal if mode is not None else None
        return literal is not None and not ANEW.isdisjoint(str(literal.value))
    return any(map(_asks_or_removes, atoms))


def _asks_or_removes(atom: Atom) -> bool:
    match atom:
        case Lib(name):
            return name in ASKING or name in REMOVING
        case LibMember(LibObject() as owner, name):
            return name in REMOVING_METHODS and is_path(owner.name)
    return False
