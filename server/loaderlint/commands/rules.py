"""The command `rules`."""

from __future__ import annotations

import argparse
import json

from loaderlint.report.exit_codes import DONE
from loaderlint.rules import RULES


def rules(chosen: argparse.Namespace) -> int:
    """List the rules."""
    if chosen.output_format == "json":
        entries = [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity.value,
                "needs": rule.needs,
                "summary": rule.summary,
                "fix": rule.fix,
                "enabled_by_default": rule.enabled_by_default,
            }
            for rule in RULES
        ]
        print(json.dumps(entries, indent=2))
        return DONE
    width = max((len(rule.name) for rule in RULES), default=0)
    for rule in RULES:
        notes = [f"{rule.fix} fix"] if rule.fix else []
        notes += [] if rule.enabled_by_default else ["off by default"]
        extra = f" ({', '.join(notes)})" if notes else ""
        print(f"{rule.code}  {rule.name:{width}}  {rule.severity.value:11}  {rule.summary}{extra}")
    return DONE
