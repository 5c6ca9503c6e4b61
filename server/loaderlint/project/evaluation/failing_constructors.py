"""Objects that never exist, because their constructor raises TypeError: it uses a parameter that is None as None cannot
be used. `self.length = size[0]` fails where the call leaves out `size=None`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Literal_

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_NOTHING = frozenset({Literal_("NoneType", None)})


def fails_on_none(ev: Evaluator, made: Instance) -> bool:
    """Whether the constructor of an object always uses a parameter as None cannot be used, before anything tests or
    replaces it, and the call passes None or leaves its default. A None that a user may change does not count."""
    member = ev.classes.member(made.cls, "__init__")
    init = ev.classes.init_frame(made) if member is not None and member.function is not None else None
    if member is None or member.function is None or init is None:
        return False
    if not any(_is_none(ev, index, init) for index in init.code.needed_parameters):
        return False
    return not ev.functions.may_accept_others(member.function) and ev.classes.leaves_arguments_to_init(made.cls)


def _is_none(ev: Evaluator, index: int, init: Frame) -> bool:
    return ev.functions.argument(init, index).atoms == _NOTHING
