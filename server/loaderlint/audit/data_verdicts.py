"""Checks the data: reading does not change what is stored, each item comes once, runs can be repeated."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from loaderlint.audit.evidence import Done, Evidence, changed, complete, failures, process, samples_of
from loaderlint.audit.report import Result, Verdict, clean, not_seen
from loaderlint.audit.sandbox import Outcome

#: The maximum number of places of one kind that are shown.
_SHOWN = 3


def stored_data(evidence: Evidence) -> Iterator[Result]:
    """Whether reading a sample changes stored data."""
    check = "stored-data"
    rule = "stored-data-mutation"
    seen = evidence.read_again
    kept = [(each, change) for each in changed(evidence.run) for change in each.changes]
    shared = [(each, change) for each, change in kept if change.kind == "shared"]
    if seen.get("paths"):
        lines = [f"sample {seen['index'][0]} was read three times: digests {', '.join(seen['made'])}"]
        lines += [f"changed each time: {path}" for path in seen["paths"][:_SHOWN]]
        yield Result(check, Verdict.FAULT, "reading a sample changes the stored data", tuple(lines), rule)
    elif shared:
        lines = [
            f"{process(each.worker, each.pid)}, epoch {each.epoch + 1}: {change.path} {change.before} -> {change.after}"
            for each, change in shared[:_SHOWN]
        ]
        text = "a worker writes to data that other processes or a file share with it"
        yield Result(check, Verdict.FAULT, text, tuple(lines), rule)
    elif not evidence.run.finished:
        yield not_seen(check, "the loader did not finish")
    elif evidence.facts.iterable:
        yield clean(check, "the data that the dataset shares with other processes did not change")
    else:
        yield clean(check, "samples that are read again are the same, and shared data did not change")


def kept_state(evidence: Evidence) -> Iterator[Result]:
    """The state that samples leave on the dataset, which is lost when the worker ends."""
    check = "kept-state"
    facts = evidence.facts
    if not facts.workers:
        return
    # A cache is useful to persistent workers.
    kinds = ("number",) if facts.persistent else ("grown", "number", "filled")
    paths: dict[str, str] = {}
    for each in changed(evidence.run):
        for change in each.changes:
            if change.kind in kinds:
                container = change.path.rpartition("[")[0] if change.kind == "filled" else change.path
                who = f"{process(each.worker, each.pid)}, epoch {each.epoch + 1}"
                line = f"{who}: {change.path}: {change.before} -> {change.after}"
                paths.setdefault(container or change.path, line)
    if not paths:
        if evidence.run.finished:
            what = "counter" if facts.persistent else "counter or container"
            yield clean(check, f"no {what} of the dataset changes from batch to batch")
        return
    lost = "each worker has its own, and the main process never sees it"
    if not facts.persistent:
        lost += "; it is gone when the epoch ends"
    yield Result(
        check,
        Verdict.NOTE,
        f"workers keep state on the dataset ({', '.join(list(paths)[:_SHOWN])}): {lost}",
        tuple(list(paths.values())[:_SHOWN]),
        "lost-worker-state",
    )


def epochs_end(evidence: Evidence) -> Iterator[Result]:
    """Whether later epochs still give items if the first one did."""
    check = "epochs"
    counts = [len(samples_of(evidence.run, epoch)) for epoch in range(evidence.facts.epochs)]
    if not evidence.run.finished or failures(evidence.run) or len(counts) < 2:
        return
    if counts[0] and not all(counts):
        empty = counts.index(0) + 1
        lines = tuple(f"epoch {number}: {count} items" for number, count in enumerate(counts, 1))
        yield Result(
            check, Verdict.FAULT, f"epoch {empty} gives no items", lines, "exhausted-iterable", _iterating(evidence)
        )
    else:
        yield clean(check, "each epoch gives items")


def items(evidence: Evidence) -> Iterator[Result]:
    """Whether each item comes as often with workers as without them."""
    check = "items"
    facts, alone = evidence.facts, evidence.alone
    if not facts.workers or alone is None:
        return
    if not (evidence.run.finished and alone.finished) or failures(evidence.run) or failures(alone):
        yield not_seen(check, "one of the two runs, with workers and without, did not finish")
        return
    rule = "unsharded-iterable-dataset" if facts.iterable else "lost-worker-state"
    with_workers, without = samples_of(evidence.run), samples_of(alone)
    if complete(evidence.run) and complete(alone):
        if len(with_workers) != len(without):
            text = f"an epoch has {len(with_workers)} items with {facts.workers} workers, and {len(without)} with none"
            by_worker = Counter(each.who for each in with_workers)
            lines = tuple(f"{who}: {count} items" for who, count in sorted(by_worker.items()))
            known = rule if len(with_workers) > len(without) else None
            yield Result(check, Verdict.FAULT, text, lines, known, _iterating(evidence))
            return
        yield from _compared(evidence, with_workers, without, rule)
        return
    if not facts.iterable:
        yield not_seen(check, "the epoch has more batches than were read")
        return
    yield from _prefixes(evidence, with_workers, rule)


def _iterating(evidence: Evidence) -> tuple[str, ...]:
    """The lines of an iterable dataset's `__iter__`."""
    return evidence.facts.iterates if evidence.facts.iterable else ()


def _compared(evidence: Evidence, with_workers: Sequence[Done], without: Sequence[Done], rule: str) -> Iterator[Result]:
    check = "items"
    certain = _reproducible(evidence) and not any(_draws(each) for each in (*with_workers, *without))
    one, other = (Counter(each.unit.digest for each in side) for side in (with_workers, without))
    if not certain:
        yield clean(check, f"an epoch has {len(without)} items with workers and without; they are random")
        return
    often = [key for key, count in one.items() if count > other[key] > 0]
    missing = [key for key in other if key not in one]
    if not often or not missing:
        yield clean(check, f"the {len(without)} items of an epoch are the same with workers and without")
        return
    lines = [
        f"{key}: {', '.join(each.where for each in with_workers if each.unit.digest == key)}" for key in often[:_SHOWN]
    ]
    text = f"{len(often)} items come more often with workers than without, and {len(missing)} do not come at all"
    yield Result(check, Verdict.FAULT, text, tuple(lines), rule, _iterating(evidence))


def _prefixes(evidence: Evidence, with_workers: Sequence[Done], rule: str) -> Iterator[Result]:
    """Whether two workers begin with the same items. If all items are equal, nothing follows."""
    check = "items"
    by_worker: defaultdict[int, list[Done]] = defaultdict(list)
    for each in with_workers:
        by_worker[each.worker].append(each)
    ranked = sorted(by_worker.items())
    for place, (_, mine) in enumerate(ranked):
        for _, theirs in ranked[place + 1 :]:
            common = list(zip(mine, theirs, strict=False))
            digests = [one.unit.digest for one, _ in common]
            if len(set(digests)) > 1 and all(one.unit.digest == other.unit.digest for one, other in common):
                lines = tuple(f"{one.where} and {other.where}: {one.unit.digest}" for one, other in common[:_SHOWN])
                text = f"workers give the same items: the first {len(common)} of {mine[0].who} and {theirs[0].who}"
                yield Result(check, Verdict.FAULT, text, lines, rule, _iterating(evidence))
                return
    if any(_draws(each) for each in with_workers):
        yield not_seen(check, "the items are random, and the epoch has more batches than were read")
    else:
        yield clean(check, "no two workers begin with the same items")


def _draws(done: Done) -> bool:
    return bool(done.unit.streams)


def _reproducible(evidence: Evidence) -> bool:
    """Whether the second run, which began in the same random states, gave the same samples."""
    again = evidence.again
    return again is not None and again.finished and not _differences(evidence.run, again)


def _differences(one: Outcome, other: Outcome) -> list[tuple[Done, Done]]:
    """The samples at equal positions in the first epochs of two runs that differ."""
    places = {_place(each): each for each in samples_of(other)}
    pairs = [(each, places[_place(each)]) for each in samples_of(one) if _place(each) in places]
    return [(mine, theirs) for mine, theirs in pairs if mine.unit.digest != theirs.unit.digest]


def _place(done: Done) -> tuple[int, str, int]:
    return done.worker, done.unit.index, done.unit.number


def reproducible(evidence: Evidence) -> Iterator[Result]:
    """Whether a second run from the same random states gives the same samples."""
    check = "reproducible"
    again = evidence.again
    if again is None or not (evidence.run.finished and again.finished):
        return
    different = _differences(evidence.run, again)
    if different:
        lines = tuple(f"{one.where}: {one.unit.digest}, then {two.unit.digest}" for one, two in different[:_SHOWN])
        text = f"two runs from the same random states give different samples ({len(different)} of the first epoch)"
        yield Result(check, Verdict.NOTE, text, lines)
    else:
        yield clean(check, "two runs from the same random states give the same samples")


def same_without_workers(evidence: Evidence) -> Iterator[Result]:
    """Whether samples that draw nothing are the same with workers and without."""
    check = "same-without-workers"
    alone = evidence.alone
    if alone is None or evidence.facts.iterable or not (alone.finished and _reproducible(evidence)):
        return
    if any(change.kind == "stream" for each in changed(evidence.run) for change in each.changes):
        yield not_seen(check, "the workers create their own random generators")
        return
    places = {each.unit.index: each for each in samples_of(alone) if not _draws(each)}
    pairs = [(each, places[each.unit.index]) for each in samples_of(evidence.run) if each.unit.index in places]
    different = [
        (one, two) for one, two in pairs if not _draws(one) and one.unit.digest != two.unit.digest and one.unit.digest
    ]
    if different:
        lines = tuple(
            f"{one.where}: {one.unit.digest}; without workers {two.unit.digest}" for one, two in different[:3]
        )
        text = f"{len(different)} samples differ from those of the main process, and used no known random state"
        yield Result(check, Verdict.NOTE, text, lines)
    elif pairs:
        yield clean(check, "samples that draw nothing are the same with workers and without")
