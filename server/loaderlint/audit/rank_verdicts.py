"""Checks whether the ranks of a distributed program divide the items of an epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil

from msgspec import Struct

from loaderlint.audit.evidence import Evidence, failures, of_kind, samples_of
from loaderlint.audit.messages import Answer, EpochEnded
from loaderlint.audit.ranks import MOST_INDICES
from loaderlint.audit.report import Result, Verdict, clean, not_seen
from loaderlint.audit.sandbox import Outcome

_CHECK = "ranks"
#: At least this share of the items must be wrong. Programs that group items, and pad or drop the last batch of each
#: group, stay below it.
_PART = 1 / 3
#: The maximum number of items that are shown.
_SHOWN = 3
_UNLESS = ", so each comes again on each rank unless something else divides them"


class _Share(Struct, frozen=True):
    """What one rank reads in an epoch: its items as texts (equal for equal items), the number of batches, and whether
    these are all."""

    items: tuple[str, ...]
    batches: int
    complete: bool

    @property
    def batch(self) -> int:
        """The number of items in a batch."""
        return ceil(len(self.items) / max(self.batches, 1))


def ranks(evidence: Evidence) -> Iterator[Result]:
    """Whether each item of an epoch comes on one rank. If all items come on all ranks, that is no fault by itself: the
    launcher of the ranks may divide them later, or may have done so before the loader was made."""
    if evidence.whole is None:
        return
    seen = [_share(each) for each in (evidence.whole, *evidence.ranks)]
    ended = [each for each in seen if each is not None]
    if len(ended) < len(seen):
        yield not_seen(_CHECK, _why_not(evidence))
    elif not all(each.complete for each in ended):
        yield _begun(evidence)
    elif reason := _not_comparable(*ended):
        yield not_seen(_CHECK, reason)
    elif all_alike(evidence.ranks):
        yield _all_alike(evidence, *ended)
    elif Counter(ended[0].items) == Counter(ended[1].items):
        yield not_seen(_CHECK, "the number of ranks no longer matters when the loader is iterated")
    else:
        yield _compared(evidence, *ended)


def all_alike(outcomes: Sequence[Outcome]) -> bool:
    """Whether all ranks read the same items, up to the end of an epoch."""
    shares = [_share(each) for each in outcomes]
    counts = [Counter(each.items) for each in shares if each is not None and each.complete]
    return len(counts) == len(shares) and all(each == counts[0] for each in counts)


def _share(outcome: Outcome) -> _Share | None:
    """The share of a rank; None if it did not finish."""
    ended = next(of_kind(outcome, EpochEnded), None)
    if ended is None or not outcome.finished or failures(outcome):
        return None
    answer = next(of_kind(outcome, Answer), None)
    items = answer.values["indices"] if answer else tuple(each.unit.digest for each in samples_of(outcome))
    return _Share(items, ended.batches, ended.complete)


def _why_not(evidence: Evidence) -> str:
    """Why not all ranks finished."""
    broken = [failure for each in evidence.ranks for _, failure in failures(each)]
    return f"a rank raises {broken[0].kind}: {broken[0].text:.200}" if broken else "not all ranks finished"


def _not_comparable(whole: _Share, *shares: _Share) -> str | None:
    """Why the items prove nothing; None if they can be compared."""
    if not whole.items:
        return "the epoch has no items"
    if len(set(whole.items)) < len(whole.items):
        return "an epoch has equal items, also without ranks"
    if not set(whole.items).issuperset(item for each in shares for item in each.items):
        return "the items are random, or are made by each rank"
    return None


def _begun(evidence: Evidence) -> Result:
    """The result for ranks that only began an epoch."""
    heads = [{(each.worker, each.unit.index): each.unit.digest for each in samples_of(rank)} for rank in evidence.ranks]
    common = set.intersection(*map(set, heads))
    first = [heads[0][place] for place in common]
    are_alike = all(first == [head[place] for place in common] for head in heads)
    if evidence.facts.iterable and are_alike and len(set(first)) > 1:
        return Result(_CHECK, Verdict.NOTE, f"all {len(heads)} ranks begin with the same items{_UNLESS}")
    longer = "the batches that were taken" if evidence.facts.iterable else f"{MOST_INDICES:,} samples"
    return not_seen(_CHECK, f"the epoch is longer than {longer}")


def _all_alike(evidence: Evidence, whole: _Share, first: _Share, *others: _Share) -> Result:
    """The result if all ranks read the same items."""
    if Counter(first.items) != Counter(whole.items):
        return not_seen(_CHECK, "the rank no longer matters when the loader is iterated")
    if not evidence.facts.iterable:
        return not_seen(_CHECK, "the sampler asks for no rank; what starts the ranks may replace it")
    count = 1 + len(others)
    if _divides(evidence.ranks_alone):
        text = f"each of {count} ranks gives all items, and only its share of them without workers"
        if evidence.facts.method != "fork":
            text += f": a worker that is started by {evidence.facts.method} has no process group that it could ask"
        return Result(_CHECK, Verdict.FAULT, text, _lines(first, *others), None, evidence.facts.iterates)
    text = f"each of {count} ranks gives all {len(whole.items)} items{_UNLESS}"
    return Result(_CHECK, Verdict.NOTE, text, _lines(first, *others))


def _divides(outcomes: Sequence[Outcome]) -> bool:
    """Whether no item comes on two ranks."""
    shares = [_share(each) for each in outcomes]
    items = [item for each in shares if each is not None and each.complete for item in each.items]
    return None not in shares and len(set(items)) == len(items) > 0


def _compared(evidence: Evidence, whole: _Share, *shares: _Share) -> Result:
    """The result of comparing the shares of the ranks with the whole, except for what pads a batch or remains of
    one."""
    count = len(shares)
    taken = Counter(item for each in shares for item in each.items)
    missing = [item for item in whole.items if not taken[item]]
    again = [item for item in whole.items if taken[item] > 1]
    wrong = len(missing) + sum(taken[item] - 1 for item in again)
    usual = count * max(evidence.facts.workers, 1) * max(each.batch for each in (whole, *shares))
    told = f"{len(missing)} come on no rank, and {len(again)} more than once"
    if wrong > max(usual, _PART * len(whole.items)):
        what = "item" if evidence.facts.iterable else "index"
        lines = [f"{what} {item}: {_where(item, shares)}" for item in (*missing[:_SHOWN], *again[:_SHOWN])]
        text = f"{count} ranks do not share the {len(whole.items)} items of an epoch: {told}"
        places = evidence.facts.iterates if evidence.facts.iterable else ()
        return Result(_CHECK, Verdict.FAULT, text, (*_lines(*shares), *lines), None, places)
    text = f"{count} ranks share the {len(whole.items)} items of an epoch" + (f": {told}" if wrong else "")
    if len({each.batches for each in shares}) == 1:
        return clean(_CHECK, text)
    text = f"{text}, in different numbers of batches: ranks that average gradients wait for those without more"
    return Result(_CHECK, Verdict.NOTE, text, _lines(*shares))


def _lines(*shares: _Share) -> tuple[str, ...]:
    return tuple(
        f"rank {number}: {len(each.items)} items in {each.batches} batches" for number, each in enumerate(shares)
    )


def _where(item: str, shares: Sequence[_Share]) -> str:
    found = [f"rank {number}" for number, each in enumerate(shares) for one in each.items if one == item]
    return ", ".join(found) or "no rank"
