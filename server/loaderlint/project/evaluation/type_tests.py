"""Tests of a value's type: `isinstance(x, np.ndarray)`, where `x` is a Pillow image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.knowledge.value_types import ARRAY, FUNCTION, INDEX, OBJECT, TENSOR, is_derived, type_made_by
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    AUTO,
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    Literal_,
    MapOf,
    Method,
    SeqOf,
    Site,
    Unknown,
    Val,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_MAX_DEPTH = 6
#: Library classes from which a class of the project may be derived without being anything else.
_PLAIN_BASES = frozenset("abc.ABC builtins.object typing.Generic typing.Protocol".split())
#: Classes that may say themselves what their instances are.
_HOOKED = frozenset({"abc.ABC", "typing.Protocol", "typing_extensions.Protocol"})


def tested_type(ev: Evaluator, call: ir.Call, frame: Frame) -> tuple[int, Val] | None:
    """The tested expression of `isinstance(x, types)` and `torch.is_tensor(x)`, and the types; None for other calls."""
    called = ev.eval(call.func, frame).atoms
    if any(arg.kind != "pos" for arg in call.args):
        return None
    if called == {Lib("torch.is_tensor")} and len(call.args) == 1:
        return call.args[0].value, Val(frozenset({Lib(TENSOR)}))
    if called == {Lib("builtins.isinstance")} and len(call.args) == 2:
        return call.args[0].value, ev.eval(call.args[1].value, frame)
    return None


def has_type(ev: Evaluator, number: int, value: Val, types: Val, frame: Frame) -> bool | None:
    """Whether expression `number`, which is `value`, is always an instance of one of `types`, or never; None if it may
    be either, or if that is not known."""
    e = ev.expr(frame, number)
    if (ir.is_self(e) and frame.receiver is not None) or not value.atoms or _may_be_replaced(ev, e, frame):
        return None
    wanted = list(_each(types))
    answers = {_any(_is(ev, atom, one) for one in wanted) for atom in value.atoms}
    return answers.pop() if len(answers) == 1 and wanted else None


def in_branch(ev: Evaluator, number: int, context: int, frame: Frame) -> Val:
    """What expression `number` may be in a branch: without the objects that a type test of it around the branch rules
    out, as in `for step in steps: if isinstance(step, Crop): step.size = 3`."""
    value = ev.eval(number, frame)
    if context <= 0 or len(value.atoms) < 2 or frame.code.one is None:
        return value
    left = frozenset(one for one in value.atoms if may_be(ev, one, number, context, frame))
    return Val(left, value.origins) if left else value


def may_be(ev: Evaluator, atom: Atom, number: int, context: int, frame: Frame) -> bool:
    """Whether no type test of expression `number` around a branch rules out that it is this object there."""
    for here in frame.code.one.around(context) if context > 0 and frame.code.one is not None else ():
        if here.kind == "if" and here.expr != ir.NONE:
            for types, holds in _tests_of(ev, number, here.expr, not here.negated, frame, 0):
                if _is_any(ev, atom, types) is (not holds):
                    return False
    return True


def _tests_of(
    ev: Evaluator, number: int, test: int, holds: bool, frame: Frame, depth: int
) -> Iterator[tuple[Val, bool]]:
    """The types that an expression certainly has, or has not (False), if a test holds, or if it does not."""
    match ev.expr(frame, test) if depth < _MAX_DEPTH else None:
        case ir.Unary("not", operand):
            yield from _tests_of(ev, number, operand, not holds, frame, depth + 1)
        case ir.BoolOp(op, left, right) if (op == "and") is holds:
            for side in (left, right):
                yield from _tests_of(ev, number, side, holds, frame, depth + 1)
        case ir.Call() as call:
            tested = tested_type(ev, call, frame) if any(arg.value == number for arg in call.args) else None
            if tested is not None and tested[0] == number:
                yield tested[1], holds


def _is_any(ev: Evaluator, atom: Atom, types: Val) -> bool | None:
    return _any([_is(ev, atom, one) for one in _each(types)] or [None])


def _each(types: Val) -> Iterator[Atom]:
    """Each class of a tuple of classes; of several tuples none."""
    (only,) = types.atoms if len(types.atoms) == 1 else (None,)
    if not isinstance(only, SeqOf):
        yield from (() if only is None else (only,))
        return
    for item in only.items:
        yield from _each(item)


def _any(answers: Iterable[bool | None]) -> bool | None:
    found = set(answers)
    return True if True in found else None if None in found else False


def _may_be_replaced(ev: Evaluator, e: ir.Expr | None, frame: Frame) -> bool:
    """Whether an expression reads an item of what is no list or tuple, or of one whose items are replaced in sight.
    What replaces part of a tensor or an array leaves it one."""
    if not isinstance(e, ir.Index | ir.Element | ir.Unpack):
        return False
    if isinstance(e, ir.Index) and _type_of_part(ev, e, frame, {}):
        return False
    base = e.iterable if isinstance(e, ir.Element) else e.base if isinstance(e, ir.Index) else e.value
    return not all(isinstance(one, SeqOf) and not _has_stores(one, frame) for one in ev.eval(base, frame).atoms)


def _has_stores(atom: SeqOf, frame: Frame) -> bool:
    """Whether the function that makes a list, or the one that reads it, replaces items of anything."""
    frames = {frame} if atom.site is None else {frame, atom.site.frame}
    return any(True for one in frames for _ in one.code.steps_of(ir.SetItem))


def _is(ev: Evaluator, atom: Atom, wanted: Atom) -> bool | None:
    """Whether an object is an instance of a class."""
    if isinstance(wanted, ClassRef):
        return _is_of_project(ev, atom, wanted)
    if not isinstance(wanted, Lib):
        return None
    if not isinstance(atom, Instance):
        name = _type_of(ev, atom)
        return is_derived(name, wanted.name) if name else None
    if not _is_known(ev, atom):
        return None
    bases = [name for name in ev.classes.library_bases(atom.cls) if name not in _PLAIN_BASES]
    return _any(is_derived(name, wanted.name) for name in (*bases, OBJECT))


def _is_of_project(ev: Evaluator, atom: Atom, wanted: ClassRef) -> bool | None:
    if not _HOOKED.isdisjoint(ev.classes.library_bases(wanted)):
        return None
    if not isinstance(atom, Instance):
        return False if _type_of(ev, atom) else None
    return wanted in ev.classes.mro(atom.cls) if _is_known(ev, atom) else None


def _is_known(ev: Evaluator, atom: Instance) -> bool:
    """Whether the class of an object is exactly the one that is known, with all its ancestors."""
    is_made = atom.site is not None and not atom.presumed and isinstance(_made_at(atom.site), ir.Call)
    return is_made and not ev.classes.has_unknown_base(atom.cls)


def _made_at(site: Site) -> ir.Expr | None:
    return site.frame.code.exprs[site.expr] if 0 <= site.expr < len(site.frame.code.exprs) else None


def _is_display(e: ir.Expr | None) -> bool:
    """Whether an expression is a list, tuple, set or dict as it is written, or a comprehension that makes one."""
    return isinstance(e, ir.Seq | ir.Map) or (isinstance(e, ir.Comp) and e.kind != "generator")


def _type_of(ev: Evaluator, atom: Atom, known: dict[Atom, str] | None = None) -> str:
    """The library class of which a value is an object; '' if it is not known. `known`: the answers for the parts that
    one question has met, '' for those that are still open. Many parts may be taken of the same values."""
    known = {} if known is None else known
    if atom not in known:
        known[atom] = ""  # recursion ends here
        known[atom] = _found_type(ev, atom, known)
    return known[atom]


def _found_type(ev: Evaluator, atom: Atom, known: dict[Atom, str]) -> str:
    match atom:
        case Literal_(kind, _, ""):
            return f"builtins.{kind}" if kind != AUTO else ""
        case SeqOf(kind, _, site) if site is not None and _is_display(_made_at(site)):
            return f"builtins.{kind}"
        case MapOf(_, _, site) if site is not None and _is_display(_made_at(site)):
            return "builtins.dict"
        case LibObject(name, site) if isinstance(_made_at(site), ir.Call | ir.Bin):
            return type_made_by(name) or (name if name.rpartition(".")[2][:1].isupper() else "")
        case LibObject(_, site) if isinstance(made := _made_at(site), ir.Index):
            return _type_of_part(ev, made, site.frame, known)
        case FunctionRef() | Method():
            return FUNCTION
        case Unknown("index"):
            return INDEX if _may_be_of_numpy(ev) else "builtins.int"
    return ""


def _may_be_of_numpy(ev: Evaluator) -> bool:
    """Whether an index may be one of NumPy or a tensor: `Subset` and `SubsetRandomSampler` pass on what they get."""
    return bool(ev.files.containing("Subset"))


def _type_of_part(ev: Evaluator, part: ir.Index, frame: Frame, known: dict[Atom, str]) -> str:
    """The class of `x[i]`: part of a tensor is a tensor, and what a slice or mask takes of an array is an array. A
    single item of an array may be any object."""
    types = {_type_of(ev, atom, known) for atom in ev.eval(part.base, frame).atoms}
    if types == {TENSOR}:
        return TENSOR
    several = frame.code.has_slice(part.index) or _picks_several(ev, part.index, frame, known)
    return ARRAY if several and types == {ARRAY} else ""


def _picks_several(ev: Evaluator, index: int, frame: Frame, known: dict[Atom, str], depth: int = 0) -> bool:
    """Whether an index is a list or a mask made of an array: `x[(x[:, 0] > 0) & ~(x[:, 1] > 9)]`."""
    match ev.expr(frame, index) if depth < _MAX_DEPTH else None:
        case ir.Compare(left, _, rights):
            sides = [ev.eval(side, frame) for side in (left, *rights)]
            return any(_type_of(ev, atom, known) == ARRAY for side in sides for atom in side.atoms)
        case ir.Bin("&" | "|" | "^", left, right):
            return any(_picks_several(ev, side, frame, known, depth + 1) for side in (left, right))
        case ir.Unary("~", operand):
            return _picks_several(ev, operand, frame, known, depth + 1)
        case ir.Seq("list", _):
            return True
    return False
