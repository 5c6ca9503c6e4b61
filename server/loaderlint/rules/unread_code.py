"""
# unread-code (LDR002)

## What it does
Finds the parts of a file that no parser can read, and says where the first one begins and why.

## Why is this bad?
loaderlint cannot check code that it cannot parse. Without this rule, "No findings" would also cover a file with an
unclosed bracket, a Python 2 file, or a file with merge conflict markers.

loaderlint reads a file statement by statement and method by method, so it still checks the rest of such a file. It
misses faults in the unread parts, and faults elsewhere that depend on them.

## When it is not a bug
- The file is a template or a test fixture and not meant to be Python: exclude it (`exclude`), or turn the rule off
  there with `per-file-ignores`.
- The syntax is newer than the Python that runs loaderlint: libcst reads most of it, and then there is no finding.
- The file is open in an editor. Editors show syntax errors themselves, and a line that is being typed is often not
  valid yet. The rule runs on the command line only.

The exit code is 1 if the file was named on the command line, or if the rule was selected by its name or code
(`--select`, `--extend-select`), whatever `--fail-on` says. Otherwise the finding does not change the exit code, so one
old script does not fail every check of a repository.

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
There is no fix: only the author knows what the code should be.

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
