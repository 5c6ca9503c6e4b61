"""How much one question about a project may cost. Each limit belongs to one value, one def or one question, never to a
counter that questions share, so no answer depends on earlier questions. Beyond a limit, a value is `Unknown` with a
reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

#: The reason of an `Unknown` that stands for a value past its budget.
TOO_MANY = "too many values"
#: The reason of an `Unknown` that stands for arguments which a def does not distinguish, none of which is None.
NOT_NONE = "too many, none of them None"

#: The nodes of a list, tuple, set or dict, as a walk through it counts them. `x = [x, x]` doubles them, so 13 such
#: lines reach the limit. Nested settings of real projects have a few hundred.
MAX_VALUE_SIZE = 10_000
#: How deeply lists and dicts may be nested. All walks through them are recursive.
MAX_VALUE_DEPTH = 32
#: The characters of a dotted name of a library. Each `x = x.strip()` adds some.
MAX_NAME_LENGTH = 1000
#: The nested members of library objects: `a.b.c` of the result of a call.
MAX_MEMBERS = 32
#: The bindings of one module-level name that may hold at a place.
MAX_BINDINGS = 256
#: The frames of one def with arguments. With more, only arguments that decide what runs are distinguished: functions
#: and classes, for a parameter that is None by default, whether it is None, and settings. With twice as many, only
#: settings. The object that a method runs on is always distinguished.
MAX_CONTEXTS = 32
#: The combinations of settings, which are True, False and constants that parameters have by default, that frames with
#: more arguments distinguish.
MAX_SETTINGS = 16
#: The same for calls inside a library that pass nothing of the project: there is nothing of the project to be told
#: apart, and a dataset of a library may run hundreds of functions for a sample.
MAX_OWN_CONTEXTS = 8
#: How deeply objects that other objects create are distinguished. Otherwise, methods that create objects of each
#: other's classes would never end.
MAX_NESTING = 8
#: The frames of one def that run on objects which other objects create, or in functions which other functions create.
#: With more, they are one: of an object that unknown code creates. Sixteen classes that create each other would have
#: 16! such frames.
MAX_NESTED_FRAMES = 32
#: The frames in which one def is known to be called, the objects of one class, and its subclasses.
MAX_CALLERS = 32
#: The levels of callers that are followed from a def.
MAX_CALLER_LEVELS = 6
#: The levels of calls that are followed from a def.
MAX_CALLS = 24

_Place = tuple[Path, int, int]


class Cut(NamedTuple):
    """A limit that is reported: what is too large (`make` "is called in more than 32 ways"), and the consequence."""

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
    """What is skipped because there is too much of it: its file, and the message."""

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
        """One line for each limit, whatever the order of the questions; `name_of` returns the name of a def. Limits
        inside libraries are not reported, because users cannot change anything there."""
        for cut, noted in sorted(self._places.items()):
            places = {place for place in noted if not is_of_library(place[0])}
            if not places:
                continue
            first = min(places)
            others = f" (and {len(places) - 1} more like it)" if len(places) > 1 else ""
            yield Limit(first[0], f"{name_of(*first)} {cut.how}{others}: {cut.cost}")
