"""Turns results into counts and shares, with confidence intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist
from typing import Any

from msgspec import Struct, to_builtins

from loaderlint import __version__
from loaderlint.findings.finding import Severity
from loaderlint.survey.results import READINGS, SCHEMA, Count, Dataset, Declared, Measured, Reading, Result

CONFIDENCE = 0.95
_DIGITS = 6
_NUMPY_BUG = "LDR101"
_HINT = Severity.HINT.value

#: The answers to 'is the declared torch before 1.9?', with their texts.
VERSIONS: tuple[tuple[Declared, str], ...] = (
    ("yes", "before 1.9"),
    ("no", "1.9 or later"),
    ("maybe", "before or after 1.9"),
    ("open", "an open range, such as >=1.5"),
    ("none", "none"),
)


class Share(Struct, frozen=True):
    """`count` of `of`, with the share and its 95 % Wilson interval from `low` to `high`; these three are None if `of`
    is 0."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


class Spread(Struct, frozen=True):
    """One rule in one reading: the repositories and datasets that it affects, those that it affects for certain
    (proven), and the repositories where it only gives hints."""

    repositories: Share
    proven_repositories: int
    datasets: Share
    proven_datasets: int
    hinted_repositories: int
    findings: int


class RuleSpread(Struct, frozen=True):
    """One rule in both readings."""

    code: str
    name: str
    declared: Spread
    before_1_9: Spread

    def of(self, reading: Reading) -> Spread:
        """The spread in one reading."""
        return self.declared if reading == "declared" else self.before_1_9


class NumpyBug(Struct, frozen=True):
    """The repositories and datasets whose workers draw from NumPy's global state, and the share of them in which all
    workers draw the same numbers. `undecided`: repositories among them that declare no torch, or one that may be before
    1.9 or not."""

    repositories: Share
    datasets: Share
    undecided: int


class Failed(Struct, frozen=True):
    """A repository without a result, and why."""

    name: str
    kind: str
    message: str


class Summary(Struct, frozen=True):
    """The summary of a survey. `read`: the number of repositories that were read completely; `analysable`: those with a
    known loader or an analysable dataset, of which shares are computed; `elsewhere`: the findings in the other ones,
    with the declared versions."""

    repositories: int
    read: int
    analysable: int
    with_loader: int
    with_workers: int
    may_have_workers: int
    datasets: int
    proven_datasets: int
    datasets_in_workers: int
    files: int
    lines: int
    loaders: int
    elsewhere: int
    cpu: float
    cpu_median: float
    cpu_largest: float
    versions: dict[str, int]
    rules: tuple[RuleSpread, ...]
    numpy: dict[Reading, NumpyBug]
    failures: tuple[Failed, ...]

    @property
    def counted_rules(self) -> tuple[RuleSpread, ...]:
        """The rules with findings other than hints."""
        return tuple(one for one in self.rules if one.declared.findings or one.before_1_9.findings)


def wilson(count: int, of: int) -> Share:
    """The share with its score interval (Wilson 1927), which stays between 0 and 1 and is valid for small numbers
    too."""
    if not of:
        return Share(count, of, None, None, None)
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share = count / of
    middle = share + z * z / (2 * of)
    half = z * (share * (1 - share) / of + z * z / (4 * of * of)) ** 0.5
    width = 1 + z * z / of
    low, high = max(0.0, (middle - half) / width), min(1.0, (middle + half) / width)
    return Share(count, of, round(share, _DIGITS), round(low, _DIGITS), round(high, _DIGITS))


def summarise(results: Sequence[Result]) -> Summary:
    """Summarise the results."""
    measured = [one.measured for one in results if one.measured is not None]
    analysable = [one for one in measured if _is_analysable(one)]
    datasets = [dataset for one in analysable for dataset in one.datasets]
    spent = sorted(one.cpu for one in results if one.measured is not None)
    return Summary(
        repositories=len(results),
        read=len(measured),
        analysable=len(analysable),
        with_loader=sum(1 for one in measured if one.loaders.total),
        with_workers=sum(1 for one in measured if one.loaders.yes),
        may_have_workers=sum(1 for one in measured if one.loaders.maybe and not one.loaders.yes),
        datasets=len(datasets),
        proven_datasets=sum(1 for one in datasets if one.certainty == "proven"),
        datasets_in_workers=sum(1 for one in datasets if one.workers != "no"),
        files=sum(one.files for one in measured),
        lines=sum(one.lines for one in measured),
        loaders=sum(one.loaders.total for one in measured),
        elsewhere=sum(_spoken(one.findings["declared"]) for one in measured if not _is_analysable(one)),
        cpu=round(sum(one.cpu for one in results), 3),
        cpu_median=spent[len(spent) // 2] if spent else 0.0,
        cpu_largest=spent[-1] if spent else 0.0,
        versions=_versions(analysable),
        rules=_rules(analysable, datasets),
        numpy={reading: _numpy_bug(analysable, reading) for reading in READINGS},
        failures=tuple(
            Failed(one.name, one.failure.kind, one.failure.message) for one in results if one.failure is not None
        ),
    )


def as_json(summary: Summary) -> dict[str, Any]:
    """The summary as plain data for JSON, as described in docs/survey.md."""
    return {"schema": SCHEMA, "loaderlint": __version__, "confidence": CONFIDENCE, **to_builtins(summary)}


def _is_analysable(measured: Measured) -> bool:
    return bool(measured.loaders.total or measured.datasets)


def _versions(measured: Iterable[Measured]) -> dict[str, int]:
    count = Counter(one.torch.before_1_9 for one in measured)
    return {answer: count[answer] for answer, _ in VERSIONS}


def _rules(measured: Sequence[Measured], datasets: Sequence[Dataset]) -> tuple[RuleSpread, ...]:
    """The rules with findings anywhere, the most widespread first."""
    from loaderlint.rules import RULES

    spoken = {one.rule for each in measured for reading in READINGS for one in each.findings[reading]}
    found = [
        RuleSpread(
            rule.code,
            rule.name,
            _spread(rule.code, "declared", measured, datasets),
            _spread(rule.code, "before_1_9", measured, datasets),
        )
        for rule in RULES
        if rule.code in spoken
    ]
    found.sort(key=lambda one: (-one.before_1_9.repositories.count, -one.declared.repositories.count, one.code))
    return tuple(found)


def _spread(code: str, reading: Reading, measured: Sequence[Measured], datasets: Sequence[Dataset]) -> Spread:
    repositories = [[one for one in each.findings[reading] if one.rule == code] for each in measured]
    held = [[one for one in dataset.hazards[reading] if one.rule == code] for dataset in datasets]
    return Spread(
        repositories=wilson(_number(repositories, _speaks), len(repositories)),
        proven_repositories=_number(repositories, _proves),
        datasets=wilson(_number(held, _speaks), len(held)),
        proven_datasets=_number(held, _proves),
        hinted_repositories=sum(1 for counts in repositories if counts and not any(map(_speaks, counts))),
        findings=sum(_spoken(counts) for counts in repositories),
    )


def _numpy_bug(measured: Iterable[Measured], reading: Reading) -> NumpyBug:
    drawing = [one for one in measured if any(dataset.draws_numpy for dataset in one.datasets)]
    datasets = [[dataset for dataset in one.datasets if dataset.draws_numpy] for one in drawing]
    hit = [[_has_numpy_bug(dataset, reading) for dataset in held] for held in datasets]
    return NumpyBug(
        wilson(sum(map(any, hit)), len(hit)),
        wilson(sum(map(sum, hit)), sum(map(len, hit))),
        sum(1 for one in drawing if reading == "declared" and one.torch.before_1_9 in ("maybe", "open", "none")),
    )


def _has_numpy_bug(dataset: Dataset, reading: Reading) -> bool:
    return any(one.rule == _NUMPY_BUG and _speaks(one) for one in dataset.hazards[reading])


def _number(groups: Iterable[Iterable[Count]], holds: Callable[[Count], bool]) -> int:
    return sum(1 for counts in groups if any(map(holds, counts)))


def _speaks(count: Count) -> bool:
    return count.severity != _HINT


def _proves(count: Count) -> bool:
    return _speaks(count) and count.certainty == "proven"


def _spoken(counts: Iterable[Count]) -> int:
    return sum(one.count for one in counts if _speaks(one))
