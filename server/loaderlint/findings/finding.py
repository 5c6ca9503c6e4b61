"""The results of a rule: findings, their evidence, fixes as intents, and the reasons for its silence. No text offsets
here: those belong to `fixes` and `lsp`.

A `Place` names a node by file, piece and anchor; `loaderlint.engine` turns it into a span when it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct


class Severity(str, Enum):
    """How loud. `lowered` gives the next step down; below hint is silence (None)."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"

    def lowered(self, steps: int = 1) -> Severity | None:
        """The severity `steps` (>= 0) below this one, None below hint."""
        order = list(Severity)
        position = order.index(self) + steps
        return order[position] if position < len(order) else None


Certainty = Literal["proven", "possible"]
Safety = Literal["safe", "unsafe"]


class Place(Struct, frozen=True):
    """A node of a file: `piece` is the index in the file's list of pieces, `anchor` the node's pre-order index in it.
    An anchor of -1 is the piece's first line."""

    path: Path
    piece: int
    anchor: int


class Evidence(Struct, frozen=True):
    """A step of the reason, shown as related information: a place and what happens there. `is_loader`: a loader is
    created there whose workers run the fault."""

    place: Place
    message: str
    is_loader: bool = False


# --- fix intents: what to change, as data. `loaderlint.fixes` makes edits of them, equal ones once. -------------------
#
# Source text in an intent may hold `{module}` marks such as `{numpy}` or `{torch.utils.data}`: the mark becomes the
# name under which the file knows that module; an `AddImport` of the module is implied where the file has none.


class AddImport(Struct, frozen=True):
    """Make sure the file imports `module` (as `alias` if given, when it has to be added) or, with `name`,
    `from module import name`. `module` may be relative ('.seeding')."""

    path: Path
    module: str
    alias: str | None = None
    name: str | None = None


class SetArgument(Struct, frozen=True):
    """Set the keyword argument `keyword` of the call at `call` to the source text `value` (replacing one that is there,
    positional or not; `position` is the argument's 0-based place in the signature, None if keyword only). In `value`,
    `{argument:x}` stands for the text of the call's keyword argument x."""

    call: Place
    keyword: str
    value: str
    position: int | None = None


class RemoveArgument(Struct, frozen=True):
    """Remove the keyword argument `keyword` of the call at `call`."""

    call: Place
    keyword: str


class OverrideArguments(Struct, frozen=True):
    """Give arguments that the one `**` argument of the call at `call` brings other values: `**options` becomes
    `**{**options, "x": 1}`. The dict itself stays as it is, for other calls may use it. `value` is what stands behind
    `**options, ` and may hold `{argument:x}` as in `SetArgument`."""

    call: Place
    value: str


class Wrap(Struct, frozen=True):
    """Put `before` and `after` around the expression at `place`; where a `for` loop or a `yield from` statement stands
    there, around what it goes over."""

    place: Place
    before: str
    after: str


class Replace(Struct, frozen=True):
    """Replace the expression or statement at `place` by `text`."""

    place: Place
    text: str


class InsertFunction(Struct, frozen=True):
    """Insert a module-level function after the imports of the file and the settings that follow them; in a notebook
    above its use. `source` is its text with 4-space indentation and no final newline, its name written `{name}`. Its
    annotations are left out unless the file's functions are annotated. An equal function that is there already is
    reused under its own name.
    Other intents of the same fix write `{name}` where they use it (`SetArgument.value`)."""

    path: Path
    name: str
    source: str


class InsertMethod(Struct, frozen=True):
    """Insert a method at the end of the class whose head is at `cls`. `source` as in `InsertFunction`, not indented."""

    cls: Place
    name: str
    source: str


class InsertStatement(Struct, frozen=True):
    """Insert the statement(s) `source` on the lines after (or before) the statement at `place`, at its indentation."""

    place: Place
    source: str
    where: Literal["after", "before"] = "after"


class DeleteStatement(Struct, frozen=True):
    """Delete the whole simple statement at `place`."""

    place: Place


class NameLoopVariable(Struct, frozen=True):
    """Call the variable of the `for` loop at `place` in a function `name`; it is `_`, which nothing reads."""

    place: Place
    name: str


class ReplaceAttributeUses(Struct, frozen=True):
    """Replace each read of `self.<attribute>` inside the methods of the class at `cls` (except `__init__` and the
    methods named in `keep`) by `replacement` (for example 'self._get_rng()')."""

    cls: Place
    attribute: str
    replacement: str
    keep: tuple[str, ...] = ()


class Hoist(Struct, frozen=True):
    """Make the lambda or nested function at `place` a function of the module. A nested function keeps its name where it
    can; `name` is what a lambda is called. `captures`: the names it uses of the functions around it; they become its
    first parameters, bound by `functools.partial` where it stood. `returns`: whether the call that gets a lambda uses
    what the lambda returns."""

    place: Place
    name: str
    captures: tuple[str, ...] = ()
    returns: bool = True


class EncloseRest(Struct, frozen=True):
    """Put the module-level statement at `place` and all that follow it in the file under the line `head`, one level
    further in. The lines of strings stay as they are."""

    place: Place
    head: str


class EditComment(Struct, frozen=True):
    """Replace `before` in a comment by `after`: at `column` (characters) of `line` of the file, both 0-based. Where
    that leaves a line empty, the line goes."""

    path: Path
    line: int
    column: int
    before: str
    after: str


Intent = (
    AddImport
    | SetArgument
    | RemoveArgument
    | OverrideArguments
    | Wrap
    | Replace
    | InsertFunction
    | InsertMethod
    | InsertStatement
    | DeleteStatement
    | NameLoopVariable
    | ReplaceAttributeUses
    | Hoist
    | EncloseRest
    | EditComment
)


def place_of(intent: Intent) -> Place | None:
    """The place that an intent is about; None for those that are about a file."""
    values = (getattr(intent, name) for name in intent.__struct_fields__)
    return next((value for value in values if isinstance(value, Place)), None)


def path_of(intent: Intent) -> Path:
    """The file that an intent changes."""
    if isinstance(intent, AddImport | InsertFunction | EditComment):
        return intent.path
    place = place_of(intent)
    assert place is not None
    return place.path


class Fix(Struct, frozen=True):
    """One quick fix. *safe*: no new failure under any start method, wrapper or version in range, and nothing else
    changes. *unsafe*: it rests on a guess, or changes something else, such as memory or the samples; offered, never
    part of fix-all."""

    title: str
    safety: Safety
    intents: tuple[Intent, ...]

    @property
    def files(self) -> frozenset[Path]:
        """The files that it changes."""
        return frozenset(map(path_of, self.intents))


class Finding(Struct, frozen=True):
    """One fault at one place. `message` holds no line numbers (an edit in another file must not change it).

    `subject` is a stable key of what is wrong (for example the drawn function's name) and enters the fingerprint.
    `fixes`: the preferred one first. `loaders`: of a finding that is only possible, where the loaders are made whose
    workers may run it; none if some of them are not known."""

    rule: str
    severity: Severity
    certainty: Certainty
    message: str
    place: Place
    subject: str
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    loaders: tuple[Place, ...] = ()

    def places(self) -> Iterator[Place]:
        """Its own place, then those of its evidence."""
        yield self.place
        yield from (evidence.place for evidence in self.evidence)


class Silence(NamedTuple):
    """A rule looked at `place`, a candidate for a finding of its own, and reports nothing.

    `reason` completes 'silent: ...' for people: specific, names instead of line numbers. Many are made and few are
    read, so it costs no more than a constant or a small join."""

    rule: str
    place: Place
    reason: str
