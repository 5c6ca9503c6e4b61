"""Groups findings with the same cause: one change in the code fixes them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic
    from loaderlint.findings.finding import Finding


def by_cause(found: Sequence[Diagnostic]) -> list[list[Diagnostic]]:
    """The findings in groups, each in the order of its first finding. Findings of one rule, severity and certainty have
    the same cause if the rule offers the same fix for each. Without a fix they have it if the same loaders lack what
    would prevent them: a missing `worker_init_fn` at one loader is one fault, however many draws it affects."""
    groups: dict[object, list[Diagnostic]] = {}
    for number, one in enumerate(found):
        cause = _cause(one.finding)
        key = number if cause is None else (one.code, one.severity, one.certainty, cause)
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _cause(finding: Finding) -> object:
    """What findings with the same cause have in common; None if the finding has a cause of its own."""
    if finding.fixes:
        return finding.fixes[0].intents
    return frozenset(finding.lacking) or None


def short_message(one: Diagnostic) -> str:
    """The message of a finding after the first one of its cause: what happens, without the reason and the advice."""
    fault, separator, _ = one.message.partition(": `")
    if not separator:
        fault = one.message.partition(": ")[0]
    return f"{fault}: same cause as the first such finding in this file"
