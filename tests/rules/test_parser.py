"""The format of the pages of cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules import pages

PAGE = """# A rule

Prose with a ```code``` word.

<!-- settings: target-torch=1.8 platforms=linux,macos -->

## First case
Why it is one.
<!-- settings: target-torch=none -->

```python title="train.py"
x = 1  # kept  # error: [a-rule] "says so" # hint: possible [other-rule]
# ## not a heading
```

```toml
[project]
```

```python fixed title="train.py"
x = 2  # kept
```

## Second case
Near miss.

```python
y = 1
```
"""


def parse() -> pages.Page:
    return pages.parse_page("a-rule", PAGE)


def test_page_has_title_and_cases() -> None:
    page = parse()
    assert (page.rule, page.title) == ("a-rule", "A rule")
    assert [case.heading for case in page.cases] == ["First case", "Second case"]
    assert page.cases[0].slug == "first-case"


def test_settings_of_a_case_go_over_those_of_the_page() -> None:
    first, second = parse().cases
    assert first.settings == {"target-torch": None, "platforms": ["linux", "macos"]}
    assert second.settings == {"target-torch": "1.8", "platforms": ["linux", "macos"]}


def test_files_have_default_names() -> None:
    first, second = parse().cases
    assert [block.name for block in first.files] == ["train.py", "pyproject.toml"]
    assert [block.name for block in second.files] == ["case.py"]


def test_expectations_are_read_and_taken_out_of_the_text() -> None:
    block = parse().cases[0].files[0]
    assert block.text == "x = 1  # kept\n# ## not a heading\n"
    assert block.expectations == (
        pages.Expectation(0, "error", "a-rule", "proven", "says so"),
        pages.Expectation(0, "hint", "other-rule", "possible", None),
    )


def test_a_case_knows_which_rules_it_expects() -> None:
    first, second = parse().cases
    assert first.expects("other-rule")
    assert not second.expects("a-rule")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# error: [a-rule]", "# error: a-rule", "a-rule.md:12: this expectation does not read"),
        ("Near miss.", "", "a-rule.md:24: the case does not say why"),
        ("## Second case", "## First case", "two cases are headed 'First case'"),
        ("target-torch=none", "target-torch", "a-rule.md:9: not a setting: target-torch"),
        ('fixed title="train.py"', 'fixed title="other.py"', "fixed text for 'other.py'"),
        ("y = 1\n```", "y = 1", "a-rule.md:27: the block is not closed"),
        ("```toml", '```python title="train.py"', "the case has 'train.py' twice"),
        ("x = 2  # kept", "x = 2  # error: [a-rule]", "fixed text holds expectations"),
        ("# A rule", "A rule", "the page has no title"),
        ("```python\ny = 1\n```", "", "the case has no file"),
        ("Prose with", "```python\n```\n", "a block before the first case"),
    ],
)
def test_a_page_that_breaks_the_format_is_refused(old: str, new: str, message: str) -> None:
    assert old in PAGE
    with pytest.raises(pages.PageError, match=message.replace("[", r"\[")):
        pages.parse_page("a-rule", PAGE.replace(old, new, 1))


def test_fixed_text_is_replaced_and_nothing_else() -> None:
    new = pages.replace_fixed("a-rule", PAGE, "First case", {"train.py": "x = 3\n"})
    assert new == PAGE.replace("x = 2  # kept", "x = 3")


def test_a_file_without_fixed_text_gets_one() -> None:
    new = pages.replace_fixed("a-rule", PAGE, "First case", {"train.py": "x = 2  # kept\n", "data.py": "y = 0\n"})
    block = '```python fixed title="train.py"\nx = 2  # kept\n```\n'
    assert new == PAGE.replace(block, block + '\n```python fixed title="data.py"\ny = 0\n```\n')


def test_fixed_text_of_an_unchanged_file_goes() -> None:
    new = pages.replace_fixed("a-rule", PAGE, "First case", {})
    assert new == PAGE.replace('```python fixed title="train.py"\nx = 2  # kept\n```\n\n', "")


def test_a_case_without_fixed_text_stays() -> None:
    assert pages.replace_fixed("a-rule", PAGE, "Second case", {"case.py": "y = 2\n"}) == PAGE


def test_a_block_without_a_name_is_prose() -> None:
    page = pages.parse_page("p", "# T\n## C\nWhy:\n```text\nhello\n```\n```python\nx = 1\n```\n")
    assert [block.name for block in page.cases[0].files] == ["case.py"]


def test_pages_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "a-rule.md").write_text(PAGE, encoding="utf-8")
    assert pages.read_page(tmp_path / "a-rule.md") == parse()
