"""Converts Jupyter notebooks to Python source, and back.

The code cells, joined in order, are one module: the state of the kernel after 'Run all'. IPython's own lines (`%magic`,
`!command`, `name?`, `pip install x`) are blanked at equal length, so that every position in the source is a position in
a cell. Edits of the source are written back to the cells; everything else in the file is unchanged, byte for byte.

Source: nbformat 4 (https://nbformat.readthedocs.io/en/latest/format_description.html), IPython's input transformations
(https://ipython.readthedocs.io/en/stable/interactive/magics.html).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any

from msgspec import Struct

SUFFIX = ".ipynb"

#: Cell magics whose cell is Python that runs in this kernel. Any other cell magic takes its whole cell.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "scalene"})

#: Line magics that are commonly written without `%` (IPython's automagic).
_AUTOMAGIC = "pip|conda|mamba|cd|ls|ll|cat|cp|mv|rm|mkdir|rmdir|man|less|more|run|load|time|timeit|matplotlib|env"
#: Text after such a word that is not Python after a name: another word, a path, a flag with its value.
_AUTOMAGIC_REST = r"(?!(?:if|in|is|and|or|not|for|else)\b)[A-Za-z_]|\.|~|--?[A-Za-z][\w-]*[ \t]+[\w./~]"

_CELL_MAGIC = re.compile(r"\s*%%(\w*)")
#: A line of IPython syntax where a statement may start.
_MAGIC = re.compile(
    r"[ \t]*(?P<magic>[%!?](?:\\(?:\r\n|.)|[^\r\n\\])*|[\w.]+\?{1,2}[ \t]*(?=[\r\n]|\Z)"
    rf"|(?:{_AUTOMAGIC})[ \t]+(?:{_AUTOMAGIC_REST})[^\r\n]*)",
    re.DOTALL,
)
#: `files = !ls`, `out = %time f()`.
_ASSIGNED = re.compile(
    r"[ \t]*[\w.,\[\]'\" \t]*[\w\]][ \t]*=[ \t]*(?P<magic>[%!](?:\\(?:\r\n|.)|[^\r\n\\])*)", re.DOTALL
)
#: Tokens of a line that determine where the next statement starts.
_TOKEN = re.compile(
    r'"""(?:[^\\"]+|\\.|"(?!""))*(?:"""|\\?\Z)'
    r"|'''(?:[^\\']+|\\.|'(?!''))*(?:'''|\\?\Z)"
    r'|"(?:[^"\\\r\n]+|\\(?:\r\n|.))*"?'
    r"|'(?:[^'\\\r\n]+|\\(?:\r\n|.))*'?"
    r"|#[^\r\n]*"
    r"|\\(?:\r\n|\r|\n)"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])"
    r"|(?P<newline>\r\n|\r|\n)",
    re.DOTALL,
)
_NO_LINE_END = re.compile(r"[^\r\n]")
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_JSON_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
#: One character of a JSON string, however it is written.
_JSON_SIGN = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.")
_DECODER = json.JSONDecoder()
#: More values (numbers, strings, lists, objects) take much memory once they are decoded: 100 MB of `[],[],` take 3 GB.
_MOST_VALUES = 5_000_000


class UnreadableNotebook(Exception):
    """The text is not a readable notebook; the message, for users, says why."""


class _Cell(Struct, frozen=True):
    """A code cell: its source, and where the value of `source` is in the file (offsets in characters)."""

    source: str
    start: int
    end: int


class Notebook(Struct, frozen=True):
    """A notebook. `text` is the Python source; `starts` the 0-based line of `text` at which each code cell begins."""

    file: str
    cells: tuple[_Cell, ...]
    text: str
    starts: tuple[int, ...]

    def edited(self, after: str) -> str:
        """The file's text after `text` was changed to `after`."""
        return self._with(shared_out([cell.source for cell in self.cells], self.text, after))

    def in_file(self, line: int, column: int) -> tuple[int, int]:
        """The position in the file of a position in `text` (line and column 0-based, in characters), for viewers
        without notebook support."""
        if not self.cells:
            return 0, 0
        number, within = cell_of(self.starts, line)
        cell = self.cells[number - 1]
        lines = _lines(_closed(cell.source))
        if within >= len(lines):
            within, column = len(lines) - 1, len(lines[-1])
        at = self._offset(cell, sum(map(len, lines[:within])) + min(column, len(lines[within].rstrip("\r\n"))))
        return self.file.count("\n", 0, at), at - self.file.rfind("\n", 0, at) - 1

    def _offset(self, cell: _Cell, offset: int) -> int:
        """The offset in the file of a character of a cell's source."""
        at = cell.start
        for string in _JSON_STRING.finditer(self.file, cell.start, cell.end):
            for sign in _JSON_SIGN.finditer(self.file, *string.span(1)):
                if not offset:
                    return sign.start()
                offset -= 1
            at = string.end(1)
        return at

    def _with(self, sources: list[str]) -> str:
        """The file's text with other sources; a cell with an unchanged source keeps its bytes."""
        out, at = [], 0
        for cell, source in zip(self.cells, sources, strict=True):
            if source != cell.source:
                out += [self.file[at : cell.start], _encoded(source, self.file[cell.start : cell.end], self.file)]
                at = cell.end
        return "".join([*out, self.file[at:]])


def joined(sources: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The Python source of code cells, and the 0-based line of the source at which each begins."""
    texts = [_closed(blanked(source)) for source in sources]
    heights = [len(_lines(text)) for text in texts]
    return "".join(texts), tuple(accumulate(heights[:-1], initial=0)) if heights else ()


def shared_out(sources: Sequence[str], before: str, after: str) -> list[str]:
    """The sources of the code cells after `before`, the result of `joined`, was changed to `after`. Inserted lines
    belong to the cell of the line before."""
    raw = [line for source in sources for line in _lines(_closed(source))]
    owners = [number for number, source in enumerate(sources) for _ in _lines(_closed(source))]
    new: list[list[str]] = [[] for _ in sources]
    lines = _lines(after)
    matcher = SequenceMatcher(None, _lines(before), lines, autojunk=False)
    for kind, first, last, new_first, new_last in matcher.get_opcodes():
        for shift in range(last - first if kind == "equal" else 0):
            new[owners[first + shift]].append(raw[first + shift])
        if kind in ("insert", "replace"):
            new[owners[first if kind == "replace" else max(first - 1, 0)]].extend(lines[new_first:new_last])
    return [_reopened("".join(text), source) for text, source in zip(new, sources, strict=True)]


def cell_of(starts: tuple[int, ...], line: int) -> tuple[int, int]:
    """The code cell (1-based) and the line in it (0-based) of a 0-based line of the source."""
    number = max(bisect_right(starts, line) - 1, 0)
    return number + 1, line - starts[number]


def in_cell(starts: tuple[int, ...], line: int) -> str:
    """'cell 3, line 2: ' for a 0-based line of the source; '' if there are no cells."""
    if not starts:
        return ""
    cell, within = cell_of(starts, line)
    return f"cell {cell}, line {within + 1}: "


def decode(data: bytes) -> Notebook:
    """The notebook in a file's bytes (UTF-8, as the format requires). Raises UnreadableNotebook."""
    try:
        return read(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UnreadableNotebook(f"not a notebook: {error}") from error


def read(file: str) -> Notebook:
    """The notebook in a file's text. Raises UnreadableNotebook."""
    if _holds_too_much(file):
        raise UnreadableNotebook(f"its JSON has more than {_MOST_VALUES:,} values; clear its outputs")
    try:
        version, about = _header(json.loads(file))
        cells = tuple(_cells(file))
    except (ValueError, RecursionError) as error:
        raise UnreadableNotebook(f"not a notebook: {error}") from error
    if version != 4:
        raise UnreadableNotebook("not a notebook of format 4; open and save it in Jupyter to convert it")
    if not _is_python(about):
        cells = ()
    return Notebook(file, cells, *joined([cell.source for cell in cells]))


def _holds_too_much(file: str) -> bool:
    """Whether JSON may have more than `_MOST_VALUES` values. Brackets and commas in strings do not count; strings are
    only examined if there are many."""
    if _separators(file) <= _MOST_VALUES:
        return False
    bare = file.replace("\\\\", "").replace('\\"', "")
    if bare.count('"') > 2 * _MOST_VALUES:
        return True
    return sum(map(_separators, bare.split('"')[::2])) > _MOST_VALUES


def _separators(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


def _header(whole: Any) -> tuple[object, dict[str, Any]]:
    """The format's version and the metadata of a whole notebook."""
    if not isinstance(whole, dict):
        return None, {}
    about = whole.get("metadata")
    return whole.get("nbformat"), about if isinstance(about, dict) else {}


def _is_python(about: dict[str, Any]) -> bool:
    named = [about.get("kernelspec"), about.get("language_info")]
    languages = [one.get("language", one.get("name")) for one in named if isinstance(one, dict)]
    return not languages or any("python" in str(language).lower() for language in languages)


def _cells(file: str) -> Iterator[_Cell]:
    """The code cells in the order of the file."""
    for name, start, _ in _members(file, _after_space(file, 0)):
        if name != "cells":
            continue
        for item in _items(file, start):
            kind, source = None, None
            for key, value_at, end in _members(file, item):
                value = _DECODER.raw_decode(file, value_at)[0]
                if key == "cell_type":
                    kind = value
                elif key == "source":
                    text = "".join(map(str, value)) if isinstance(value, list) else str(value)
                    source = _Cell(text, value_at, end)
            if kind == "code" and source is not None:
                yield source


def _members(file: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The members of the JSON object at `at`: key, start and end of the value. None for anything but an object."""
    if file[at : at + 1] != "{":
        return
    at = _after_space(file, at + 1)
    while file[at] != "}":
        key, at = _DECODER.raw_decode(file, at)
        at = _after_space(file, at)  # the colon
        start = _after_space(file, at + 1)
        _, end = _DECODER.raw_decode(file, start)
        yield key, start, end
        at = _after_space(file, end)
        at = _after_space(file, at + 1) if file[at] == "," else at


def _items(file: str, at: int) -> Iterator[int]:
    """Where the items of the JSON array at `at` start."""
    if file[at : at + 1] != "[":
        return
    at = _after_space(file, at + 1)
    while file[at] != "]":
        yield at
        _, end = _DECODER.raw_decode(file, at)
        at = _after_space(file, end)
        at = _after_space(file, at + 1) if file[at] == "," else at


def _after_space(file: str, at: int) -> int:
    found = _SPACE.match(file, at)
    return found.end() if found else at


def _encoded(source: str, old: str, file: str) -> str:
    """`source` as JSON in the style of the value `old`: a list of lines with the same layout, or one string."""
    ascii_only = file.isascii()
    if not old.startswith("["):
        return json.dumps(source, ensure_ascii=ascii_only)
    first = _after_space(old, 1)
    lead, tail = old[1:first], old[len(old[:-1].rstrip()) : -1]
    lines = [json.dumps(line, ensure_ascii=ascii_only) for line in _lines(source)]
    return f"[{lead}{f',{lead or chr(32)}'.join(lines)}{tail}]" if lines else "[]"


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)


def _closed(text: str) -> str:
    """`text` with one more line end, so that the next cell starts on a line of its own and a cell that ends with a line
    end keeps the empty line that editors show below it."""
    return text + _line_end(text)


def _reopened(text: str, old: str) -> str:
    """`text` without line ends at either end, unless the cell had one there: a cell needs no blank lines above or below
    a function."""
    text = text if old.startswith(("\n", "\r")) else text.lstrip("\r\n")
    return text.removesuffix(_line_end(old)) if old.endswith(("\n", "\r")) else text.rstrip("\r\n")


def _line_end(text: str) -> str:
    return "\r" if text.endswith("\r") else "\n"


def blanked(source: str) -> str:
    """A cell's source with IPython's own lines blanked. Each line keeps its length; the result is Python if the rest
    is."""
    cell = _CELL_MAGIC.match(source)
    if cell is None:
        return _without_magics(source)
    if cell[1] not in _PYTHON_CELLS:
        return _NO_LINE_END.sub(" ", source)
    end = re.compile(r"[\r\n]|\Z").search(source, cell.start(1))
    at = end.start() if end else len(source)
    return _NO_LINE_END.sub(" ", source[:at]) + _without_magics(source[at:])


def _without_magics(source: str) -> str:
    out, depth, at, starts = [], 0, 0, True
    while at < len(source):
        if starts and (own := _MAGIC.match(source, at) or _ASSIGNED.match(source, at)):
            # Inside a block or an assignment a statement must remain: it may be the only one.
            first = own.start("magic")
            out += [source[at:first], "0" if first > at else " ", _NO_LINE_END.sub(" ", own["magic"][1:])]
            at, starts = own.end("magic"), False
            continue
        token = _TOKEN.search(source, at)
        end = token.end() if token else len(source)
        out.append(source[at:end])
        at, starts = end, False
        if token and token["open"]:
            depth += 1
        elif token and token["close"]:
            depth = max(depth - 1, 0)
        elif token and token["newline"]:
            starts = depth == 0
    return "".join(out)
