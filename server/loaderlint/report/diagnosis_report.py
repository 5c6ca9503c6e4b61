"""The report that `diagnose` prints: the recognised symptoms with their causes and cures, and the findings of the
project that may be the cause."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from loaderlint.explanations.diagnosis import Diagnosis, Located
from loaderlint.knowledge.symptoms import Match
from loaderlint.report import Report, json_format
from loaderlint.report.terminal import printable
from loaderlint.report.text_format import Painter

#: The maximum number of characters that are shown of a line of the program's output.
_LONGEST = 160


def text(known: Diagnosis, lines: Sequence[str], report: Report) -> Iterator[str]:
    """The diagnosis as text. `lines`: what the program printed; `report` contains the findings as items."""
    if not known.matches:
        yield "loaderlint knows no message in this text."
    for match in known.matches:
        yield f"Seen: {printable(_cut(lines[match.line].strip()))}"
        yield f"  cause: {match.symptom.cause}"
        yield f"  rule or cure: {match.symptom.cure_with('{}')}"
    yield ""
    yield from _where(known, report)
    if known.observed:
        told = ", ".join(f"{key} {_words(value)}" for key, value in known.observed.items())
        yield f"The project was checked with what the traceback shows: {told}."


def _where(known: Diagnosis, report: Report) -> Iterator[str]:
    if known.located:
        yield "In this project:" if known.matches else "At the lines of the traceback:"
        yield ""
        painter = Painter(report)
        for one, item in zip(known.located, report.items, strict=True):
            yield from painter.finding(item)
            if one.call is not None:
                yield f"  The traceback passes line {one.call.line} of {one.call.path.name}."
            yield ""
        return
    rules = [name for match in known.matches for name in match.symptom.rules]
    if rules:
        yield f"No finding of {' or '.join(dict.fromkeys(rules))} in this project. For more about it:"
        yield from (f"  loaderlint explain {name}" for name in dict.fromkeys(rules))


def as_json(known: Diagnosis, lines: Sequence[str], report: Report) -> Iterator[str]:
    """The diagnosis as JSON: `symptoms`, `findings` (as `check` prints them, with `traceback_line`), `observed`."""
    data = {
        "symptoms": [_symptom(match, lines) for match in known.matches],
        "findings": [
            {**json_format.finding(item, report), "traceback_line": _line(one)}
            for one, item in zip(known.located, report.items, strict=True)
        ],
        "observed": dict(known.observed),
    }
    yield json.dumps(data, indent=2)


def _symptom(match: Match, lines: Sequence[str]) -> dict[str, object]:
    symptom = match.symptom
    return {
        "line": match.line + 1,
        "text": lines[match.line].strip(),
        "cause": symptom.cause,
        "cure": symptom.cure_with("{}"),
        "rules": list(symptom.rules),
    }


def _line(one: Located) -> int | None:
    return one.call.line if one.call is not None else None


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
