"""
# stop-iteration-sample (LDR506)

## What it does
Finds `next(...)` without a default in the code that makes a sample or a batch, where its StopIteration can reach the
loader.

## Why is this bad?
The loader's own iterator ends with StopIteration, and one from `__getitem__` or from the `collate_fn` looks the same:
the epoch ends there without an error, and the training never sees the rest of the data. Measured on PyTorch 2.13 with 8
items and an iterator over 2: 2 items come, with 0 workers, with 1, and under each start method. With several workers,
the first iterator that runs out ends the epoch for all.

An iterator that is kept over samples does run out: that is an error. A search, `next(x for x in items if test)`, finds
something as long as the data is as the author knows it, so it is an information only: a default or an error of its own
tells about the sample that is different.

## When it is not a bug
- The call has a default, `next(items, default)`, or a `try` around it catches StopIteration.
- The iterator never ends: `itertools.cycle(...)`, a generator with `while True`.
- The iterator is created for this sample and always has an item: `next(iter(self.paths.values()))`.
- The call looks up where the sample's index lies:
  `next(number for number, end in enumerate(self.ends) if index < end)`.
- A test around it makes sure that something matches: `if any(key in item for item in batch):` before
  `next(item for item in batch if key in item)`.
- The same search ran before on the same data: in an earlier line, in the caller, or in a function that the constructor
  calls for each item, too.
- It is unknown whether the iterator ever ends, or whether the condition around the call ever holds
  (`if self.mixes:`): the finding is only 'information'.
- The call is in a generator function, where Python turns the StopIteration into a RuntimeError that everyone sees.
- The call is in `__next__` of an iterable dataset, which is meant to end this way.

## Example
```python
class Pairs(Dataset):
    def __init__(self, images, backgrounds):
        self.images = images
        self.backgrounds = iter(backgrounds)

    def __getitem__(self, index):
        return self.images[index], next(self.backgrounds)
```

## Fixed
```python
def next_or_fail(items):
    try:
        return next(items)
    except StopIteration:
        raise RuntimeError("no more items for this sample") from None

class Pairs(Dataset):
    def __init__(self, images, backgrounds):
        self.images = images
        self.backgrounds = iter(backgrounds)

    def __getitem__(self, index):
        return self.images[index], next_or_fail(self.backgrounds)
```

## Fix safety
Unsafe: the epoch now fails where it ended silently before. Only the author knows what should come instead: a default,
the items from the start, or an index.

## References
- `torch/utils/data/_utils/fetch.py` asks the dataset for each sample, `_BaseDataLoaderIter.__next__` in
  `torch/utils/data/dataloader.py` lets what it raises through
- [PEP 479](https://peps.python.org/pep-0479/): StopIteration inside generators
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Loader, Model, Part, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unknown_settings import is_reached_in_doubt, rests_on_unknown
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import loaders_of
from loaderlint.rules.stop_iteration_sample.caught_stop_iterations import STOPPED, Stops, is_stopped
from loaderlint.rules.stop_iteration_sample.fixes import failing_fixes
from loaderlint.rules.stop_iteration_sample.matches_before import MATCHES, is_known_to_match
from loaderlint.rules.stop_iteration_sample.next_risks import Risk, risk_of_next
from loaderlint.rules.stop_iteration_sample.searches_before import SEARCHED, is_tried_by_constructor, ran_before

_PARTS: tuple[Part, ...] = ("sample", "collate")
_NEXT = Lib("builtins.next")
_NOT_KNOWN = "its iterator is not known to run out, or to be empty"


class Next(NamedTuple):
    """A call of `next`, and when it raises."""

    call: WorkerCall
    when: str


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each bare `next`."""
    for one in judged(RULE, _candidates(function, model), model, parts=_PARTS):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Next] | Silence]:
    """The calls of `next` without a default whose StopIteration leaves the def."""
    for call in model.calls(function):
        if _NEXT not in call.callee.atoms or len(call.call.args) != 1 or call.call.args[0].kind != "pos":
            continue
        here = Spot(call.frame, call.number)
        risk = risk_of_next(call.call.args[0].value, call.frame, model)
        if risk is None or is_stopped(call, model):
            yield from silent(RULE.name, here, _NOT_KNOWN if risk is None else STOPPED, model)
            continue
        if is_known_to_match(call, model):
            yield from silent(RULE.name, here, MATCHES, model)
            continue
        if risk.searches and ran_before(call, model):
            yield from silent(RULE.name, here, SEARCHED, model)
            continue
        cure = partial(_cure, call.frame, risk, model)
        unproven = (
            risk.doubtful or rests_on_unknown(call.context, call.frame, model) or _is_reached_in_doubt(call, model)
        )
        about = Next(call, risk.when)
        yield Candidate(about, call.frame, here, cure, severity=risk.severity, doubts=int(unproven), unproven=unproven)


def _is_reached_in_doubt(call: WorkerCall, model: Model) -> bool:
    loaders = model.loaders_of(model.reached[call.frame].bits(_PARTS))
    return all(is_reached_in_doubt(call.frame, loader, model) for loader in loaders)


def _cure(frame: Frame, risk: Risk, model: Model, loader: Loader) -> str:
    """Why the StopIteration of a call ends no epoch of a loader, or is not raised; '' if it may."""
    stopped = Stops(frame, model).cure(loader)
    if stopped or not risk.searches:
        return stopped
    return SEARCHED if is_tried_by_constructor(frame, loader, model) else ""


def _finding(verdict: WorkerVerdict[Next], model: Model) -> Finding:
    call, when = verdict.about
    label = model.label(call.frame)
    return verdict.finding(
        f"the epoch of {loaders_of(verdict.exposure)} ends early without an error: `next` in {label} "
        f"raises StopIteration {when}, which the loader takes for the end of the data; give it a default or "
        "raise another exception",
        verdict.spot.place(model),
        label,
        verdict.why(model),
        failing_fixes(call, model),
    )


RULE = Rule(
    code="LDR506",
    name="stop-iteration-sample",
    severity=Severity.ERROR,
    needs="L",
    over="worker function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    follows_data=True,
)
