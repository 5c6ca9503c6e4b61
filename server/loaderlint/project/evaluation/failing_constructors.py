"""Objects that never exist, because their constructor raises TypeError: it uses a parameter that is None as None cannot
be used. `self.length = size[0]` fails where the call leaves out `size=None`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import NONE_VALUE, Instance

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def fails_on_none(ev: Evaluator, made: Instance) -> bool:
    """Whether the constructor of an object always uses a parameter as None cannot be used, before anything tests or
    replaces it, and the call passes None or leaves its default. A None that a user may change does not count."""
    member = ev.classes.member(made.cls, "__init__")
    function = member.function if member is not None else None
    if function is None:
        return False
    code, passes_none = ev.code(function), _passes_none(ev, made)
    needed = [index for index in code.needed_parameters if passes_none or code.may_lack(index)]
    init = ev.classes.init_frame(made) if needed else None
    if init is None or not any(_is_none(ev, index, init) for index in needed):
        return False
    return not ev.functions.may_accept_others(function) and ev.classes.leaves_arguments_to_init(made.cls)


def _passes_none(ev: Evaluator, made: Instance) -> bool:
    """Whether None is written in the call that creates an object. Most calls need no closer look."""
    call = ev.expr(made.site.frame, made.site.expr) if made.site is not None else None
    if made.site is None or not isinstance(call, ir.Call):
        return False
    passed = (ev.expr(made.site.frame, arg.value) for arg in call.args)
    return any(isinstance(one, ir.Const) and one.kind == "NoneType" for one in passed)


def _is_none(ev: Evaluator, index: int, init: Frame) -> bool:
    return ev.functions.argument(init, index).atoms == NONE_VALUE.atoms
