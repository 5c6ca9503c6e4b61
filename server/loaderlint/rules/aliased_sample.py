"""
# aliased-sample (LDR407)

## What it does
Finds samples that are views of the dataset's own data, in a loader that hands them to the training loop without a copy,
because it has no workers and does not collate (`batch_size=None`).

## Why is this bad?
The training loop and the dataset share the memory, so an in-place edit of a batch changes the dataset. Measured with
torch 2.13: after `batch.mul_(5)` with `num_workers=0` and `batch_size=None`, the dataset's values are multiplied by
five, too. With workers, or with collating, the batch is a copy and the dataset stays as it was.

## When it is not a bug
- No code edits batches in place. loaderlint does not check that, so the rule is off by default.
- The sample is a copy (`np.copy`, `.clone()`, arithmetic), is collated, or comes from a worker.

## Example
```python
class Chunks(Dataset):
    def __getitem__(self, index):
        return self.chunks[index]

loader = DataLoader(Chunks(), batch_size=None)
```

## Fixed
```python
class Chunks(Dataset):
    def __getitem__(self, index):
        return np.copy(self.chunks[index])
```

## Fix safety
Safe: the copy has the same values. There is no fix where the code does not show whether the sample is an array or a
tensor.

## References
- [Automatic batching](https://pytorch.org/docs/stable/data.html#disable-automatic-batching)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Finding, Fix, Severity, Silence, Wrap
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Origin, Val
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Unsaid, weighed
from loaderlint.rules.shared.stored_objects import Kind, container_kind, has_rows, is_array_index, known_kind
from loaderlint.rules.shared.wording import loaders_of


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each array or tensor of a sample that is the dataset's own."""
    for frame in function.frames:
        exposure = _handed_over(frame, model)
        if exposure is None and model.explains and model.def_of(frame).name in ("__getitem__", "__iter__"):
            reason = "every loader that reaches it makes a copy, because it has workers, makes batches or collates"
            yield Silence(RULE.name, model.def_place(frame), reason)
        for step in _given(frame, model) if exposure else ():
            for number in _parts(step, frame, model, 0):
                yield from _aliased(number, frame, exposure, model)


def _handed_over(frame: Frame, model: Model) -> Exposure | None:
    """The loaders that call this frame for a sample and pass on the same object that it returns."""
    reached = model.reached.get(frame)
    if reached is None or model.def_of(frame).name not in ("__getitem__", "__iter__"):
        return None
    bits = 0
    for loader in model.loaders_of(reached.loaders.get("sample", 0)):
        # a frame without a parent is one that the loader calls itself
        begins = loader.index in reached.parents and reached.parents[loader.index] is None
        if begins and _hands_on(loader):
            bits |= 1 << loader.index
    return model.exposed(bits, reached, 0)


def _hands_on(loader: Loader) -> bool:
    """Whether a loader copies nothing: no workers, no batches, no function that collates."""
    if loader.out_of_sight or loader.kind.name != "torch.utils.data.DataLoader" or loader.has_workers() != "no":
        return False
    return loader.argument("batch_size").is_none and loader.argument("collate_fn").is_none


def _given(frame: Frame, model: Model) -> Iterator[int]:
    """The expressions that a frame returns or yields."""
    for _, step in model.steps(frame):
        if isinstance(step, ir.Return | ir.YieldStep) and step.value != NONE:
            yield step.value


def _parts(number: int, frame: Frame, model: Model, depth: int) -> Iterator[int]:
    """What a sample consists of."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Seq | ir.Map) and depth < 4:
        for item in e.items if isinstance(e, ir.Seq) else e.values:
            yield from _parts(item, frame, model, depth + 1)
    else:
        yield number


def _aliased(number: int, frame: Frame, exposure: Exposure | None, model: Model) -> Iterator[Finding | Silence]:
    value = model.ev.eval(number, frame)
    for origin in sorted(value.origins, key=lambda o: (len(o.path), o.path)):
        kind = _kind(number, frame, value, origin, model)
        if exposure is None or kind is None or not _is_kept(origin, model):
            continue
        verdict = weighed(RULE, exposure.certainty)
        place = model.place(frame, number)
        if isinstance(verdict, Unsaid) or place.anchor < 0:
            return
        name = "self" + "".join("[...]" if part == "[]" else f".{part}" for part in origin.path)
        yield verdict.finding(
            f"the sample is the stored `{name}` itself, passed on without a copy by {loaders_of(exposure)}: an "
            "in-place edit of a batch changes the dataset; return a copy",
            place,
            name,
            model.why(frame, exposure),
            _fixes(number, frame, kind, model),
        )
        return


def _is_kept(origin: Origin, model: Model) -> bool:
    """Whether an object held this data before the sample was made: no worker code assigns the attribute."""
    if not isinstance(origin.owner, Instance):
        return False
    stores = model.ev.classes.stores(origin.owner, origin.path[0])
    return bool(stores) and not any(model.runs_in_worker(store.frame) for store in stores)


def _kind(number: int, frame: Frame, value: Val, origin: Origin, model: Model) -> Kind | None:
    """Whether it is an array or a tensor; None if it may be something else, such as a number."""
    known = known_kind(value)
    if known in ("array", "tensor"):
        return known
    e = model.ev.expr(frame, number)
    sliced = isinstance(e, ir.Index) and (
        is_array_index(e.index, frame, model) or isinstance(model.ev.expr(frame, e.index), ir.Slice)
    )
    held = container_kind(origin, value, model)
    return held if held in ("array", "tensor") and (sliced or has_rows(origin, model)) else None


def _fixes(number: int, frame: Frame, kind: Kind, model: Model) -> tuple[Fix, ...]:
    """Copy the returned item, attribute or result of a call; no fix for other expressions."""
    if not isinstance(model.ev.expr(frame, number), ir.Index | ir.Attr | ir.Call):
        return ()
    place = model.place(frame, number)
    if kind == "tensor":
        return (Fix("Return a copy: `.clone()`", "safe", (Wrap(place, "", ".clone()"),)),)
    return (Fix("Return a copy: `np.copy(...)`", "safe", (Wrap(place, "{numpy}.copy(", ")"),)),)


RULE = Rule(
    code="LDR407",
    name="aliased-sample",
    severity=Severity.HINT,
    needs="L",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
    enabled_by_default=False,
)
