"""The results of a rule: findings, their evidence, fixes as intents, and the reasons for its silence. They contain no
text offsets, which belong to `fixes` and `lsp`.

A `Place` names a node by file, piece and anchor; `loaderlint.engine` turns it into a span when it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct


class Severity(str, Enum):
    """How severe a finding is."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"

    def lowered(self, steps: int = 1) -> Severity | None:
        """The severity `steps` (>= 0) below this one; None below hint, where nothing is reported."""
        order = list(Severity)
        position = order.index(self) + steps
        return order[position] if position < len(order) else None


Certainty = Literal["proven", "possible"]
Safety = Literal["safe", "unsafe"]


class Place(Struct, frozen=True):
    """A node of a file: `piece` is an index into the file's list of pieces, `anchor` the node's pre-order index in the
    piece. An anchor of -1 is the piece's first line. `argument`: the keyword argument of the call there that is meant,
    '' for the node itself."""

    path: Path
    piece: int
    anchor: int
    argument: str = ""


class Evidence(Struct, frozen=True):
    """A step of the explanation, shown as related information: a place and what happens there. `is_loader`: a loader
    whose workers run the faulty code is created there."""

    place: Place
    message: str
    is_loader: bool = False


# --- fix intents: what to change, as data. `loaderlint.fixes` turns them into edits, equal ones only once. ------------
# Source text in an intent may contain marks such as `{numpy}` or `{torch.utils.data}`: a mark is replaced by the name
# under which the file knows that module. If the file does not import it, an `AddImport` is implied.


class AddImport(Struct, frozen=True):
    """Make sure that the file imports `module` or, with `name`, `from module import name`. `alias`: the alias of an
    import that has to be added. `module` may be relative ('.seeding')."""

    path: Path
    module: str
    alias: str | None = None
    name: str | None = None


class SetArgument(Struct, frozen=True):
    """Set the keyword argument `keyword` of the call at `call` to the source text `value`, replacing an existing
    argument. `position`: the argument's 0-based position in the signature, None if keyword-only. In `value`,
    `{argument:x}` is replaced by the text of the call's keyword argument x. `beside_unpacked`: no `**` of the call can
    hold the argument, so it may stand beside them."""

    call: Place
    keyword: str
    value: str
    position: int | None = None
    beside_unpacked: bool = False


class RemoveArgument(Struct, frozen=True):
    """Remove the keyword argument `keyword` of the call at `call`."""

    call: Place
    keyword: str


class OverrideArguments(Struct, frozen=True):
    """Override arguments that the one `**` argument of the call at `call` passes: `**options` becomes `**{**options,
    "x": 1}`. The dict itself is not changed, because other calls may use it. `value` is the text after `**options, `
    and may contain `{argument:x}` as in `SetArgument`."""

    call: Place
    value: str


class Wrap(Struct, frozen=True):
    """Put `before` and `after` around the expression at `place`; for a `for` loop or a `yield from` statement, around
    what it iterates over."""

    place: Place
    before: str
    after: str


class Replace(Struct, frozen=True):
    """Replace the expression or statement at `place` by `text`."""

    place: Place
    text: str


class InsertFunction(Struct, frozen=True):
    """Insert a module-level function after the imports of the file and the settings that follow them; in a notebook,
    above its use. `source` is its text with 4-space indentation, no final newline, and `{name}` for its name. Its
    annotations are left out unless the file's functions have some. An equal function in the file is reused under its
    own name. Other intents of the same fix write `{name}` where they use it (`SetArgument.value`)."""

    path: Path
    name: str
    source: str


class InsertMethod(Struct, frozen=True):
    """Insert a method at the end of the class whose head is at `cls`. `source` is as in `InsertFunction`, not
    indented."""

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
    """Rename the variable of the `for` loop at `place` in a function to `name`; so far it is `_`, which nothing
    reads."""

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
    """Make the lambda or nested function at `place` a function of the module, with this `name` if possible; one that is
    the nested function's own is kept. `captures`: the names of enclosing functions that it uses; they become
    its first parameters, bound by `functools.partial` at the old place. `returns`: whether the call that gets a lambda
    uses the lambda's result. `named`: the names of the module that hold a function which pickle can name, or something
    that is not known; a lambda that only calls an imported one of them becomes that."""

    place: Place
    name: str
    captures: tuple[str, ...] = ()
    returns: bool = True
    named: tuple[str, ...] = ()


class EncloseRest(Struct, frozen=True):
    """Put the module-level statement at `place` and everything after it in the file under the line `head`, one level
    deeper. Lines inside strings are not indented."""

    place: Place
    head: str


class EditComment(Struct, frozen=True):
    """Replace `before` in a comment by `after`, at `column` (in characters) of `line` of the file, both 0-based. If
    that leaves the line empty, the line is deleted."""

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
    """The place that an intent is about; None if it is about a file."""
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
    changes. *unsafe*: it relies on a guess, or changes something else, such as memory use or the samples; it is
    offered, but never part of fix-all."""

    title: str
    safety: Safety
    intents: tuple[Intent, ...]

    @property
    def files(self) -> frozenset[Path]:
        """The files that it changes."""
        return frozenset(map(path_of, self.intents))


class Finding(Struct, frozen=True):
    """One fault at one place. `message` contains no line numbers, because an edit in another file must not change it.

    `subject` is a stable key for what is wrong (for example the name of the function that draws), and part of the
    fingerprint. `fixes`: the preferred one first. `loaders`: for a finding that is only possible, the places of the
    loaders whose workers may run it; empty if some of them are not known. `lacking`: where loaders are created whose
    lack of something is the fault, rather than the code at `place`; the dataset's method where no loader is known."""

    rule: str
    severity: Severity
    certainty: Certainty
    message: str
    place: Place
    subject: str
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    loaders: tuple[Place, ...] = ()
    lacking: tuple[Place, ...] = ()

    def places(self) -> Iterator[Place]:
        """The finding's own place, then those of its evidence."""
        yield self.place
        yield from (evidence.place for evidence in self.evidence)


class Silence(NamedTuple):
    """A rule examined `place`, a candidate for a finding, and reports nothing.

    `reason` completes 'silent: ...', for people: it is specific and has names instead of line numbers. Many are created
    and few are read, so it must be no more than a constant or a small join."""

    rule: str
    place: Place
    reason: str
