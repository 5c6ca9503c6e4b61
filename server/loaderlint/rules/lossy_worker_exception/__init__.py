"""
# lossy-worker-exception (LDR305)

## What it does
Finds exceptions that a loader's workers raise and that torch cannot recreate in the main process: their constructor
needs something other than a single text, or the class has a `message` attribute that its constructor does not accept.
Off by default.

## Why is this bad?
A worker sends the class of an exception and its traceback as text, and the main process calls the class with that text
alone (`reraise` in `torch/_utils.py`). If that call fails, it raises
`RuntimeError("Caught MyError in DataLoader worker process 0...")` instead, and an `except MyError` around the training
loop does not catch it. torch calls a class with a `message` attribute with `message=`. If the constructor does not
accept that argument, the main process sees `TypeError: MyError.__init__() got an unexpected keyword argument
'message'`, and the text is lost. Measured with torch 2.13.

## When it is not a bug
- The constructor can be called with one text: `def __init__(self, message, code=None)`, `*args`, or no constructor.
- The worker catches the exception.
- The loader has no workers: the exception arrives unchanged.
- No code catches the class. The rule is therefore off by default.

## Example
```python
class BadRecord(Exception):
    def __init__(self, path, index):
        super().__init__(f"{path}: record {index}")
```

## Fixed
```python
class BadRecord(Exception):
    def __init__(self, message, path=None, index=None):
        super().__init__(message)
```

## Fix safety
There is no fix: only you can decide what the text should be.

## References
- [torch/_utils.py, ExceptionWrapper](https://github.com/pytorch/pytorch/blob/main/torch/_utils.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.lossy_worker_exception.lost_exceptions import Loss, lost_exception
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged_first, lowered
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each `raise`."""
    for one in judged_first(RULE, _candidates(function, model), model, weigh=partial(_weigh, model)):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Loss]]:
    """The exceptions that do not arrive in the main process."""
    for frame in function.frames:
        for _, step in model.steps_of(frame, ir.Raise):
            lost = lost_exception(step, frame, model) if step.value != NONE else None
            if lost is not None:
                yield Candidate(lost, frame, Spot(frame, step.value), key=step.value)


def _weigh(model: Model, losses: Sequence[Candidate[Loss]], exposure: Exposure) -> Severity | Unsaid:
    lead = losses[0]
    if _is_guarded(lead.about.context, lead.frame, model) or _is_caught(lead.frame, exposure, model):
        return Unsaid("a `try` around it may catch it")
    return lowered(RULE.severity, exposure)


def _finding(verdict: WorkerVerdict[Loss], model: Model) -> Finding:
    lost = verdict.about
    return verdict.finding(
        f"the main process sees {lost.effect} instead of the `{lost.name}` raised {in_workers_of(verdict.exposure)}: "
        f"torch recreates it from a single string, and {lost.cause}",
        verdict.spot.place(model),
        lost.name,
        (*lost.evidence, *verdict.why(model)),
    )


# --- whether a caller catches it ----------------------------------------------------------------------------------


def _is_guarded(context: int, frame: Frame, model: Model) -> bool:
    """Whether a step is in a `try` that has handlers."""
    return any(here.kind == "try" for here in model.def_of(frame).around(context))


def _is_caught(frame: Frame, exposure: Exposure, model: Model) -> bool:
    """Whether a caller in the worker calls it in a `try`."""
    links = model.chain(frame, exposure.lead)
    for before, after in zip(links, links[1:], strict=False):
        for _, step in model.steps(before):
            if isinstance(step, ir.Perform) and after in model.ev.targets(step.call, before):
                if _is_guarded(step.context, before, model):
                    return True
    return False


RULE = Rule(
    code="LDR305",
    name="lossy-worker-exception",
    severity=Severity.INFORMATION,
    needs="W1",
    over="worker function",
    find=find,
    fix=None,
    page=page(__doc__),
    enabled_by_default=False,
)
