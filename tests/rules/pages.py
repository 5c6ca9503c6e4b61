"""Pages of cases: Markdown that holds small projects and says, on each line, what a rule must find there.

The format is described in README.md next to this file. Lines of a page and of a block are counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DEFAULT_FILE = {"python": "case.py", "toml": "pyproject.toml"}
#: The blocks that hold what a case says, by the word after their language.
TOLD = ("messages", "silences")
LIST_SETTINGS = {"platforms", "select", "ignore", "extend-select"}

_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>[^`]*)$")
_TITLE = re.compile(r'title="(?P<title>[^"]+)"')
_SETTINGS = re.compile(r"^<!--\s*settings:(?P<body>.*)-->\s*$")
_EXPECTATION = re.compile(
    r"#\s*(?P<severity>error|warning|information|hint):"
    r"(?P<possible>\s+possible)?\s*\[(?P<rule>[a-z0-9-]+)\]"
    r'(?:\s*"(?P<text>[^"]*)")?'
)
_EXPECTATION_LIKE = re.compile(r"#\s*(?:error|warning|information|hint):")

SeverityName = Literal["error", "warning", "information", "hint"]
Settings = dict[str, "str | list[str] | None"]


class PageError(Exception):
    """The page does not follow the format. The message names the page and the line (counted from 1)."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A finding that must stand on `line` of its file: 0-based. `text` must be part of the message, if given."""

    line: int
    severity: str
    rule: str
    certainty: Literal["proven", "possible"]
    text: str | None


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block that is a file. `text` is what is written to disk: without the comments that hold expectations.
    `first` and `last` delimit its body in the page (0-based lines, `last` is the closing fence)."""

    name: str
    language: str
    text: str
    expectations: tuple[Expectation, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Case:
    """A heading with its files. `fixed` are the files as the rule's own safe fixes leave them; `messages`, if the case
    has one, the block with the whole text of every finding; `silences`, where the page's rule looked and is silent, and
    why."""

    heading: str
    line: int
    prose: str
    settings: Settings
    files: tuple[Block, ...]
    fixed: tuple[Block, ...]
    messages: Block | None = None
    silences: Block | None = None

    @property
    def slug(self) -> str:
        """The heading as a name for a test."""
        return re.sub(r"[^a-z0-9]+", "-", self.heading.lower()).strip("-")

    def expects(self, rule: str) -> bool:
        """Whether a finding of `rule` is expected anywhere in the case."""
        return any(expected.rule == rule for block in self.files for expected in block.expectations)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of cases for the rule named `rule` (the stem of the file's name)."""

    rule: str
    title: str
    cases: tuple[Case, ...]


def read_page(path: Path) -> Page:
    """The page at `path`. Raises `PageError`, `OSError`."""
    return parse_page(path.stem, path.read_text(encoding="utf-8"))


def parse_page(name: str, text: str) -> Page:
    """The page `name` with the Markdown `text`. Raises `PageError`."""
    return _Parser(name, text).run()


def replace_fixed(name: str, text: str, heading: str, fixed: Mapping[str, str]) -> str:
    """The Markdown `text` of page `name` with the fixed blocks of the case `heading` holding `fixed` (texts by file).

    Blocks of files that are not in `fixed` go; files without a block get one after the last.
    A case without fixed blocks stays as it is."""
    case = next(case for case in parse_page(name, text).cases if case.heading == heading)
    if not case.fixed:
        return text
    lines = text.split("\n")
    rest = dict(fixed)
    after = case.fixed[-1].last + 1
    kept = {block.name: rest.pop(block.name) for block in case.fixed if block.name in rest}
    new = [line for file, body in rest.items() for line in ("", *_fixed_block(file, body))]
    lines[after:after] = new
    for block in reversed(case.fixed):
        first, end = block.first - 1, block.last + 1
        if block.name in kept:
            lines[first:end] = _fixed_block(block.name, kept[block.name])
        else:
            lines[first - (not lines[first - 1]) : end] = []  # with the blank line before it
    return "\n".join(lines)


def replace_told(text: str, block: Block, body: str) -> str:
    """The Markdown `text` of a page with a block of messages or silences holding `body`."""
    lines = text.split("\n")
    lines[block.first : block.last] = body.splitlines()
    return "\n".join(lines)


def _fixed_block(file: str, body: str) -> list[str]:
    return [f'```python fixed title="{file}"', *body.removesuffix("\n").split("\n"), "```"]


def parse_expectations(text: str) -> tuple[str, tuple[Expectation, ...]]:
    """Source `text` without its expectations, and these. Raises ValueError with the 0-based line of a malformed one."""
    clean: list[str] = []
    found: list[Expectation] = []
    for number, line in enumerate(text.split("\n")):
        matches = list(_EXPECTATION.finditer(line))
        if len(matches) != len(_EXPECTATION_LIKE.findall(line)):
            raise ValueError(number)
        if not matches:
            clean.append(line)
            continue
        found.extend(_expectation(number, match) for match in matches)
        clean.append(_EXPECTATION.sub("", line).rstrip())
    return "\n".join(clean), tuple(found)


def _expectation(line: int, match: re.Match[str]) -> Expectation:
    return Expectation(
        line=line,
        severity=match["severity"],
        rule=match["rule"],
        certainty="possible" if match["possible"] else "proven",
        text=match["text"],
    )


def parse_settings(body: str) -> Settings:
    """Settings written as `name=value name=value`. 'none' takes a default away. Raises ValueError."""
    settings: Settings = {}
    for word in body.split():
        name, equals, value = word.partition("=")
        if not equals or not value:
            raise ValueError(word)
        if value == "none":
            settings[name] = None
        else:
            settings[name] = value.split(",") if name in LIST_SETTINGS else value
    return settings


class _Parser:
    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = text.split("\n")
        self.at = 0
        self.title = ""
        self.page_settings: Settings = {}
        self.cases: list[Case] = []

    def run(self) -> Page:
        while self.at < len(self.lines) and not self.lines[self.at].startswith("## "):
            self._before_cases()
        while self.at < len(self.lines):
            self._case()
        if not self.title:
            raise self._error(0, "the page has no title")
        headings = [case.slug for case in self.cases]
        for case in self.cases:
            if headings.count(case.slug) > 1:
                raise self._error(case.line, f"two cases are headed '{case.heading}'")
        return Page(self.name, self.title, tuple(self.cases))

    def _error(self, line: int, message: str) -> PageError:
        return PageError(f"{self.name}.md:{line + 1}: {message}")

    def _before_cases(self) -> None:
        line = self.lines[self.at]
        if _FENCE.match(line):
            raise self._error(self.at, "a block before the first case")
        if line.startswith("# ") and not self.title:
            self.title = line[2:].strip()
        self._read_settings(line, self.page_settings)
        self.at += 1

    def _read_settings(self, line: str, into: Settings) -> bool:
        match = _SETTINGS.match(line)
        if match is None:
            return False
        try:
            into.update(parse_settings(match["body"]))
        except ValueError as error:
            raise self._error(self.at, f"not a setting: {error}") from None
        return True

    def _case(self) -> None:
        start = self.at
        heading = self.lines[start][3:].strip()
        settings = dict(self.page_settings)
        prose: list[str] = []
        files: list[Block] = []
        fixed: list[Block] = []
        told: dict[str, Block] = {}
        self.at += 1
        while self.at < len(self.lines) and not self.lines[self.at].startswith("## "):
            line = self.lines[self.at]
            fence = _FENCE.match(line)
            if fence is not None:
                self._block(fence, files, fixed, told)
                continue
            if not self._read_settings(line, settings):
                prose.append(line)
            self.at += 1
        text = "\n".join(prose).strip()
        if not text:
            raise self._error(start, "the case does not say why")
        if not files:
            raise self._error(start, "the case has no file")
        self._check_fixed(files, fixed)
        self.cases.append(Case(heading, start, text, settings, tuple(files), tuple(fixed), **told))

    def _check_fixed(self, files: list[Block], fixed: list[Block]) -> None:
        names = {block.name for block in files}
        for block in fixed:
            if block.name not in names:
                raise self._error(block.first - 1, f"fixed text for '{block.name}', which the case does not have")
            if block.expectations:
                raise self._error(block.first - 1, "fixed text holds expectations")

    def _block(self, fence: re.Match[str], files: list[Block], fixed: list[Block], told: dict[str, Block]) -> None:
        opened = self.at
        words = fence["info"].split()
        language = words[0] if words else ""
        title = _TITLE.search(fence["info"])
        name = title["title"] if title else DEFAULT_FILE.get(language, "")
        end = opened + 1
        while end < len(self.lines) and self.lines[end].strip() != fence["ticks"]:
            end += 1
        if end == len(self.lines):
            raise self._error(opened, "the block is not closed")
        self.at = end + 1
        for kind in TOLD:
            if kind in words:
                if kind in told:
                    raise self._error(opened, f"the case has two blocks of {kind}")
                told[kind] = Block("", language, "\n".join([*self.lines[opened + 1 : end], ""]), (), opened + 1, end)
                return
        if not name:
            return  # An illustration in the prose, no file.
        target = fixed if "fixed" in words else files
        if any(block.name == name for block in target):
            raise self._error(opened, f"the case has '{name}' twice")
        target.append(self._file(name, language, opened + 1, end))

    def _file(self, name: str, language: str, first: int, last: int) -> Block:
        text = "\n".join([*self.lines[first:last], ""])
        if language != "python":
            return Block(name, language, text, (), first, last)
        try:
            clean, expectations = parse_expectations(text)
        except ValueError as error:
            raise self._error(first + int(error.args[0]), "this expectation does not read") from None
        return Block(name, language, clean, expectations, first, last)
