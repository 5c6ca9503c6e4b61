"""Whether workers use more and more of the machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from loaderlint.audit.evidence import Evidence, of_kind, process
from loaderlint.audit.messages import Batch
from loaderlint.audit.report import Result, Verdict, clean, not_seen

#: The first batches of a worker import, open and allocate what it needs for all.
_WARM_UP = 2
#: So many batches after them make a trend.
_TREND = 6
#: KiB and open files that a batch leaves at least, on average, where they grow.
_LEAST_MEMORY, _LEAST_FILES = 1024, 1
#: How many workers are shown.
_SHOWN = 3

_Series = Mapping[tuple[int, int], Sequence[int]]


def memory_growth(evidence: Evidence) -> Iterator[Result]:
    """Whether each batch leaves memory behind in every worker."""
    check = "memory-growth"
    seen = _series(evidence, lambda batch: batch.memory)
    yield from _growing(evidence, check, seen, _LEAST_MEMORY, "memory", _mebibytes)


def kept_files(evidence: Evidence) -> Iterator[Result]:
    """Whether each batch leaves open files behind in every worker."""
    check = "kept-files"
    seen = _series(evidence, lambda batch: batch.files)
    yield from _growing(evidence, check, seen, _LEAST_FILES, "open files", str)


def _growing(
    evidence: Evidence, check: str, seen: _Series, least: int, what: str, shown: Callable[[int], str]
) -> Iterator[Result]:
    if not seen or not evidence.run.finished:
        return
    long = {who: values for who, values in seen.items() if len(values) > _TREND}
    if not long:
        least_batches = evidence.facts.workers * (_WARM_UP + _TREND + 1)
        yield not_seen(check, f"a trend takes more batches: --batches {least_batches}")
        return
    if all(_grows(values, least) for values in long.values()):
        lines = tuple(
            f"{process(*who)}: {shown(values[0])}, {shown(values[-1])} after {len(values) - 1} batches"
            for who, values in long.items()
        )
        text = f"each batch leaves {what} behind in every worker; a cache that fills up does so too, and stops"
        yield Result(check, Verdict.NOTE, text, lines[:_SHOWN])
    else:
        yield clean(check, f"no worker has more and more {what}")


def _series(evidence: Evidence, what: Callable[[Batch], int]) -> _Series:
    """What each worker used after its batches, without those in which it warms up."""
    seen: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for batch in of_kind(evidence.run, Batch):
        if batch.worker >= 0 and what(batch) >= 0:
            seen[batch.worker, batch.pid].append(what(batch))
    return {who: values[_WARM_UP:] for who, values in seen.items()}


def _grows(values: Sequence[int], least: int) -> bool:
    """Whether values go up from batch to batch, but for one, and in the second half no less than half as much as in the
    first: memory that is only used again, and what is made once, ends such a row."""
    steps = [after - before for before, after in pairwise(values)]
    first, second = values[len(steps) // 2] - values[0], values[-1] - values[len(steps) // 2]
    rising = sum(step > 0 for step in steps)
    return rising >= len(steps) - 1 and values[-1] - values[0] >= least * len(steps) and 2 * second >= first


def _mebibytes(count: int) -> str:
    return f"{count / 1024:.0f} MiB"
