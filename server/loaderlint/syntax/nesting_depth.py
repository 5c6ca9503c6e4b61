"""How deeply a text nests, estimated before it is parsed.

libcst's native parser recurses, and when its stack overflows the process ends without an exception. Some constructs
also take it exponential time. The estimate is an upper bound: it may overestimate the depth, but never underestimates
it. Short, simple lines are skipped at once, because they cannot be deep.

The weights were measured: the depth at which a thread with a stack of 512 KiB dies, for each construct."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Deeper trees would break Python's default recursion limit of 1,000 frames in code that recurses over them.
MAX_LEVELS = 250

#: The native parser runs on the calling thread if it needs no more stack than this; some threads have only 512 KiB.
SMALL_STACK = 400 * 1024

_KIB = 1024
_BLOCK = 28 * _KIB
_BRACKET = 8 * _KIB
_LAMBDA = 6 * _KIB
_FOR = 3 * _KIB
_OPERATOR = 2 * _KIB + 512
_ELIF = 2 * _KIB

#: The maximum length of a short line, and its maximum cost, such as of 60 attributes or 17 lambdas.
_SHORT = 120
_SHORT_LEVELS = 60
_SHORT_STACK = 110 * _KIB

#: Brackets in patterns and del statements cost time that doubles with every level.
_SLOW_BRACKETS = 6

_NEWLINE = r"(?:\r\n|\r|\n)"
_PLAIN = r"[^'\"()\[\]{}\\#\r\n]"


def _simple_string(quote: str) -> str:
    """A string on one line with few brackets, because they may belong to an f-string's expressions."""
    plain = rf"[^{quote}\\\r\n(\[{{]*"
    return rf"{quote}(?!{quote * 2}){plain}(?:(?:\\[^\r\n]|[(\[{{]){plain}){{0,6}}{quote}"


_STRING = rf"(?:{_simple_string(chr(34))}|{_simple_string(chr(39))})"
_FLAT = rf"[(\[{{]{_PLAIN}*(?:{_STRING}{_PLAIN}*)*[)\]}}]"
_BRACKETS = rf"[(\[{{]{_PLAIN}*(?:(?:{_STRING}|{_FLAT}){_PLAIN}*)*[)\]}}]"
_DOCSTRING = rf'[ \t]*[rR]?"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""[ \t]*{_NEWLINE}'
_EASY = re.compile(
    rf"(?:{_DOCSTRING}|(?=[^\r\n]{{0,{_SHORT}}}(?:[\r\n]|\Z)){_PLAIN}*(?:(?:{_STRING}|{_BRACKETS}){_PLAIN}*)*"
    rf"(?:#[^\r\n]*)?{_NEWLINE}){{0,200}}"
)


def _field(quote: str) -> str:
    """The text in the braces of a formatted string, with pairs of brackets side by side."""
    plain = rf"[^{quote}\\\r\n{{}}()\[\]]*"
    return rf"\{{{plain}(?:[(\[]{plain}[)\]]{plain})*\}}"


def _any_string(quote: str) -> str:
    """A string on one line; a formatted one if its braces are simple."""
    text, start = rf"[^{quote}\\\r\n]*", rf"{quote}(?!{quote * 2})"
    formatted = rf"[^{quote}\\\r\n{{}}]*"
    return (
        rf"(?<![fFtT])(?<![fFtT][rR]){start}{text}(?:\\[^\r\n]{text})*{quote}"
        rf"|(?:(?<=[fFtT])|(?<=[fFtT][rR])){start}{formatted}(?:{_field(quote)}{formatted})*{quote}"
    )


_ITEM = rf"{_any_string(chr(34))}|{_any_string(chr(39))}|#[^\r\n]*(?=[\r\n])"


def _nested(inside: str) -> str:
    """Strings and comments, and brackets on any number of lines that contain them."""
    code = r"[^'\"()\[\]{}\\#]*"
    return rf"{_ITEM}|[(\[{{]{code}(?:(?:{inside}){code})*[)\]}}]"


#: A logical line with brackets at most three deep. Most lines that are not short match it.
_TAME = re.compile(rf"{_PLAIN}*(?:(?:{_nested(_nested(_nested(_ITEM)))}){_PLAIN}*)*(?:#[^\r\n]*)?{_NEWLINE}")
#: The maximum depth of brackets in such a line, including those in the braces of a formatted string.
_TAME_BRACKETS = 5
_OPENING = b"([{"
_OPERATORS = b".+-*/%@&|^~<>"
_WORDS = re.compile(r"\b(?:lambda|for|and|or|not|if|await)\b")
_MAYBE_WORDS = ("for", "and", "or", "not", "if", "await")
_STRING_BESIDE = re.compile(r"['\"](?:\s|#[^\r\n]*[\r\n])*[A-Za-z]{0,2}['\"]")

_TOKEN = re.compile(
    r"(?P<prefix>(?:\b[A-Za-z]{1,2})?)(?P<quote>\"\"\"|'''|\"|')|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<reset>[,;])"
    r"|(?P<newline>\r\n|\r|\n)|(?P<lambda>\blambda\b)|(?P<for>\bfor\b)"
    r"|(?P<operator>\*\*|//|<<|>>|[-+*/%@&|^~.]|\b(?:and|or|not|if|await)\b)|\#[^\r\n]*|\\(?:\r\n|[\s\S])"
)
_REST_OF_STRING = {
    quote: re.compile(rf"[^{quote[0]}\\]*(?:(?:\\[\s\S]|{quote[0]}(?!{quote[1:]}))[^{quote[0]}\\]*)*(?:{quote}|\Z)")
    for quote in ('"""', "'''")
} | {
    quote: re.compile(rf"[^{quote}\\\r\n]*(?:\\(?:\r\n|[\s\S])[^{quote}\\\r\n]*)*(?:{quote}|(?=[\r\n])|\\?\Z)")
    for quote in "\"'"
}
_INDENTS = re.compile(r"\n[ \t\f]*(?![ \t\f\r\n#])")
_SLOW = re.compile(r"[ \t\f]*(?:case|del)\b|[^\r\n]*[:;][ \t]*del\b")


class Depth(NamedTuple):
    """`levels`: how many nodes may be nested; `stack`: bytes of stack that the native parser may need; `slow`: whether
    it may need exponential time."""

    levels: int
    stack: int
    slow: bool

    @property
    def is_too_deep(self) -> bool:
        """Whether the text must not be parsed: it could crash the process, take exponential time, or give a tree on
        which recursive functions fail. Real code is far from it."""
        return self.slow or self.levels > MAX_LEVELS


def measure(text: str) -> Depth:
    """An upper bound of the depth of `text`."""
    blocks = 1 + _blocks(text)
    elifs = text.count("elif")
    levels, stack = 2 * blocks + elifs, _BLOCK * blocks + _ELIF * elifs
    deepest = _expressions(text, MAX_LEVELS - levels, SMALL_STACK - stack)
    return Depth(deepest.levels + levels, deepest.stack + stack, deepest.slow)


def _blocks(text: str) -> int:
    """An upper bound of the number of nested blocks."""
    indents = _INDENTS.findall("\n" + (text.replace("\r", "\n") if "\r" in text else text))
    different = len(set(indents))
    if different <= 8:
        return different
    # Lines of strings and brackets only make the staircase higher.
    steps: list[int] = []
    highest = 0
    for indent in indents:
        width = len(indent[1:].expandtabs(8))
        while steps and steps[-1] >= width:
            steps.pop()
        steps.append(width)
        highest = max(highest, len(steps))
    return highest


def _expressions(text: str, levels_left: int, stack_left: int) -> Depth:
    """The depth of the deepest logical line. Lines within the limits by a rough estimate are not measured exactly."""
    levels, stack, slow = _SHORT_LEVELS, _SHORT_STACK, False
    position = 0
    while True:
        found = _EASY.match(text, position)
        assert found is not None
        if found.end() > position:
            position = found.end()
            continue
        if position >= len(text):
            return Depth(levels, stack, slow)
        tame = _TAME.match(text, position)
        if tame is not None:
            rough = _rougher(tame[0])
            if rough.levels > levels_left or rough.stack > stack_left:
                rough = _rough(tame[0])
            if rough.levels <= levels_left and rough.stack <= stack_left:
                levels, stack = max(levels, rough.levels), max(stack, rough.stack)
                position = tame.end()
                continue
        gauge = _Gauge()
        end = gauge.line(text, position)
        levels = max(levels, gauge.levels)
        stack = max(stack, gauge.stack)
        slow = slow or (gauge.brackets > _SLOW_BRACKETS and _SLOW.match(text, position) is not None)
        position = end


def _rougher(line: str) -> Depth:
    """An upper bound of `_rough` in a quarter of its time: it counts the letters of words as words, and all strings as
    adjacent."""
    words = sum([line.count(word) for word in _MAYBE_WORDS])
    return _if_nested(line, words, line.count("lambda"), (line.count('"') + line.count("'")) // 2)


def _rough(line: str) -> Depth:
    """An upper bound of the depth of a simple line: it counts all operators as nested."""
    words = _WORDS.findall(line)
    lambdas = words.count("lambda")
    return _if_nested(line, len(words) - lambdas, lambdas, len(_STRING_BESIDE.findall(line)))


def _if_nested(line: str, words: int, lambdas: int, joined: int) -> Depth:
    """The depth of a line if all of its tokens were nested. `joined`: the number of adjacent strings."""
    data = line.encode("utf-8", "surrogatepass")
    opening = len(data) - len(data.translate(None, _OPENING))
    signs = opening + len(data) - len(data.translate(None, _OPERATORS)) + words + joined
    brackets = min(opening, _TAME_BRACKETS)
    stack = brackets * _BRACKET + signs * max(_OPERATOR, _FOR) + lambdas * _LAMBDA
    return Depth(2 * brackets + signs + 2 * lambdas, stack, False)


class _Gauge:
    """Measures one logical line: the largest sum, over the open brackets, of the depth in each bracket up to a
    comma."""

    def __init__(self) -> None:
        self.levels = 0
        self.stack = 0
        self.brackets = 0
        self._all_code = False
        self._open = False
        self._now = [(0, 0)]  # levels and stack up to each open bracket, and since the last comma

    def line(self, text: str, position: int, template: bool = False) -> int:
        """Measure from `position` to the end of the logical line, which is returned. `template`: the text is the
        content of a formatted string, where only braces count outside of braces."""
        now = self._now
        bases = [now[-1]]
        after_string = False
        while found := _TOKEN.search(text, position):
            position = found.end()
            kind = found.lastgroup
            if template and len(bases) == 1:
                if found["open"] != "{":
                    position = max(found.start() + 1, found.start("quote") + 1)
                    continue
                if text.startswith("{", position):  # an escaped brace
                    position += 1
                    continue
                now[-1] = bases[-1]
            if kind == "quote" and self._all_code:
                continue
            if kind == "quote":
                if after_string:
                    self._add(1, _OPERATOR)
                position = self._string(text, found)
                after_string = True
                continue
            if kind == "newline":
                if len(bases) == 1 and not template:
                    return position
                continue
            if kind is None:  # a comment or an escaped line end
                continue
            after_string = False
            if kind == "open":
                self._add(1, _OPERATOR)
                bases.append((now[-1][0] + 2, now[-1][1] + _BRACKET))
                now.append(bases[-1])
                self._note()
                self.brackets = max(self.brackets, len(bases) - 1)
            elif kind == "close":
                if len(bases) > 1:
                    bases.pop()
                    now.pop()
            elif kind == "reset":
                now[-1] = bases[-1]
            elif kind == "lambda":
                self._add(2, _LAMBDA)
            elif kind == "for":
                self._add(1, _FOR)
            else:
                self._add(1, _OPERATOR)
        self._open = len(bases) > 1
        return len(text)

    def _string(self, text: str, found: re.Match[str]) -> int:
        """Measure the string whose start was `found`. Returns its end."""
        start = found.end()
        rest = _REST_OF_STRING[found["quote"]].match(text, start)
        end = len(text) if rest is None else rest.end()
        if not set(found["prefix"]).isdisjoint("fFtT"):
            inner = _Gauge()
            inner._now = [self._now[-1]]
            inner.line(text[start:end], 0, template=True)
            if inner._open:  # its own quote is in braces, so it is not the end: nothing is a string from here on
                self._all_code = True
                return start
            self.levels = max(self.levels, inner.levels)
            self.stack = max(self.stack, inner.stack)
        return end

    def _add(self, levels: int, stack: int) -> None:
        now = self._now[-1]
        self._now[-1] = (now[0] + levels, now[1] + stack)
        self._note()

    def _note(self) -> None:
        levels, stack = self._now[-1]
        self.levels = max(self.levels, levels)
        self.stack = max(self.stack, stack)
