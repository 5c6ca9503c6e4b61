"""
# exhausted-iterable (LDR507)

## What it does
Finds iterable datasets whose `__iter__` continues where the last epoch ended: it returns `self`, or an iterator that
the constructor created, and nothing resets it.

## Why is this bad?
The loader calls `__iter__` once per epoch and expects the data from the start. An exhausted iterator stays exhausted:
from the second epoch on there are no batches and no error, so a training loop over ten epochs trains for one. Measured
on PyTorch 2.13 with 6 items and 3 epochs: 6, 0, 0 items without workers and with `persistent_workers=True`; 6, 6, 6
with workers that start anew in each epoch, because each gets a fresh copy from the main process.

## When it is not a bug
- `__iter__` resets the state first (`self.position = 0`), or `__next__` does before it raises StopIteration.
- `__iter__` is a generator function over data that can be iterated again, or returns `iter(self.items)`.
- The stream never ends.
- Another method resets the state, and the training loop calls it.
- The iterator is an open file that workers share: `handle-across-workers` reports that.

With workers that do not persist, the finding is a hint: the code works until someone sets `num_workers=0` to debug it.

## Example
```python
class Lines(IterableDataset):
    def __init__(self, lines):
        self.stream = iter(lines)

    def __iter__(self):
        return self.stream

train_loader = DataLoader(Lines(lines))
```

## Fixed
```python
class Lines(IterableDataset):
    def __init__(self, lines):
        self._lines = lines
        self.stream = iter(lines)

    def __iter__(self):
        self.stream = iter(self._lines)
        return self.stream

train_loader = DataLoader(Lines(lines))
```

## Fix safety
Unsafe: the fix resets the state as the constructor sets it. Code that continued in the middle of the data on purpose
now starts from the beginning.

## References
- [Iterable-style datasets](https://pytorch.org/docs/stable/data.html#iterable-style-datasets)
- [Iterators](https://docs.python.org/3/library/stdtypes.html#iterator-types): once exhausted they stay so
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.exhausted_iterable.exhausted_iterators import Exhausted, exhausted_by
from loaderlint.rules.exhausted_iterable.fixes import restarting_fixes
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered, no_cure
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import loaders_of

_A_HANDLE = "handle-across-workers reports an open file that several processes read"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each step of `__iter__` that gives an exhausted iterator."""
    for one in judged(RULE, _candidates(function, model), model, parts=("sample",), weigh=_weigh):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Exhausted] | Silence]:
    """What runs out in the `__iter__` of datasets."""
    for frame in function.frames:
        found = list(exhausted_by(frame, model)) if _is_entry(frame, model) else None
        if found == []:
            reason = "nothing that it returns is known to run out"
            yield from silent(RULE.name, Spot(frame, 0, "def"), reason, model)
        for spent in found or ():
            cure = _is_a_handle if spent.is_file else no_cure
            yield Candidate(spent, frame, Spot(frame, spent.step, "step"), cure)


def _weigh(spent: Sequence[Candidate[Exhausted]], exposure: Exposure) -> Severity | Unsaid:
    shown = max(_shows(loader) for loader in exposure.loaders)
    doubts = (1 if shown == 1 else 0) + (1 if spent[0].about.doubtful else 0)
    return lowered(RULE.severity if shown else Severity.HINT, exposure, doubts)


def _finding(verdict: WorkerVerdict[Exhausted], model: Model) -> Finding:
    frame, exposure = verdict.frame, verdict.exposure
    lead = replace(exposure, loaders=tuple(sorted(exposure.loaders, key=_shows, reverse=True)))
    when = " (without workers, or with persistent ones)" if _shows(lead.lead) < 2 else ""
    return verdict.finding(
        f"from the second epoch on {loaders_of(lead)} gives no batches{when}: `{model.label(frame)}` "
        f"{verdict.about.described}; reset it in `__iter__`",
        verdict.spot.place(model),
        model.label(frame),
        model.why(frame, lead),
        restarting_fixes(frame, verdict.about, model),
    )


def _shows(loader: Loader) -> int:
    """2: later epochs are empty, 0: workers start again each time, 1: unknown."""
    if loader.has_workers() == "no" or loader.persistent:
        return 2
    return 0 if loader.has_workers() == "yes" and loader.persistent is False else 1


def _is_a_handle(loader: Loader) -> str:
    """A cure: another rule reports an open file that workers share."""
    return _A_HANDLE if loader.has_workers() != "no" else ""


def _is_entry(frame: Frame, model: Model) -> bool:
    """Whether a loader goes through an iterable dataset by this frame."""
    if not isinstance(frame.receiver, Instance) or model.def_of(frame).name != "__iter__":
        return False
    if model.dataset_kind(frame.receiver.cls) != "iterable" or model.ev.classes.has_unknown_base(frame.receiver.cls):
        return False
    return any(parent is None for parent in model.reached[frame].parents.values())


RULE = Rule(
    code="LDR507",
    name="exhausted-iterable",
    severity=Severity.WARNING,
    needs="L",
    over="worker function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
)
