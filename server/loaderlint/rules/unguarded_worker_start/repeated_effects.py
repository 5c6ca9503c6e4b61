"""What a spawned worker would do again when it runs the module-level code of the script once more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Set

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.lasting_effects import (
    ANEW,
    ASKING,
    MODEL_METHODS,
    MODELS,
    OPENING,
    READING,
    REMOVING,
    REMOVING_METHODS,
    SHOWING,
)
from loaderlint.knowledge.value_types import is_path
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, ClassRef, Lib, LibMember, LibObject
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.project.reach.model import Model
from loaderlint.project.reach.scripts import main_guard_contexts, module_level

#: How many functions are followed.
_MAX_FRAMES = 200


def has_effects_before(file: ProjectFile, first: int, model: Model) -> bool:
    """Whether module-level code above piece `first` of a script, or what it calls, asks the user, removes or moves
    files, or begins a file anew."""
    bodies = [model.ev.body(file.path, piece) for piece in _above(file, first)]
    return any(_has_effect(call, frame, model) for frame, call in _run(bodies, model))


def _above(file: ProjectFile, first: int) -> list[int]:
    return [piece for piece in module_level(file) if piece < first]


def _run(bodies: list[Frame], model: Model) -> Iterator[tuple[Frame, ir.Call]]:
    """The calls of module-level code, and of what it calls."""
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


def repeated_work(file: ProjectFile, first: int, needed: Set[str], model: Model) -> tuple[str, ...]:
    """What module-level code above piece `first` of a script does at some cost, or for all to see, though no worker
    needs it, as text. `needed` are the names that workers use."""
    names = set(needed)
    bodies = []
    for piece in reversed(_above(file, first)):
        facts = file.facts_of(piece)
        steps = facts.ir.defs[0].steps if facts is not None else ()
        needs_it = any(isinstance(step, ir.Bind) and step.name in names for step in steps)
        makes_more = facts is not None and needs_it and _binds_more_than(names, facts)
        if facts is not None and needs_it:
            names.update(facts.ir.mentions)  # workers need these for what they need
        if not needs_it or makes_more:
            bodies.append(model.ev.body(file.path, piece))
    found = {one for frame, call in _run(bodies, model) if (one := _work(call, frame, model))}
    return tuple(sorted(found))


def _binds_more_than(names: Set[str], facts: PieceFacts) -> bool:
    """Whether a statement binds several values of which these names are only some: `model, processor = load(...)`."""
    binds = [step for step in facts.ir.defs[0].steps if isinstance(step, ir.Bind) and step.context == 0]
    needed = {one.value for one in binds if one.name in names}
    others = (one for one in binds if one.value not in needed and not one.name.startswith("_"))
    return any(not isinstance(facts.ir.exprs[one.value], ir.Imported) for one in others)


def _work(call: ir.Call, frame: Frame, model: Model) -> str:
    """What a call does at some cost or for all to see, as text; '' if nothing is known."""
    callee = frame.code.exprs[call.func]
    if isinstance(callee, ir.Attr) and callee.name in MODEL_METHODS:
        return "creates the model"
    for atom in model.ev.eval(call.func, frame).atoms:
        if isinstance(atom, Lib):
            if atom.name.startswith(READING):
                return "reads the data"
            if atom.name.startswith(MODELS):
                return "creates the model"
            if atom.name.startswith(SHOWING) and frame.def_ == 0:
                return "prints"
        elif isinstance(atom, ClassRef) and _is_model(atom, model):
            return "creates the model"
    return ""


def _is_model(cls: ClassRef, model: Model) -> bool:
    """Whether a class of the project is a model, not a loss."""
    bases = model.ev.classes.library_bases(cls)
    return "torch.nn.Module" in bases and "loss" not in model.ev.classes.name(cls).lower()
