"""The command `rules`: lists the rules."""

from __future__ import annotations

import argparse
import json

from loaderlint.report.exit_codes import DONE
from loaderlint.report.terminal import show
from loaderlint.rules import RULES
from loaderlint.rules.base import Rule


def rules(chosen: argparse.Namespace) -> int:
    """Print all rules, as text or JSON, and return the exit code."""
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
    show(_line(rule, width) for rule in RULES)
    return DONE


def _line(rule: Rule, width: int) -> str:
    notes = [f"{rule.fix} fix"] if rule.fix else []
    notes += [] if rule.enabled_by_default else ["off by default"]
    extra = f" ({', '.join(notes)})" if notes else ""
    return f"{rule.code}  {rule.name:{width}}  {rule.severity.value:11}  {rule.summary}{extra}"
