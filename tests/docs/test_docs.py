"""The generated documentation is up to date, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loaderlint.rules import RULES
from loaderlint.rules.base import Rule
from loaderlint.settings import settings
from scripts import generate_docs, rule_lines

ROOT = generate_docs.ROOT
HAND_WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/**/*.md"))]

#: The headings that every rule's page has, in this order.
SECTIONS = [
    "What it does",
    "Why is this bad?",
    "When it is not a bug",
    "Example",
    "Fixed",
    "Fix safety",
    "References",
]


@pytest.fixture(scope="module")
def wanted() -> dict[Path, str]:
    """All generated files, as they should be."""
    return generate_docs.files(ROOT)


def test_nothing_is_stale(wanted: dict[Path, str]) -> None:
    assert generate_docs.stale(ROOT, wanted) == [], "run: make docs"


def test_staleness_is_seen(tmp_path: Path, wanted: dict[Path, str]) -> None:
    generate_docs.write(tmp_path, wanted)
    assert generate_docs.stale(tmp_path, wanted) == []
    page = tmp_path / "docs" / "rules" / f"{RULES[0].name}.md"
    page.write_text(page.read_text() + "more\n")
    (page.parent / "rule-that-is-gone.md").write_text("")
    wrong = [f"docs/rules/{RULES[0].name}.md", "docs/rules/rule-that-is-gone.md"]
    assert generate_docs.stale(tmp_path, wanted) == sorted(wrong)
    generate_docs.write(tmp_path, wanted)
    assert generate_docs.stale(tmp_path, wanted) == []


def headings(page: str) -> list[str]:
    """The second-level headings of a page, without comments in its code blocks."""
    outside = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    return re.findall(r"^## (.+)$", outside, re.MULTILINE)


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_every_page_has_all_sections(rule: Rule) -> None:
    assert rule.page.strip().startswith(f"# {rule.name} ({rule.code})\n")
    assert headings(rule.page) == SECTIONS


@pytest.mark.parametrize("path", HAND_WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_into_the_repository_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    missing = [target for target in targets if not (path.parent / target).exists()]
    assert missing == []


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    assert re.findall(r"^### `([a-z-]+)`$", text, re.MULTILINE) == list(settings.KEYS)


def test_every_rule_has_its_symptom() -> None:
    """Each rule is what some symptom leads to."""
    text = (ROOT / "docs" / "symptoms.md").read_text("utf-8")
    named = set(re.findall(r"\]\(rules/([a-z0-9-]+)\.md\)", text))
    missing = {rule.name for rule in RULES} - {"aliased-sample", "unread-code", "unused-suppression"} - named
    assert not missing, "add their symptoms to server/loaderlint/knowledge/symptoms.toml, and run `make docs`"


def test_the_index_lists_every_rule_three_times() -> None:
    """By code, by family, by severity."""
    text = generate_docs.index()
    assert {rule.name: text.count(f"]({rule.name}.md)") for rule in RULES} == {rule.name: 3 for rule in RULES}


def test_each_rule_has_one_short_line() -> None:
    assert rule_lines.LINES.keys() <= {rule.name for rule in RULES}
    too_long = [rule.name for rule in RULES if len(rule_lines.line(rule)) > 100]
    assert not too_long, "write a short line into scripts/rule_lines.py"
