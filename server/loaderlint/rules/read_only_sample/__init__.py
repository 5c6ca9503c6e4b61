"""
# read-only-sample (LDR403)

## What it does
Finds read-only arrays from which sample code makes a tensor in the same memory: with `torch.from_numpy`, torchvision's
`ToTensor` or `ToImage`, or through the default collate function. Such arrays come from `np.frombuffer` of bytes,
`np.load(path, mmap_mode="r")`, `np.memmap(mode="r")`, `np.asarray` of a Pillow image and `np.broadcast_to`.

## Why is this bad?
Tensors cannot be read-only. PyTorch warns once per process (`The given NumPy array is not writable ... undefined
behavior`), and every later write to the tensor goes through. Measured with torch 2.13: `torch.from_numpy(
mapped[index]).mul_(2)` with a file mapped in mode `r` ends the worker with a segmentation fault. With
`np.frombuffer(raw)`, the bytes object itself changes, although Python and all other code that holds it treat it as
constant.

## When it is not a bug
- The array is copied first: `.copy()`, `np.array`, `.astype(...)`, arithmetic, `torch.tensor`.
- The memory is writable: `np.frombuffer(bytearray(...))`, a shared `multiprocessing` array, modes `c` and `r+`.
- A mapped file goes to a spawned worker with the dataset: it arrives as an array in memory (measured: the whole file).
- A Pillow image as an array goes to torchvision's transform or to the default collate function: the warning is all that
  happens.

The finding is only an information where PyTorch's warning is all that is certain: the tensor is converted or copied at
once, the default collate function copies it, or torchvision makes it. Or the tensor of a Pillow image is only part of
what `__getitem__` returns, which the default collate function copies. Measured with torchvision 0.28: `ToTensor` copies
images of bytes and images with several channels. It keeps the memory of an image with one channel of another type.

## Example
```python
def __getitem__(self, index):
    raw = self.paths[index].read_bytes()
    return torch.from_numpy(np.frombuffer(raw, dtype=np.float32))
```

## Fixed
```python
def __getitem__(self, index):
    raw = self.paths[index].read_bytes()
    return torch.from_numpy(np.copy(np.frombuffer(raw, dtype=np.float32)))
```

## Fix safety
Safe: `np.copy` gives the same values, and copies only the part that is used.

## References
- [torch.from_numpy](https://pytorch.org/docs/stable/generated/torch.from_numpy.html)
- pytorch/vision#4353, ray-project/ray#25106
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.findings.finding import Finding, Fix, Severity, Silence, Wrap
from loaderlint.knowledge.arrays import COPYING_TENSOR_METHODS, MEMORY_SHARERS
from loaderlint.project.evaluation.frames import Code
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.read_only_sample.read_only_arrays import ReadOnly
from loaderlint.rules.shared.array_sinks import Sink, sinks
from loaderlint.rules.shared.default_collate import has_own_collate, is_entry
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.silence_reasons import silent, started_by
from loaderlint.rules.shared.wording import in_workers_of

#: A file that creates such an array contains one of these.
_WORDS = ("frombuffer", "mmap", "asarray", "broadcast_to", "sliding_window_view")
_WRITTEN = ", and a write to the tensor changes that memory or ends the worker"
_PICTURE = "nothing else uses the memory of the picture's array: PyTorch's warning is all that happens"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each tensor that is made from such an array."""
    if not any(model.files.containing(word) for word in _WORDS):
        return
    for one in judged(RULE, _candidates(function, model.once(ReadOnly), model), model):
        yield one if isinstance(one, Silence) else _finding(one, model.once(ReadOnly), model)


def _candidates(function: WorkerFunction, memory: ReadOnly, model: Model) -> Iterator[Candidate[Sink] | Silence]:
    """The tensors that are made from such an array."""
    for sink in sinks(function, model, memory.flow, MEMORY_SHARERS):
        exposure = _kept_read_only(sink, memory, model)
        if exposure is None:
            reason = f"{started_by(sink.exposure.lead, model)}: the mapped file is read into memory for them"
            yield from silent(RULE.name, sink.spot, reason, model)
            continue
        only_warns = (sink.collated or sink.torchvision) and all(memory.is_picture(one) for one in sink.found)
        why_not = _PICTURE if only_warns else ""
        severity = Severity.INFORMATION if _is_harmless(sink, memory, model) else RULE.severity
        yield Candidate(sink, sink.frame, sink.spot, why_not=why_not, severity=severity, exposure=exposure)


def _finding(verdict: WorkerVerdict[Sink], memory: ReadOnly, model: Model) -> Finding:
    sink = verdict.about
    how = memory.described(sink.found[0])
    written = "" if _is_harmless(sink, memory, model) else _WRITTEN
    return verdict.finding(
        f"{sink.where} gets read-only memory ({how}) {in_workers_of(verdict.exposure)}: PyTorch warns{written}; "
        "copy it",
        verdict.spot.place(model),
        how,
        verdict.why(model),
        _fixes(sink, memory, model),
    )


def _kept_read_only(sink: Sink, memory: ReadOnly, model: Model) -> Exposure | None:
    """The loaders with which it is read-only: pickling a mapping of the main process reads it into memory."""
    if not all(memory.is_mapped(one) and not model.runs_in_worker(one.frame) for one in sink.found):
        return sink.exposure
    kept = tuple(
        loader
        for loader in sink.exposure.loaders
        if loader.has_workers() == "no" or "fork" in model.start_methods.of(loader)
    )
    return replace(sink.exposure, loaders=kept) if kept else None


def _is_harmless(sink: Sink, memory: ReadOnly, model: Model) -> bool:
    """Whether it is not certain that the tensor keeps the array's memory: what gets it copies, or may copy. Or no code
    has the tensor of an image but the default collate function."""
    if sink.collated or sink.torchvision or _is_used_up(sink, model):
        return True
    return all(memory.is_picture(one) for one in sink.found) and _is_only_batched(sink, model)


def _is_used_up(sink: Sink, model: Model) -> bool:
    """Whether the tensor is converted or copied at once, so that no code can write to the array through it."""
    for e in model.facts(sink.frame).ir.exprs:
        if isinstance(e, ir.Attr) and e.base == sink.call and e.name in COPYING_TENSOR_METHODS:
            return True
        if isinstance(e, ir.Bin) and sink.call in (e.left, e.right):
            return True
    return False


def _is_only_batched(sink: Sink, model: Model) -> bool:
    """Whether the tensor is only part of what `__getitem__` returns, and the default collate function copies that."""
    if not is_entry(sink.frame, model) or any(map(has_own_collate, sink.exposure.loaders)):
        return False
    code = sink.frame.code
    held = _readers({sink.call}, code)
    kept = {sink.call, *held}
    if _readers(kept, code) != held or not all(isinstance(code.exprs[number], ir.Seq | ir.Map) for number in held):
        return False
    using = (step for _, step in model.steps(sink.frame) if not kept.isdisjoint(ir.step_expressions(step)))
    return all(map(_is_local_or_returned, using))


def _readers(numbers: set[int], code: Code) -> set[int]:
    """The expressions of a def that have one of these as a part."""
    return {one for one in code.expressions() if not numbers.isdisjoint(ir.operands(code.exprs[one]))}


def _is_local_or_returned(step: ir.Step) -> bool:
    return isinstance(step, ir.Return | ir.Perform) or (isinstance(step, ir.Bind) and step.scope == "local")


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fixes(sink: Sink, memory: ReadOnly, model: Model) -> tuple[Fix, ...]:
    """Copy the argument, where it is no local of several makers."""
    place = model.place(sink.frame, sink.number)
    e = model.ev.expr(sink.frame, sink.number)
    if sink.collated:
        own = [one for one in sink.found if one.frame is sink.frame and not memory.is_mapped(one)]
        if len(own) != 1 or len(sink.found) != 1:
            return ()
        place = model.place(sink.frame, own[0].number)
    elif not isinstance(e, ir.Call | ir.Index | ir.Attr):
        return ()
    if place.anchor < 0:
        return ()
    return (Fix("Copy it: `np.copy(...)`", "safe", (Wrap(place, "{numpy}.copy(", ")"),)),)


RULE = Rule(
    code="LDR403",
    name="read-only-sample",
    severity=Severity.WARNING,
    needs="L",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
    follows_data=True,
)
