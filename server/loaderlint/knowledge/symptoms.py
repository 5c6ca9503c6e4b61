"""What a user sees, what causes it, and what cures it: the rows of `symptoms.toml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from loaderlint.files import toml

_RULE = re.compile(r"\[([a-z][a-z0-9-]+)\]")
_ANY_TEXT = "..."

#: So many characters of a line are worth a look: the time that a pattern takes may grow with the square of that.
LONGEST_LINE = 600


class Symptom(NamedTuple):
    """One row (see `symptoms.toml`); `cure` names rules in brackets."""

    shown: str
    cause: str
    cure: str
    messages: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that find the cause, the likeliest first."""
        return tuple(_RULE.findall(self.cure))

    def cure_with(self, link: str) -> str:
        """The cure with each rule as the template `link` says, in which `{}` stands for its name."""
        return _RULE.sub(lambda found: link.replace("{}", found[1]), self.cure)


class Section(NamedTuple):
    """A table of the page: its title, the heading of the first column, and its rows."""

    title: str
    first: str
    symptoms: tuple[Symptom, ...]


class Match(NamedTuple):
    """A symptom in a text: the line (from 0) where it is first seen. `aside`: by a message that often follows something
    else."""

    symptom: Symptom
    line: int
    aside: bool


@lru_cache(maxsize=1)
def sections() -> tuple[Section, ...]:
    """All symptoms, in the order of the page."""
    document = toml.parsed(Path(__file__).with_suffix(".toml").read_bytes())
    return tuple(
        Section(one["title"], one["first"], tuple(map(_symptom, one["symptom"]))) for one in document["section"]
    )


def _symptom(row: dict[str, Any]) -> Symptom:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Symptom(**values)


def seen_in(lines: Sequence[str]) -> list[Match]:
    """The symptoms in what a program printed, in the order in which they appear. Of several that match a line the one
    with the longest message counts."""
    text = "\n".join(lines)
    asked = [one for one in _patterns() if not one[3].needs or any(need in text for need in one[3].needs)]
    found: dict[Symptom, Match] = {}
    for number, line in enumerate(lines):
        best = max(
            (one for one in asked if one[1].search(line) and not any(text in line for text in one[3].unless)),
            key=lambda one: one[0],
            default=None,
        )
        if best is not None:
            known = found.setdefault(best[3], Match(best[3], number, best[2]))
            if known.aside and not best[2]:
                found[best[3]] = Match(best[3], number, False)
    return sorted(found.values(), key=lambda one: one.line)


def main_ones(matches: Sequence[Match]) -> list[Match]:
    """The symptoms that say something; those that often follow something else only where there is nothing else."""
    return [one for one in matches if not one.aside] or list(matches)


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[int, re.Pattern[str], bool, Symptom], ...]:
    """What each message looks like: how many signs are given, the pattern, whether it says little, and its symptom."""
    rows = (symptom for section in sections() for symptom in section.symptoms)
    return tuple(
        (len(message.replace(_ANY_TEXT, "")), _pattern(message), aside, symptom)
        for symptom in rows
        for messages, aside in ((symptom.messages, False), (symptom.aside, True))
        for message in messages
    )


def _pattern(message: str) -> re.Pattern[str]:
    return re.compile(".*?".join(map(re.escape, message.split(_ANY_TEXT))))
