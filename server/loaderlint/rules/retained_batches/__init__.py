"""
# retained-batches (LDR408)

## What it does
Finds loops over a loader with workers that keep the batches, or tensors of them, in a list for the whole loop:
`labels.append(batch["label"])`, `outputs.append(x.cpu())`. Off by default.

## Why is this bad?
A tensor from a worker is in shared memory, and on Linux it holds a file descriptor as long as anything uses that
memory. Measured with torch 2.13 and 128 descriptors: the loop ends with `RuntimeError: Too many open files.
Communication with the workers is no longer possible.` after about 100 batches; with the usual 1024 descriptors, after
about 1000. `.cpu()`, `.detach()`, `.numpy()`, `.view(...)`, slices, and `.float()` of a float tensor copy nothing.

## When it is not a bug
- The list keeps copies: `.clone()`, `.tolist()`, `.item()`, `.numpy().copy()`, a result of the model, `.to("cuda")`.
- `pin_memory=True` copies the batches (on a machine with a GPU), or the project calls `set_sharing_strategy`. The
  strategy `file_system` needs no descriptors.
- The loop is short, as over a small validation set. The rule is therefore off by default.

## Example
```python
for images, labels in loader:
    kept.append(labels)
```

## Fixed
```python
for images, labels in loader:
    kept.append(labels.clone())
```

## Fix safety
Safe where the list keeps a tensor. There is no fix where it keeps a whole batch, or something that may not be a tensor.

## References
- [Sharing strategies](https://pytorch.org/docs/stable/multiprocessing.html#sharing-strategies)
- pytorch/pytorch#973, pytorch/pytorch#11201
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Evidence, Finding, Fix, Place, SetArgument, Severity, Silence, Wrap
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import MainFunction, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.retained_batches.appended_items import Append, appends, outlives
from loaderlint.rules.retained_batches.batch_parts import (
    BatchPart,
    Loops,
    batch_parts,
    is_made_by_library,
    is_tensor,
    is_text,
    loops_over_loaders,
)
from loaderlint.rules.shared.judgement import Unsaid, certainty_of_workers, weighed

_STRATEGY = "the project chooses how tensors are shared: set_sharing_strategy"


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each place where batches are kept."""
    found = appends(function)
    if not any(_may_be_of_loader(append, function, model) for append in found):
        return
    shared = any(model.callers.sites("set_sharing_strategy"))
    for frame in function.frames:
        loops = loops_over_loaders(frame, model)
        for append in found if loops else ():
            part = _kept(append, loops, frame, model)
            finding = _finding(part, append, frame, model) if part is not None else None
            if finding is not None:
                yield Silence(RULE.name, finding.place, _STRATEGY) if shared else finding


def _may_be_of_loader(append: Append, function: MainFunction, model: Model) -> bool:
    """Whether batches may be kept for some caller, which takes long to find: not where a library makes everything that
    is iterated over, as `zip(...)` does, for then it is the same for all callers."""
    opened = function.opened
    return opened is None or not all(is_made_by_library(source, opened, model) for source in append.sources)


def _kept(append: Append, loops: Loops, frame: Frame, model: Model) -> BatchPart | None:
    """The first part of a batch that is kept, in a list that was there before the loop."""
    if model.ev.liveness.is_dead(append.step.context, frame) or not outlives(append.to, append.loop, frame, model):
        return None
    return next((part for part in batch_parts(append.kept, loops, frame, model) if not is_text(part, model)), None)


def _finding(part: BatchPart, append: Append, frame: Frame, model: Model) -> Finding | None:
    loader, call = part.loader, append.step.call
    tensor = is_tensor(part, model)
    verdict = weighed(RULE, certainty_of_workers(loader), 0 if tensor else 1)
    if isinstance(verdict, Unsaid) or loader.site is None:
        return None
    return verdict.finding(
        f"each batch of {loader.described} that is kept holds shared memory and a file descriptor, and the loop "
        "ends with 'Too many open files' if there are many; keep a copy",
        model.place(frame, call),
        loader.name,
        (Evidence(model.site_place(loader.site), f"the loader ({loader.workers_text})"),),
        _fixes(part, append.kept, call, frame, model) if tensor else (),
    )


def _fixes(part: BatchPart, argument: int, call: int, frame: Frame, model: Model) -> tuple[Fix, ...]:
    """Copy what is appended, if that is one tensor."""
    copied = ".copy()" if part.array else ".clone()"
    title = f"Keep a copy: `{copied}`"
    if part.number != argument:
        return ()
    place, whole = model.place(frame, argument), model.place(frame, call)
    if place.anchor > whole.anchor:
        return (Fix(title, "safe", (Wrap(place, "", copied),)),)
    name = _local_name(argument, whole, frame, model)
    if name is None:
        return ()
    return (Fix(title, "safe", (SetArgument(whole, "object", f"{name}{copied}", 0),)),)


def _local_name(number: int, before: Place, frame: Frame, model: Model) -> str | None:
    """The name under which a local is known."""
    names = {step.name for _, step in frame.code.bindings.get(number, ())}
    return names.pop() if len(names) == 1 and number != NONE and before.anchor >= 0 else None


RULE = Rule(
    code="LDR408",
    name="retained-batches",
    severity=Severity.INFORMATION,
    needs="W1",
    over="main function",
    find=find,
    fix="safe",
    page=page(__doc__),
    enabled_by_default=False,
    words=("append",),
)
