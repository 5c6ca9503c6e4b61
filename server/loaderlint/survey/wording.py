"""Texts that the text summary and the HTML page share."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.survey.results import Reading
from loaderlint.survey.summarise import Share, Summary

READING_NAMES: dict[Reading, str] = {"declared": "as declared", "before_1_9": "on torch before 1.9"}
FAILURE_NAMES = {"error": "fault of the tool", "time": "time limit", "memory": "memory limit", "crash": "crash"}


def percent(share: Share) -> str:
    """'13.2 % (7.4 to 22.1)', with the interval in brackets; '-' for a share of nothing."""
    if share.share is None or share.low is None or share.high is None:
        return "-"
    return f"{100 * share.share:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f})"


def number(count: int, what: str, many: str = "") -> str:
    """'1 dataset', '12,300 datasets'. `many`: an irregular plural."""
    return f"{count:,} {what if count == 1 else many or what + 's'}"


def what_was_read(summary: Summary) -> Iterator[str]:
    """Sentences about how much was read, and what the shares refer to."""
    failed = len(summary.failures)
    rest = f"; {failed:,} could not be read" if failed else ""
    yield (
        f"{number(summary.read, 'repository', 'repositories')} read: {number(summary.files, 'file')},"
        f" {number(summary.lines, 'line')}, {number(summary.loaders, 'loader')}{rest}."
    )
    yield (
        f"With a known loader: {summary.with_loader:,}; with workers: {summary.with_workers:,}; only with loaders"
        f" that may have workers: {summary.may_have_workers:,}."
    )
    yield (
        f"Shares are of {number(summary.analysable, 'repository', 'repositories')} with a loader or an analysable"
        f" dataset, and of {number(summary.datasets, 'analysable dataset')}: {summary.proven_datasets:,} held by a"
        f" known loader, {summary.datasets_in_workers:,} in loaders that have or may have workers."
    )
    if summary.elsewhere:
        yield f"{number(summary.elsewhere, 'finding')} in repositories without either are not counted."


def numpy_bug(summary: Summary) -> Iterator[tuple[Reading, str]]:
    """For each reading, the share of the repositories whose workers draw from NumPy's global state in which all workers
    draw the same numbers."""
    for reading, found in summary.numpy.items():
        undecided = f"; {found.undecided:,} of them declare no torch that decides it" if found.undecided else ""
        yield (
            reading,
            f"in {found.datasets.count:,} of {number(found.datasets.of, 'dataset')}, {percent(found.datasets)},"
            f" and in {found.repositories.count:,} of"
            f" {number(found.repositories.of, 'repository', 'repositories')}, {percent(found.repositories)}{undecided}",
        )
