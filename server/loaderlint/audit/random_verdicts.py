"""Checks whether workers, epochs or samples draw the same numbers, by the states of the streams and not by the
samples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence, Set

from msgspec.structs import replace

from loaderlint.audit.evidence import Done, Drawn, Evidence, failures, of_kind
from loaderlint.audit.messages import Started
from loaderlint.audit.report import Result, Verdict, clean, not_seen
from loaderlint.audit.streams import GLOBAL, NUMPY, TORCH
from loaderlint.audit.user_places import of_stack

_AUGMENTERS = ("albumentations", "monai", "imgaug")


def workers_draw_alike(evidence: Evidence) -> Iterator[Result]:
    """Whether two workers draw from the same state of a stream in one epoch."""
    check = "workers-draw-alike"
    if evidence.facts.workers < 2:
        return
    found = list(_drawn_alike(evidence, check, "workers", _other_worker))
    if not found:
        yield clean(check, "no two workers drew from the same state" if evidence.draws() else "no worker drew")
    yield from found


def epochs_draw_alike(evidence: Evidence) -> Iterator[Result]:
    """Whether an epoch draws from states that an earlier one drew from."""
    check = "epochs-draw-alike"
    if evidence.facts.epochs < 2:
        yield not_seen(check, "only one epoch was asked for")
        return
    found = list(_drawn_alike(evidence, check, "epochs", _other_epoch))
    if not found:
        yield clean(check, "no epoch drew from a state of an earlier one" if evidence.draws() else "nothing was drawn")
    yield from found


def _drawn_alike(evidence: Evidence, check: str, who: str, differs: Callable[[Done, Done], bool]) -> Iterator[Result]:
    """A result for each stream from which two units that differ (`differs`) draw the same, with the first two such
    units."""
    for name, drawn in _by_stream(evidence).items():
        pair = next(_meetings(drawn, differs), None)
        if pair is not None:
            text = f"{who} draw the same numbers from {_named(evidence, name)}"
            rule = _rule_of_stream(evidence, name, *pair)
            places = _places(evidence, rule, *pair)
            yield _weighed(evidence, Result(check, Verdict.FAULT, text, _met(*pair), rule, places), name, pair[0])


def drawn_alike(evidence: Evidence) -> frozenset[str]:
    """The streams from which two workers or two epochs draw the same numbers."""
    return frozenset(
        name
        for name, drawn in _by_stream(evidence).items()
        if any(next(_meetings(drawn, differs), None) for differs in (_other_worker, _other_epoch))
    )


def drawn_apart(evidence: Evidence) -> tuple[str, ...]:
    """The user's lines at which two workers of one epoch and two epochs drew, each from a different state: no two drew
    alike from a stream that moved there, and no unwatched stream could have moved there. Empty if the run failed."""
    if not evidence.run.finished or failures(evidence.run):
        return ()
    apart: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    unsure: set[str] = set()
    sure = {name for name in _by_stream(evidence) if _reseeding(evidence, name) is None} - drawn_alike(evidence)
    for each in evidence.draws():
        for move in each.use.moves or ():
            place = of_stack(move.stack)
            apart[place].add((each.done.worker, each.done.epoch))
            if each.use.name not in sure or not move.watched:
                unsure.add(place)
    return tuple(sorted(place for place, users in apart.items() if place not in {*unsure, ""} and _are_many(users)))


def _are_many(users: Set[tuple[int, int]]) -> bool:
    """Whether these include two workers of one epoch, and two epochs."""
    epochs = [epoch for _, epoch in users]
    return len(set(epochs)) > 1 and any(count > 1 for count in Counter(epochs).values())


def _weighed(evidence: Evidence, result: Result, name: str, first: Drawn) -> Result:
    """The result; a note if the samples do not depend on what is drawn."""
    if first.done.unit.kind != "sample" or name not in evidence.idle:
        return result
    text = f"{result.text}, but samples that were read again were the same whatever was drawn"
    return replace(result, verdict=Verdict.NOTE, text=text)


def samples_reseed(evidence: Evidence) -> Iterator[Result]:
    """Whether samples set a stream to the same state, draw, and leave it in the state in which the last sample did."""
    check = "samples-reseed"
    for name in _by_stream(evidence):
        pair = _reseeding(evidence, name)
        if pair is not None:
            text = f"each sample sets {_named(evidence, name)} to the same state, so all samples draw the same numbers"
            rule = "common-seed-in-workers" if evidence.facts.iterable else "reseed-per-sample"
            yield Result(check, Verdict.FAULT, text, _met(*pair), rule, _places(evidence, rule, *pair))
            return
    if evidence.draws():
        yield clean(check, "no sample sets a stream to the state of another one")


def _reseeding(evidence: Evidence, name: str) -> tuple[Drawn, Drawn] | None:
    """Two samples of one worker that move a stream over the same states, where the second one leaves it as it was."""
    moved: dict[tuple[int, tuple[str, ...]], Drawn] = {}
    for each in _by_stream(evidence)[name]:
        states = tuple(move.state for move in each.use.moves or ())
        if each.use.before != each.use.after:
            moved[each.done.pid, states] = each
        elif states and (first := moved.get((each.done.pid, states))):
            return first, each
    return None


def _by_stream(evidence: Evidence) -> dict[str, list[Drawn]]:
    """The draws from each stream, except generators that only seed others."""
    found: defaultdict[str, list[Drawn]] = defaultdict(list)
    for each in evidence.draws():
        found[each.use.name].append(each)
    return {name: drawn for name, drawn in found.items() if not _only_seeds(name, drawn)}


def _only_seeds(name: str, drawn: Sequence[Drawn]) -> bool:
    """Whether each worker draws from a generator once per epoch, in a function that also draws from torch's stream.
    Such a function seeds another generator with both numbers, so this one may be the same in all workers."""
    if name in GLOBAL:
        return False
    users = [(each.done.pid, each.done.epoch) for each in drawn]
    return len(users) == len(set(users)) and all(map(_mixes_with_torch, drawn))


def _mixes_with_torch(each: Drawn) -> bool:
    of_torch = {
        _function(move.stack) for use in each.done.unit.streams if use.name == TORCH for move in use.moves or ()
    }
    moves = each.use.moves or ()
    return bool(moves) and all(_function(move.stack) in of_torch for move in moves)


def _function(stack: Sequence[str]) -> str:
    """The innermost function of a stack such as `Crops._get_rng (train.py:29)`."""
    return stack[0].partition(" (")[0] if stack else ""


def _other_worker(one: Done, other: Done) -> bool:
    return one.epoch == other.epoch and one.worker != other.worker


def _other_epoch(one: Done, other: Done) -> bool:
    return one.epoch != other.epoch


def _meetings(drawn: Sequence[Drawn], differs: Callable[[Done, Done], bool]) -> Iterator[tuple[Drawn, Drawn]]:
    """Pairs that drew from the same state, or reached the same state from different ones. States have at least 64 bits,
    so two are never equal by chance."""
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
    """The evidence for draws that met, line by line."""
    lines: list[str] = []
    for each in drawn:
        lines.append(f"{each.done.where}: state {each.use.before} -> {each.use.after}")
        for move in (each.use.moves or ())[:1]:
            lines.append("  drawn by " + ", called by ".join(move.stack[:3]))
    return tuple(lines)


def _places(evidence: Evidence, rule: str, *drawn: Drawn) -> tuple[str, ...]:
    """The user's lines that drew, or the function that seeded the workers."""
    if rule == "constant-worker-seed" and evidence.facts.initialises:
        return evidence.facts.initialises
    places = dict.fromkeys(of_stack(move.stack) for each in drawn for move in each.use.moves or ())
    return tuple(filter(None, places))


def _named(evidence: Evidence, name: str) -> str:
    """The name of a stream, for people."""
    if name in GLOBAL:
        return f"the global stream of {name}"
    kinds = {key: kind for each in of_kind(evidence.run, Started) for key, kind in each.kinds.items()}
    return f"{name} ({kinds.get(name, 'a generator').rpartition('.')[2]})"


def _rule_of_stream(evidence: Evidence, name: str, first: Drawn, second: Drawn) -> str:
    """The rule about this stream."""
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
        alike = any(True for _ in _meetings(_by_stream(evidence)[name], _other_worker))
        return "common-seed-in-workers" if alike else "constant-worker-seed"
    return "constant-worker-seed" if _reseeding(evidence, name) is None else "reseed-per-sample"
