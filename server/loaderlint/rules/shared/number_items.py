"""Whether what a set holds are numbers. Their hashes are the same in all runs, and so is their order in a set; those of
texts, bytes, paths and most objects are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Lib, LibObject, Literal_, MapOf, SeqOf, Unknown
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.dict_values import DICTS

_MAX_DEPTH = 16
#: Functions that give numbers, whatever they are given.
_NUMBERS = frozenset(f"builtins.{name}" for name in ("int", "float", "bool", "len", "hash", "ord", "round"))
_NUMBER_KINDS = frozenset({"int", "float", "bool", "NoneType"})
#: Functions that give the items of their first argument.
_PASSING_ON = frozenset(
    f"builtins.{name}" for name in ("set", "frozenset", "list", "tuple", "sorted", "reversed", "iter")
)
#: Methods that give some items of their object.
_PART_OF = frozenset({"copy", "difference", "intersection"})
_CHAIN = "itertools.chain"


class NumberItems:
    """The answers for one model: True, False, or None if nothing is known."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def among(self, number: int, frame: Frame, depth: int = 0) -> bool | None:
        """Whether what iterating over an expression gives are numbers, as far as it is known."""
        if number == NONE or depth > _MAX_DEPTH:
            return None
        e, depth = self._model.ev.expr(frame, number), depth + 1
        match e:
            case ir.Call():
                return self._of_call(e, number, frame, depth)
            case ir.Comp("dict", _, key):
                return self._is_number(key, frame, depth)
            case ir.Comp(_, element):
                return self._is_number(element, frame, depth)
            case ir.Seq(_, items) | ir.Map(items):
                return _all(self._is_number(item, frame, depth) for item in items)
            case ir.Bin("&" | "-", left, _):
                return self.among(left, frame, depth)
            case ir.Bin("|" | "+", left, right) | ir.IfExp(_, left, right):
                return _all(self.among(one, frame, depth) for one in (left, right))
            case ir.Phi(choices):
                return _all(self.among(one, frame, depth) for one in choices)
        return self._of_value(number, frame, depth)

    def _of_call(self, call: ir.Call, number: int, frame: Frame, depth: int) -> bool | None:
        given = [arg.value for arg in call.args if arg.kind == "pos"]
        for name in self._called(call, frame):
            if name == "builtins.range" or (name == "builtins.map" and self._is_converter(given[:1], frame)):
                return True
            if name in _PASSING_ON and given:
                return self.among(given[0], frame, depth)
            if name == _CHAIN:
                return _all(self.among(one, frame, depth) for one in given) if len(given) == len(call.args) else None
            if name == f"{_CHAIN}.from_iterable" and given:
                return self._among_parts(given[0], frame, depth)
        func = self._model.ev.expr(frame, call.func)
        if isinstance(func, ir.Attr) and (func.name in _PART_OF or (func.name == "keys" and not given)):
            return self.among(func.base, frame, depth)
        return self._of_value(number, frame, depth)

    def _called(self, call: ir.Call, frame: Frame) -> Sequence[str]:
        return [atom.name for atom in self._model.ev.eval(call.func, frame).only(Lib)]

    def _is_converter(self, function: Sequence[int], frame: Frame) -> bool:
        atoms = self._model.ev.eval(function[0], frame).atoms if function else frozenset()
        return bool(atoms) and all(isinstance(atom, Lib) and atom.name in _NUMBERS for atom in atoms)

    def _among_parts(self, number: int, frame: Frame, depth: int) -> bool | None:
        """Whether the items of the items of an expression are numbers."""
        match self._model.ev.expr(frame, number):
            case ir.Comp("list" | "set" | "generator", element):
                return self.among(element, frame, depth)
            case ir.Seq(_, items):
                return _all(self.among(item, frame, depth) for item in items)
        return None

    def _is_number(self, number: int, frame: Frame, depth: int) -> bool | None:
        e = self._model.ev.expr(frame, number) if number != NONE and depth <= _MAX_DEPTH else None
        match e:
            case ir.Element(iterable):
                return self.among(iterable, frame, depth + 1)
            case ir.Unpack(value, 0) if self._counts(value, frame):
                return True
            case ir.Bin("-" | "//" | "**"):
                return True  # texts have none of these
            case ir.Bin(_, left, right):
                return _all(self._is_number(one, frame, depth + 1) for one in (left, right))
            case ir.Call(func):
                method = self._model.ev.expr(frame, func)
                if isinstance(method, ir.Attr) and method.name == "item":
                    return True
        return _all(map(_is_number, self._model.ev.eval(number, frame).atoms)) if e is not None else None

    def _counts(self, number: int, frame: Frame) -> bool:
        """Whether an expression is an item of `enumerate(...)`."""
        e = self._model.ev.expr(frame, number)
        call = self._model.ev.expr(frame, e.iterable) if isinstance(e, ir.Element) else None
        return isinstance(call, ir.Call) and "builtins.enumerate" in self._called(call, frame)

    # --- what was made elsewhere --------------------------------------------------------------------------------------

    def _of_value(self, number: int, frame: Frame, depth: int) -> bool | None:
        return _all(self._of_atom(atom, number, frame, depth) for atom in self._model.ev.eval(number, frame).atoms)

    def _of_atom(self, atom: Atom, number: int, frame: Frame, depth: int) -> bool | None:
        """Whether an object gives numbers. Those of a dict are its keys."""
        match atom:
            case SeqOf(_, items):
                return _all(_is_number(one) for item in items for one in item.atoms)
            case MapOf(keys, _, site):
                named = False if any(key is not None for key in keys) else None
                return named if site is None or named is False else self._filled(site.expr, site.frame, depth)
            case LibObject("builtins.range"):
                return True
            case LibObject(name, site) if name in DICTS and site.expr >= 0:
                return self._filled(site.expr, site.frame, depth)
            case LibObject(name, site) if name.removesuffix("[]") in DICTS and site.expr >= 0:
                return self._of_item(site.expr, site.frame, depth)
        return None

    def _filled(self, made: int, frame: Frame, depth: int) -> bool | None:
        """Whether the keys are numbers under which a def stores items in the dict that expression `made` makes."""
        stores = (step.index for _, step in self._model.steps_of(frame, ir.SetItem) if step.base == made)
        return _all(self._is_number(key, frame, depth) for key in stores)

    def _of_item(self, taken: int, frame: Frame, depth: int) -> bool | None:
        """Whether the keys are numbers of a dict that is an item of another one: what `counts[day][hour] = count`
        stores."""
        e = self._model.ev.expr(frame, taken)
        outer = self._model.ev.eval(e.base, frame).only(LibObject) if isinstance(e, ir.Index) else ()
        made = [one.site for one in outer if one.name in DICTS and one.site.expr >= 0]
        return _all(self._filled_inside(site.expr, site.frame, depth) for site in made)

    def _filled_inside(self, made: int, frame: Frame, depth: int) -> bool | None:
        stores = (
            step.index
            for _, step in self._model.steps_of(frame, ir.SetItem)
            if isinstance(inner := self._model.ev.expr(frame, step.base), ir.Index) and inner.base == made
        )
        return _all(self._is_number(key, frame, depth) for key in stores)


def _is_number(atom: Atom) -> bool | None:
    match atom:
        case Literal_(kind):
            return kind in _NUMBER_KINDS
        case LibObject(name):
            return True if name in _NUMBERS or name == "builtins.range[]" else None
        case Unknown():
            return None
    return False


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Whether all that is known are numbers; None if nothing is known."""
    known = {one for one in answers if one is not None}
    return None if not known else known == {True}
