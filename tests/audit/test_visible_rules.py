"""The table of the rules that an audit can see."""

from __future__ import annotations

import re
from pathlib import Path

from loaderlint.audit import failures, verdicts
from loaderlint.audit.visible_rules import NOT_SEEN, SEEN_BY
from loaderlint.rules import RULES

AUDIT = Path(verdicts.__file__).parent
DOC = AUDIT.parents[2] / "docs" / "audit.md"


def test_each_rule_is_in_the_table_once() -> None:
    assert sorted([*SEEN_BY, *NOT_SEEN]) == sorted(rule.name for rule in RULES)


def test_the_checks_of_the_table_are_those_of_the_verdicts() -> None:
    text = "".join(path.read_text() for path in AUDIT.glob("*_verdicts.py"))
    known = set(re.findall(r'check = "([a-z-]+)"', text))
    assert {check for checks in SEEN_BY.values() for check in checks} <= known


def test_results_name_rules_that_are_in_the_table() -> None:
    text = "".join(path.read_text() for path in (*AUDIT.glob("*_verdicts.py"), Path(failures.__file__)))
    named = {rule.name for rule in RULES if f'"{rule.name}"' in text}
    assert named <= set(SEEN_BY)


def test_the_page_has_the_table() -> None:
    page = DOC.read_text()
    codes = {rule.name: rule.code for rule in RULES}
    for name, checks in SEEN_BY.items():
        assert f"| [{codes[name]}](rules/{name}.md) | `{name}` | {', '.join(checks)} |" in page
    for name, why in NOT_SEEN.items():
        assert f"| [{codes[name]}](rules/{name}.md) | `{name}` | not seen: {why} |" in page
