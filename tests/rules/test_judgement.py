"""Severity and certainty of a fault, alike for all rules."""

from __future__ import annotations

from typing import cast
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from loaderlint.findings.finding import Certainty, Severity
from loaderlint.project.reach.model import Exposure, Loader
from loaderlint.rules import RULES
from loaderlint.rules.shared.judgement import Unsaid, Verdict, gathered, loudness, lowered, weighed

ERROR, WARNING, INFORMATION, HINT = Severity
RULE = replace(RULES[0], name="a-rule", severity=WARNING)
UNKNOWN = "too much of what it depends on is unknown to report it even as a hint"


@pytest.mark.parametrize(
    ("severity", "certainty", "doubts", "expected"),
    [
        (ERROR, "proven", 0, ERROR),
        (ERROR, "proven", 1, WARNING),
        (ERROR, "possible", 0, WARNING),
        (ERROR, "possible", 2, HINT),
        (WARNING, "possible", 1, HINT),
        (HINT, "proven", 0, HINT),
        (HINT, "proven", 1, Unsaid(UNKNOWN)),
        (HINT, "possible", 0, Unsaid(f"it is only possible, and {UNKNOWN}")),
        (ERROR, "possible", 3, Unsaid(f"it is only possible, and {UNKNOWN}")),
    ],
)
def test_each_doubt_lowers_by_one_step(
    severity: Severity, certainty: Certainty, doubts: int, expected: Severity | Unsaid
) -> None:
    assert loudness(severity, certainty, doubts) == expected
    assert lowered(severity, Exposure((), certainty), doubts) == expected


def test_a_verdict_takes_the_severity_of_the_rule_unless_another_is_given() -> None:
    assert weighed(RULE, "proven") == Verdict("a-rule", WARNING, "proven")
    assert weighed(RULE, "possible") == Verdict("a-rule", INFORMATION, "possible")
    assert weighed(RULE, "proven", 1, ERROR) == Verdict("a-rule", WARNING, "proven")
    assert weighed(RULE, "proven", 3) == Unsaid(UNKNOWN)


def test_one_exposure_of_several_frames() -> None:
    """What is proven leads, the first of it; else a loader for training. The loaders of all are named once, its own
    first."""
    one, two, three, val = (cast(Loader, Mock(is_for_evaluation=known)) for known in (False,) * 3 + (True,))
    guess, first, second = (
        Exposure((one, two), "possible"),
        Exposure((three,), "proven"),
        Exposure((one, three), "proven"),
    )
    found = gathered([("a", None), ("b", guess), ("c", first), ("d", second)])
    assert found == ("c", Exposure((three, one, two), "proven"))
    assert gathered([("b", guess)]) == ("b", guess)
    assert gathered([("a", Exposure((val,), "possible")), ("b", guess)]) == ("b", Exposure((one, two, val), "possible"))
    assert gathered([("a", None)]) is None
    assert gathered([]) is None
