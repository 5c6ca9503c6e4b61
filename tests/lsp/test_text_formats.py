"""Reports as Markdown, and Markdown as plain text."""

from __future__ import annotations

import pytest

from loaderlint.lsp.text_formats import as_markdown, code_block, plain
from loaderlint.rules import RULES


def test_what_is_indented_below_a_line_is_a_list() -> None:
    lines = ["findings", "  error: one", "    = why (a.py:3)", "9 rules.", "", "loader", "  two"]
    expected = ["## findings", "", "- error: one", "  - why (a.py:3)", "", "9 rules.", "", "## loader", "", "- two"]
    assert [*as_markdown(lines)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.__call__ calls B.__call__ (b.py:3)", "`A.__call__` calls `B.__call__` (b.py:3)"),
        ("(num_workers=4, a default)", "(`num_workers=4`, a default)"),
        ("made by default_rng(...), here", "made by `default_rng(...)`, here"),
        ("(by my_rng(2))", "(by `my_rng(2)`)"),
        (
            "`x_y` and `**kwargs` stay, a*b and <lambda> do not",
            "`x_y` and `**kwargs` stay, `a*b` and `<lambda>` do not",
        ),
        ("[LDR101 shared-generator] > there #3", "[LDR101 shared-generator] > there #3"),
        ("a name: my_name.", "a name: `my_name`."),
    ],
)
def test_names_are_no_emphasis(text: str, expected: str) -> None:
    assert [*as_markdown([text])] == [expected]


def test_code_that_holds_a_fence() -> None:
    assert [*code_block("x = '```'")] == ["````python", "x = '```'", "````"]


def test_markdown_without_its_signs() -> None:
    page = "# Title\n\n## Part\n\nSee [the page](https://x.org/a), `a**b` and **this**.\n\n---\n\n"
    page += "```python\n# a comment\n\nx = 1\n```\n- `y`"
    assert plain(page) == (
        "Title\n\nPart\n\nSee the page (https://x.org/a), a**b and this.\n\n    # a comment\n\n    x = 1\n- y"
    )


def test_the_page_of_every_rule_keeps_its_words() -> None:
    for rule in RULES:
        text = plain(rule.page)
        assert "```" not in text and not text.startswith("#")
        code = [line for line in rule.page.split("\n") if line.lstrip().startswith(("class ", "def ", "import "))]
        assert all(line.strip() in text for line in code), rule.name
