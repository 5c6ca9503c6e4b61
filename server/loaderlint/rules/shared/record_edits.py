"""Edits of stored records: the dictionaries, lists and objects that a dataset keeps one of for each sample.

A store such as `info["index"] = i` writes the same again in each epoch. What counts is a store that is computed from
the old value (`info["path"] = root + info["path"]`), and what makes a record longer or shorter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.plain_records import GROWING_METHODS, JOINS, PLAIN_LOADERS, SHRINKING_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibObject, MapOf, Origin, SeqOf, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.lazy_places import Spot

#: Operators that give another result when they are applied again.
_CHANGING = frozenset("+ - * / // ** @ << >> ^".split())
_MAX_LEVELS = 12


class RecordEdit(NamedTuple):
    """An edit of the record that expression `record` is, at `spot`."""

    record: int
    spot: Spot
    how: str


def record_edits(frame: Frame, model: Model) -> Iterator[RecordEdit]:
    """The edits in a frame that change something more each time they are done, whatever it is that they edit."""
    unused = {step.expr for _, step in model.steps_of(frame, ir.Evaluate)}
    for number, step in model.steps(frame):
        for record, spot, how in _edited(number, step, unused, frame, model):
            if not _asks_first(step.context, record, frame, model):
                yield RecordEdit(record, spot, how)


def is_record(value: Val, origin: Origin) -> bool:
    """Whether a value is one of several plain lists, dictionaries or objects of the project that are stored together.
    Other containers may make their items anew."""
    return "[]" in origin.path and bool(value.atoms) and all(map(_is_plain, value.atoms))


def _is_plain(atom: Atom) -> bool:
    if isinstance(atom, LibObject):
        return atom.name.rstrip("[]") in PLAIN_LOADERS
    return isinstance(atom, MapOf | SeqOf | Instance)


# --- what edits -------------------------------------------------------------------------------------------------------


def _edited(
    number: int, step: ir.Step, unused: set[int], frame: Frame, model: Model
) -> Iterator[tuple[int, Spot, str]]:
    spot = Spot(frame, number, "step")
    exprs = frame.code.exprs
    match step:
        case ir.Augment(_, target, op, _, "item" | "attr"):
            old = exprs[target]
            if isinstance(old, ir.Index | ir.Attr) and op in _CHANGING:
                yield old.base, spot, f"`{op}=`"
        case ir.SetItem(_, base, index, value):
            if not _is_augmented(value, frame) and _Old(frame, model, base, index, "").changes(value):
                yield base, spot, "an update of the old value"
        case ir.SetAttr(_, base, name, value, _):
            if not _is_augmented(value, frame) and _Old(frame, model, base, NONE, name).changes(value):
                yield base, spot, "an update of the old value"
        case ir.Delete(_, target):
            old = exprs[target]
            if isinstance(old, ir.Index | ir.Attr):
                yield old.base, spot, "`del`"
        case ir.Perform(_, call_number):
            yield from _called(call_number, call_number in unused, frame, model)


def _called(number: int, is_unused: bool, frame: Frame, model: Model) -> Iterator[tuple[int, Spot, str]]:
    call = model.ev.expr(frame, number)
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Attr) or model.ev.targets(number, frame):
        return
    spot = Spot(frame, number)
    if func.name in GROWING_METHODS:
        yield func.base, spot, f"`.{func.name}()`"
    elif func.name in SHRINKING_METHODS and not (is_unused and len(call.args) > 1):
        yield func.base, spot, f"`.{func.name}()`"  # `info.pop("extra", None)` leaves it out, however often
    elif func.name == "update" and any(
        arg.kind == "kw" and _Old(frame, model, func.base, NONE, arg.name).changes(arg.value) for arg in call.args
    ):
        yield func.base, spot, "`.update()`"


def _is_augmented(value: int, frame: Frame) -> bool:
    return isinstance(frame.code.exprs[value], ir.Augmented) if value != NONE else True


def _asks_first(context: int, record: int, frame: Frame, model: Model) -> bool:
    """Whether a branch around an edit looks at the record: `if not info.get("done")`."""
    exprs = frame.code.exprs
    for one in model.def_of(frame).around(context):
        if one.kind in ("if", "while", "match", "try", "except") and one.expr != NONE:
            if any(_is_same(part, record, frame) for part in ir.made_of(exprs, [one.expr])):
                return True
    return False


# --- what is computed from the old value ------------------------------------------------------------------------------


class _Old:
    """The old value of `base[index]`, or of `base.name`; for `update`, of `base["name"]`."""

    def __init__(self, frame: Frame, model: Model, base: int, index: int, name: str) -> None:
        self._frame = frame
        self._model = model
        self._base = base
        self._index = index
        self._name = name

    def changes(self, value: int) -> bool:
        """Whether `value` is the old value with something done to it that gives something else each time."""
        exprs = self._frame.code.exprs
        return value != NONE and any(self._is_changing(one) for one in ir.made_of(exprs, [value]))

    def _is_changing(self, number: int) -> bool:
        match self._frame.code.exprs[number]:
            case ir.Bin(op, left, right) if op in _CHANGING:
                return self._is_in(left) != self._is_in(right)  # `x / x.max()` is the same when done again
            case ir.Text(parts) if len(parts) > 1:
                return any(map(self._is_in, parts))
            case ir.Call(func, args):
                callees = self._model.ev.eval(func, self._frame).atoms
                joins = any(isinstance(one, Lib) and one.name in JOINS for one in callees)
                return joins and any(self._is_in(arg.value) for arg in args[1:])
        return False

    def _is_in(self, number: int) -> bool:
        exprs = self._frame.code.exprs
        return number != NONE and any(self._is_old(one) for one in ir.made_of(exprs, [number]))

    def _is_old(self, number: int) -> bool:
        exprs = self._frame.code.exprs
        match exprs[number]:
            case ir.Index(base, index) if self._index != NONE:
                return _is_same(base, self._base, self._frame) and _is_same(index, self._index, self._frame)
            case ir.Index(base, index):
                is_key = exprs[index] == ir.Const("str", self._name)
                return is_key and _is_same(base, self._base, self._frame)
            case ir.Attr(base, name) if self._index == NONE:
                return name == self._name and _is_same(base, self._base, self._frame)
        return False


def _is_same(one: int, other: int, frame: Frame, depth: int = 0) -> bool:
    """Whether two expressions read the same: names, attributes and items of them, constants."""
    if one == other or one == NONE or other == NONE or depth > _MAX_LEVELS:
        return one == other
    match frame.code.exprs[one], frame.code.exprs[other]:
        case ir.Index(base, index), ir.Index(other_base, other_index):
            same_index = _is_same(index, other_index, frame, depth + 1)
            return same_index and _is_same(base, other_base, frame, depth + 1)
        case ir.Attr(base, name), ir.Attr(other_base, other_name):
            return name == other_name and _is_same(base, other_base, frame, depth + 1)
        case (ir.Const() | ir.Param() | ir.Global()) as e, other_e:
            return type(e) is type(other_e) and e == other_e
    return False
