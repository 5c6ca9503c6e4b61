"""The results of the programs of tests/truth on real PyTorch, as Markdown: docs/truth.md and a section of a rule's
page.

It reads the stored verdicts; `tests/truth` measures them again and compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

VERDICTS = Path("tests/truth/verdicts")
RECORDED = Path("tests/truth/recorded")
HEADING = "## Measured on real PyTorch"

#: The texts for the symptoms of `tests/truth` in a table. Names of exceptions and words that are missing here stay as
#: they are.
PHRASES = {
    "files": "too many open files",
    "unwritable": "PyTorch warns of memory that cannot be written",
    "together": "two workers are inside the lock at once",
    "duplicates": "workers draw the same",
    "repeats": "epochs repeat",
    "alike": "objects of a worker draw the same",
    "threads": "OpenCV threads in each worker",
    "reads": "other samples' bytes, or errors",
    "epochs": "epochs differ",
    "changed": "stored data has changed",
    "items": "items come more than once",
    "pickle": "workers cannot start (pickling)",
    "hang": "hangs",
    "unset": "samples do not see what was set",
    "unexplained": "an error that names no sample",
    "refused": "TypeError of `default_collate`",
    "none": "an error about None",
    "short": "the epoch ends early, silently",
    "empty": "later epochs are empty",
    "order": "the order is not that of the names",
    "mismatch": "samples are paired wrongly",
    "nan": "samples are NaN",
    "grows": "the worker's own memory grows",
    "lost": "state is lost with the workers",
    "useless": "the cache is never of use",
    "stale": "workers keep the first epoch's state",
}

Verdict = Mapping[str, Any]


def verdict(root: Path, rule: str) -> Verdict | None:
    """The stored verdict on a rule's programs; None if it has none."""
    path = root / VERDICTS / f"{rule}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def section(root: Path, rule: str) -> str:
    """The section of a rule's page; '' if none of its programs was run."""
    known = verdict(root, rule)
    if known is None:
        return ""
    rows = [row for name, runs in known["faulty"].items() for row in _rows(name, runs)]
    old = [row for path in sorted((root / RECORDED).glob(f"{rule}.*.json")) for row in _recorded(path)]
    parts = [f"{HEADING}\n\n{_versions(known['versions'])}.", _table(rows)]
    if known["emulated"]:
        parts.append(_EMULATED)
    if clean := _clean(known["clean"]):
        parts.append(clean)
    if old:
        parts.append(f"Recorded with {old[0][0]}:")
        parts.append(_table([row for _, row in old]))
    return "\n\n".join(part for part in parts if part) + "\n"


def page(root: Path, rules: Sequence[tuple[str, str]]) -> str:
    """docs/truth.md: all rules, given as (code, name)."""
    parts = [_INTRODUCTION]
    without = []
    for code, name in rules:
        if text := section(root, name):
            parts.append(f"## [{name}](rules/{name}.md) ({code})\n\n" + text.partition("\n\n")[2].strip())
        else:
            without.append(f"[{name}](rules/{name}.md)")
    if without:
        parts.append("## Not run\n\nThese rules have no program here; their pages say what they rest on: ")
        parts[-1] += ", ".join(without) + "."
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = """\
# The truth table

Every program below has the fault that its rule describes. It was run on the real packages, then fixed on the command \
line with loaderlint's own quick fix, and run again. 'nothing' means that none of the symptoms was seen. 'nothing' \
before the fix means that the fault does not show in that way of running, and the fix must not break it. Clean \
programs look like the fault but are correct: they ran without a symptom, and loaderlint reports nothing for them.

`make truth` runs all of it. The results below are stored in `tests/truth/verdicts` and compared with each run."""


_EMULATED = """\
torch < 1.9 is emulated here: the workers leave NumPy unseeded. The results of a real one are below."""


def _rows(name: str, runs: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """The rows of one faulty program."""
    return [
        f"| `{name}` | {run} | {_seen(seen['before'])} | {_seen(seen['after']) if 'after' in seen else 'no fix'} |"
        for run, seen in runs.items()
        if "before" in seen
    ]


def _recorded(path: Path) -> list[tuple[str, str]]:
    """(versions, row) of a program that was recorded on an old version."""
    known = json.loads(path.read_text("utf-8"))
    program = path.stem.partition(".")[2]
    return [
        (
            _versions(known["versions"]),
            f"| `{program}` | {entry['run']} | {_seen(_measured(entry['before']))} | "
            f"{_seen(_measured(entry['after']))} |",
        )
        for entry in known["measured"]
    ]


def _measured(answer: Mapping[str, Any]) -> list[str]:
    return [word for word in ("duplicates", "repeats", "alike") if answer.get(word)]


def _clean(programs: Mapping[str, Mapping[str, object]]) -> str:
    if not programs:
        return ""
    count = sum(len(runs) for runs in programs.values())
    names = ", ".join(f"`{name}`" for name in programs)
    return f"Clean in all {count} runs, and loaderlint reports nothing: {names}."


def _seen(symptoms: Sequence[str]) -> str:
    if not symptoms:
        return "nothing"
    return ", ".join(f"`{word}`" if word[:1].isupper() else PHRASES.get(word, word) for word in symptoms)


def _versions(versions: Mapping[str, str]) -> str:
    names = {"python": "Python", "numpy": "NumPy"}
    return ", ".join(f"{names.get(name, name)} {version}" for name, version in versions.items())


def _table(rows: Sequence[str]) -> str:
    if not rows:
        return ""
    return "\n".join(["| program | run | before | after the fix |", "|---|---|---|---|", *rows])
