"""Cuts text into pieces, incrementally after an edit.

Cutting is a heuristic on the text alone; the parser decides whether each piece is valid. It is a pure function of the
text and never fails: half-typed code results in broken pieces, as few as possible.

Every piece begins in a clean state: outside strings and brackets, at the start of a line. Its end depends only on the
text from its start on, and on the containers (classes, long suites) around it. `recut` depends on that: it begins at
the first piece whose cut read the edited text, and stops where a new piece begins like an old one after the edit.

Two things make half-typed code harmless. A line that starts with a word that no expression can contain there (`def`,
`import`, `return`, ...) shows that a bracket before it was never closed; the statement with the bracket then ends
early. If a triple quote stays open until the end of the text, the text is cut in a mode that does not trust long
strings which contain definitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["statement", "class", "clause"]

#: A compound statement outside functions with more lines than this is cut into its clauses.
LONG = 30
#: The keywords of clauses that go on with a statement.
GOES_ON = ("elif", "else", "except", "finally")


class Piece(NamedTuple):
    """A part of a file that is parsed and cached on its own.

    `kind`: 'statement'; 'class' for the head of a class (decorators and `class X(...):`), its members follow as pieces
    of their own; 'clause' for the head of a long suite outside functions, its statements follow. `keyword` is the
    clause's ('if', 'elif', 'else', 'for', 'async for', ...) and '' for other kinds. A clause on one line (`else: x()`)
    contains its body. `text` is the source from column 0 of the first line, without the blank and comment lines before
    it. `start` is its offset in the file (in characters), `line` its first line (0-based), `parent` the index of the
    class or clause around it or -1. `seen` is the number of characters from `start` that the cut depends on."""

    kind: Kind
    keyword: str
    text: str
    start: int
    line: int
    parent: int
    seen: int


def cut(text: str) -> tuple[Piece, ...]:
    """The pieces of `text` in order, containers before their contents. Never raises."""
    try:
        return _cut(text, suspicious=False)
    except _OpenString:
        return _cut(text, suspicious=True)


def _cut(text: str, suspicious: bool) -> tuple[Piece, ...]:
    cutter = _Cutter(text, suspicious)
    cutter.run()
    return cutter.all_pieces()


def recut(pieces: tuple[Piece, ...], old_text: str, new_text: str) -> tuple[Piece, ...]:
    """`cut(new_text)`, computed from `pieces`, which must be `cut(old_text)`.

    Pieces that do not depend on the change keep their `text` object."""
    return recut_changes(pieces, old_text, new_text).all_pieces()


class ChangedPieces(NamedTuple):
    """The pieces that a change affects.

    `pieces` are the new ones, with their places in the new text; the old pieces from offset `rest` of the old text on
    are still valid. `all_pieces` computes all pieces of the new text: moving the old ones takes time proportional to
    their number after the change."""

    pieces: tuple[Piece, ...]
    rest: int
    all_pieces: Callable[[], tuple[Piece, ...]]


def recut_changes(pieces: tuple[Piece, ...], old_text: str, new_text: str) -> ChangedPieces:
    """How `recut(pieces, old_text, new_text)` differs from `pieces`."""
    if old_text == new_text:
        return ChangedPieces((), 0, lambda: pieces)
    cutter = _cut_changes(pieces, old_text, new_text)
    if cutter is not None:
        return cutter.changes(len(old_text))
    new = cut(new_text)
    return ChangedPieces(new, len(old_text) + 1, lambda: new)


def _cut_changes(pieces: tuple[Piece, ...], old_text: str, new_text: str) -> _Cutter | None:
    """A cutter that has cut what differs from `pieces`; None if the whole text must be cut."""
    if not pieces or pieces[0].start + pieces[0].seen > len(
        old_text
    ):  # cut in suspicious mode: each piece depends on the whole text
        return None
    prefix, suffix = common_ends(old_text, new_text)
    first = next((number for number, piece in enumerate(pieces) if piece.start + piece.seen >= prefix), -1)
    if first < 0:
        return None
    cutter = _Cutter(new_text, suspicious=False)
    cutter.resume(pieces, first, len(new_text) - suffix, len(new_text) - len(old_text))
    try:
        cutter.run()
    except _OpenString:
        return None
    return cutter


def common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Lengths of the common prefix and of the common suffix of two texts, or of two lists; they do not overlap."""
    shorter = min(len(old), len(new))
    prefix = _longest(shorter, lambda a, b: old[a:b] == new[a:b])
    end_old, end_new = len(old), len(new)
    suffix = _longest(shorter - prefix, lambda a, b: old[end_old - b : end_old - a] == new[end_new - b : end_new - a])
    return prefix, suffix


def _longest(limit: int, same: Callable[[int, int], bool]) -> int:
    """The largest n <= limit such that the first n are the `same`, found by halving."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


# --- characters -------------------------------------------------------------------------------------------------------

_NEWLINE = r"(?:\r\n|\r|\n)"
_PLAIN = r"[^'\"()\[\]{}\\#\r\n]"
_ESCAPE = r"\\(?:\r\n|[\s\S])"


def _string_pattern(quote: str) -> str:
    """A string in single quotes. An f-string with the same quote in braces is left to `_Lexer`. Each string matches in
    one way only: with two, a bracket with n strings that does not close on its line takes 2**n steps."""
    field = rf"\{{(?!\{{)[^{quote}\\\r\n{{}}]*(?:\{{[^{quote}\\\r\n{{}}]*\}}[^{quote}\\\r\n{{}}]*)*\}}"
    start = rf"{quote}(?!{quote * 2})"
    return (
        rf"(?<![fFtT])(?<![fFtT][rR]){start}[^{quote}\\\r\n]*(?:{_ESCAPE}[^{quote}\\\r\n]*)*{quote}"
        rf"|(?:(?<=[fFtT])|(?<=[fFtT][rR])){start}"
        rf"[^{quote}\\\r\n{{]*(?:(?:{_ESCAPE}|\{{\{{|{field})[^{quote}\\\r\n{{]*)*{quote}"
    )


_STRING = rf"(?:{_string_pattern(chr(34))}|{_string_pattern(chr(39))})"
# Closed brackets on one line, two deep, are skipped at once. The parser checks which bracket closes which.
_FLAT = rf"[(\[{{]{_PLAIN}*(?:{_STRING}{_PLAIN}*)*[)\]}}]"
_BRACKETS = rf"[(\[{{]{_PLAIN}*(?:(?:{_STRING}|{_FLAT}){_PLAIN}*)*[)\]}}]"

#: Words that cannot start a line inside brackets.
_BREAK = (
    r"(?:(?:def|class|import|return|while|with|try|raise|assert|del|global|nonlocal|pass|break|continue|except|finally"
    r"|elif|async[ \t]+(?:def|with))\b|from[ \t]+[.\w]+[ \t]+import\b)"
)

#: Blank and comment lines, then the simple part of one line: group 1 is its indentation, group 2 an empty mark at the
#: end of its code, group 3 matches if the line ends there. The limit keeps the memory of the regular expression engine
#: small in millions of blank lines.
_LINE = re.compile(
    rf"(?:[ \t\f]*(?:#[^\r\n]*)?{_NEWLINE}){{0,1000}}([ \t\f]*)"
    rf"(?:{_PLAIN}+|{_STRING}|{_BRACKETS}|\\{_NEWLINE})*()(?:(?:#[^\r\n]*)?({_NEWLINE}|\Z))?"
)
#: The same without blank lines and indentation, for the rest of a line.
_REST = re.compile(rf"(?:{_PLAIN}+|{_STRING}|{_BRACKETS}|\\{_NEWLINE})*()(?:(?:#[^\r\n]*)?({_NEWLINE}|\Z))?")
#: Inside brackets: up to a bracket, a difficult string, or a line that shows that the bracket is open. The limit keeps
#: the memory of the regular expression engine small in tables of many megabytes.
_INSIDE = re.compile(
    rf"(?:{_PLAIN}+|(?:\r\n|\n|\r(?!\n))(?![ \t\f]*{_BREAK})|{_STRING}|{_BRACKETS}|\\|#[^\r\n]*){{0,1000}}"
)
_BREAK_LINE = re.compile(rf"[ \t\f]*{_BREAK}")
#: After a bracket that is never closed: up to the line's end or a difficult string.
_RECOVER = re.compile(rf"(?:[^'\"#\r\n]+|{_STRING}|#[^\r\n]*)*")
_BLANKS = re.compile(rf"(?:[ \t\f]*(?:#[^\r\n]*)?{_NEWLINE}){{0,1000}}([ \t\f]*)")
_INDENT = re.compile(r"[ \t\f]*")
_LINE_REST = re.compile(r"[^\r\n]*")
_TRIPLE = {
    quote: re.compile(rf"{quote * 3}[^{quote}\\]*(?:(?:\\[\s\S]|{quote}(?!{quote * 2}))[^{quote}\\]*)*{quote * 3}")
    for quote in "\"'"
}
_SINGLE = {quote: re.compile(rf"{quote}[^{quote}\\\r\n]*(?:\\(?:\r\n|[\s\S])[^{quote}\\\r\n]*)*") for quote in "\"'"}
_FORMATTED = re.compile(r".?[fFtT]$|.?[fFtT][rR]$", re.DOTALL)
_FORMATTED_SIGN = re.compile(r"[{}\r\n'\"]|\\(?:\r\n|[\s\S])")
#: Content of a string that contains code because a triple quote before it was never closed.
_SUSPECT = re.compile(
    r"[\r\n](?:[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[:(])"
    r"|@\w|import[ \t]+\w|from[ \t]+[.\w]+[ \t]+import\b)"
)
_HEAD = re.compile(
    r"(@)|((?:async[ \t]+)?def\b)|(class\b)|((?:if|for|while|with|try|async[ \t]+(?:for|with))\b)"
    r"|((?:elif|else|except|finally)\b)"
)
_DECORATOR, _DEF, _CLASS, _COMPOUND, _CONTINUED = range(1, 6)


def _sure_string(quote: str, triples: bool = True) -> str:
    """A string that cannot be anything else, with `triples` also in triple quotes. It begins with its quote, so that
    the search is fast; and not after a quote, which may be one of three that are never closed. A short string does not
    begin after a backslash either: in a string that is never closed, that is an escaped quote, and following each of
    them would take quadratic time."""
    start = rf"{quote}(?<!{quote}{quote})(?<!\\{quote})(?!{quote * 2})"
    triple = rf"{quote * 3}[^{quote}\\]*(?:(?:\\[\s\S]|{quote}(?!{quote * 2}))[^{quote}\\]*)*{quote * 3}"
    usual = rf"(?<![fFtT]{quote})(?<![fFtT][rR]{quote})[^{quote}\\\r\n]*(?:\\.[^{quote}\\\r\n]*)*{quote}"
    plain = rf"[^{quote}\\\r\n{{}}]*"
    formatted = rf"{plain}(?:(?:\\[^{{}}]|\{{\{{|\}}\}}|\{{{plain}\}}){plain})*{quote}"
    short = rf"{start}(?:{usual}|{formatted})"
    return rf"{triple}|{short}" if triples else short


_COMMENT = r"#[^\r\n]*"
#: Strings with a certain end, and comments.
_SURE_STRING = re.compile(rf"{_sure_string(chr(34))}|{_sure_string(chr(39))}|{_COMMENT}")
#: At most this many triple quotes are followed to the end of a text.
_FEW_TRIPLES = 64
#: Continued lines, indentation with tabs, and line ends of other systems.
_TANGLED = ("\\\n", "\t", "\f", "\r")
#: Everything except brackets, and the quotes of strings that are not sure.
_NO_SIGNS = bytes(sign for sign in range(256) if sign not in b"()[]{}'\"")
#: The end of a body is searched for at once this many times: before its docstring and after it.
_TRIES = 2


@lru_cache(4)
def _sure_or_open(quotes: str) -> re.Pattern[str]:
    """Sure strings and comments; for `quotes` also a triple quote that is never closed, as a group, and for other
    quotes no triple-quoted strings."""
    strings = [_sure_string(quote, quote in quotes) for quote in "\"'"]
    opened = [f"({quote * 3})" for quote in quotes]
    return re.compile("|".join([*strings, _COMMENT, *opened]))


def without_strings(text: str, instead: str) -> str:
    """A text with each sure string and each comment replaced by `instead`.

    After a triple quote that is never closed, no other of its kind is closed either, so none of them is followed: in a
    text full of them that would take quadratic time."""
    if text.count("'''") + text.count('"""') <= _FEW_TRIPLES:
        return _SURE_STRING.sub(instead, text)
    parts: list[str] = []
    quotes, copied, position = "\"'", 0, 0
    while position >= 0:
        strings, position = _sure_or_open(quotes).finditer(text, position), -1
        for found in strings:
            if found.lastindex:
                quotes, position = quotes.replace(found[0][0], ""), found.start()
                break
            parts += text[copied : found.start()], instead
            copied = found.end()
    return "".join((*parts, text[copied:]))


@lru_cache(64)
def _outside(indent: int) -> re.Pattern[str]:
    """A line end before a line of code that is indented by at most `indent` spaces."""
    return re.compile(rf"\n[ ]{{0,{indent}}}(?=[^ \n#])")


def _is_tangled(text: str) -> bool:
    """Whether lines must be read one by one."""
    return any(sign in text for sign in _TANGLED)


def _is_closed(code: str) -> bool:
    """Whether a quick check shows that no bracket or string is open at the end of these lines."""
    signs = without_strings(code, "").encode("utf-8", "surrogatepass").translate(None, _NO_SIGNS)
    for _ in range(8):
        if not signs:
            return True
        signs = signs.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
    return False


def _width(indent: str) -> int:
    """The column of code after `indent`: tabs go to multiples of 8, a form feed resets to 0."""
    width = 0
    for sign in indent:
        width = 0 if sign == "\f" else width // 8 * 8 + 8 if sign == "\t" else width + 1
    return width


class _OpenString(Exception):
    """A triple-quoted string reaches the end of the text."""


class _Line(NamedTuple):
    """A line of code whose simple part has been read up to `code_end`. `end` is where the next line begins, or -1 if a
    bracket or string continues on more lines. `indent` is the column of `code`."""

    start: int
    indent: int
    code: int
    code_end: int
    end: int


class _Lexer:
    """Reads logical lines. `seen` is the largest offset that was examined."""

    def __init__(self, text: str, suspicious: bool) -> None:
        self.text = text
        self.suspicious = suspicious
        self.seen = 0
        # Brackets that are never closed, and the offset up to which that was checked. Without it a text full of open
        # brackets would take quadratic time.
        self._open: dict[int, int] = {}
        self._is_tangled = _is_tangled(text)

    def line(self, position: int) -> _Line | None:
        """The next line of code at or after `position`, a line's start; None at the end of the text."""
        found = _LINE.match(self.text, position)
        assert found is not None  # all parts are optional
        while found[3] and found.end(1) == found.start(2):  # a line without code, longer than the pattern matches
            found = _LINE.match(self.text, found.end())
            assert found is not None
        start, code = found.span(1)
        code_end = found.start(2)
        if code == code_end and found[3] is not None:  # the end of the text
            return None
        indent = found[1]
        width = len(indent) if not indent.strip(" ") else _width(indent)
        return _Line(start, width, code, code_end, -1 if found[3] is None else found.end())

    def finish(self, line: _Line, head: bool = False) -> tuple[int, int]:
        """Where the code of a logical line ends, and where the next line begins. `head`: the line is the head of a
        class or a compound statement, so the text after a bracket that is never closed may be its body."""
        if line.end >= 0:
            return line.code_end, line.end
        text = self.text
        position = line.code_end
        opened: list[int] = []
        while True:
            if opened:
                position = _end(_INSIDE, text, position)
            else:
                found = _REST.match(text, position)
                assert found is not None
                if found[2] is not None:
                    return found.start(1), found.end()
                position = found.start(1)
            sign = text[position : position + 1]
            if sign in ("'", '"'):
                position = self._string(position)
            elif sign in ("(", "[", "{"):
                opened.append(position)
                position += 1
                if position - 1 in self._open:
                    return self._recover(line, opened, self._open[position - 1], head)
            elif sign in (")", "]", "}"):
                if opened:
                    opened.pop()
                position += 1
            elif sign == "\\":  # before no line end
                position += 1
            elif sign == "":
                return self._recover(line, opened, len(text), head)
            elif sign in ("\r", "\n"):
                position = self._next(position)
                if _BREAK_LINE.match(text, position):
                    return self._recover(line, opened, self.line_end(position), head)

    def body_end(self, position: int, indent: int) -> int:
        """The end of the last line from `position` on that is indented deeper than `indent`; `position` if a quick
        check does not show it. Reading line by line takes several times as long.

        The first line that is indented less ends them unless a bracket or string is open there. If all are closed, it
        does not matter where the logical lines between begin and end."""
        text = self.text
        found = None if self.suspicious else _outside(indent).search(text, position - 1)
        if found is None:
            return position
        body = text[position : found.start() + 1]
        if (self._is_tangled and _is_tangled(body)) or not _is_closed(body):
            return position
        while body := body.rstrip(" \n"):
            last = body.rfind("\n") + 1
            if not body[last:].lstrip(" ").startswith("#"):
                return text.index("\n", position + len(body)) + 1
            if "'''" in body[last:] or '"""' in body[last:]:  # this may be the end of a string, not a comment
                return position
            body = body[:last]  # comments before the next statement belong to it
        return position

    def line_end(self, position: int) -> int:
        """Where the text line with `position` ends, before its line end."""
        return _end(_LINE_REST, self.text, position)

    def look(self, offset: int) -> None:
        """Record that the text was examined up to `offset`."""
        self.seen = max(self.seen, offset)

    def _next(self, position: int) -> int:
        """The start of the line after the line end at `position`."""
        return position + (2 if self.text.startswith("\r\n", position) else 1)

    def _string(self, position: int) -> int:
        """Where the string ends whose quote is at `position`."""
        text = self.text
        quote = text[position]
        if not text.startswith(quote * 3, position):
            if _FORMATTED.match(text, max(position - 2, 0), position):
                end = self._formatted(position, 0)
                if end >= 0:
                    return end
            end = _end(_SINGLE[quote], text, position)
            return end + 1 if text.startswith(quote, end) else end
        found = _TRIPLE[quote].match(text, position)
        if found is None and not self.suspicious:
            raise _OpenString
        if found is None or (self.suspicious and _SUSPECT.search(text, position, found.end())):
            return self.line_end(position)
        return found.end()

    def _formatted(self, position: int, nested: int) -> int:
        """Where the f-string ends whose quote is at `position`; -1 if it does not end on its line."""
        text = self.text
        quote = text[position]
        position += 1
        braces = 0
        while nested < 10 and (found := _FORMATTED_SIGN.search(text, position)):
            sign = found[0]
            position = found.end()
            if sign in ("\r", "\n"):
                return -1
            if sign == "{":
                if braces == 0 and text.startswith("{", position):  # an escaped brace
                    position += 1
                else:
                    braces += 1
            elif sign == "}":
                braces = max(0, braces - 1)
            elif sign == quote and braces == 0:
                return position
            elif sign in ("'", '"') and braces:
                position = self._formatted(found.start(), nested + 1)
                if position < 0:
                    return -1
        return -1

    def _recover(self, line: _Line, opened: list[int], looked: int, head: bool) -> tuple[int, int]:
        """The end of a logical line with brackets that are never closed (`opened`), judging by the text up to
        `looked`."""
        text = self.text
        self.look(looked)
        self._open.update(dict.fromkeys(opened, looked))
        position = opened[0]
        while True:
            position = _end(_RECOVER, text, position)
            sign = text[position : position + 1]
            if sign in ("'", '"'):
                position = self._string(position)
                continue
            if sign == "":
                return position, position
            next_line = self._next(position)
            found = _after_blanks(text, next_line)
            self.look(self.line_end(found.end()))
            if _width(found[1]) <= line.indent:
                return position, next_line
            if head and (text.startswith("@", found.end()) or _BREAK_LINE.match(text, found.end())):
                return position, next_line
            position = found.end()


def _after_blanks(text: str, position: int) -> re.Match[str]:
    """The match whose group 1 is the indentation of the first line of code from `position` on."""
    found = _BLANKS.match(text, position)
    while found is not None and found.start(1) > position:
        position = found.start(1)
        found = _BLANKS.match(text, position)
    assert found is not None
    return found


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """The end of the match at `position`, of a pattern that always matches there."""
    found = pattern.match(text, position)
    assert found is not None
    return found.end()


class _Container:
    """A container of pieces: a class, a clause, or the module (`index` and `indent` -1).

    `clause` is the indentation of its last piece if that is a clause, else -1: a following `else` belongs to it."""

    __slots__ = ("clause", "indent", "index", "kind")

    def __init__(self, index: int, indent: int, kind: str) -> None:
        self.index = index
        self.indent = indent
        self.kind = kind
        self.clause = -1


class _Rest(NamedTuple):
    """The old pieces from `first` on are valid in the new text, `lines` further down. `parents` are the new indices of
    the containers that are open there, by the old ones."""

    first: int
    lines: int
    parents: dict[int, int]


class _Cutter:
    """Cuts one text, from its start or from a piece of an older text on."""

    def __init__(self, text: str, suspicious: bool) -> None:
        self._text = text
        self._suspicious = suspicious
        self._lexer = _Lexer(text, suspicious)
        self._pieces: list[Piece] = []
        self._stack = [_Container(-1, -1, "module")]
        self._counted = (0, 0)  # an offset and its line number
        self._old: tuple[Piece, ...] = ()
        self._old_index = 0
        self._same_from = 0
        self._shift = 0
        self._first = 0
        self._rest: _Rest | None = None

    def resume(self, old: tuple[Piece, ...], first: int, same_from: int, shift: int) -> None:
        """Keep the pieces before `old[first]`, and those that begin in the same way from `same_from` on: their offset
        in the old text is smaller by `shift`."""
        self._old = old
        self._old_index = self._first = first
        self._same_from = same_from
        self._shift = shift
        if first == 0:
            return
        self._pieces = list(old[:first])
        self._counted = (old[first].start, old[first].line)
        for index in _chain(old, first):
            self._stack.append(_Container(index, _indent(old[index]), old[index].kind))
        containers = {container.index: container for container in self._stack}
        index = first - 1
        while index >= 0:
            piece = old[index]
            if piece.kind == "clause" and piece.parent in containers:
                containers[piece.parent].clause = _indent(piece)
            index = piece.parent

    def run(self) -> None:
        """Cut to the end, or to the line from which on the old pieces are still valid."""
        line = self._lexer.line(self._counted[0])
        while line is not None:
            while self._stack[-1].indent >= line.indent:
                self._stack.pop()
            if self._old and self._rest_is_known(line):
                return
            line = self._piece(line)

    def all_pieces(self) -> tuple[Piece, ...]:
        """The pieces of the text, after `run`."""
        if self._rest is None:
            return tuple(self._pieces)
        return (*self._pieces, *self._moved(self._rest))

    def changes(self, old_end: int) -> ChangedPieces:
        """The pieces that `run` has cut. `old_end`: the length of the old text."""
        rest = old_end + 1 if self._rest is None else self._old[self._rest.first].start
        return ChangedPieces(tuple(self._pieces[self._first :]), rest, self.all_pieces)

    def _piece(self, line: _Line) -> _Line | None:
        """Cut the piece that begins with `line`. Returns the first line after it."""
        self._lexer.seen = 0
        first = line
        word = _HEAD.match(self._text, line.code)
        while word is not None and word.lastindex == _DECORATOR:
            end = self._lexer.finish(line)[1]
            following = self._lexer.line(end)
            if following is None or following.indent != first.indent:
                return self._statement(first, end, following)
            word = _HEAD.match(self._text, following.code)
            if word is None or word.lastindex not in (_DECORATOR, _DEF, _CLASS):
                return self._statement(first, end, following)
            line = following
        kind = 0 if word is None else word.lastindex
        if kind == _CLASS:
            return self._class(first, line)
        if word is not None and kind in (_COMPOUND, _CONTINUED):
            return self._compound(line, " ".join(word[0].split()), kind == _CONTINUED)
        end = self._lexer.finish(line)[1]
        return self._statement(first, end, self._lexer.line(end))

    def _statement(self, first: _Line, end: int, following: _Line | None) -> _Line | None:
        """Cut a statement that extends at least to `end`, with the deeper lines that follow."""
        lexer = self._lexer
        tries = _TRIES
        while following is not None and following.indent > first.indent:
            begin, tries = end, tries - 1
            if tries >= 0:
                end = lexer.body_end(begin, first.indent)
            if end == begin:
                end = lexer.finish(following)[1]
            following = lexer.line(end)
        self._emit("statement", "", first, end, following)
        return following

    def _class(self, first: _Line, line: _Line) -> _Line | None:
        code_end, end = self._lexer.finish(line, head=True)
        following = self._lexer.line(end)
        deeper = following is not None and following.indent > first.indent
        if not deeper and not self._text[line.code : code_end].rstrip().endswith(":"):
            return self._statement(first, end, following)
        self._emit("class", "", first, end, following)
        self._stack.append(_Container(len(self._pieces) - 1, first.indent, "class"))
        return following

    def _compound(self, line: _Line, keyword: str, continued: bool) -> _Line | None:
        if not continued or self._stack[-1].clause != line.indent:
            short = self._short(line)
            if short is not None:
                end, following = short
                self._emit("statement", "", line, end, following)
                return following
        end = self._lexer.finish(line, head=True)[1]
        following = self._lexer.line(end)
        self._emit("clause", keyword, line, end, following)
        self._stack.append(_Container(len(self._pieces) - 1, line.indent, "clause"))
        return following

    def _short(self, line: _Line) -> tuple[int, _Line | None] | None:
        """The end of a compound statement with all its clauses, and the line after it; None if it is long."""
        text = self._text
        end = self._lexer.finish(line, head=True)[1]
        count = _newlines(text, line.start, end)
        following = self._lexer.line(end)
        while following is not None and count <= LONG:
            if following.indent < line.indent:
                break
            if following.indent == line.indent:
                word = _HEAD.match(text, following.code)
                if word is None or word.lastindex != _CONTINUED:
                    break
            begin, end = end, self._lexer.finish(following)[1]
            count += _newlines(text, begin, end)
            following = self._lexer.line(end)
        if count <= LONG:
            return end, following
        self._lexer.look(end)
        return None

    def _emit(self, kind: Kind, keyword: str, first: _Line, end: int, following: _Line | None) -> None:
        start = first.start
        text = self._text
        if self._suspicious:
            seen = len(text) + 1
        elif following is None:
            seen = len(text)
        else:
            seen = max(self._lexer.seen, self._lexer.line_end(following.code))
        container = self._stack[-1]
        container.clause = first.indent if kind == "clause" else -1
        line = self._line_number(start)
        code = text[start:end]
        index = len(self._pieces)
        if index < len(self._old) and self._old[index].text == code:  # read again, but not changed
            code = self._old[index].text
        self._pieces.append(Piece(kind, keyword, code, start, line, container.index, seen - start))

    def _line_number(self, offset: int) -> int:
        """The line of an offset. Call it with ascending offsets."""
        counted, line = self._counted
        line += _newlines(self._text, counted, offset)
        self._counted = (offset, line)
        return line

    def _rest_is_known(self, line: _Line) -> bool:
        """Reuse the old pieces from here on, if one begins here in the same containers."""
        if line.start < self._same_from:
            return False
        old = self._old
        offset = line.start - self._shift
        index = self._old_index
        while index < len(old) and old[index].start < offset:
            index += 1
        self._old_index = index
        if index == len(old) or old[index].start != offset:
            return False
        word = _HEAD.match(self._text, line.code)
        if word is not None and word.lastindex == _CONTINUED:  # depends on the piece before it
            return False
        chain = _chain(old, index)
        containers = self._stack[1:]
        if [(old[i].kind, _indent(old[i])) for i in chain] != [(c.kind, c.indent) for c in containers]:
            return False
        parents = dict(zip([-1, *chain], [c.index for c in self._stack], strict=True))
        self._rest = _Rest(index, self._line_number(line.start) - old[index].line, parents)
        return True

    def _moved(self, rest: _Rest) -> Iterable[Piece]:
        """The old pieces from where the text is the same, at their new places."""
        pieces = self._old[rest.first :]
        moved = len(self._pieces) - rest.first
        shift = self._shift
        same_parents = all(old == new for old, new in rest.parents.items())
        if not (rest.lines or moved or shift) and same_parents:
            return pieces
        return (
            Piece(
                piece.kind,
                piece.keyword,
                piece.text,
                piece.start + shift,
                piece.line + rest.lines,
                rest.parents[piece.parent] if piece.parent < rest.first else piece.parent + moved,
                piece.seen,
            )
            for piece in pieces
        )


def _chain(pieces: tuple[Piece, ...], index: int) -> list[int]:
    """The containers of a piece, outermost first."""
    chain = []
    while (index := pieces[index].parent) >= 0:
        chain.append(index)
    return chain[::-1]


def _indent(piece: Piece) -> int:
    found = _INDENT.match(piece.text)
    assert found is not None
    return _width(found[0])


def _newlines(text: str, start: int, end: int) -> int:
    """The number of line ends in `text[start:end]`."""
    count = text.count("\n", start, end)
    old_mac = text.count("\r", start, end)
    return count + old_mac - text.count("\r\n", start, end) if old_mac else count
