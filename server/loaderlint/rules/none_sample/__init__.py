"""
# none-sample (LDR501)

## What it does
Finds `__getitem__` methods that can return None, or a tuple, list or dict that holds None, to a loader that uses
PyTorch's `default_collate`: `except OSError: return None`, `if image is None: return`, or a handler that only prints,
so that the method reaches its end without a `return`.

## Why is this bad?
`default_collate` does not accept None. The epoch ends with an exception that names neither the file nor the reason.
Measured on torch 2.13: `TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists;
found <class 'NoneType'>` where the first sample of a batch is None. Otherwise `TypeError: expected Tensor as element 3
in argument 0, but got NoneType`, `AttributeError: 'NoneType' object has no attribute 'numel'` (with workers),
`TypeError: object of type 'NoneType' has no len()` (tuples) or `RuntimeError: Could not infer dtype of NoneType`. The
program never reaches a check such as `if batch is None: continue` in the training loop.

## When it is not a bug
- The loader has a `collate_fn` that drops None, or does not batch (`batch_size=None`).
- It is a guess that the loader holds the dataset, and a collate function in the dataset's file looks for None.
- The loader belongs to a library that batches in its own way (torch_geometric, MONAI, fastai).
- Only settings (`if self.mode == "train": ... elif self.mode == "test": ...`) or the index itself lead to the
  `return None`: `isinstance(index, slice)`, `index >= len(self)`. The index that torch's samplers give is a number; one
  of your own may give anything.
- The caller checks what a helper returned before it returns it.
- The helper returns None only under a condition on the object's attributes that the caller has already excluded:
  `if self.style == "mirror": return ...` comes before.
- The handler ends the process or raises another exception: `"failed: " + error` raises TypeError.
- The method only passes a None on, and nothing gives it one: `if x is None: return None` after `x = step(x)` or
  `x = read(path)`, where the project's own functions never return None. Where one does, the finding is there. Functions
  of libraries, such as `cv2.imread`, may return None. If `read` is not known, such as a parameter, the test after
  `x, y = read(path)` does not show that it ever returns None: the finding is information.
- A setting that nobody knows decides (`if self.strict: raise` before the `return None`): the finding is information.
- A key that a record may lack decides (`record["mask"] if "mask" in record else None`, or `if "mask" not in record:
  return None`). Perhaps each record has it: the finding is information.

## Example
```python
def __getitem__(self, index):
    try:
        return load(self.paths[index])
    except OSError:
        return None
```

## Fixed
```python
def __getitem__(self, index):
    try:
        return load(self.paths[index])
    except OSError:
        raise
```

Or keep the None and pass a `collate_fn` that leaves it out:

```python
def collate(samples):
    return default_collate([sample for sample in samples if sample is not None])
```

which still fails where a whole batch is None (`IndexError: list index out of range`).

## Fix safety
Unsafe: `raise` also ends the epoch, but shows the reason. You may prefer to drop such samples.

## References
- [default_collate](https://pytorch.org/docs/stable/data.html#torch.utils.data.default_collate)
- [Working with collate_fn](https://pytorch.org/docs/stable/data.html#working-with-collate-fn)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.findings.finding import Evidence, Finding, Fix, Place, Replace, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.none_sample.collate_beside import collate_beside
from loaderlint.rules.none_sample.none_paths import NonePath, gives_something, paths_to_none
from loaderlint.rules.shared.default_collate import is_entry, own_collate
from loaderlint.rules.shared.judgement import Candidate, Cure, WorkerVerdict, judged

_WHEN = {
    "exception": "after an exception",
    "sample": "for some samples",
    "always": "",
}


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each path on which a dataset's `__getitem__` returns None."""
    for one in judged(RULE, _candidates(function, model), model, parts=("sample",)):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[NonePath]]:
    """The paths on which the samples of a function are None."""
    for frame in function.frames:
        if is_entry(frame, model) and gives_something(frame, model):
            for way in paths_to_none(frame, model):
                cure = _cure_in(frame, model)
                yield Candidate(way, frame, way.spot, cure, doubts=way.doubts, unproven=way.unproven, key=way.spot.key)


def _cure_in(frame: Frame, model: Model) -> Cure:
    return lambda loader: own_collate(loader) or collate_beside(frame, loader, model)


def _finding(verdict: WorkerVerdict[NonePath], model: Model) -> Finding:
    way, entry, place = verdict.about, verdict.frame, verdict.spot.place(model)
    name = model.label(way.frame)
    helper = Evidence(model.def_place(entry), f"{model.label(entry)} returns the result of {name}")
    return verdict.finding(
        _message(way, verdict.exposure, model),
        place,
        name,
        (*([helper] if way.frame is not entry else []), *verdict.why(model)),
        _fixes(way, place),
    )


def _message(way: NonePath, exposure: Exposure, model: Model) -> str:
    what = "puts None into a sample" if way.held else "returns None"
    when = f" {_WHEN[way.reason]}" if _WHEN[way.reason] else ""
    ends = ", because it ends without a `return`," if way.falls else ","
    return (
        f"`{model.label(way.frame)}` {what}{when}{ends} and `default_collate` of {exposure.lead.described} fails "
        "without naming the sample or the reason; raise an exception with the reason, or pass a `collate_fn` that "
        "drops None"
    )


def _fixes(way: NonePath, place: Place) -> tuple[Fix, ...]:
    """Let the exception through where one is caught."""
    if not way.statement or way.reason != "exception":
        return ()
    return (Fix("Let the exception through: `raise`", "unsafe", (Replace(place, "raise"),)),)


RULE = Rule(
    code="LDR501",
    name="none-sample",
    severity=Severity.ERROR,
    needs="L",
    over="worker function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    follows_data=True,
)
