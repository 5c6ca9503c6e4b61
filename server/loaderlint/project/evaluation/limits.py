"""How much one question about a project may cost. Each limit belongs to one value, one def or one question, never to a
counter that questions share, so no answer depends on what was asked before. Beyond a limit, a value is `Unknown` with a
reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

#: The reason of an `Unknown` that stands for a value past its budget.
TOO_MANY = "too many values"

#: The nodes of a list, tuple, set or dict, counted as a walk through it meets them: what `x = [x, x]` doubles, 13 lines
#: exhaust. Nested settings of real projects have a few hundred.
MAX_VALUE_SIZE = 10_000
#: How deep lists and dicts may lie in each other. All that walks through them recurses.
MAX_VALUE_DEPTH = 32
#: The characters of the dotted name of something of a library. Each `x = x.strip()` adds some.
MAX_NAME_LENGTH = 1000
#: The members of library objects in each other: `a.b.c` of what a call gives.
MAX_MEMBERS = 32
#: The bindings of one module-level name that may hold at a place.
MAX_BINDINGS = 256
#: The frames of one def with arguments. With more, only arguments that decide what runs are told apart, and with twice
#: as many, none.
MAX_CONTEXTS = 32
#: How deeply objects that are made by other objects are distinguished. Methods that make objects of each other's
#: classes would never end otherwise.
MAX_NESTING = 8
#: The frames of one def that run on objects which other objects make, or in functions which other functions make. With
#: more, they are one: of an object made out of sight. Sixteen classes that make each other would have 16! such frames.
MAX_NESTED_FRAMES = 32
#: The frames in which one def is known to be called, the objects of one class, and its subclasses.
MAX_CALLERS = 32
#: The levels of callers that are followed from a def.
MAX_CALLER_LEVELS = 6
#: The levels of calls that are followed from a def.
MAX_CALLS = 24

_Place = tuple[Path, int, int]


class Cut(NamedTuple):
    """A limit that people are told of: what there is too much of (`make` "is called in more than 32 ways"), and what
    comes of it."""

    how: str
    cost: str


_NOT_FOLLOWED = "not all of them are followed, so some loaders may be missed"
CALLERS = Cut(f"is called in more than {MAX_CALLERS} ways", _NOT_FOLLOWED)
OBJECTS = Cut(f"is made in more than {MAX_CALLERS} ways", _NOT_FOLLOWED)
SUBCLASSES = Cut(f"has more than {MAX_CALLERS} subclasses", _NOT_FOLLOWED)
CALLER_LEVELS = Cut(
    f"is called through more than {MAX_CALLER_LEVELS} functions", "what is passed from further up is not known"
)
CALLS = Cut(f"is called more than {MAX_CALLS} calls deep", "what it does there is not known")
CONTEXTS = Cut(
    f"is called with more than {MAX_CONTEXTS} different sets of arguments", "not all of their values are distinguished"
)
NESTED_OBJECTS = Cut(
    f"runs on more than {MAX_NESTED_FRAMES} objects that other objects make", "the others count as one"
)
WALK = Cut("leads to more functions than are followed", "some of what it runs is not analysed")


class Limit(NamedTuple):
    """What is not looked at because there is too much of it: the file that it is about, and what to say."""

    path: Path | None
    message: str


class ReachedLimits:
    """The limits that questions about one snapshot have reached so far."""

    def __init__(self) -> None:
        self._places: dict[Cut, set[_Place]] = {}

    def note(self, cut: Cut, path: Path, piece: int, def_: int) -> None:
        """A limit was reached for a def or class."""
        self._places.setdefault(cut, set()).add((path, piece, def_))

    def told(self, name_of: Callable[[Path, int, int], str], is_of_library: Callable[[Path], bool]) -> Iterator[Limit]:
        """One line for each limit, whatever the order of the questions; `name_of` gives what a def is called. Nobody is
        told of limits inside libraries, where there is nothing to change."""
        for cut, noted in sorted(self._places.items()):
            places = {place for place in noted if not is_of_library(place[0])}
            if not places:
                continue
            first = min(places)
            others = f" (and {len(places) - 1} more like it)" if len(places) > 1 else ""
            yield Limit(first[0], f"{name_of(*first)} {cut.how}{others}: {cut.cost}")
