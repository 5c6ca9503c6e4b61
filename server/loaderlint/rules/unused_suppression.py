"""
# unused-suppression (LDR001)

## What it does
Finds comments that suppress a finding which does not exist, or no longer exists.

## Why is this bad?
The comment says that a fault is known and accepted. If the code or the version of PyTorch has changed since, that is no
longer true, and the comment also hides the next real fault on its line.

## When it is not a bug
- The comment names a rule that is not running now (`select`, `ignore`, off by default).
- The file does not parse, so loaderlint does not know what it would find.
- The code in a `# noqa` comment belongs to another tool.

## Example
```python
x = np.random.rand()  # loaderlint: ignore[duplicate-numpy-randomness]
```

## Fixed
On torch 1.9 and later, where the workers seed NumPy:
```python
x = np.random.rand()
```

## Fix safety
Safe: only the comment changes. Names and codes that are used stay, and so does any other text in the comment.

## References
- [Configuration: silencing findings](../configuration.md)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from loaderlint.findings.finding import EditComment, Finding, Fix, Place, Severity
from loaderlint.findings.read_suppressions import Suppression
from loaderlint.rules.base import Rule, page

_SEPARATORS = re.compile(r"[,\s]+")


def about(suppression: Suppression, unused: Iterable[str], path: Path, place: Place, line: str) -> Finding:
    """The finding for a comment that suppresses nothing; `unused`: which of its names do (all, if it names none).
    `line` is the source line that it is on, without the line end."""
    names = sorted(unused)
    listed = f": {', '.join(f'`{name}`' for name in names)}" if suppression.names else ""
    return Finding(
        RULE.name,
        Severity.HINT,
        "proven",
        f"this comment suppresses nothing{listed}; remove it, or it hides the next fault here",
        place,
        ",".join(names) or "all",
        fixes=(Fix("Remove what suppresses nothing", "safe", (_edit(suppression, names, path, line),)),),
    )


def _edit(suppression: Suppression, unused: list[str], path: Path, line: str) -> EditComment:
    """The comment without its unused names; without the comment, if nothing else is left in it."""
    start, end = suppression.column, suppression.column + len(suppression.text)
    kept = sorted((suppression.names or frozenset()) - set(unused))
    if kept:
        return EditComment(path, suppression.line, start, line[start:end], _with(suppression.text, unused))
    rest = line[end:].lstrip(" \t-:,;")
    if rest.strip(" \t-:,;#"):  # a comment after this one may have an edit of its own: its # stays
        mark = "" if rest.startswith("#") else "# "
        return EditComment(path, suppression.line, start, line[start : len(line) - len(rest)], mark)
    before = line[:start].rstrip()
    return EditComment(path, suppression.line, len(before), line[len(before) :], "")


def _with(comment: str, unused: list[str]) -> str:
    """`# noqa: E501, LDR102` without LDR102: what is left keeps its order."""
    opened = comment.index("[") + 1 if "[" in comment else comment.index(":") + 1
    closed = comment.rindex("]") if "[" in comment else len(comment)
    names = [name for name in _SEPARATORS.split(comment[opened:closed].strip()) if name]
    gone = {name.lower() for name in unused}
    space = "" if "[" in comment else " "
    return f"{comment[:opened]}{space}{', '.join(n for n in names if n.lower() not in gone)}{comment[closed:]}"


def find(subject: Any, model: Any) -> Iterator[Finding]:
    """Nothing: only after all rules have spoken is it known which comment was of use (`loaderlint.engine` asks
    `about`)."""
    return iter(())


RULE = Rule(
    code="LDR001",
    name="unused-suppression",
    severity=Severity.HINT,
    needs="L",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
