"""Checks whether workers, or the main process, use more and more resources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from loaderlint.audit.evidence import Evidence, of_kind, process
from loaderlint.audit.messages import Batch, EpochEnded, Used
from loaderlint.audit.report import Result, Verdict, clean, not_seen

#: In its first batches, a worker imports, opens and allocates what it needs for all of them.
_WARM_UP = 2
#: Its memory takes longer to settle: on a busy machine batches wait to be sent, and the allocator keeps their pages for
#: later batches (measured: up to seven tensors of 2 MiB, over eight batches).
_MEMORY_WARM_UP = 10
#: The minimum number of batches after them that make a trend.
_TREND = 6
#: The minimum number of epochs after the first one that make a trend.
_EPOCHS = 4
#: The minimum number of KiB and of descriptors that each batch, or epoch, leaves behind on average if there is growth.
_LEAST_MEMORY, _LEAST_DESCRIPTORS = 1024, 1
#: The maximum number of processes that are shown.
_SHOWN = 3

#: The use of each process after each of its batches, or epochs. `MAIN` is the main process.
_Series = Mapping[tuple[int, int], Sequence[int]]
_MAIN = (-1, -1)


def memory_growth(evidence: Evidence) -> Iterator[Result]:
    """Whether each batch leaves memory behind in every worker."""
    check = "memory-growth"
    each_batch = _after_batches(evidence, lambda used: used.memory)
    yield from _growing(evidence, check, each_batch, {}, _MEMORY_WARM_UP, _LEAST_MEMORY, "memory", _mebibytes)


def kept_shared_memory(evidence: Evidence) -> Iterator[Result]:
    """Whether each batch leaves shared memory behind in every worker, or each epoch does."""
    check = "kept-shared-memory"
    yield from _kept(evidence, check, lambda used: used.shared, _LEAST_MEMORY, "shared memory", _mebibytes)


def kept_descriptors(evidence: Evidence) -> Iterator[Result]:
    """Whether each batch leaves descriptors behind in every worker, or each epoch does."""
    check = "kept-descriptors"
    yield from _kept(evidence, check, lambda used: used.descriptors, _LEAST_DESCRIPTORS, "open descriptors", str)


def _kept(
    evidence: Evidence, check: str, what: Callable[[Used], int], least: int, name: str, shown: Callable[[int], str]
) -> Iterator[Result]:
    each_batch, each_epoch = _after_batches(evidence, what), _after_epochs(evidence, what)
    yield from _growing(evidence, check, each_batch, each_epoch, _WARM_UP, least, name, shown)


def _growing(
    evidence: Evidence,
    check: str,
    each_batch: _Series,
    each_epoch: _Series,
    warm_up: int,
    least: int,
    what: str,
    shown: Callable[[int], str],
) -> Iterator[Result]:
    if not (each_batch or each_epoch) or not evidence.run.finished:
        return
    settled = {who: values[warm_up:] for who, values in each_batch.items()}
    long = {who: values for who, values in settled.items() if len(values) > _TREND}
    kept = {who: values for who, values in each_epoch.items() if _climbs(values, least)}
    if long and all(_grows(values, least) for values in long.values()):
        text = f"each batch leaves {what} behind in every worker; a cache that fills up does so too, and stops"
        yield Result(check, Verdict.NOTE, text, _lines(long, "batches", shown))
    elif kept:
        text = f"each epoch leaves {what} behind; a cache that fills up does so too, and stops"
        yield Result(check, Verdict.NOTE, text, _lines(kept, "epochs", shown))
    elif not long and each_batch:
        least_batches = evidence.facts.workers * (warm_up + _TREND + 1)
        yield not_seen(check, f"a trend takes more batches: --batches {least_batches}")
    else:
        yield clean(check, f"no worker has more and more {what}")


def _lines(series: _Series, steps: str, shown: Callable[[int], str]) -> tuple[str, ...]:
    return tuple(
        f"{process(*who)}: {shown(values[0])}, {shown(values[-1])} after {len(values) - 1} {steps}"
        for who, values in list(series.items())[:_SHOWN]
    )


def _after_batches(evidence: Evidence, what: Callable[[Used], int]) -> _Series:
    """The use of each worker after each of its batches."""
    seen: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for batch in of_kind(evidence.run, Batch):
        if batch.worker >= 0 and what(batch.used) >= 0:
            seen[batch.worker, batch.pid].append(what(batch.used))
    return seen


def _after_epochs(evidence: Evidence, what: Callable[[Used], int]) -> _Series:
    """The use of the main process after each epoch, when it holds no batch, and the minimum of each worker in an epoch,
    when few batches wait. Without the first epoch."""
    seen: defaultdict[tuple[int, int], dict[int, int]] = defaultdict(dict)
    for ended in of_kind(evidence.run, EpochEnded):
        seen[_MAIN][ended.epoch] = what(ended.used)
    for batch in of_kind(evidence.run, Batch):
        if batch.worker >= 0:
            epochs, now = seen[batch.worker, batch.pid], what(batch.used)
            epochs[batch.epoch] = min(now, epochs.get(batch.epoch, now))
    return {who: [value for epoch, value in sorted(values.items()) if epoch] for who, values in seen.items()}


def _climbs(values: Sequence[int], least: int) -> bool:
    """Whether values rise from epoch to epoch."""
    return len(values) >= _EPOCHS and all(after - before >= least for before, after in pairwise(values))


def _grows(values: Sequence[int], least: int) -> bool:
    """Whether values rise from batch to batch, with one exception in four, and in the second half at least half as much
    as in the first: reused memory and what is allocated once end such a series. What waits to be sent comes and goes,
    so each value is replaced by the minimum from there on."""
    lows = list(accumulate(reversed(values), min))[::-1]
    steps = [after - before for before, after in pairwise(lows)]
    first, second = lows[len(steps) // 2] - lows[0], lows[-1] - lows[len(steps) // 2]
    rising = sum(step > 0 for step in steps)
    return 4 * rising >= 3 * len(steps) and lows[-1] - lows[0] >= least * len(steps) and 2 * second >= first


def _mebibytes(count: int) -> str:
    return f"{count / 1024:.0f} MiB"
