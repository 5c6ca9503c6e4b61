"""`.gitignore` patterns, matched as git does, in time proportional to the length of the pattern times that of the path.

Regular expressions for such patterns may backtrack endlessly (`*a*a*a*b`), so a pattern is a small automaton: one
integer is the set of positions in the pattern that a path may have reached, and each byte of the path moves all of them
at once. Most patterns are plain names or `*.suffix` and need no automaton.

Everything is bytes: `?` matches one byte in git, and a name on disk need not be text.

Sources: https://git-scm.com/docs/gitignore, and git's dir.c and wildmatch.c where that page is silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

_SLASH = ord("/")
_SPECIAL = re.compile(rb"[*?\[\\]")
#: The maximum number of bytes in a path on any system. A pattern that needs more cannot match.
_LONGEST = 8_192

_UNCLOSED = "a '[' in it has no ']'; write \\[ for a literal ["

_CLASSES: dict[bytes, Callable[[int], bool]] = {
    b"alnum": lambda c: chr(c).isalnum(),
    b"alpha": lambda c: chr(c).isalpha(),
    b"blank": lambda c: c in b" \t",
    b"cntrl": lambda c: c < 32 or c == 127,
    b"digit": lambda c: chr(c).isdigit(),
    b"graph": lambda c: 32 < c < 127,
    b"lower": lambda c: chr(c).islower(),
    b"print": lambda c: 32 <= c < 127,
    b"punct": lambda c: 32 < c < 127 and not chr(c).isalnum(),
    b"space": lambda c: c in b" \t\n\r\f\v",
    b"upper": lambda c: chr(c).isupper(),
    b"xdigit": lambda c: c in b"0123456789abcdefABCDEF",
}


class BadPattern(ValueError):
    """A pattern that cannot match anything; the message, for users, says why."""


class _Star(NamedTuple):
    """A star: it matches any bytes, including slashes only if `crosses`. `optional`: the star and the slash after it
    may be missing (`**/`)."""

    crosses: bool
    optional: bool = False


#: A part of a pattern: the set of bytes that match, or a star.
_Token = frozenset[int] | _Star
_NO_SLASH = frozenset(range(256)) - {_SLASH}


class Pattern(Struct):
    """One pattern. `text` is without a leading `!` and a trailing slash; `line` is its 1-based line in the ignore
    file."""

    text: bytes
    negative: bool
    folders_only: bool
    line: int
    _matches: Callable[[bytes], bool]
    _by_name: bool

    def matches(self, path: bytes, is_folder: bool) -> bool:
        """Whether a path (relative to the pattern's folder, with `/`) matches itself, not only a folder around it."""
        if self.folders_only and not is_folder:
            return False
        return self._matches(path.rpartition(b"/")[2] if self._by_name else path)


class IgnoreRules:
    """The patterns in one ignore file, or in one setting."""

    __slots__ = ("_patterns", "problems")

    def __init__(self, lines: Iterable[bytes]) -> None:
        patterns: list[Pattern] = []
        self.problems: list[tuple[int, str]] = []
        """Lines (1-based) with patterns that cannot match anything, and why."""
        for number, line in enumerate(lines, 1):
            try:
                pattern = parse(line, number)
            except BadPattern as error:
                self.problems.append((number, str(error)))
            else:
                patterns.extend([pattern] if pattern is not None else [])
        self._patterns = tuple(reversed(patterns))

    def decision(self, path: bytes, is_folder: bool) -> bool | None:
        """Whether the path itself is ignored (the last matching pattern decides); None if no pattern matches."""
        for pattern in self._patterns:
            if pattern.matches(path, is_folder):
                return not pattern.negative
        return None

    def ignores_file(self, path: bytes) -> bool:
        """Whether a file is ignored, itself or with a folder around it: files below an ignored folder cannot be
        included again."""
        end = path.find(b"/")
        while end >= 0:
            if self.decision(path[:end], True):
                return True
            end = path.find(b"/", end + 1)
        return bool(self.decision(path, False))


def lines_of(data: bytes) -> list[bytes]:
    """The lines of an ignore file as git splits it."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [line.removesuffix(b"\r") for line in lines]


def parse(line: bytes, number: int = 0) -> Pattern | None:
    """The pattern on a line; None for comments and empty lines.

    Raises BadPattern for a pattern that cannot match anything."""
    if line.startswith(b"#"):
        return None
    text = _without_trailing_spaces(line)
    negative = text.startswith(b"!")
    text = text[negative:]
    folders_only = text.endswith(b"/")
    text = text[: len(text) - folders_only]
    if not text:
        return None
    by_name = b"/" not in text
    return Pattern(text, negative, folders_only, number, _matcher(text.removeprefix(b"/")), by_name)


def _without_trailing_spaces(line: bytes) -> bytes:
    """The line without trailing spaces, except one after a backslash."""
    end = len(line.rstrip(b" "))
    backslashes = end - len(line[:end].rstrip(b"\\"))
    return line[: end + 1] if backslashes % 2 and end < len(line) else line[:end]


def _matcher(pattern: bytes) -> Callable[[bytes], bool]:
    special = _SPECIAL.search(pattern)
    if special is None:
        return pattern.__eq__
    start = special.start()
    prefix, rest = pattern[:start], pattern[start:]
    if rest[:1] == b"*" and _SPECIAL.search(rest, 1) is None and b"/" not in rest:
        return _prefix_and_suffix(prefix, rest[1:])
    tokens = _normal(list(_tokens(rest)))
    automaton = _Automaton(tokens)
    return lambda path: path.startswith(prefix) and automaton.matches(path[start:])


def _prefix_and_suffix(prefix: bytes, suffix: bytes) -> Callable[[bytes], bool]:
    length, least = len(prefix), len(prefix) + len(suffix)

    def matches(path: bytes) -> bool:
        return len(path) >= least and path.endswith(suffix) and path.startswith(prefix) and path.find(b"/", length) < 0

    return matches


# --- reading a pattern ------------------------------------------------------------------------------------------------


def _tokens(pattern: bytes) -> Iterator[_Token]:
    """The parts of a pattern from its first special character on."""
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == ord("*"):
            end = at + 1
            while pattern[end : end + 1] == b"*":
                end += 1
            yield _star(pattern, at, end)
            at = end
        elif sign == ord("?"):
            yield _NO_SLASH
            at += 1
        elif sign == ord("["):
            members, at = _bracket(pattern, at + 1)
            yield members
        else:
            at += sign == ord("\\")
            if at == len(pattern):
                raise BadPattern("it ends with a backslash")
            yield frozenset({pattern[at]})
            at += 1


def _star(pattern: bytes, start: int, end: int) -> _Star:
    # git first cuts off the part without special characters, so `**` at the start of the rest counts as if after a
    # slash.
    stands_alone = start == 0 or pattern[start - 1] == _SLASH
    after = pattern[end : end + 1]
    if end - start == 1 or not stands_alone or (after not in (b"", b"/") and pattern[end : end + 2] != b"\\/"):
        return _Star(crosses=False)
    return _Star(crosses=True, optional=after == b"/")


def _bracket(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """The bytes that a bracket expression matches, and the offset after it."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    previous: int | None = None
    first = True
    while True:
        sign = pattern[at : at + 1]
        if not sign:
            raise BadPattern(_UNCLOSED)
        if sign == b"]" and not first:
            break
        first = False
        if sign == b"-" and previous is not None and pattern[at + 1 : at + 2] not in (b"", b"]"):
            at += 1 + (pattern[at + 1] == ord("\\"))
            if at >= len(pattern):
                raise BadPattern(_UNCLOSED)
            members.update(range(previous, pattern[at] + 1))
            previous = None
        elif sign == b"[" and pattern[at + 1 : at + 2] == b":" and (named := _named_class(pattern, at)) is not None:
            chosen, at = named
            members |= chosen
            previous = None
        else:
            at += sign == b"\\"
            if at >= len(pattern):
                raise BadPattern(_UNCLOSED)
            previous = pattern[at]
            members.add(previous)
        at += 1
    return _NO_SLASH - members if negated else frozenset(members) - {_SLASH}, at + 1


def _named_class(pattern: bytes, at: int) -> tuple[frozenset[int], int] | None:
    """The bytes of `[:name:]`, and the offset of its last character; None if the bracket is not such a class."""
    end = pattern.find(b"]", at + 2)
    if end < 0:
        raise BadPattern(_UNCLOSED)
    if end - 1 < at + 2 or pattern[end - 1] != ord(":"):
        return None
    name = pattern[at + 2 : end - 1]
    if name not in _CLASSES:
        raise BadPattern(f"there is no class [:{name.decode('utf-8', 'replace')}:]")
    return frozenset(sign for sign in range(128) if _CLASSES[name](sign)), end


def _normal(tokens: list[_Token]) -> list[_Token]:
    """The same pattern without repetitions of `**/`, so that at most two parts in a row are optional."""
    slash = frozenset({_SLASH})
    found: list[_Token] = []
    for token in tokens:
        repeated = isinstance(token, _Star) and token.optional
        if repeated and len(found) >= 2 and found[-1] == slash and found[-2] == token:
            del found[-2:]
        found.append(token)
    if sum(not isinstance(token, _Star) for token in found) > _LONGEST:
        raise BadPattern("it is longer than any path")
    return found


# --- matching ---------------------------------------------------------------------------------------------------------


class _Automaton:
    """An automaton for a pattern. A state is a position in the pattern; a set of states is an integer with their bits.
    An optional part (`**/`) has a separate state in front, because it is skipped as a whole or not at all."""

    __slots__ = ("_accept", "_least", "_moves", "_optional", "_skips", "_stays", "_stays_in_folder", "_takes")

    def __init__(self, tokens: list[_Token]) -> None:
        self._stays = self._stays_in_folder = self._skips = self._optional = self._least = 0
        self._takes: dict[int, int] = {}
        self._moves: list[tuple[int, frozenset[int]]] = []
        bit = 1
        for token in tokens:
            if not isinstance(token, _Star):
                self._moves.append((bit, token))
                self._least += 1
            else:
                if token.optional:
                    self._optional |= bit
                    self._least -= 1
                    bit <<= 1
                self._skips |= bit
                self._stays |= bit if token.crosses else 0
                self._stays_in_folder |= bit
            bit <<= 1
        self._accept = bit

    def matches(self, text: bytes) -> bool:
        """Whether the pattern matches the whole text."""
        if len(text) < self._least:
            return False
        states = self._closed(1)
        for sign in text:
            takes = self._takes.get(sign)
            if takes is None:
                takes = self._takes[sign] = sum(bit for bit, members in self._moves if sign in members)
            stays = self._stays if sign == _SLASH else self._stays_in_folder
            states = self._closed((states & takes) << 1 | states & stays)
            if not states:
                return False
        return bool(states & self._accept)

    def _closed(self, states: int) -> int:
        """These states, and those that are reached by skipping stars."""
        while True:
            left_out = states & self._optional  # the star and the slash after it
            more = states | (states & self._skips) << 1 | left_out << 1 | left_out << 3
            if more == states:
                return states
            states = more
