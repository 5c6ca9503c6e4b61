"""What the evidence proves: one question a function, each answered by one or more results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from loaderlint.audit.evidence import Done, Drawn, Evidence, changed, complete, failures, of_kind, units
from loaderlint.audit.failures import rule_of_failure
from loaderlint.audit.messages import Started, Unit
from loaderlint.audit.open_files import shown
from loaderlint.audit.report import Result, Verdict
from loaderlint.audit.sandbox import Outcome, Stuck
from loaderlint.audit.streams import GLOBAL, NUMPY

#: How many places of one kind are shown.
_SHOWN = 3

_AUGMENTERS = ("albumentations", "monai", "imgaug")


def results(evidence: Evidence) -> Iterator[Result]:
    """All that the evidence proves or refutes, faults first in each question."""
    for question in QUESTIONS:
        yield from question(evidence)


def _clean(check: str, text: str) -> Result:
    return Result(check, Verdict.CLEAN, text)


def _unseen(check: str, why: str) -> Result:
    return Result(check, Verdict.NOT_SEEN, why)


def workers_draw_alike(evidence: Evidence) -> Iterator[Result]:
    """Whether two workers draw from the same state of a stream in one epoch."""
    check = "workers-draw-alike"
    if evidence.facts.workers < 2:
        return
    found = False
    for name, drawn in _by_stream(evidence).items():
        for first, second in _meetings(drawn, _other_worker):
            found = True
            rule = _rule_of_stream(evidence, name, first, second, across="worker")
            text = f"workers draw the same numbers from {_named(evidence, name)}"
            yield Result(check, Verdict.FAULT, text, _met(first, second), rule)
            break
    if not found:
        yield _clean(check, "no two workers drew from the same state" if evidence.draws() else "no worker drew")


def epochs_draw_alike(evidence: Evidence) -> Iterator[Result]:
    """Whether an epoch draws from the states from which an earlier one drew."""
    check = "epochs-draw-alike"
    if evidence.facts.epochs < 2:
        yield _unseen(check, "only one epoch was asked for")
        return
    found = False
    for name, drawn in _by_stream(evidence).items():
        for first, second in _meetings(drawn, _other_epoch):
            found = True
            rule = _rule_of_stream(evidence, name, first, second, across="epoch")
            text = f"epochs draw the same numbers from {_named(evidence, name)}"
            yield Result(check, Verdict.FAULT, text, _met(first, second), rule)
            break
    if not found:
        yield _clean(check, "no epoch drew from a state of an earlier one" if evidence.draws() else "nothing was drawn")


def samples_reseed(evidence: Evidence) -> Iterator[Result]:
    """Whether samples set a stream to the same state, draw, and leave it where the last sample did."""
    check = "samples-reseed"
    for name, drawn in _by_stream(evidence).items():
        set_by: dict[tuple[int, tuple[str, ...]], Drawn] = {}
        for each in drawn:
            path = tuple(move.state for move in each.use.moves or ())
            if each.use.before != each.use.after:
                set_by[each.done.pid, path] = each
            elif path and (first := set_by.get((each.done.pid, path))):
                text = f"each sample sets {_named(evidence, name)} to the same state, so all samples draw the same numbers"
                rule = "common-seed-in-workers" if evidence.facts.iterable else "reseed-per-sample"
                yield Result(check, Verdict.FAULT, text, _met(first, each), rule)
                return
    if evidence.draws():
        yield _clean(check, "no sample sets a stream to the state of another one")


def _by_stream(evidence: Evidence) -> dict[str, list[Drawn]]:
    found: defaultdict[str, list[Drawn]] = defaultdict(list)
    for each in evidence.draws():
        found[each.use.name].append(each)
    return found


def _other_worker(one: Done, other: Done) -> bool:
    return one.epoch == other.epoch and one.worker != other.worker


def _other_epoch(one: Done, other: Done) -> bool:
    return one.epoch != other.epoch


def _meetings(drawn: Sequence[Drawn], differs: Callable[[Done, Done], bool]) -> Iterator[tuple[Drawn, Drawn]]:
    """Pairs that drew from the same state, or that came to the same state from different ones. One state of 64 bits and
    more meets another by chance never."""
    before: dict[str, list[Drawn]] = {}
    after: dict[str, list[Drawn]] = {}
    for each in drawn:
        if each.use.before == each.use.after:
            continue
        for other in before.get(each.use.before, ()):
            if differs(other.done, each.done):
                yield other, each
        for other in after.get(each.use.after, ()):
            if differs(other.done, each.done) and other.use.before != each.use.before:
                yield other, each
        before.setdefault(each.use.before, []).append(each)
        after.setdefault(each.use.after, []).append(each)


def _met(*drawn: Drawn) -> tuple[str, ...]:
    """What was seen of draws that met."""
    lines: list[str] = []
    for each in drawn:
        lines.append(f"{each.done.where}: state {each.use.before} -> {each.use.after}")
        for move in (each.use.moves or ())[:1]:
            lines.append("  drawn by " + ", called by ".join(move.stack[:3]))
    return tuple(lines)


def _named(evidence: Evidence, name: str) -> str:
    """A stream in words."""
    if name in GLOBAL:
        return f"the global stream of {name}"
    kinds = {key: kind for each in of_kind(evidence.run, Started) for key, kind in each.kinds.items()}
    return f"{name} ({kinds.get(name, 'a generator').rpartition('.')[2]})"


def _rule_of_stream(evidence: Evidence, name: str, first: Drawn, second: Drawn, across: str) -> str:
    """The rule that speaks of this stream."""
    if name not in GLOBAL:
        where = " ".join(frame for each in (first, second) for move in each.use.moves or () for frame in move.stack)
        return "frozen-augmentation-state" if any(each in where for each in _AUGMENTERS) else "shared-generator"
    starts = {(each.worker, each.epoch): each for each in of_kind(evidence.run, Started)}
    one = starts.get((first.done.worker, first.done.epoch))
    other = starts.get((second.done.worker, second.done.epoch))
    if one is not None and other is not None:
        if one.born.get(name) == other.born.get(name) and name == NUMPY:
            return "duplicate-numpy-randomness"
        if one.initialised.get(name) == other.initialised.get(name):
            return "constant-worker-seed"
    if evidence.facts.iterable or first.done.unit.kind == "collate":
        return "common-seed-in-workers" if across == "worker" else "constant-worker-seed"
    return "constant-worker-seed" if _only_first(evidence, name) else "reseed-per-sample"


def _only_first(evidence: Evidence, name: str) -> bool:
    """Whether the state is set with the first sample of a worker and moves on from then on."""
    later = [each for each in _by_stream(evidence)[name] if each.done.unit.number > 1]
    return all(each.use.before != each.use.after for each in later)


def stored_data(evidence: Evidence) -> Iterator[Result]:
    """Whether reading a sample changes what is stored."""
    check = "stored-data"
    rule = "stored-data-mutation"
    seen = evidence.read_again
    kept = [(each, change) for each in changed(evidence.run) for change in each.changes]
    shared = [(each, change) for each, change in kept if change.kind == "shared"]
    if seen.get("paths"):
        lines = [f"{_index_of(seen)} was read three times: digests {', '.join(seen['made'])}"]
        lines += [f"changed each time: {path}" for path in seen["paths"][:_SHOWN]]
        yield Result(check, Verdict.FAULT, "reading a sample changes the stored data", tuple(lines), rule)
    elif shared:
        lines = [
            f"{_who(each.worker, each.pid)}, epoch {each.epoch + 1}: {change.path} {change.before} -> {change.after}"
            for each, change in shared[:_SHOWN]
        ]
        text = "a worker writes to data that other processes or a file share with it"
        yield Result(check, Verdict.FAULT, text, tuple(lines), rule)
    elif not evidence.run.finished:
        yield _unseen(check, "the loader did not come to its end")
    else:
        yield _clean(check, "reading samples again gives the same, and what is shared is as it was")


def _index_of(seen: object) -> str:
    return f"sample {seen['index'][0]}"  # type: ignore[index]


def _who(worker: int, pid: int) -> str:
    return "the main process" if worker < 0 else f"worker {worker} (pid {pid})"


def kept_state(evidence: Evidence) -> Iterator[Result]:
    """What samples leave on the dataset, which ends with the worker."""
    check = "kept-state"
    facts = evidence.facts
    if not facts.workers:
        return
    paths: dict[str, str] = {}
    for each in changed(evidence.run):
        for change in each.changes:
            if change.kind in ("grown", "number", "filled"):
                container = change.path.rpartition("[")[0] if change.kind == "filled" else change.path
                line = f"{_who(each.worker, each.pid)}, epoch {each.epoch + 1}: {change.path}: {change.before} -> {change.after}"
                paths.setdefault(container or change.path, line)
    counters = {path: line for path, line in paths.items()}
    if not counters:
        if evidence.run.finished:
            yield _clean(check, "no counter or container of the dataset changes from batch to batch")
        return
    lost = "each worker has its own, and the main process never sees it"
    if not facts.persistent:
        lost += "; it is gone when the epoch ends"
    yield Result(
        check,
        Verdict.NOTE,
        f"workers keep state on the dataset ({', '.join(list(counters)[:_SHOWN])}): {lost}",
        tuple(list(counters.values())[:_SHOWN]),
        "lost-worker-state",
    )


def items(evidence: Evidence) -> Iterator[Result]:
    """Whether each item comes as often with workers as without."""
    check = "items"
    facts, alone = evidence.facts, evidence.alone
    if not facts.workers or alone is None:
        return
    if not (evidence.run.finished and alone.finished) or failures(evidence.run) or failures(alone):
        yield _unseen(check, "not both runs, with workers and without, came to their end")
        return
    rule = "unsharded-iterable-dataset" if facts.iterable else "lost-worker-state"
    with_workers, without = _samples(evidence.run), _samples(alone)
    if complete(evidence.run) and complete(alone):
        if len(with_workers) != len(without):
            text = f"an epoch has {len(with_workers)} items with {facts.workers} workers, and {len(without)} with none"
            by_worker = Counter(each.who for each in with_workers)
            lines = tuple(f"{who}: {count} items" for who, count in sorted(by_worker.items()))
            yield Result(check, Verdict.FAULT, text, lines, rule if len(with_workers) > len(without) else None)
            return
        yield from _compared(evidence, with_workers, without, rule)
        return
    if not facts.iterable:
        yield _unseen(check, "the epoch is longer than the batches that were taken")
        return
    yield from _prefixes(with_workers, rule)


def _compared(
    evidence: Evidence, with_workers: Sequence[Done], without: Sequence[Done], rule: str
) -> Iterator[Result]:
    check = "items"
    certain = _reproducible(evidence) and not any(_draws(each) for each in (*with_workers, *without))
    one, other = (Counter(each.unit.digest for each in side) for side in (with_workers, without))
    if not certain:
        yield _clean(check, f"an epoch has {len(without)} items with workers and without; they are random")
        return
    often = [key for key, count in one.items() if count > other[key] > 0]
    missing = [key for key in other if key not in one]
    if not often or not missing:
        yield _clean(check, f"the {len(without)} items of an epoch are the same with workers and without")
        return
    lines = [
        f"{key}: {', '.join(each.where for each in with_workers if each.unit.digest == key)}" for key in often[:_SHOWN]
    ]
    text = f"{len(often)} items come more often with workers than without, and {len(missing)} do not come at all"
    yield Result(check, Verdict.FAULT, text, tuple(lines), rule)


def _prefixes(with_workers: Sequence[Done], rule: str) -> Iterator[Result]:
    """Whether two workers begin with the same items. Items that are all alike say nothing."""
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
                yield Result(check, Verdict.FAULT, text, lines, rule)
                return
    if any(_draws(each) for each in with_workers):
        yield _unseen(check, "the items are random, and the epoch is longer than the batches that were taken")
    else:
        yield _clean(check, "no two workers begin with the same items")


def _samples(outcome: Outcome, epoch: int = 0) -> list[Done]:
    return [each for each in units(outcome) if each.unit.kind != "collate" and each.epoch == epoch]


def _draws(done: Done) -> bool:
    return bool(done.unit.streams)


def _reproducible(evidence: Evidence) -> bool:
    """Whether the second run, which began in the same state, gave the same samples."""
    again = evidence.again
    return again is not None and again.finished and not _differences(evidence.run, again)


def _differences(one: Outcome, other: Outcome) -> list[tuple[Done, Done]]:
    """Samples of the first epochs of two runs that have the same place and differ."""
    places = {_place(each): each for each in _samples(other)}
    pairs = [(each, places[_place(each)]) for each in _samples(one) if _place(each) in places]
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
        yield _clean(check, "two runs from the same random states give the same samples")


def same_without_workers(evidence: Evidence) -> Iterator[Result]:
    """Whether samples that draw nothing are the same with workers and without."""
    check = "same-without-workers"
    alone = evidence.alone
    if alone is None or evidence.facts.iterable or not (alone.finished and _reproducible(evidence)):
        return
    places = {each.unit.index: each for each in _samples(alone) if not _draws(each)}
    pairs = [(each, places[each.unit.index]) for each in _samples(evidence.run) if each.unit.index in places]
    different = [
        (one, two) for one, two in pairs if not _draws(one) and one.unit.digest != two.unit.digest and one.unit.digest
    ]
    if different:
        lines = tuple(f"{one.where}: {one.unit.digest}; without workers {two.unit.digest}" for one, two in different[:3])
        text = f"{len(different)} samples differ between workers and the main process though nothing was drawn"
        yield Result(check, Verdict.NOTE, text, lines)
    elif pairs:
        yield _clean(check, "samples that draw nothing are the same with workers and without")


def open_files(evidence: Evidence) -> Iterator[Result]:
    """Whether workers read through files that were opened before they started."""
    check = "open-files"
    rule = "handle-across-workers"
    if not evidence.facts.workers:
        return
    text = "workers read through a file that the main process opened: they share its position, or its library's state"
    if evidence.moved:
        places = [each for each in units(evidence.run) if each.unit.offsets][:_SHOWN]
        lines = tuple(f"{each.where}: moved in {', '.join(map(shown, each.unit.offsets))}" for each in places)
        yield Result(check, Verdict.FAULT, text, lines, rule)
        return
    if evidence.poisoned is not None and not failures(evidence.run):
        broken = failures(evidence.poisoned)
        if broken:
            done, failure = broken[0]
            where = done.where if done is not None else "the main process"
            lines = (f"without {', '.join(map(shown, evidence.inherited[:3]))}: {where}: {failure.kind}: {failure.text[:200]}",)
            yield Result(check, Verdict.FAULT, text, lines, rule)
            return
    if evidence.run.finished:
        yield _clean(check, "no worker read from a file that was open before it started")


def sending(evidence: Evidence) -> Iterator[Result]:
    """Whether all that a spawned worker needs can be sent to it, and what that costs."""
    check = "pickling"
    seen, facts = evidence.pickled, evidence.facts
    if not seen:
        yield _unseen(check, "pickling did not end in time")
        return
    problems = [problem.partition("\n")[::2] for problem in seen["problems"]]
    if problems:
        needed = facts.workers > 0 and facts.method != "fork"
        when = f"the workers ({facts.method}) cannot start" if needed else "workers cannot start by spawn or forkserver"
        rule = "unpicklable-callable" if "<lambda>" in problems[0][1] or "local object" in problems[0][1] else None
        yield Result(
            check,
            Verdict.FAULT if needed else Verdict.NOTE,
            f"{when}: {', '.join(path for path, _ in problems)} cannot be pickled",
            tuple(f"{path}: {why}" for path, why in problems),
            rule or "unpicklable-state",
        )
        return
    copied, shared = int(seen["copied"][0]), int(seen["shared"][0])
    size = f"{_bytes(copied)} are copied to each worker"
    if shared:
        size += f", {_bytes(shared)} of tensors are shared"
    yield _clean(check, f"all can be pickled; under spawn and forkserver {size}")


def _bytes(count: int) -> str:
    value = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def hanging(evidence: Evidence) -> Iterator[Result]:
    """Whether a worker waits for what does not come."""
    check = "hanging"
    run = evidence.run
    if run.finished:
        yield _clean(check, "every worker came back")
        return
    waiting = [each for each in run.stuck if each.waiting and each.worker >= 0]
    if not waiting:
        yield _unseen(check, f"the time was over after {run.seconds:.0f} s; give it more with timeout")
        return
    lines = [line for each in waiting[:2] for line in _stuck(each)]
    rule = _rule_of_hang(waiting[0])
    yield Result(check, Verdict.FAULT, "a worker waits for ever in the user's code", tuple(lines), rule)


def _stuck(stuck: Stuck) -> list[str]:
    lines = [f"worker {stuck.worker} (pid {stuck.pid}) has been at {stuck.index} for {stuck.seconds:.0f} s, and waits"]
    return lines + [f"  {line.strip()}" for line in stuck.stack.splitlines() if "File" in line][:6]


def _rule_of_hang(stuck: Stuck) -> str | None:
    threads = ("concurrent/futures", "multiprocessing/pool", "queue.py", "threading.py")
    return "executor-across-fork" if any(each in stuck.stack for each in threads) else None


def samples(evidence: Evidence) -> Iterator[Result]:
    """What samples raise, and what cannot be made into batches."""
    check = "samples"
    broken = failures(evidence.run)
    if not broken:
        if evidence.run.died:
            yield Result(check, Verdict.FAULT, f"the run was {evidence.run.died}")
        elif evidence.run.finished:
            yield _clean(check, f"{len(units(evidence.run))} samples and batches were made without an exception")
        return
    done, failure = broken[0]
    odd = _odd_samples(evidence, done)
    rule = rule_of_failure(failure, done.unit if done is not None else None, odd=bool(odd))
    where = done.where if done is not None else "the main process"
    text = f"{failure.kind} in the user's code, {where}: {failure.text.strip().splitlines()[-1] if failure.text.strip() else ''}"
    lines = (*odd, *failure.traceback.strip().splitlines())
    yield Result(check, Verdict.FAULT, text, lines, rule)


def _odd_samples(evidence: Evidence, failed: Done | None) -> tuple[str, ...]:
    """The samples of the batch that failed in which something is None."""
    if failed is None or failed.unit.kind != "collate":
        return ()
    for batch in (each for each in units(evidence.run) if each.pid == failed.pid and each.epoch == failed.epoch):
        del batch
    mine = [
        each
        for each in units(evidence.run)
        if each.pid == failed.pid and each.epoch == failed.epoch and each.unit.number < failed.unit.number
    ]
    found: list[str] = []
    for each in reversed(mine):
        if each.unit.kind == "collate":
            break
        found += [f"sample {each.unit.index} is {remark}" for remark in each.unit.remarks]
    return tuple(reversed(found))


def _kind(unit: Unit) -> str:
    return unit.kind


#: In the order of the report.
QUESTIONS: tuple[Callable[[Evidence], Iterator[Result]], ...] = (
    samples,
    hanging,
    workers_draw_alike,
    epochs_draw_alike,
    samples_reseed,
    stored_data,
    items,
    open_files,
    kept_state,
    sending,
    reproducible,
    same_without_workers,
)
