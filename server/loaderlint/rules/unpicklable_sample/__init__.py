"""
# unpicklable-sample (LDR304)

## What it does
Finds samples and batches that a worker cannot send to the main process: an open file, a generator, a lambda, a lock, an
object of a class that is defined in a function, a tensor that requires grad.

## Why is this bad?
A worker sends its samples to the main process by pickle, under fork as well. A thread of the worker does the pickling.
If it fails, the thread prints a traceback and drops the batch, and the main process waits for ever
(pytorch/pytorch#142884). `timeout=` turns the wait into `DataLoader timed out`. This happens with a `collate_fn` that
passes such objects on, and with `batch_size=None`. A non-leaf tensor that requires grad fails with
`Cowardly refusing to serialize non-leaf tensor which requires_grad`.

`default_collate` fails earlier: `TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts
or lists`, or, for tensors that require grad, `RuntimeError: stack(): functions with out=... arguments don't support
automatic differentiation`. Measured with torch 2.13. Without workers nothing is pickled, and the code works.

## When it is not a bug
- The sample is the content and not the file: `with open(path) as file: return file.read()`.
- The object can be pickled: objects of classes of a module, with or without `__getstate__`; cyclic references, sets,
  bytes.
- The collate function turns the objects into something else: `lambda batch: [file.read() for file in batch]`.
- The tensor was created under `torch.no_grad()` or is detached, or it is a leaf that requires grad and the loader has
  its own `collate_fn`.
- The loader has no workers.

## Example
```python
class Features(Dataset):
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)

    def __getitem__(self, index):
        return self.net(torch.ones(4))
```

## Fixed
```python
class Features(Dataset):
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)

    def __getitem__(self, index):
        return self.net(torch.ones(4)).detach()
```

## Fix safety
`.detach()` is safe: the numbers are the same. `.read()` for a file is unsafe, because you may need something else from
it. There is no fix for the others.

## References
- pytorch/pytorch#142884, pytorch/pytorch#82411
- [Multiprocessing best practices](https://pytorch.org/docs/stable/notes/multiprocessing.html)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Certainty, Finding, Place, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import SAMPLE_METHODS, Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import undoubted
from loaderlint.rules.shared.silence_reasons import few_workers
from loaderlint.rules.unpicklable_sample.fixes import picklable_fixes
from loaderlint.rules.unpicklable_sample.sample_transfer import Way, is_made_in, way_of
from loaderlint.rules.unpicklable_sample.unpicklable_results import UnpicklableResult, unpicklable_results


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each thing that cannot be sent, where it is returned."""
    exposure = model.exposed(1 << loader.index, None, 1)
    if loader.out_of_sight:
        return
    collate = loader.argument("collate_fn")
    for frame, guessed in _entries(loader, model):
        for one in unpicklable_results(frame, model):
            way = way_of(loader, one, collate, model)
            reason = _why_sent(way, one) if exposure else few_workers(loader)
            if exposure is None or reason:
                place = _place(one, model)
                yield Silence(RULE.name, place, f"{reason}: {loader.described}")
            else:
                yield _finding(one, way, loader, exposure, guessed, model)
    if exposure is None:
        return
    for reached in [r for r in model.reached_by(loader) if r.loaders.get("collate", 0) >> loader.index & 1]:
        if reached.parents.get(loader.index, reached.frame) is None:
            for one in unpicklable_results(reached.frame, model):
                if not one.leaf and is_made_in(one, reached.frame):
                    yield _finding(one, "passed", loader, exposure, False, model)


def _why_sent(way: str, one: UnpicklableResult) -> str:
    """Why it can be sent, or why that is not known; '' if it is not."""
    if way == "unknown":
        return "what the collate function does with it is not known"
    return "a leaf that requires grad is sent as it is" if way == "passed" and one.leaf else ""


def _entries(loader: Loader, model: Model) -> Iterator[tuple[Frame, bool]]:
    """The methods of the datasets that the workers call for a sample; True for a guess."""
    for reached in model.reached_by(loader):
        frame = reached.frame
        entry = (
            reached.loaders.get("sample", 0) >> loader.index & 1 and reached.parents.get(loader.index, frame) is None
        )
        if entry and model.def_of(frame).name in SAMPLE_METHODS:
            yield frame, bool(reached.possible >> loader.index & 1)


# --- words ------------------------------------------------------------------------------------------------------------


def _finding(
    one: UnpicklableResult, way: Way, loader: Loader, exposure: Exposure, guessed: bool, model: Model
) -> Finding:
    certainty: Certainty = "possible" if guessed else exposure.certainty
    gives = f"`{model.label(one.frame)}`" if model.def_of(one.frame).kind != "lambda" else "its collate function"
    if way == "collated":
        effect = f"`default_collate` of {loader.described} fails: {gives} returns {one.word.rstrip(',')}; {one.advice}"
    else:
        effect = (
            f"the main process waits for ever for the workers of {loader.described}: {gives} returns "
            f"{one.word.rstrip(',')}, which cannot be pickled and never arrives; {one.advice}"
        )
    return undoubted(RULE, certainty).finding(
        effect,
        _place(one, model),
        one.word,
        model.why(one.frame, Exposure(exposure.loaders, certainty)),
        picklable_fixes(one, model),
    )


def _place(one: UnpicklableResult, model: Model) -> Place:
    place = model.place(one.frame, one.number)
    if place.anchor >= 0:
        return place
    return model.def_place(one.frame)


RULE = Rule(
    code="LDR304",
    name="unpicklable-sample",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
