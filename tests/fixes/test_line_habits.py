"""Which layout of calls the code of a project shows."""

from __future__ import annotations

import pytest

from loaderlint.findings.finding import SetArgument
from loaderlint.fixes.apply import edits_for
from loaderlint.fixes.file_edits import NoFix
from loaderlint.fixes.line_habits import looks_formatted
from tests.fixes.fixing import PATH, Files, apply, place

LOOKS = [
    ("", None),
    ("x = f(a, b)\n", None),
    ("x = [\n    a,\n]\n", None),  # as nearly everybody writes lists
    ("x = {\n    'a': 1,\n}\n", None),
    ("x = f(\n    a,\n    b,\n)\n", True),
    ("x = f(\n    a,\n    b,  # why\n)\n", True),
    ("x = f(\n    a, b\n)\n", True),
    ("x = f(\r\n    a, b\r\n)\r\n", True),
    ("def f(\n    a, b\n) -> None:\n    pass\n", True),
    ("from a import (\n    b,\n    c,\n)\n", True),
    ("x = f(\n    a,\n    b\n)\n", None),  # formatters put a comma there
    ("x = f(\n    a, b)\n", None),
    ("x = f(a,\n      b)\n", False),
    ("def f(a,\n      b):\n    pass\n", False),
    ("x = f(\n    a,\n    b,\n)\n# x = f(a,\n#       b)\n", True),
    ("x = f(\n    a,\n    b,\n)\nx = f(a,\n      b)\n", False),
]


@pytest.mark.parametrize(("text", "expected"), LOOKS)
def test_what_a_file_shows(text: str, expected: bool | None) -> None:
    assert looks_formatted(text) is expected


FORMATTED, ALIGNED, NEITHER = "x = f(\n    a, b\n)\n", "x = f(a,\n      b)\n", "x = 1\n"
CALL = f"DataLoader(data, {', '.join(f'name_{number}=1' for number in range(7))})"


@pytest.mark.parametrize(
    ("others", "is_hanging"),
    [
        ([], False),
        ([NEITHER, NEITHER], False),
        ([FORMATTED, NEITHER], False),  # one file alone may be somebody else's
        ([FORMATTED, FORMATTED, NEITHER], True),
        ([FORMATTED, FORMATTED, ALIGNED], False),
        ([FORMATTED] * 5 + [ALIGNED], True),
    ],
)
def test_a_file_that_shows_nothing_is_laid_out_as_the_others(others: list[str], is_hanging: bool) -> None:
    text = f"loader = {CALL}\n"
    texts = {PATH.with_name(f"other_{number}.py"): other for number, other in enumerate(others)}
    edits = edits_for([SetArgument(place(text, CALL), "k", "a_value")], Files({PATH: text, **texts}))
    assert not isinstance(edits, NoFix)
    assert ("DataLoader(\n" in apply(text, edits)) is is_hanging


def test_the_nearest_folder_that_tells_counts() -> None:
    text = f"loader = {CALL}\n"
    intents = [SetArgument(place(text, CALL), "k", "a_value")]
    near = {PATH.with_name(f"near_{number}.py"): FORMATTED for number in range(2)}
    far = {PATH.parent / "far" / f"{number}.py": ALIGNED for number in range(4)}
    for others, is_hanging in (({**near, **far}, True), (far, False), ({**dict.fromkeys(far, FORMATTED)}, True)):
        edits = edits_for(intents, Files({PATH: text, **others}))
        assert not isinstance(edits, NoFix)
        assert ("DataLoader(\n" in apply(text, edits)) is is_hanging
