"""The command `explain`."""

from __future__ import annotations

import argparse
import sys

from loaderlint.commands import DONE, FAILED
from loaderlint.rules import RULES, rule
from loaderlint.settings import nearest
from loaderlint.terminal import colors, complain


def explain(chosen: argparse.Namespace) -> int:
    """Show the page of a rule."""
    found = rule(chosen.rule) or rule(chosen.rule.upper()) or rule(chosen.rule.lower())
    if found is None:
        known = [name for each in RULES for name in (each.name, each.code)]
        complain(f"no rule is called '{chosen.rule}'{nearest(chosen.rule, known)}\nAll of them: loaderlint rules")
        return FAILED
    if colors(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(found.page))
    else:
        print(found.page.strip())
    return DONE
