"""What the handlers of exceptions in sample code catch, and whether they raise themselves."""

from __future__ import annotations

from collections.abc import Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model

#: What `import` raises where there is no such module.
_NO_MODULE = ("builtins.ImportError", "builtins.ModuleNotFoundError")


def handlers_that_fail(frame: Frame, model: Model) -> frozenset[int]:
    """The contexts of handlers that raise TypeError themselves, because they add the exception to a text:
    `"failed: " + error`."""
    exprs = frame.code.exprs
    sums = ((n, e) for n, e in enumerate(exprs) if isinstance(e, ir.Bin) and e.op == "+")
    return frozenset(
        frame.code.context_of(number)
        for number, e in sums
        for text, caught in ((e.left, e.right), (e.right, e.left))
        if isinstance(exprs[caught], ir.Caught) and _is_text(text, exprs)
    )


def _is_text(number: int, exprs: Sequence[ir.Expr]) -> bool:
    e = exprs[number]
    if isinstance(e, ir.Bin) and e.op == "+":
        return _is_text(e.left, exprs) or _is_text(e.right, exprs)
    return isinstance(e, ir.Text) or (isinstance(e, ir.Const) and e.kind == "str")


def catches_import_error(number: int, frame: Frame, model: Model) -> bool:
    """Whether expression `number`, of `except number:`, is what an import raises where there is no such module."""
    if number == NONE:
        return False
    return any(isinstance(a, Lib) and a.name in _NO_MODULE for a in model.ev.eval(number, frame).atoms)
