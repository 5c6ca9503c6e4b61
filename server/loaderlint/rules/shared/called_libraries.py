"""Which functions and classes of libraries a call calls."""

from __future__ import annotations

from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model


def library_names(func: int, frame: Frame, model: Model) -> frozenset[str]:
    """The qualified names that the callee `func` of a call may have."""
    return frozenset(atom.name for atom in model.ev.eval(func, frame).atoms if isinstance(atom, Lib))
