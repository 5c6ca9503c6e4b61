"""From results to shares, and the three ways to show them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from loaderlint import __version__
from loaderlint.survey import html_page, text_summary
from loaderlint.survey.results import Count, Dataset, Failure, Loaders, Measured, Result, Torch
from loaderlint.survey.summarise import Summary, as_json, summarise, wilson

NUMPY = Count("LDR101", "error", "proven", 2)
MAYBE = Count("LDR101", "warning", "possible", 1)
HINT = Count("LDR101", "hint", "proven", 1)


def result(
    name: str, declared: Sequence[Count] = (), before: Sequence[Count] = (), *, loaders: int = 1, datasets: int = 1
) -> Result:
    """A repository with the same hazards in each of its datasets."""
    hazards = {"declared": tuple(declared), "before_1_9": tuple(before)}
    held = tuple(Dataset(f"d.py::D{n}", "proven", "yes", bool(before), hazards) for n in range(datasets))
    torch = Torch("not known", "none")
    return Result(name, __version__, measured=Measured(3, 100, 0, torch, Loaders(loaders, 0, 0), held, hazards), cpu=2)


@pytest.fixture
def summary() -> Summary:
    """Four repositories that were read, one of them without a loader, and one that was not."""
    return summarise(
        [
            result("a", before=[NUMPY], declared=[HINT], datasets=2),
            result("b", before=[MAYBE], declared=[MAYBE]),
            result("c"),
            result("nothing", loaders=0, datasets=0, declared=[MAYBE]),
            Result("<script>alert(1)</script>", __version__, failure=Failure("time", "not <b>done</b> & dusted")),
        ]
    )


def test_wilson() -> None:
    # Values of Newcombe (1998), table I, method 3.
    for count, of, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        share = wilson(count, of)
        assert share.low == pytest.approx(low, abs=5e-5) and share.high == pytest.approx(high, abs=5e-5)
    assert wilson(0, 0).share is None
    assert wilson(7, 7).high == pytest.approx(1)


def test_what_is_counted(summary: Summary) -> None:
    assert (summary.repositories, summary.read, summary.analysable, summary.datasets) == (5, 4, 3, 4)
    assert summary.elsewhere == 1
    (rule,) = summary.rules
    assert (rule.declared.repositories.count, rule.declared.repositories.of) == (1, 3)
    assert (rule.declared.proven_repositories, rule.declared.hinted_repositories) == (0, 1)
    assert (rule.before_1_9.repositories.count, rule.before_1_9.proven_repositories) == (2, 1)
    assert (rule.before_1_9.datasets.count, rule.before_1_9.datasets.of, rule.before_1_9.proven_datasets) == (3, 4, 2)
    assert rule.before_1_9.findings == 3
    bug = summary.numpy["before_1_9"]
    assert (bug.repositories.count, bug.repositories.of, bug.datasets.count, bug.datasets.of) == (2, 2, 3, 3)
    assert (summary.numpy["declared"].repositories.count, summary.numpy["declared"].undecided) == (1, 2)
    assert (summary.cpu, summary.cpu_median, summary.cpu_largest) == (8, 2, 2)


def test_nothing_at_all() -> None:
    nothing = summarise([])
    assert "No hazard was found." in list(text_summary.render(nothing))
    assert "No hazard was found." in html_page.render(nothing)
    assert json.dumps(as_json(nothing))


@pytest.mark.parametrize("counts", [[HINT], [NUMPY]])
def test_a_chart_without_a_row_is_left_out(counts: list[Count]) -> None:
    page = html_page.render(summarise([result("a", declared=counts, datasets=0)]))
    assert "Shares of datasets" not in page
    assert ("Shares of repositories" in page) == (counts == [NUMPY])


def test_text(summary: Summary) -> None:
    lines = list(text_summary.render(summary))
    (line,) = (line for line in lines if line.startswith("LDR101"))
    assert re.findall(r"(\d+)  (\d+\.\d) % \((\d+\.\d) to (\d+\.\d)\)", line) == [
        ("1", "33.3", "6.1", "79.2"),
        ("1", "25.0", "4.6", "69.9"),
        ("2", "66.7", "20.8", "93.9"),
        ("3", "75.0", "30.1", "95.4"),
    ]
    assert "  <script>alert(1)</script>: time limit: not <b>done</b> & dusted" in lines
    assert all(line.isascii() for line in lines)


def test_page(summary: Summary) -> None:
    page = html_page.render(summary)
    assert "66.7 % (20.8 to 93.9)" in page and "75.0 % (30.1 to 95.4)" in page
    assert page.count("<svg") == 4
    assert "&lt;script&gt;alert(1)" in page and "<script" not in page
    assert "&lt;b&gt;done&lt;/b&gt; &amp; dusted" in page
    elsewhere = re.search(r"(src|href)=|url\((?!#)|@import|https?:", re.sub(r'xmlns(:\w+)?="[^"]*"', "", page))
    assert elsewhere is None, "the page needs the network"
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids)), "the charts use each other's parts"


def test_the_order_of_results_does_not_matter(summary: Summary) -> None:
    results = [result(name, before=[NUMPY]) for name in "abc"]
    assert replace(summarise(results), cpu=0) == replace(summarise(results[::-1]), cpu=0)
