"""How code reads a container that it keeps in another container on self: `self.cache["images"]`."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.kept_state import own_attribute

#: What a container on self is read by: `("cache", "'images'")` of `self.cache["images"]`.
Way = tuple[str, ...]
#: The key of an item that is another one each time.
ANY = ""


def way_of(number: int, frame: Frame, model: Model) -> Way:
    """How an expression reads a container on self by constants alone; () for other expressions. `self.items[index]` is
    another container for each sample."""
    match model.ev.expr(frame, number):
        case ir.Attr(base, name):
            inner = way_of(base, frame, model)
            return (*inner, name) if inner or ir.is_self(model.ev.expr(frame, base)) else ()
        case ir.Index(base, index):
            inner, key = way_of(base, frame, model), key_of(index, frame, model)
            return (*inner, key) if inner and key else ()
    return ()


def way_to(number: int, frame: Frame, model: Model) -> Way:
    """How the container that an expression reads, or takes an item out of, is read from self; () if it is not."""
    while not (way := way_of(number, frame, model)):
        match model.ev.expr(frame, number):
            case ir.Index(base) | ir.Attr(base):
                number = base
            case ir.Element(iterable):
                number = iterable
            case _:
                return ()
    return way


def key_of(index: int, frame: Frame, model: Model) -> str:
    """A key that is the same each time, such as `"images"` or `self.split`; `ANY` for another."""
    e = model.ev.expr(frame, index)
    if isinstance(e, ir.Const):
        return repr(e.value)
    name = own_attribute(index, frame, model)
    return f".{name}" if name else ANY
