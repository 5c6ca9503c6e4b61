"""Draws that a seed decides, which give the same items again only if what they draw from has the same order."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.generator_creation import is_seeded, library_of

_SEEDED_MODULES = frozenset({"random", "numpy.random"})


def draws_with_seed(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether a seeded generator draws: `random.Random(0).shuffle(names)`, or `random.seed(0)` and then
    `random.shuffle(names)` in the same def."""
    callee = model.ev.eval(call.func, frame)
    owners = [a.owner for a in callee.only(LibMember)]
    if any(isinstance(o, LibObject) and library_of(o) is not None and is_seeded(o, model) for o in owners):
        return True
    modules = {lib.name.rpartition(".")[0] for lib in callee.only(Lib)}
    return (
        bool(modules) and modules <= _SEEDED_MODULES and _is_seeded_before(call, f"{modules.pop()}.seed", frame, model)
    )


def splits_with_seed(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether a call is `train_test_split(names, random_state=0)`."""
    if Lib("sklearn.model_selection.train_test_split") not in model.ev.eval(call.func, frame).atoms:
        return False
    state = next((model.ev.eval(arg.value, frame) for arg in call.args if arg.name == "random_state"), None)
    return state is not None and bool(state.atoms) and not state.is_none


def _is_seeded_before(call: ir.Call, seed: str, frame: Frame, model: Model) -> bool:
    """Whether a def always seeds a module's generator with a number that it writes out before it makes a call."""
    performed = list(model.ev.performed(frame))
    here = next((step.context for step, one in performed if one is call), None)
    if here is None:
        return False
    for step, one in performed:
        if one is call:
            return False
        if Lib(seed) in model.ev.eval(one.func, frame).atoms and model.def_of(frame).is_within(here, step.context):
            literal = model.ev.eval(one.args[0].value, frame).literal if one.args else None
            if literal is not None and literal.kind == "int":
                return True
    return False


def is_generator(given: Val) -> bool:
    """Whether a value is a generator of torch, which has a fixed seed from the start."""
    made = given.only(LibObject)
    return bool(made) and all(library_of(one) == "torch" for one in made)
