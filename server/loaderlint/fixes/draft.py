"""One file while its changes are collected."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from loaderlint.findings.finding import Place
from loaderlint.findings.read_suppressions import lines_in_strings
from loaderlint.fixes.file_edits import Change, FileAccess, Refused
from loaderlint.fixes.line_habits import look_formatted, looks_formatted
from loaderlint.fixes.long_calls import Layout, broken_call, comment_above, on_few, on_one_each
from loaderlint.fixes.piece_tree import Tree, grow
from loaderlint.fixes.quotes import prefers_single, single_quoted
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.notebook import SUFFIX
from loaderlint.syntax.source import LineIndex

#: Ranks of changes, see `Change`. Those of comments leave the code as it is.
WRAP_END, ARGUMENT, EXPRESSION, WRAP_START, COMMENT = 0, 1, 2, 3, 4
LINES = 10
#: What the fixes of one version of a file may cost together, as characters that libcst parses (0.4 million a second).
#: Most fixes cost a line; one that adds a method to a class, or changes a statement that is the whole file, costs as
#: much as that is long, and there may be thousands of them.
MAX_WORK = 600_000
#: How many files, and trees of each, are kept for the next fix: the findings of a file come in the order of places.
_KEPT_FILES, _KEPT_TREES = 2, 8

#: What costs no more does not count.
_CHEAP = 200
#: What it costs to grow the tree of a piece, by the character.
_GROWING = 3
TOO_MUCH = "the fixes of this file take too much time together"

#: Lines of this length are too long nowhere.
_SHORT = 79
#: Code that fixes write has no longer lines, whatever else the file holds, unless a formatter or the call itself does.
_LONG = 100
#: Imports, and the arguments of calls that are broken, have no longer lines, unless the line is longer already.
_MOST = 120

_DEF = re.compile(r"(?:@.*[\r\n]+)*(?:async[ \t]+)?def[ \t]+(\w+)")
#: The beginning of a function, to the arrow or the colon behind its parameters.
_HEAD = re.compile(r"(?:@.*[\r\n]+[ \t]*)*(?:async[ \t]+)?def[ \t]+(\w+)[^()]*\((?:[^()]|\([^()]*\))*\)[ \t]*(?:->)?")
_LINE_END = re.compile(r"\r\n|\r|\n")
#: What makes a line long that formatters do not break: a comment, a long string.
_KEPT_LONG = re.compile(r"""#|'[^']{20,}'|"[^"]{20,}"|'''|\"{3}""")
_SUITE = re.compile(
    r"^([ \t]*)(?:async|class|def|elif|else|except|finally|for|if|try|while|with)\b.*:[ \t]*(?:#.*)?"
    r"(?:\r\n|\r|\n)\1([ \t]+)\S",
    re.MULTILINE,
)


class Meaning(NamedTuple):
    """What an import binds: the module `module` (with leading dots if relative), or `name` out of it."""

    module: str
    name: str | None


class NewImport(NamedTuple):
    """An import that will be added: its statement and the name it binds."""

    statement: str
    bound: str
    meaning: Meaning


class NewFunction(NamedTuple):
    """A function that will be added below the imports, in any case above the piece `before`; with `near`, directly
    above the module-level statement of that piece."""

    name: str
    tokens: tuple[str, ...]
    source: str
    before: int
    near: bool = False


class NewMethod(NamedTuple):
    """A method that will be added at `offset` to the class that begins at `cls`."""

    cls: int
    name: str
    tokens: tuple[str, ...]
    source: str
    offset: int
    indent: str


class NewArgument(NamedTuple):
    """An argument of the call with the node `anchor` of `piece` that will be set, or removed if `value` is None.
    `beside_unpacked` as in `SetArgument`."""

    piece: int
    anchor: int
    keyword: str
    value: str | None
    position: int | None
    beside_unpacked: bool = False


class Plan(Struct, frozen=True):
    """All that is to be done to a file. Adding makes a new plan, so that the old one can be taken up again."""

    changes: tuple[Change, ...] = ()
    imports: tuple[NewImport, ...] = ()
    functions: tuple[NewFunction, ...] = ()
    methods: tuple[NewMethod, ...] = ()
    arguments: tuple[NewArgument, ...] = ()


NO_PLAN = Plan()


def _is_outermost(piece: Piece) -> bool:
    return piece.kind == "statement" and piece.parent == -1


class Work:
    """What the fixes of one version of a file have cost (see `MAX_WORK`)."""

    __slots__ = ("is_too_much", "spent")

    def __init__(self) -> None:
        self.spent = 0
        self.is_too_much = False

    def spend(self, work: float) -> None:
        """Note what is about to be done. Refused if that is too much. What costs no more than a line is done however
        much was spent."""
        if work <= _CHEAP:
            return
        self.spent += int(work)
        if self.spent > MAX_WORK:
            self.is_too_much = True
            raise Refused(TOO_MUCH)


class Original:
    """A file before it is changed, and what is known of it. The drafts of all fixes of one version share it: a piece is
    parsed once for the thousands of findings that may stand in it."""

    def __init__(self, path: Path, files: FileAccess, work: Work) -> None:
        self.oddities = files.oddities(path)
        self.text = files.text(path)
        self.pieces = files.pieces(path)
        self._files, self._path = files, path
        self.is_notebook = path.suffix == SUFFIX
        #: Kept here for `name_scopes`: what imports bind at module level.
        self.imports: list[Any] | None = None
        #: Kept here for `name_scopes`: what binds a name at module level.
        self.bindings: dict[str, list[Any]] = {}
        #: Kept here for `added_functions`: hashes of the tokens of functions, by their spans.
        self.digests: dict[tuple[int, int], int] = {}
        self._trees: dict[int, Tree | None] = {}
        self.work = work

    def tree(self, piece: int) -> Tree | None:
        """The tree of a piece; None if it does not parse. The last few are kept."""
        if piece not in self._trees:
            self.work.spend(_GROWING * len(self.pieces[piece].text))
        tree = self._trees.pop(piece) if piece in self._trees else grow(self.pieces[piece])
        self._trees[piece] = tree
        if len(self._trees) > _KEPT_TREES:
            del self._trees[next(iter(self._trees))]
        return tree

    @cached_property
    def newline(self) -> str:
        """The file's line end."""
        found = _LINE_END.search(self.text)
        return found[0] if found else "\n"

    @cached_property
    def line_length(self) -> int:
        """How long a line may become: what the project's formatter allows, or as long as the longest that is there."""
        return self.formatted_length or max(_SHORT, max(map(len, self._measured_lines()), default=0))

    def _measured_lines(self) -> Iterator[str]:
        """The lines that tell how long a line may become. Formatters leave long strings and comments as they are."""
        in_string = lines_in_strings(self.text) if self._is_formatted else {}
        for number, line in enumerate(self.text.splitlines()):
            if not self._is_formatted or (number not in in_string and not _KEPT_LONG.search(line)):
                yield line

    def line_length_at(self, start: int, end: int) -> int:
        """How long a line among those between two offsets may become: without a formatter not much longer than usual,
        or than the longest of them that has no long string, even if the file has longer ones elsewhere."""
        if self.formatted_length is not None:
            return self.formatted_length
        there = (len(line) for line in self.text[start:end].splitlines() if not _KEPT_LONG.search(line))
        return min(self.line_length, max(_LONG, max(there, default=0)))

    @cached_property
    def code_length(self) -> int:
        """How long a line of code may become that stands on one: what the project's formatter allows, or as long as
        usual or the longest that no comment or long string makes long."""
        if self.formatted_length is not None:
            return self.formatted_length
        code = (len(line) for line in self.text.splitlines() if not _KEPT_LONG.search(line))
        return max(min(self.line_length, _LONG), max(code, default=0))

    def call_length(self, limit: int) -> int:
        """How long a line with all arguments of a call may be, where lines may have `limit` characters: without a
        formatter not much longer than usual."""
        return limit if self.formatted_length is not None else min(limit, _MOST)

    def import_length(self, now: int) -> int:
        """How long an import of names may become whose line has `now` characters: as the project's formatter allows, or
        as lines of code, but not much longer than usual. One that is longer already may become any length: nobody
        minds."""
        limit = self.formatted_length or min(self.code_length, _MOST)
        return limit if now <= limit else sys.maxsize

    @cached_property
    def prefers_single_quotes(self) -> bool:
        """Whether the file writes its strings in single quotes."""
        return prefers_single(self.text)

    @cached_property
    def annotates(self) -> bool:
        """Whether all functions of the file say what they return, except for constructors, which need not."""
        heads = [found for one in self.pieces if (found := _HEAD.match(one.text.lstrip()))]
        told = [head[0].rstrip().endswith("->") for head in heads if head[1] != "__init__"]
        return bool(told) and all(told)

    @cached_property
    def formatted_length(self) -> int | None:
        """How long the project's formatter lets a line be; None without one."""
        return self._files.line_length(self._path)

    @cached_property
    def broken_length(self) -> int | None:
        """How long a line may become before its call is broken as black and ruff do; None if it is broken in another
        way. A file without their settings may be their work too, and one in spite of them may be none: settings of ruff
        are often about its rules alone."""
        return self.line_length if self._is_formatted else None

    @cached_property
    def _is_formatted(self) -> bool:
        """Whether black or ruff seem to have formatted the text, or, if it has nothing that tells, the project."""
        found = looks_formatted(self.text, lines_in_strings(self.text))
        if found is not None:
            return found
        return self.formatted_length is not None or look_formatted(self._files.beside(self._path))

    @cached_property
    def unit(self) -> str:
        """What one level of indentation is in this file; four spaces if nothing tells."""
        levels = Counter(found[2] for found in _SUITE.finditer(self.text))
        return levels.most_common(1)[0][0] if levels else "    "

    @cached_property
    def module_level(self) -> list[int]:
        """The pieces at module level, those in `if`, `try` and their kin among them."""
        found: dict[int, None] = {}
        for piece, one in enumerate(self.pieces):  # containers stand before what is in them
            if one.parent == -1 or (one.parent in found and self.pieces[one.parent].kind == "clause"):
                found[piece] = None
        return list(found)

    @cached_property
    def functions(self) -> list[tuple[int, str]]:
        """The functions directly at module level, their decorators on a line each: the piece and the name of each."""
        found = ((piece, _DEF.match(one.text)) for piece, one in enumerate(self.pieces) if _is_outermost(one))
        return [(piece, head[1]) for piece, head in found if head is not None]

    @cached_property
    def last_inside(self) -> list[int]:
        """For each piece the last of those in it, itself if there are none: what is in a piece stands behind it."""
        last = list(range(len(self.pieces)))
        for piece in range(len(self.pieces) - 1, -1, -1):
            parent = self.pieces[piece].parent
            if parent >= 0:
                last[parent] = max(last[parent], last[piece])
        return last

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """Where each piece begins."""
        return [piece.start for piece in self.pieces]

    @cached_property
    def known(self) -> set[tuple[str, str, str]]:
        """The pieces as `parse_piece` sees them, and those of changes that were found valid."""
        return {(piece.kind, piece.keyword, piece.text) for piece in self.pieces}


class Originals:
    """The files of one version of the workspace, the last few of them."""

    def __init__(self) -> None:
        self._known: dict[Path, Original] = {}
        self._work: dict[Path, Work] = {}

    def of(self, path: Path, files: FileAccess) -> Original:
        """The file at `path`."""
        known = self._known.pop(path, None)
        original = known or Original(path, files, self._work.setdefault(path, Work()))
        self._known[path] = original
        if len(self._known) > _KEPT_FILES:
            del self._known[next(iter(self._known))]
        return original

    def go_on(self) -> None:
        """What was planned may be finished, whatever was spent."""
        for work in self._work.values():
            work.spent = 0

    def exhausted(self) -> list[Path]:
        """The files of which not all fixes were made, as that would take too much time."""
        return [path for path, work in self._work.items() if work.is_too_much]


class Draft:
    """A file, its trees (parsed on demand), and the plan. Refused for a file that must not be edited."""

    def __init__(self, path: Path, files: FileAccess, originals: Originals) -> None:
        original = originals.of(path, files)
        oddities = (*original.oddities, *files.refusals(path))
        if oddities:
            raise Refused(f"{path.name} cannot be edited safely: {', '.join(oddities)}")
        self.original = original
        self.path = path
        self.text = original.text
        self.pieces = original.pieces
        self.plan = NO_PLAN
        self._trees: dict[int, Tree | None] = {}
        #: Where in the plan each change stood that was ever planned.
        self._numbers: dict[Change, int] = {}

    @property
    def newline(self) -> str:
        """The file's line end."""
        return self.original.newline

    @property
    def unit(self) -> str:
        """What one level of indentation is in this file; four spaces if nothing tells."""
        return self.original.unit

    def change(self, *changes: Change) -> None:
        """Add to the changes; a change that is there already counts once."""
        planned = self.plan.changes
        fresh = tuple(change for change in changes if not self._is_planned(change, planned))
        self._numbers.update((change, number) for number, change in enumerate(fresh, len(planned)))
        self.plan = replace(self.plan, changes=planned + fresh)

    def _is_planned(self, change: Change, planned: Sequence[Change]) -> bool:
        """Whether a change is in the plan. It may be a plan that was taken up again, which lacks what came last."""
        number = self._numbers.get(change, len(planned))
        return number < len(planned) and planned[number] == change

    def tree(self, piece: int) -> Tree:
        """The tree of a piece. Raises Refused if there is none or if its positions are not certain."""
        tree = self.known_tree(piece)
        if tree is None or not tree.exact:
            raise Refused(f"this part of {self.path.name} cannot be read back exactly")
        return tree

    def known_tree(self, piece: int) -> Tree | None:
        """The tree of a piece, perhaps with wrong places; None if it does not parse.

        Raises Refused if there is no such piece any more."""
        if piece not in self._trees:
            if not 0 <= piece < len(self.pieces):
                raise Refused(f"{self.path.name} has changed")
            self._trees[piece] = self.original.tree(piece)
        return self._trees[piece]

    def spend(self, work: float) -> None:
        """See `Work.spend`."""
        self.original.work.spend(work)

    def find(self, place: Place) -> tuple[Tree, cst.CSTNode]:
        """The node at `place` with its tree. Raises Refused if there is none."""
        tree = self.tree(place.piece)
        node = tree.at(place.anchor)
        if node is None:
            raise Refused(f"{self.path.name} has changed")
        return tree, node

    def above(self, piece: int) -> list[int]:
        """The pieces around a piece, nearest first."""
        found = []
        piece = self.pieces[piece].parent
        while piece != -1:
            found.append(piece)
            piece = self.pieces[piece].parent
        return found

    def last_inside(self, piece: int) -> int:
        """The last of the pieces in `piece`; itself if there are none."""
        return self.original.last_inside[piece]

    def line_start(self, offset: int) -> int:
        """Where the line of `offset` begins."""
        if offset and self.text[offset - 1] in "\r\n":
            return offset
        return offset - self.original.lines.position(offset)[1]

    def line_end(self, offset: int) -> int:
        """Where the line of `offset` ends, before its line end."""
        lines = self.original.lines
        following = lines.line_start(lines.position(offset)[0] + 1)
        if self.text[max(offset, following - 2) : following] == "\r\n":
            return following - 2
        return following - (following > offset and self.text[following - 1] in "\r\n")

    def next_line(self, offset: int) -> int:
        """Where the line after that of `offset` begins; the end of the text if there is none."""
        end = self.line_end(offset)
        found = _LINE_END.match(self.text, end)
        return found.end() if found else end

    def piece_end(self, piece: int) -> int:
        """The first offset after the last line of a piece (without the pieces in it)."""
        text = self.pieces[piece].text.rstrip()
        return self.next_line(self.pieces[piece].start + len(text))

    def indentation(self, offset: int) -> str:
        """The white space with which the line of `offset` begins."""
        start = self.line_start(offset)
        line = self.text[start : self.line_end(start)]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def begins_line(self, offset: int) -> bool:
        """Whether only white space stands before `offset` on its line."""
        return not self.text[self.line_start(offset) : offset].strip(" \t")

    def lines(self, source: str, indent: str) -> str:
        """`source`, which has 4 spaces a level and `\\n`, as whole lines of this file at the indentation `indent`. A
        call that makes a line too long is broken."""
        lines = (part for line in source.split("\n") for part in self._fitting(line, indent))
        return "".join(self.line(line, indent) + self.newline for line in lines)

    def quoted(self, source: str) -> str:
        """`source` with its strings in the quotes that the file uses."""
        return single_quoted(source) if self.original.prefers_single_quotes else source

    def _fitting(self, line: str, indent: str) -> list[str]:
        limit = self.original.formatted_length or min(self.original.line_length, _LONG)
        too_long = len(self.line(line, indent).expandtabs()) - limit
        if too_long <= 0:
            return [line]
        above = comment_above(line)
        if above is not None:
            return [above[0], *self._fitting(above[1], indent)]
        return broken_call(line, len(line) - too_long, self.layout)

    @property
    def layout(self) -> Layout:
        """How the arguments of a call that is too long for a line are laid out."""
        return on_few if self.original.broken_length is None else on_one_each

    def line(self, line: str, indent: str) -> str:
        """One line of source in this file's indentation."""
        if not line.strip():
            return ""
        body = line.lstrip(" ")
        levels, rest = divmod(len(line) - len(body), 4)
        return indent + self.unit * levels + " " * rest + body

    def insert_lines(self, offset: int, text: str, rank: int = LINES) -> Change:
        """The change that inserts the lines `text`, each with its line end, at a line's start or the text's end."""
        if offset == len(self.text) and offset and self.text[-1] not in "\r\n":
            # The file has no final newline: it keeps to that.
            text = self.newline + text.removesuffix(self.newline)
        return Change(offset, offset, text, rank)
