"""Exceptions that torch cannot make again in the main process."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Evidence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Instance, LibObject
from loaderlint.project.reach.model import Model

#: Exceptions of libraries whose constructors take several arguments.
_SEVERAL = frozenset(
    {
        "builtins.UnicodeDecodeError",
        "builtins.UnicodeEncodeError",
        "builtins.UnicodeTranslateError",
        "json.JSONDecodeError",
        "subprocess.CalledProcessError",
        "subprocess.TimeoutExpired",
    }
)


class Loss(NamedTuple):
    """An exception that does not arrive: a `raise` in `context`. `name`: its class's; `effect`: what comes instead;
    `cause`: why; `evidence`: where its class stands."""

    context: int
    name: str
    effect: str
    cause: str
    evidence: tuple[Evidence, ...]


def lost_exception(step: ir.Raise, frame: Frame, model: Model) -> Loss | None:
    """The exception that a step raises, if another one arrives."""
    for atom in model.ev.eval(step.value, frame).ordered():
        if isinstance(atom, LibObject) and atom.name in _SEVERAL:
            name = atom.name.rpartition(".")[2]
            cause = f"`{name}` takes several arguments; raise an exception that takes one string"
            return Loss(step.context, name, "a RuntimeError", cause, ())
        if isinstance(atom, Instance):
            found = _of_class(atom.cls, model)
            if found is not None:
                name = model.ev.classes.name(atom.cls)
                return Loss(step.context, name, *found, (Evidence(model.class_place(atom.cls), f"`{name}`"),))
    return None


def _of_class(cls: ClassRef, model: Model) -> tuple[str, str] | None:
    """What comes instead of an exception of the class, and why; None if it arrives, or it is not known."""
    if model.ev.classes.has_unknown_base(cls):
        return None
    init = model.ev.classes.member(cls, "__init__")
    params: tuple[ir.ParamIR, ...] = ()
    if init is not None:
        facts = model.ev.facts(init.function.path, init.function.piece) if init.function else None
        if facts is None or init.function is None:
            return None
        params = facts.ir.defs[init.function.def_].params[1:]
    takes_message = any(param.name == "message" or param.kind == "starstar" for param in params)
    if model.ev.classes.member(cls, "message") is not None:
        if takes_message:
            return None
        return (
            "a TypeError",
            "gives it as `message=`, which its constructor does not take; rename the class's `message`",
        )
    if init is None or _takes_one_text(params):
        return None
    return "a RuntimeError", "its constructor does not accept that; give its other parameters defaults"


def _takes_one_text(params: tuple[ir.ParamIR, ...]) -> bool:
    required = [param for param in params if param.kind in ("pos", "any") and param.default == NONE]
    takes = any(param.kind in ("pos", "any", "star") for param in params)
    needs_names = any(param.kind == "kw" and param.default == NONE for param in params)
    return takes and len(required) <= 1 and not needs_names
