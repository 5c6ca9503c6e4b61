"""
# unread-code (LDR002)

## What it does
Finds the parts of a file that no parser can read, and says where the first one begins and why.

## Why is this bad?
Code that cannot be parsed is not checked. Without a word about it, "No findings" would also cover a file with an
unclosed bracket, a file of Python 2, and a file with the markers of a merge conflict.

loaderlint reads a file statement by statement and method by method, so the rest of such a file is still checked. A
finding of this rule means that faults in the unread parts, and faults elsewhere that depend on them, go unseen.

## When it is not a bug
- The file is a template or a test fixture that is not meant to be Python: exclude it (`exclude`), or silence the rule
  there with `per-file-ignores`.
- Syntax that is newer than the Python that loaderlint runs on: libcst reads most of it, and then nothing is reported.
- In an editor: editors show syntax errors themselves, and a line that is being typed is often not yet valid. The rule
  runs on the command line only.

The exit code is 1 if the file was named on the command line or the rule was selected by its name or code (`--select`,
`--extend-select`), whatever `--fail-on` says. Otherwise it is not, so that one old script in a repository does not fail
every check of it.

## Example
```python
loader = DataLoader(dataset, num_workers=2
for batch in loader:
    train(batch)
```

## Fixed
```python
loader = DataLoader(dataset, num_workers=2)
for batch in loader:
    train(batch)
```

## Fix safety
There is no fix: only the author knows what was meant.

## References
- [Configuration](../configuration.md)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loaderlint.findings.finding import Finding, Place, Severity
from loaderlint.rules.base import Rule, page
from loaderlint.syntax.unread import UnreadPart


def about(path: Path, first: UnreadPart, others: int) -> Finding:
    """The finding for a file with unread parts: the first one, and how many others there are."""
    rest = f"; {others} other part{'s' if others > 1 else ''} of this file cannot be parsed either" if others else ""
    return Finding(
        RULE.name,
        Severity.INFORMATION,
        "proven",
        f"this part of the file was not checked, because it cannot be parsed ({first.reason}){rest}",
        Place(path, first.piece, -1),
        first.reason,
    )


def find(subject: Any, model: Any) -> Iterator[Finding]:
    """Nothing: the rule is about files, not about what their code does (`loaderlint.engine` asks `about`)."""
    return iter(())


RULE = Rule(
    code="LDR002",
    name="unread-code",
    severity=Severity.INFORMATION,
    needs="L",
    over="loader",
    find=find,
    fix=None,
    page=page(__doc__),
)
