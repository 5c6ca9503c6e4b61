"""Numbers that a constructor keeps for each sample, and what sample code does with them."""

from __future__ import annotations

from collections.abc import Mapping, Set

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import ClassRef, Instance
from loaderlint.project.reach.model import Model


def takes_items_by(kept: int, place: int, frame: Frame, model: Model) -> bool:
    """Whether sample code takes an item of an attribute of its object by the number at `place` in what the list `kept`
    holds for a sample: `file, row = self.rows[index]`, then `self.files[file]`. Such a number is no class."""
    e = frame.code.exprs[kept]
    if not isinstance(e, ir.Attr) or not ir.is_self(frame.code.exprs[e.base]):
        return False
    codes = model.once(sample_codes).get(frame.receiver.cls, ()) if isinstance(frame.receiver, Instance) else ()
    return any(_takes_by(code, e.name, place) for code in codes)


def sample_codes(model: Model) -> Mapping[ClassRef, Set[Code]]:
    """The code that workers run on objects, by the class of the objects."""
    found: dict[ClassRef, set[Code]] = {}
    for one in model.reached:
        if isinstance(one.receiver, Instance):
            found.setdefault(one.receiver.cls, set()).add(one.code)
    return found


def _takes_by(code: Code, name: str, place: int) -> bool:
    exprs = code.exprs
    taken = (e for e in map(exprs.__getitem__, code.expressions()) if isinstance(e, ir.Index) and e.index != ir.NONE)
    return any(_is_own(e.base, code) and _is_part(e.index, name, place, code) for e in taken)


def _is_part(number: int, name: str, place: int, code: Code) -> bool:
    """Whether an expression is the part at `place` of an item of `self.<name>`."""
    match code.exprs[number]:
        case ir.Unpack(value, index, False):
            return index == place and _is_item(value, name, code)
        case ir.Index(value, index):
            return code.exprs[index] == ir.Const("int", place) and _is_item(value, name, code)
    return False


def _is_item(number: int, name: str, code: Code) -> bool:
    """Whether an expression is an item of `self.<name>`."""
    e = code.exprs[number]
    held = code.exprs[e.base] if isinstance(e, ir.Index) else None
    return isinstance(held, ir.Attr) and held.name == name and ir.is_self(code.exprs[held.base])


def _is_own(number: int, code: Code) -> bool:
    e = code.exprs[number]
    return isinstance(e, ir.Attr) and ir.is_self(code.exprs[e.base])
