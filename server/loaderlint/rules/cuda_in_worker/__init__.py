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
- `torch.load` of what is used as a NumPy array: no tensor has `astype`, and `numpy()` and NumPy raise TypeError for one
  of a GPU.
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

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.project.reach.model import Exposure, Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.cuda_in_worker.cuda_conditions import cure, doubts_of, main_uses_cuda
from loaderlint.rules.cuda_in_worker.gpu_memory import Brought, brought_to_gpu
from loaderlint.rules.cuda_in_worker.prefilled_caches import is_filled_before
from loaderlint.rules.cuda_in_worker.torch_loads import fix_of_load, loads_anywhere, loads_array
from loaderlint.rules.shared.cuda_uses import CudaUse, cuda_use
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of

_ASKS = "the code asks before for the device or the process, or is off as configured"
_FILLED = "the constructor calls it to fill a store, which is asked first: workers find what it holds"
_ARRAY = "what it loads is used as a NumPy array, and no tensor of a GPU can be"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a call, for all loaders whose forked workers perform it; one a thing in GPU memory that they use."""
    for use in judged(RULE, _uses(function, model), model, weigh=partial(_weigh, model)):
        yield use if isinstance(use, Silence) else _use(use, model)
    for load in judged(RULE, _loads(function, model), model, weigh=partial(_weigh_load, model)):
        yield load if isinstance(load, Silence) else _load(load, model)
    for brought in judged(RULE, brought_to_gpu(function, model), model):
        yield brought if isinstance(brought, Silence) else _use_of_brought(brought, model)


def _uses(function: WorkerFunction, model: Model) -> Iterator[Candidate[CudaUse]]:
    """The calls that use CUDA."""
    for call in model.calls(function):
        here, use = Spot(call.frame, call.number), cuda_use(call, model)
        if use is None:
            continue
        filled = is_filled_before(call, model)
        doubts = None if filled else doubts_of(call, model)
        why_not = _FILLED if filled else _ASKS if doubts is None else ""
        doubts = max(use.doubts, doubts or 0)
        yield Candidate(use, call.frame, here, cure(model), why_not, doubts=doubts, key=here.key)


def _weigh(model: Model, uses: Sequence[Candidate[CudaUse]], exposure: Exposure) -> Severity | Unsaid:
    return lowered(RULE.severity, exposure, uses[0].doubts + (0 if model.once(main_uses_cuda) else 1))


def _use(verdict: WorkerVerdict[CudaUse], model: Model) -> Finding:
    return verdict.finding(
        "the worker raises RuntimeError (cannot re-initialize CUDA in forked subprocess): "
        f"{verdict.about.text} {in_workers_of(verdict.exposure)}; move the batch to the GPU in the training loop",
        verdict.spot.place(model),
        verdict.about.text,
        verdict.why(model),
    )


# --- torch.load -------------------------------------------------------------------------------------------------------


def _loads(function: WorkerFunction, model: Model) -> Iterator[Candidate[WorkerCall]]:
    """The calls that load tensors to where they were saved."""
    for call in model.calls(function):
        if loads_anywhere(call, model) and cuda_use(call, model) is None:
            here, why_not = Spot(call.frame, call.number), _ARRAY if loads_array(call, model) else ""
            yield Candidate(call, call.frame, here, cure(model), why_not, severity=Severity.INFORMATION, key=here.key)


def _weigh_load(model: Model, loads: Sequence[Candidate[WorkerCall]], exposure: Exposure) -> Severity | Unsaid:
    if exposure.certainty == "possible":
        return Unsaid("it is only possible that workers run it")
    return Severity.INFORMATION if model.once(main_uses_cuda) else Unsaid("nothing here uses CUDA")


def _load(verdict: WorkerVerdict[WorkerCall], model: Model) -> Finding:
    return verdict.finding(
        "tensors that were saved on a GPU come back to it: `torch.load` without map_location "
        f'{in_workers_of(verdict.exposure)}, where CUDA cannot be used; pass `map_location="cpu"`',
        verdict.spot.place(model),
        "torch.load",
        verdict.why(model),
        (fix_of_load(verdict, model),),
    )


# --- what the main process puts into GPU memory -----------------------------------------------------------------------


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
