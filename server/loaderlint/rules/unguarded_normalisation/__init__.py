"""
# unguarded-normalisation (LDR504)

## What it does
Finds samples that are divided by a sum, standard deviation, norm, maximum or range of their own values, without
protection against zero. Off by default, because only you know whether your data has such samples.

## Why is this bad?
A constant image has a standard deviation of 0, and an empty one has a sum of 0. The quotient is NaN. PyTorch reports
nothing, NumPy warns once in a worker's output, and the loss is NaN from then on. Measured on PyTorch 2.13:
`x / x.sum()` and `(x - x.mean()) / x.std()` of a constant image are NaN in all pixels, and `torch.std` of one element
is NaN.

An epsilon prevents this for values that cannot be negative. `x / (x.sum() + 1e-9)` is a hint: the values of a
normalised image cancel out, and their sum may be near zero or -1e-9 itself.

## When it is not a bug
- The divisor has an epsilon, a lower bound (`max`, `clamp`, `clip`, `np.maximum`), `or 1`, or a test, or the code
  removes NaN afterwards.
- The statistics are those of the whole data set, kept on `self` or written as constants.
- The function has its own epsilon: `torch.nn.functional.normalize` and similar functions.

## Example
```python
class Images(Dataset):
    def __getitem__(self, index):
        image = self.images[index]
        return (image - image.mean()) / image.std()
```

## Fixed
```python
class Images(Dataset):
    def __getitem__(self, index):
        image = self.images[index]
        return (image - image.mean()) / (image.std() + 1e-8)
```

## Fix safety
Unsafe: all samples change slightly, and the right epsilon depends on the range of the values. There is no fix for the
sum of values that may be negative: it can come near zero with an epsilon too.

## References
- [torch.std](https://pytorch.org/docs/stable/generated/torch.std.html)
- [torch.nn.functional.normalize](https://pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Finding, Fix, Place, Severity, Silence, Wrap
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Model, Part, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.wording import loaders_of
from loaderlint.rules.unguarded_normalisation.sample_statistics import (
    Divisor,
    divisions,
    is_tested,
    may_cancel,
    statistic,
)

_PARTS: tuple[Part, ...] = ("sample", "collate")


class Division(NamedTuple):
    """A division by a statistic of the sample: the expression of the divisor, and what it is."""

    divisor: int
    statistic: Divisor


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each division."""
    for one in judged(RULE, _candidates(function, model), model, parts=_PARTS):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Division]]:
    """The divisions by a statistic of the sample."""
    for frame in function.frames:
        for here, divisor in divisions(frame, model):
            found = statistic(divisor, frame, model)
            if found is not None:
                about = Division(divisor, found)
                why_not = _why_not(about, frame, model)
                yield Candidate(about, frame, here, why_not=why_not, doubts=int(found.eased))


def _why_not(one: Division, frame: Frame, model: Model) -> str:
    """Why no sample is spoilt; '' if one may be."""
    if is_tested(one.statistic, one.divisor, frame, model):
        return f"the code tests `{one.statistic.word}`, or removes NaN afterwards"
    return "" if model.reached[frame].bits(_PARTS) else "it runs when a worker starts, not for samples"


def _finding(verdict: WorkerVerdict[Division], model: Model) -> Finding:
    frame, (divisor, found) = verdict.frame, verdict.about
    place = verdict.spot.place(model)
    sample = f"a sample of {loaders_of(verdict.exposure)} may be"
    divides = f"{model.label(frame).replace('<lambda>', 'a lambda')} divides by `{found.word}` of its values"
    return verdict.finding(
        f"{sample} huge: {divides} plus an epsilon, which is near zero where signed values cancel out; divide by a "
        "value that cannot cancel out"
        if found.eased
        else f"{sample} NaN: {divides}, which is zero for some (a constant or empty one); add an epsilon or test it",
        place,
        found.word,
        verdict.why(model),
        () if found.eased else _fixes(place, divisor, frame, model),
    )


def _fixes(division: Place, divisor: int, frame: Frame, model: Model) -> tuple[Fix, ...]:
    """An epsilon, where the divisor is written in the division itself."""
    place = model.place(frame, divisor)
    if may_cancel(divisor, frame, model):
        return ()  # signed values cancel, with an epsilon too
    if place.anchor <= division.anchor:
        return ()  # a name that was bound before
    later = any(
        isinstance(step, ir.Bind) and step.value == divisor and model.step_place(frame, number).anchor >= 0
        for number, step in model.steps(frame)
    )
    if later:
        return ()
    return (Fix("Add an epsilon", "unsafe", (Wrap(place, "", " + 1e-8"),)),)


RULE = Rule(
    code="LDR504",
    name="unguarded-normalisation",
    severity=Severity.INFORMATION,
    needs="L",
    over="worker function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    enabled_by_default=False,
)
