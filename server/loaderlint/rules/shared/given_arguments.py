"""Arguments that callers give, of which only the value is unknown: `Folder(root, names=json.load(file)["train"])`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject
from loaderlint.project.reach.model import Model

#: Library calls that give None if there is nothing: `os.environ.get("NAMES")`.
_MAY_GIVE_NONE = ("get", "getenv")


def replaces_given(call: int, frame: Frame, model: Model) -> bool:
    """Whether a call makes up for an argument that is given here: `if names is None: names = os.listdir(root)`. A
    caller that has read the names from a file passes them so that they are used."""
    one = model.def_of(frame)
    around = (here for context in frame.code.contexts_of(call) for here in one.around(context))
    return any(
        here.kind == "if"
        and (number := tested_for_none(here.expr, here.negated, frame, model)) is not None
        and is_given(number, frame, model)
        for here in around
    )


def tested_for_none(test: int, negated: bool, frame: Frame, model: Model) -> int | None:
    """What is None where a test holds, or fails if `negated`; None if the test does not tell."""
    match model.ev.expr(frame, test):
        case ir.Compare(left, ("is",), (right,)) if not negated and model.ev.eval(right, frame).is_none:
            return left
        case ir.Compare(left, ("is not",), (right,)) if negated and model.ev.eval(right, frame).is_none:
            return left
    return None


def is_given(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is a parameter for which a caller passes what a library gives."""
    if not isinstance(model.ev.expr(frame, number), ir.Param):
        return False
    atoms = model.ev.eval(number, frame).atoms
    return bool(atoms) and all(
        isinstance(atom, LibObject) and atom.name.rpartition(".")[2] not in _MAY_GIVE_NONE for atom in atoms
    )
