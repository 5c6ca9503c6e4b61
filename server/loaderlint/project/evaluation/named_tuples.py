"""Tuples whose items have names: what `Sample = namedtuple("Sample", "image label")` makes of `Sample(x, y)`."""

from __future__ import annotations

from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.values import SeqOf, Site, Val, of, unknown

#: The call that makes such a class.
NAMED_TUPLE = "collections.namedtuple"


def named_tuple(made_with: Arguments, arguments: Arguments, site: Site) -> Val:
    """The tuple that a call at `site` makes. `made_with`: the arguments of the call of `namedtuple`."""
    names = _field_names(made_with.get("field_names", 1))
    if not names:
        return unknown("named tuple")
    items = (arguments.get(name, index) for index, name in enumerate(names))
    return of(SeqOf("tuple", tuple(unknown("default") if one is None else one for one in items), site, names))


def _field_names(given: Val | None) -> tuple[str, ...]:
    """The names in `"image label"`, `"image, label"` or `("image", "label")`; none if they are not known."""
    literal = given.literal if given is not None else None
    if literal is not None and isinstance(literal.value, str):
        return tuple(literal.value.replace(",", " ").split())
    listed = given.only(SeqOf) if given is not None else []
    if len(listed) != 1:
        return ()
    names = [item.literal.value if item.literal is not None else None for item in listed[0].items]
    known = tuple(name for name in names if isinstance(name, str))
    return known if len(known) == len(names) else ()
