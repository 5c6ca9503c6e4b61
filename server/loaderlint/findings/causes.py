"""Groups findings with the same cause: one change in the code fixes them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic


def by_cause(found: Sequence[Diagnostic]) -> list[list[Diagnostic]]:
    """The findings in groups, each in the order of its first finding. Findings of one rule, severity and certainty have
    the same cause if the rule offers the same fix for each: a missing `worker_init_fn` at one loader is one fault,
    however many draws it affects. A finding without a fix is a group of its own."""
    groups: dict[object, list[Diagnostic]] = {}
    for number, one in enumerate(found):
        fixes = one.finding.fixes
        key = (one.code, one.severity, one.certainty, fixes[0].intents) if fixes else number
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def short_message(one: Diagnostic) -> str:
    """The message of a finding after the first one of its cause: what happens, without the reason and the advice."""
    fault, separator, _ = one.message.partition(": `")
    if not separator:
        fault = one.message.partition(": ")[0]
    return f"{fault}: same cause as the first such finding in this file"
