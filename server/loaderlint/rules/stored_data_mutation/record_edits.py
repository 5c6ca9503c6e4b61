"""Edits of stored records: the dictionaries, lists and objects that a dataset keeps one of for each sample.

A store such as `info["index"] = i` writes the same again in each epoch. What counts is a store that is computed from
the old value (`info["path"] = root + info["path"]`), and what makes a record longer or shorter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PureWindowsPath
from typing import NamedTuple

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.plain_records import GROWING_METHODS, JOINS, PLAIN_LOADERS, SHRINKING_METHODS
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibObject, MapOf, Origin, SeqOf, Unknown, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.unresolved_places import Spot

#: Operators that give another result when they are applied again.
_CHANGING = frozenset("+ - * / // ** @ << >> ^".split())
_EDITING_METHODS = GROWING_METHODS | SHRINKING_METHODS | {"update"}


class RecordEdit(NamedTuple):
    """An edit of the record that expression `record` is, at `spot`."""

    record: int
    spot: Spot
    how: str


def record_edits(frame: Frame, model: Model) -> Iterator[RecordEdit]:
    """The edits in a frame that change something more each time they are done, whatever it is that they edit."""
    editing = model.remembered(_editing_steps, frame.code)  # many frames run one def, and nearly all have none
    if not editing:
        return
    unused = {step.expr for _, step in model.steps_of(frame, ir.Evaluate)}
    for number, step in model.steps(frame):
        if number not in editing:
            continue
        for record, spot, how in _edited(number, step, unused, frame, model):
            if not asks_first(step.context, record, frame, model):
                yield RecordEdit(record, spot, how)


def is_record(value: Val, origin: Origin) -> bool:
    """Whether a value is one of several plain lists, dictionaries or objects of the project that are stored together.
    Other containers may make their items again."""
    known = value.atoms - {Unknown("looked up by a key")}  # which item of a dict it is does not matter
    return "[]" in origin.path and bool(known) and all(map(_is_plain, known))


def asks_first(context: int, record: int, frame: Frame, model: Model) -> bool:
    """Whether a branch around an edit looks at the record: `if not info.get("done")`."""
    exprs = frame.code.exprs
    for one in model.def_of(frame).around(context):
        if one.kind in ("if", "while", "match", "try", "except") and one.expr != NONE:
            if any(reads_same(part, record, exprs) for part in ir.made_of(exprs, [one.expr])):
                return True
    return False


def _is_plain(atom: Atom) -> bool:
    if isinstance(atom, LibObject):
        return atom.name.rstrip("[]") in PLAIN_LOADERS
    return isinstance(atom, MapOf | SeqOf | Instance)


# --- what edits -------------------------------------------------------------------------------------------------------


def _editing_steps(code: Code, _: Model) -> frozenset[int]:
    """The steps of a def that may edit a record, by their form alone."""
    steps = code.one.steps if code.one else ()
    return frozenset(number for number, step in enumerate(steps) if _may_edit(step, code.exprs))


def _may_edit(step: ir.Step, exprs: Sequence[ir.Expr]) -> bool:
    match step:
        case ir.SetItem(_, base, index, value):
            return _Old(exprs, base, index, "").is_in(value)
        case ir.SetAttr(_, base, name, value, _):
            return _Old(exprs, base, NONE, name).is_in(value)
        case ir.Perform(_, number):
            call = exprs[number]
            func = exprs[call.func] if isinstance(call, ir.Call) else None
            return isinstance(func, ir.Attr) and func.name in _EDITING_METHODS
    return isinstance(step, ir.Augment | ir.Delete)


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
            if not _is_augmented(value, frame) and _changes(value, _Old(exprs, base, index, ""), frame, model):
                yield base, spot, "an update of the old value"
        case ir.SetAttr(_, base, name, value, _):
            if not _is_augmented(value, frame) and _changes(value, _Old(exprs, base, NONE, name), frame, model):
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
        arg.kind == "kw" and _changes(arg.value, _Old(frame.code.exprs, func.base, NONE, arg.name), frame, model)
        for arg in call.args
    ):
        yield func.base, spot, "`.update()`"


def _is_augmented(value: int, frame: Frame) -> bool:
    return isinstance(frame.code.exprs[value], ir.Augmented) if value != NONE else True


# --- what is computed from the old value ------------------------------------------------------------------------------


class _Old(Struct, frozen=True):
    """The old value of `base[index]`, or of `base.name`; for `update`, of `base["name"]`."""

    exprs: Sequence[ir.Expr]
    base: int
    index: int
    name: str

    def is_in(self, number: int) -> bool:
        """Whether an expression reads the old value somewhere."""
        return number != NONE and any(map(self._is_read, ir.made_of(self.exprs, [number])))

    def _is_read(self, number: int) -> bool:
        match self.exprs[number]:
            case ir.Index(base, index) if self.index != NONE:
                return self._is_base(base) and reads_same(index, self.index, self.exprs)
            case ir.Index(base, index):
                return self.exprs[index] == ir.Const("str", self.name) and self._is_base(base)
            case ir.Attr(base, name) if self.index == NONE:
                return name == self.name and self._is_base(base)
        return False

    def _is_base(self, number: int) -> bool:
        return reads_same(number, self.base, self.exprs)


def _changes(value: int, old: _Old, frame: Frame, model: Model) -> bool:
    """Whether `value` is the old value with something done to it that gives something else each time."""
    if not old.is_in(value):
        return False
    return any(_is_changing(one, old, frame, model) for one in ir.made_of(old.exprs, [value]))


def _is_changing(number: int, old: _Old, frame: Frame, model: Model) -> bool:
    match old.exprs[number]:
        case ir.Bin(op, left, right) if op in _CHANGING:
            return old.is_in(left) != old.is_in(right)  # `x / x.max()` is the same when done again
        case ir.Text(parts) if len(parts) > 1:
            return any(map(old.is_in, parts))
        case ir.Call(func, args) if any(old.is_in(arg.value) for arg in args[1:]):
            joins = any(isinstance(one, Lib) and one.name in JOINS for one in model.ev.eval(func, frame).atoms)
            return joins and _is_relative(args[0].value, frame, model)
    return False


def _is_relative(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is known to be a relative path. Joined to an absolute one, a path is absolute from then on,
    and joining it again gives the same."""
    folder = model.ev.eval(number, frame).literal
    return folder is not None and isinstance(folder.value, str) and not PureWindowsPath(folder.value).root


def begins_itself(edit: RecordEdit, frame: Frame, model: Model) -> bool:
    """Whether the def that edits an entry also stores a new collection there, where there is none: `if key not in
    self.kept: self.kept[key] = [item]`, otherwise `self.kept[key].append(item)`."""
    e = model.ev.expr(frame, edit.record)
    return isinstance(e, ir.Index) and any(
        isinstance(model.ev.expr(frame, step.value), ir.Seq | ir.Map)
        and _are_alike(step.base, e.base, frame, model)
        and _are_alike(step.index, e.index, frame, model)
        and step.context > 0
        for _, step in model.steps_of(frame, ir.SetItem)
    )


def _are_alike(one: int, other: int, frame: Frame, model: Model) -> bool:
    return one == other or model.ev.expr(frame, one) == model.ev.expr(frame, other)
