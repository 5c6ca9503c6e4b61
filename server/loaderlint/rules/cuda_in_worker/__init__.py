"""
# cuda-in-worker (LDR203)

## What it does
Finds code that uses CUDA in forked workers: `.cuda()`, `.to("cuda")`, `device="cuda"`, `torch.cuda.synchronize()` and
the like, and tensors and models that the constructor has put on the GPU; as information, `torch.load` without
`map_location`, which brings tensors back to the device they were saved from.

## Why is this bad?
A process that was forked after CUDA was initialised cannot use it: `RuntimeError: Cannot re-initialize CUDA in forked
subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method`. torch raises it in `_lazy_init`
(torch 2.13, `torch/cuda/__init__.py`, line 516: `if _is_in_bad_fork(): raise RuntimeError(...)`). A look at
`torch.cuda.is_available()` in the main process is enough, says the same file in line 174. Not run, for want of a GPU:
this is what torch's source says, and what pytorch/pytorch#40403 shows. What the main process has put on the GPU is of
no use there either: `CUDA error: initialization error`, as in pytorch/pytorch#4377.

## When it is not a bug
- The training loop moves the batch: `batch.to(device)` in the main process.
- Workers that are spawned, or come from a fork server. (torch advises against CUDA tensors from workers there, too.)
- `torch.load(path, map_location="cpu")`, `.to("cpu")`, a device that cannot be read: an argument, an option.
- A store that the constructor fills for all samples with the same function, and that is asked first.
- A cache that the same function fills: what a worker has saved was on the CPU.
- `torch.cuda.is_available()`, `torch.cuda.manual_seed()`: they initialise nothing that fails.
- The constructor, or another method that only the main process calls, as long as workers do not use what it leaves on
  the GPU: it is moved back (`.cpu()`), or only asked for its shape or device.
- A loader without workers.

`if torch.cuda.is_available():` is no protection: on the machine that has a GPU the branch is taken, and raises. A
device that is chosen so (`"cuda" if torch.cuda.is_available() else "cpu"`) is a warning, and so is CUDA in a project
whose main process shows no sign of it.

## Example
```python
class Images(Dataset):
    def __getitem__(self, index):
        return self.images[index].cuda()

for images in DataLoader(Images(), num_workers=4):
    ...
```

## Fixed
```python
class Images(Dataset):
    def __getitem__(self, index):
        return self.images[index]

for images in DataLoader(Images(), num_workers=4, pin_memory=True):
    images = images.cuda(non_blocking=True)
```

## Fix safety
`torch.load(path, map_location="cpu")` is safe, and unsafe where a loader without workers runs it too. There is no fix
for the others: the line that moves the batch belongs into the training loop.

## References
- pytorch/pytorch#40403, pytorch/pytorch#2971, pytorch/pytorch#4377
- [CUDA in multiprocessing](https://pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from loaderlint.findings.finding import Evidence, Finding, Fix, SetArgument, Severity, Silence
from loaderlint.project.evaluation.values import Lib, LibObject, Val
from loaderlint.project.reach.model import Exposure, Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.cuda_in_worker.filled_stores import is_filled_before
from loaderlint.rules.shared.cuda_uses import CudaUse, cuda_use, doubts_around, kept_on_gpu, used_reads
from loaderlint.rules.shared.held_handles import is_held
from loaderlint.rules.shared.judgement import Candidate, Cure, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.lazy_places import Spot, site_key
from loaderlint.rules.shared.loader_traits import not_forked
from loaderlint.rules.shared.process_guards import callers_of
from loaderlint.rules.shared.wording import in_workers_of

#: What shows that the main process uses CUDA, or leaves it to a trainer that does.
_SIGNS = ("cuda", "Trainer", "Accelerator", "Fabric", "accelerator", "pin_memory=True")

_ASKS = "the code asks before for the device or the process, or is off as configured"
_FILLED = "the constructor calls it to fill a store, which is asked first: workers find what it holds"
_NOT_HELD = "the main process does not hold it any more when the workers start"
_LOAD = Lib("torch.load")


class Brought(NamedTuple):
    """What the main process puts into GPU memory by a call, `text` for people, and where workers read it."""

    text: str
    reader: Spot


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a call, for all loaders whose forked workers perform it; one a thing in GPU memory that they use."""
    for use in judged(RULE, _uses(function, model), model, weigh=partial(_weigh, model)):
        yield use if isinstance(use, Silence) else _use(use, model)
    for load in judged(RULE, _loads(function, model), model, weigh=partial(_weigh_load, model)):
        yield load if isinstance(load, Silence) else _load(load, model)
    for brought in judged(RULE, _brought(function, model), model):
        yield brought if isinstance(brought, Silence) else _use_of_brought(brought, model)


def _uses(function: WorkerFunction, model: Model) -> Iterator[Candidate[CudaUse]]:
    """The calls that use CUDA."""
    for call in model.calls(function):
        here, use = Spot(call.frame, call.number), cuda_use(call, model)
        if use is None:
            continue
        filled = is_filled_before(call, model)
        doubts = None if filled else _doubts(call, model)
        why_not = _FILLED if filled else _ASKS if doubts is None else ""
        doubts = max(use.doubts, doubts or 0)
        yield Candidate(use, call.frame, here, _cure(model), why_not, doubts=doubts, key=here.key)


def _weigh(model: Model, uses: Sequence[Candidate[CudaUse]], exposure: Exposure) -> Severity | Unsaid:
    return lowered(RULE.severity, exposure, uses[0].doubts + (0 if model.once(_main_uses_cuda) else 1))


def _use(verdict: WorkerVerdict[CudaUse], model: Model) -> Finding:
    return verdict.finding(
        "the worker raises RuntimeError (cannot re-initialize CUDA in forked subprocess): "
        f"{verdict.about.text} {in_workers_of(verdict.exposure)}; move the batch to the GPU in the training loop",
        verdict.spot.place(model),
        verdict.about.text,
        verdict.why(model),
    )


def _cure(model: Model) -> Cure:
    return not_forked(model, "where CUDA can be used")


# --- torch.load -------------------------------------------------------------------------------------------------------


def _loads(function: WorkerFunction, model: Model) -> Iterator[Candidate[WorkerCall]]:
    """The calls that load tensors to where they were saved."""
    for call in model.calls(function):
        if _loads_anywhere(call, model) and cuda_use(call, model) is None:
            here = Spot(call.frame, call.number)
            yield Candidate(call, call.frame, here, _cure(model), severity=Severity.INFORMATION, key=here.key)


def _weigh_load(model: Model, loads: Sequence[Candidate[WorkerCall]], exposure: Exposure) -> Severity | Unsaid:
    if exposure.certainty == "possible":
        return Unsaid("it is only possible that workers run it")
    return Severity.INFORMATION if model.once(_main_uses_cuda) else Unsaid("nothing here uses CUDA")


def _load(verdict: WorkerVerdict[WorkerCall], model: Model) -> Finding:
    return verdict.finding(
        "tensors that were saved on a GPU come back to it: `torch.load` without map_location "
        f'{in_workers_of(verdict.exposure)}, where CUDA cannot be used; pass `map_location="cpu"`',
        verdict.spot.place(model),
        "torch.load",
        verdict.why(model),
        (_load_fix(verdict, model),),
    )


def _loads_anywhere(call: WorkerCall, model: Model) -> bool:
    """Whether a call is `torch.load` without a map_location."""
    if _LOAD not in call.callee.atoms:
        return False
    if any(Lib("torch.save") in other.callee.atoms for other in model.frame_calls(call.frame)):
        return False  # a cache: the worker saves what it has computed itself, on the CPU
    return model.ev.calls.arguments(call.call, call.frame).get("map_location", 1) is None


def _load_fix(verdict: WorkerVerdict[WorkerCall], model: Model) -> Fix:
    """Load to the CPU; unsafe where a loader without workers loads too, whose tensors would come to another device."""
    bits = [model.reached[call.frame].bits() for call in verdict.together]
    loading = [one for one in model.loaders if any(b >> one.index & 1 for b in bits)]
    alone = all(one in verdict.exposure.loaders for one in loading)
    intent = SetArgument(verdict.spot.place(model), "map_location", '"cpu"', 1)
    return Fix('Load to the CPU: `map_location="cpu"`', "safe" if alone else "unsafe", (intent,))


# --- what the main process puts into GPU memory -----------------------------------------------------------------------


def _brought(function: WorkerFunction, model: Model) -> Iterator[Candidate[Brought]]:
    """What the main process has put into GPU memory, and workers use."""
    if not model.files.containing("cuda"):
        return
    done: set[tuple[Path, int, int]] = set()
    for frame in function.frames:
        for number, value in used_reads(frame, model):
            for held in value.ordered():
                if not isinstance(held, LibObject) or site_key(held.site) in done:
                    continue
                use = None if model.runs_in_worker(held.site.frame) else kept_on_gpu(held, model)
                if use is None:
                    continue
                here, brought = Spot(use.call.frame, use.call.number), Brought(use.text, Spot(frame, number))
                why_not = "" if is_held(held, value.origins, model) else _NOT_HELD
                done.update(() if why_not else [site_key(held.site)])
                doubts = max(use.doubts, _others(value, model))
                yield Candidate(brought, frame, here, _cure(model), why_not, doubts=doubts)


def _others(value: Val, model: Model) -> int:
    """One doubt where a value may be something else that is not on the GPU."""
    return int(any(not isinstance(one, LibObject) or kept_on_gpu(one, model) is None for one in value.atoms))


def _use_of_brought(verdict: WorkerVerdict[Brought], model: Model) -> Finding:
    text, reader = verdict.about
    at = verdict.spot.frame
    where = f"in `{model.label(at)}`" if at.def_ else f"at module level in {at.path.name}"
    return verdict.finding(
        f"the worker raises RuntimeError (CUDA error: initialization error): {text} {where} puts into GPU memory what "
        f"is used {in_workers_of(verdict.exposure)}; keep it on the CPU, and move the batch to the GPU in the training "
        "loop",
        verdict.spot.place(model),
        text,
        (Evidence(reader.place(model), f"{model.label(reader.frame)} uses it"), *verdict.why(model)),
    )


# --- conditions -------------------------------------------------------------------------------------------------------


def _doubts(call: WorkerCall, model: Model) -> int | None:
    """The conditions that the call and the way to it stand under (see `doubts_around`)."""
    found = [doubts_around(frame, context, model) for frame, context in callers_of(call, model)]
    return None if None in found else max(one for one in found if one is not None)


def _main_uses_cuda(model: Model) -> bool:
    """Whether code outside the workers' own shows a sign of CUDA."""
    workers = {(frame.path, frame.piece) for frame in model.reached}
    for sign in _SIGNS:
        for path in model.files.containing(sign):
            file = model.files.file(path)
            if file and any((path, piece) not in workers for piece in file.mentioning(sign)):
                return True
    return False


RULE = Rule(
    code="LDR203",
    name="cuda-in-worker",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
