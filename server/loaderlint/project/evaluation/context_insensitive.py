"""Expressions that have the same value in every frame of their def: names of the module or of imports, and their
attributes.

Most calls that use a name do not call the project's function of that name. `subprocess.run(...)` calls no `run` of the
project, and `self.run(...)` only that of certain classes; both are known without any frame. Only the other calls are
worth a search for the callers of the function around them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation import library_calls, operators
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import Lib, Val

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


class Unframed:
    """The expressions of one def, read without a frame of it."""

    def __init__(self, ev: Evaluator, path: Path, piece: int, def_: int, facts: PieceFacts) -> None:
        self._ev = ev
        self._path = path
        self._piece = piece
        self._def = def_
        self._facts = facts

    def value(self, number: int) -> Val | None:
        """The value of an expression in every frame of the def; None if that depends on the frame."""
        match self._facts.ir.exprs[number]:
            case ir.Global() | ir.Imported() if self._def == 0:
                return self._ev.eval(number, self._ev.body(self._path, self._piece))
            case ir.Global(name):
                return self._ev.names.lookup(self._path, name)
            case ir.Imported(module, name, level):
                return self._ev.names.imported(self._path, module, name, level)
            case ir.Attr(base, name):
                value = self.value(base)
                return None if value is None else self._ev.attribute(value, name, self._nowhere(), None)
        return None

    @property
    def exprs(self) -> tuple[ir.Expr, ...]:
        """The expressions of the piece."""
        return self._facts.ir.exprs

    def evaluated(self, number: int) -> Val:
        """What an expression is if nothing is known of the def's arguments."""
        return self._ev.eval(number, self._nowhere())

    def is_open(self, test: int) -> bool:
        """Whether a test may be true or false in every frame of the def, judging by its text; False if some frame may
        know more."""
        match self._facts.ir.exprs[test]:
            case ir.Unary("not", operand):
                return self.is_open(operand)
            case ir.BoolOp(_, left, right):
                return self.is_open(left) and self.is_open(right)
            case ir.Compare(_, (op,), _):
                return op not in operators.COMPARED
            case ir.Call(func, _):
                callee = self.value(func)
                return callee is not None and all(
                    isinstance(one, Lib) and library_calls.is_opaque(one.name) for one in callee.atoms
                )
        return False

    def _nowhere(self) -> Frame:
        """A frame of the def that is used nowhere else."""
        code = Code(self._facts, self._def)
        return Frame(self._path, self._piece, self._def, None, (), None, None, 0, code)

    def method_of_self(self, number: int) -> int | None:
        """The def of whose first parameter an expression reads an attribute: `self.x`, `super().x`, there or in a
        function inside it; None for other expressions."""
        exprs, defs = self._facts.ir.exprs, self._facts.ir.defs
        callee = exprs[number]
        base = exprs[callee.base] if isinstance(callee, ir.Attr) else None
        match base:
            case ir.Param(0):
                return self._def
            case ir.Call(func, ()) if exprs[func] == ir.Global("super"):
                return self._def
            case ir.Capture(up, name):
                target = self._def
                for _ in range(up):
                    target = defs[target].parent
                bound = any(type(step) is ir.Bind and step.name == name for step in defs[target].steps)
                first = defs[target].params[:1]
                return target if not bound and first and first[0].name == name else None
        return None
