"""Draws that a seed decides, which give the same items again only if what they draw from has the same order."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject, Val
from loaderlint.project.modules.dependencies import MODULE, does
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.generator_creation import is_seeded, library_of
from loaderlint.rules.shared.seeded_runs import Library, runs_after_seed

#: Modules that draw from a global state, with the library whose it is, and the functions that seed it.
_DRAWS_FROM: dict[str, Library] = {"random": "python", "numpy.random": "numpy", "torch": "torch"}
_SEEDED_BY: dict[Library, str] = {
    "python": "random.seed",
    "numpy": "numpy.random.seed",
    "torch": "torch.manual_seed",
}


def draws_with_seed(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether a seeded generator draws: `random.Random(0).shuffle(names)`, or `random.seed(0)` and then
    `random.shuffle(names)`, in the same def or in one that runs afterwards."""
    callee = model.ev.eval(call.func, frame)
    owners = [a.owner for a in callee.only(LibMember)]
    if any(isinstance(o, LibObject) and library_of(o) is not None and is_seeded(o, model) for o in owners):
        return True
    modules = {lib.name.rpartition(".")[0] for lib in callee.only(Lib)}
    library = _DRAWS_FROM.get(modules.pop()) if len(modules) == 1 else None
    return library is not None and follows_seed(call, frame, library, model)


def follows_seed(call: ir.Call, frame: Frame, library: Library, model: Model) -> bool:
    """Whether a program has seeded the global generator of a library with a fixed number before it makes a call."""
    return _is_seeded_before(call, _SEEDED_BY[library], frame, model) or runs_after_seed(frame, library, model)


def splits_with_seed(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether a call is `train_test_split(names, random_state=0)`."""
    if Lib("sklearn.model_selection.train_test_split") not in model.ev.eval(call.func, frame).atoms:
        return False
    state = next((model.ev.eval(arg.value, frame) for arg in call.args if arg.name == "random_state"), None)
    return state is not None and bool(state.atoms) and not state.is_none


def _is_seeded_before(call: ir.Call, seed: str, frame: Frame, model: Model) -> bool:
    """Whether a def, or the module above the statement, always seeds a module's generator with a number that it writes
    out before it makes a call."""
    performed = list(model.ev.performed(frame))
    here = next((step.context for step, one in performed if one is call), None)
    if here is None:
        return False
    for step, one in performed:
        if one is call:
            return _is_seeded_above(seed, frame, model)
        if model.def_of(frame).is_within(here, step.context) and _seeds(step, one, seed, frame, model):
            return True
    return False


def _is_seeded_above(seed: str, frame: Frame, model: Model) -> bool:
    """Whether a statement of the module above another one always seeds a module's generator."""
    file = model.files.file(frame.path)
    if frame.def_ != 0 or file is None or model.ev.names.class_around(file, frame.piece) is not None:
        return False
    above = (piece for piece in file.all_asking(does, "seed", scope=MODULE) if piece < frame.piece)
    bodies = (model.ev.body(file.path, piece) for piece in above)
    return any(
        step.context == 0 and _seeds(step, one, seed, body, model)
        for body in bodies
        for step, one in model.ev.performed(body)
    )


def _seeds(step: ir.Perform, call: ir.Call, seed: str, frame: Frame, model: Model) -> bool:
    """Whether a call gives the function `seed`, or one that seeds all libraries, a number that is written out; also by
    a function of the project: `set_seed(0)`."""
    if _is_seeding(call, seed, frame, model):
        return True
    if "seed" not in called_name(frame.code.exprs, call.func).lower():
        return False
    targets = model.ev.targets(step.call, frame)
    return bool(targets) and all(
        any(one.context == 0 and _is_seeding(inner, seed, target, model) for one, inner in model.ev.performed(target))
        for target in targets
    )


def _is_seeding(call: ir.Call, seed: str, frame: Frame, model: Model) -> bool:
    names = {lib.name for lib in model.ev.eval(call.func, frame).only(Lib)} if call.args else set()
    if not any(name == seed or SEEDERS.get(name) == "all" for name in names):
        return False
    literal = model.ev.eval(call.args[0].value, frame).literal
    return literal is not None and literal.kind == "int"


def is_generator(given: Val) -> bool:
    """Whether a value is a generator of torch, which has a fixed seed from the start."""
    made = given.only(LibObject)
    return bool(made) and all(library_of(one) == "torch" for one in made)
