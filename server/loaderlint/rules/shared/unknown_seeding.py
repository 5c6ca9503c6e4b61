"""Calls of unknown functions that get a seed: `make_env(name, seed=seed)`. They may seed NumPy with it."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import LEAVES_NUMPY_SEED
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Lib, LibMember, LibObject, Unknown
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.seeding_calls import bound_name

#: What an unknown object with such a method does with a seed: `seeds.append(seed)`, `config.get("seed", seed)`.
_METHODS_OF_CONTAINERS = frozenset(name for one in (dict, list, set, str) for name in vars(one) if name[0] != "_")


def may_seed_numpy(call: WorkerCall, model: Model) -> bool:
    """Whether a call runs code that is not known and passes it a seed that is no constant: a constant would give every
    process the same numbers, too."""
    if not any(map(_may_seed, call.callee.atoms)):
        return False
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and func.name in _METHODS_OF_CONTAINERS:
        return False
    if isinstance(func, ir.Attr | ir.Global | ir.Imported) and _says_seed(_name(func)):
        return not call.call.args or any(_varies(arg.value, call.frame, model) for arg in call.call.args)
    return any(_is_seed(arg, call.frame, model) for arg in call.call.args)


def _may_seed(callee: Atom) -> bool:
    """Whether what is called is unknown, or belongs to a library of which nothing is known."""
    match callee:
        case Unknown():
            return True
        case Lib(name) | LibObject(name):
            return name.partition(".")[0] not in LEAVES_NUMPY_SEED
        case LibMember(owner):
            return _may_seed(owner)
    return False


def _is_seed(arg: ir.Arg, frame: Frame, model: Model) -> bool:
    """Whether the name of an argument, or of what is passed, says that it is a seed."""
    if arg.kind in ("star", "starstar"):
        return False
    named = _says_seed(arg.name) or _says_seed(_name_of(arg.value, frame, model))
    return named and _varies(arg.value, frame, model)


def _varies(number: int, frame: Frame, model: Model) -> bool:
    return model.ev.eval(number, frame).literal is None


def _name_of(number: int, frame: Frame, model: Model) -> str:
    """The name under which a value is read: 'seed' for `seed`, `self.seed` and `item["seed"]`."""
    e = model.ev.expr(frame, number)
    match e:
        case ir.Param(position):
            return model.def_of(frame).params[position].name
        case ir.Attr() | ir.Global() | ir.Imported() | ir.Capture():
            return _name(e)
        case ir.Index(_, index):
            key = model.ev.expr(frame, index)
            if isinstance(key, ir.Const) and isinstance(key.value, str):
                return key.value
    return bound_name(frame, number, model) or ""


def _name(e: ir.Attr | ir.Global | ir.Imported | ir.Capture) -> str:
    return e.name or ""


def _says_seed(name: str) -> bool:
    return "seed" in name.lower() or name == "random_state"
