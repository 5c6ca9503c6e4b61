"""Suppression comments: what counts as one, and what it silences."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loaderlint.findings.read_suppressions import covering, lines_in_strings, suppressions

NAME, CODE = "shared-generator", "LDR102"


def _on_first_line(text: str) -> bool:
    return bool(covering(text, NAME, CODE, 0))


@pytest.mark.parametrize(
    "text",
    [
        "x()  # loaderlint: ignore",
        "x()  # loaderlint: ignore[shared-generator]",
        "x()  #loaderlint:ignore[ other , shared-generator ] because it is seeded elsewhere",
        "x()  # loaderlint: ignore [LDR102]",
        "x()  # loaderlint: ignore[LDR1]",
        "x()  # type: ignore # loaderlint: ignore[shared-generator]",
        "x()  # noqa: LDR102",
        "x()  # noqa:E501,LDR102",
        "x()  # NOQA : E501 ldr102",
        "x('#')  # loaderlint: ignore",
        "x('it\\'s')  # loaderlint: ignore",
        "x(r'\\')  # ')  # loaderlint: ignore",
        "x('''a\n''')\n# loaderlint: ignore-file",
        "# loaderlint: ignore-file[shared-generator]",
        "x('half typed\n# loaderlint: ignore-file",
    ],
)
def test_silenced(text: str) -> None:
    assert _on_first_line(text)


@pytest.mark.parametrize(
    "text",
    [
        "x()",
        "x()  # loaderlint",
        "x()  # loaderlint: ignored",
        "x()  # loaderlint: ignore-files",
        "x()  # loaderlint: ignore[other]",
        "x()  # loaderlint: ignore[]",
        "x()  # loaderlint: ignore[shared-generator",
        "x()  # noqa",
        "x()  # noqa: E501",
        "x()  # noqa: LDR101",
        "x('# loaderlint: ignore')",
        'x("""\n# loaderlint: ignore-file\n""")',
        "x('''\n' # loaderlint: ignore-file\n''')",
        'x("a\\\n# loaderlint: ignore-file")',
        "x()\n# loaderlint: ignore",
        "'''not closed\n# loaderlint: ignore-file",
    ],
)
def test_not_silenced(text: str) -> None:
    assert not _on_first_line(text)


def test_a_comment_on_the_first_or_last_line_of_the_finding_counts() -> None:
    text = "call(  # loaderlint: ignore[a]\n    1,  # loaderlint: ignore[b]\n)  # loaderlint: ignore[c]\n"
    assert covering(text, "a", "LDR999", 0, 2)
    assert not covering(text, "b", "LDR999", 0, 2)
    assert covering(text, "c", "LDR999", 0, 2)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_and_columns(newline: str) -> None:
    text = newline.join(["a = '\u2028\x0c'", "", "b = 1  # loaderlint: ignore[x]", "c"])
    (found,) = suppressions(text)
    assert (found.line, found.column, found.names) == (2, 7, frozenset({"x"}))


def test_a_backslash_at_the_end_of_an_open_string_is_no_trap() -> None:
    # A scanner that backtracks here never comes back.
    text = "loaderlint '''" + "a" * 5000 + "\\"
    assert suppressions(text) == ()


_TEXT = st.lists(st.sampled_from(["'''", '"""', "'", '"', "\\", " ", "\n", "\r", "\r\n", "#", "x"]), max_size=30).map(
    "".join
)


@given(_TEXT, _TEXT, _TEXT)
@example("'''\n", "'''", "")
@example("'''\n''' + '\\\n", "'", "x")
@example("'\\\n", "", "\n")
def test_what_a_line_says_is_told_by_what_it_begins_in(before: str, line: str, behind: str) -> None:
    """The line changes after its strings were looked for."""
    before = re.sub(r"\r\Z", "", before) and f"{before}\n"
    line = re.sub(r"[\r\n]", "", line)
    number = len(re.findall(r"\r\n|\r|\n", before))
    begun = lines_in_strings(f"{before}{line}\n{behind}").get(number, number)
    changed = f"{line}  # loaderlint: ignore[a]\n"
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", before))]
    alone = suppressions(before[starts[begun] :] + changed)
    whole = suppressions(f"{before}{changed}{behind}")
    here = [one for one in whole if one.line == number]
    assert [moved for one in alone if (moved := one._replace(line=begun + one.line)).line == number] == here
