"""Loops that look for one name: `for folder in os.listdir(root): if folder == "images": ...`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Model

#: Calls that give the last part of a path, or the path as an object.
_KEEPING_NAMES = frozenset({"os.path.basename", "pathlib.Path", "pathlib.PurePath"})
_SEPARATORS = frozenset({"os.sep", "os.path.sep"})
_SLASH, _LAST = ir.Const("str", "/"), ir.Const("int", -1)


def looked_up(context: int, frame: Frame, model: Model) -> set[int]:
    """What the loops go through of which only the item with a constant name gets to `context`. A folder has one item of
    a name, so the order of the loop does not matter."""
    found: set[int] = set()
    for here in model.def_of(frame).around(context):
        test = model.ev.expr(frame, here.expr) if here.kind == "if" else None
        if not isinstance(test, ir.Compare) or test.ops != (("!=",) if here.negated else ("==",)):
            continue
        for side, other in ((test.left, test.rights[0]), (test.rights[0], test.left)):
            name = model.ev.expr(frame, other)
            if isinstance(name, ir.Const) and name.kind == "str":
                found.add(_loop_of_name(side, frame, model))
    return found - {NONE}


def _loop_of_name(number: int, frame: Frame, model: Model) -> int:
    """What a loop goes through, if an expression is its item or the last part of its item's path; else NONE."""
    match model.ev.expr(frame, number):
        case ir.Element(iterable):
            return iterable
        case ir.Attr(base, "name"):
            return _loop_of_name(base, frame, model)
        case ir.Call(func, (path,)) if _is_one_of(func, _KEEPING_NAMES, frame, model):
            return _loop_of_name(path.value, frame, model)
        case ir.Index(split, index) if model.ev.expr(frame, index) == _LAST:
            return _loop_of_name(_split_path(split, frame, model), frame, model)
    return NONE


def _split_path(number: int, frame: Frame, model: Model) -> int:
    """The path that a call splits at its separators: `path.split("/")`; NONE for another expression."""
    call = model.ev.expr(frame, number)
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) and len(call.args) == 1 else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Attr) or func.name not in ("split", "rsplit"):
        return NONE
    by = call.args[0].value
    is_path = model.ev.expr(frame, by) == _SLASH or _is_one_of(by, _SEPARATORS, frame, model)
    return func.base if is_path else NONE


def _is_one_of(number: int, names: frozenset[str], frame: Frame, model: Model) -> bool:
    return any(isinstance(atom, Lib) and atom.name in names for atom in model.ev.eval(number, frame).atoms)
