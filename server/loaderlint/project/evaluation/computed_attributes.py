"""Attributes that code sets by a name that it computes: `for key, value in config.items(): setattr(obj, key.upper(),
value)`. What the constructor sets is only what they are until then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Code
from loaderlint.project.evaluation.object_places import places_of
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Instance, sites_of
from loaderlint.project.modules.dependencies import holds

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_WORD = "setattr("
#: How a method passes its object on as the first argument.
_PASSED = ("(self, ", "(self)")


def may_be_overwritten(ev: Evaluator, inst: Instance) -> bool:
    """Whether a method of an object, the code that creates it, or a function that gets it, sets its attributes by
    computed names; or a function that does so for the object that keeps it, and for what this one keeps."""
    if not ev.files.containing(_WORD):
        return False
    if _sets_own(ev, inst.cls) or ev.classes.setters(inst.cls):
        return True
    places = (place for site in sites_of(inst) for place in places_of(ev, site, _WORD))
    if any(not place.objects.isdisjoint(_set_by_name(place.frame.code)) for place in places):
        return True
    keeper = inst.site.frame.receiver if inst.site is not None else None
    return isinstance(keeper, Instance) and any(_goes_on(ev, one) for one in ev.classes.setters(keeper.cls))


def _sets_own(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a method of a class sets attributes of its own object by computed names."""
    methods = (member.function for member in ev.classes.methods_asked(cls, holds, _WORD))
    return any(function is not None and _sets_first(ev.code(function)) for function in methods)


def setters(ev: Evaluator, cls: ClassRef) -> Iterator[FunctionRef]:
    """The functions that set attributes of their first argument by computed names, and to which a method of a class
    passes its object."""
    for word in _PASSED:
        for member in ev.classes.methods_asked(cls, holds, word):
            if member.function is None:
                continue
            code = ev.code(member.function)
            called = [call.func for _, call in code.calls if call.args and ir.is_self(code.exprs[call.args[0].value])]
            for function in (one for func in called for one in _functions(ev, member.function, func)):
                if _sets_first(ev.code(function)):
                    yield function


def _functions(ev: Evaluator, caller: FunctionRef, func: int) -> list[FunctionRef]:
    """The functions of modules that an expression in a def names."""
    match ev.code(caller).exprs[func]:
        case ir.Global(name):
            return ev.names.lookup(caller.path, name).only(FunctionRef)
        case ir.Imported(module, name, level):
            return ev.names.imported(caller.path, module, name, level).only(FunctionRef)
    return []


def _goes_on(ev: Evaluator, function: FunctionRef) -> bool:
    """Whether a function calls itself for an attribute of its first argument that it finds by a computed name."""
    code = ev.code(function)
    return any(
        _is_attribute_of_first(code, call.args[0].value)
        for _, call in code.calls
        if call.args and function in _functions(ev, function, call.func)
    )


def _is_attribute_of_first(code: Code, number: int) -> bool:
    e = code.exprs[number]
    if not isinstance(e, ir.Call) or code.exprs[e.func] != ir.Global("getattr") or len(e.args) < 2:
        return False
    return ir.is_self(code.exprs[e.args[0].value])


def _sets_first(code: Code) -> bool:
    return any(ir.is_self(code.exprs[number]) for number in _set_by_name(code))


def _set_by_name(code: Code) -> Iterator[int]:
    """The objects of which a def sets an attribute by a name that is computed."""
    for _, call in code.calls:
        if code.exprs[call.func] == ir.Global("setattr") and len(call.args) == 3:
            if not isinstance(code.exprs[call.args[1].value], ir.Const):
                yield call.args[0].value
