"""
# read-only-sample (LDR403)

## What it does
Finds arrays that cannot be written (`np.frombuffer` of bytes, `np.load(path, mmap_mode="r")`, `np.memmap(mode="r")`,
`np.asarray` of a Pillow image, `np.broadcast_to`) and whose memory sample code gives to a tensor: with
`torch.from_numpy`, torchvision's `ToTensor`, or through the default collate function.

## Why is this bad?
Tensors know no read-only memory. PyTorch warns once per worker (`The given NumPy array is not writable ... undefined
behavior`) and lets everybody write. Measured with torch 2.13: `torch.from_numpy(mapped[index]).mul_(2)` with a file
mapped in mode `r` ends the worker with a segmentation fault; with `np.frombuffer(raw)` the bytes object itself changes,
which Python and every other holder of it take for constant.

## When it is not a bug
- Something in between copies: `.copy()`, `np.array`, `.astype(...)`, arithmetic, `torch.tensor`.
- The memory can be written: `np.frombuffer(bytearray(...))`, a shared `multiprocessing` array, modes `c` and `r+`.
- A mapping that is sent to a spawned worker with the dataset arrives as an array in memory (measured: the whole file).
- Where the tensor is converted or copied at once, or collated (which copies), only the warning is left: information.

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
Safe: `np.copy` gives the same values, of the part that is used only.

## References
- [torch.from_numpy](https://pytorch.org/docs/stable/generated/torch.from_numpy.html)
- pytorch/vision#4353, ray-project/ray#25106
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Finding, Fix, Severity, Silence, Wrap
from loaderlint.knowledge.arrays import COPYING_TENSOR_METHODS, MEMORY_SHARERS
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.read_only_sample.read_only_arrays import ReadOnly
from loaderlint.rules.shared.array_sinks import Sink, sinks
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.silence_reasons import silent, started_by
from loaderlint.rules.shared.wording import in_workers_of

#: One of these stands in a file that makes such an array.
_WORDS = ("frombuffer", "mmap", "asarray", "broadcast_to", "sliding_window_view")


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each tensor that is made of such an array."""
    if not any(model.files.containing(word) for word in _WORDS):
        return
    for one in judged(RULE, _candidates(function, model.once(ReadOnly), model), model):
        yield one if isinstance(one, Silence) else _finding(one, model.once(ReadOnly), model)


def _candidates(function: WorkerFunction, memory: ReadOnly, model: Model) -> Iterator[Candidate[Sink] | Silence]:
    """The tensors that are made of such an array."""
    for sink in sinks(function, model, memory.flow, MEMORY_SHARERS):
        exposure = _kept_read_only(sink, memory, model)
        if exposure is None:
            reason = f"{started_by(sink.exposure.lead, model)}: the mapped file is read into memory for them"
            yield from silent(RULE.name, sink.spot, reason, model)
            continue
        warned = sink.collated and memory.is_picture(sink.found[0])
        why_not = "who returns pictures as arrays is warned by PyTorch, and that is all" if warned else ""
        severity = Severity.INFORMATION if _is_harmless(sink, model) else RULE.severity
        yield Candidate(sink, sink.frame, sink.spot, why_not=why_not, severity=severity, exposure=exposure)


def _finding(verdict: WorkerVerdict[Sink], memory: ReadOnly, model: Model) -> Finding:
    sink = verdict.about
    how = memory.described(sink.found[0])
    written = "" if _is_harmless(sink, model) else ", and who writes to the tensor ends the worker or changes it"
    return verdict.finding(
        f"{sink.where} is given memory that cannot be written ({how}) {in_workers_of(verdict.exposure)}: PyTorch "
        f"warns{written}; copy it",
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
    return Exposure(kept, sink.exposure.certainty) if kept else None


def _is_harmless(sink: Sink, model: Model) -> bool:
    """Whether nobody can write to the array through the tensor: it is copied at once."""
    return sink.collated or _is_used_up(sink, model)


def _is_used_up(sink: Sink, model: Model) -> bool:
    """Whether the tensor is converted or copied at once: nobody can write to the array through it."""
    for e in model.facts(sink.frame).ir.exprs:
        if isinstance(e, ir.Attr) and e.base == sink.call and e.name in COPYING_TENSOR_METHODS:
            return True
        if isinstance(e, ir.Bin) and sink.call in (e.left, e.right):
            return True
    return False


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
)
