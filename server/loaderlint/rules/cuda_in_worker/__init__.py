"""
# cuda-in-worker (LDR203)

## What it does
Finds code that uses CUDA in forked workers: `.cuda()`, `.to("cuda")`, `device="cuda"`, `torch.cuda.synchronize()` and
similar calls, and tensors and models that the constructor, or the code that creates the loader, put on the GPU:
`data.images = data.images.cuda()`. `torch.load` without `map_location`, which
loads tensors to the device they were saved from, is a hint: most files hold tensors of the CPU.

## Why is this bad?
A process that is forked after CUDA was initialised cannot use CUDA: `RuntimeError: Cannot re-initialize CUDA in forked
subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method`. torch raises it in `_lazy_init`
(torch 2.13, `torch/cuda/__init__.py`, line 516: `if _is_in_bad_fork(): raise RuntimeError(...)`). Line 174 of that file
says that a call of `torch.cuda.is_available()` in the main process is enough. Data that the main process put on the GPU
cannot be used there either: `CUDA error: initialization error`, as in pytorch/pytorch#4377.

This was not run on a GPU. It is what torch's source says and what pytorch/pytorch#40403 shows.

## When it is not a bug
- The training loop moves the batch: `batch.to(device)` in the main process.
- The workers are spawned or come from a fork server. (torch advises against CUDA tensors from workers there too.)
- The device is the CPU or not known: `torch.load(path, map_location="cpu")`, `.to("cpu")`, an argument, an option. (A
  name that begins with `cuda:`, such as `f"cuda:{rank}"`, is a GPU.)
- The code checks the tensor's device or the process first, or an option turns it off: `if self.gpu:`, or
  `"cuda" if torch.cuda.is_available() and self.gpu else "cpu"`, with `gpu=False` by default.
- The result of `torch.load` is used as a NumPy array: a tensor has no `astype`, and `numpy()` and NumPy raise a
  TypeError for a tensor on the GPU.
- The function that calls `torch.load` also saves such files with `torch.save`: what a worker saved was on the CPU. Nor
  is `torch.load` reported in a project that shows no use of CUDA, or that moves what it saves to the CPU:
  `torch.save(features.cpu(), path)`.
- The constructor fills a store for all samples with the same function, and that function looks there first.
- The call initialises nothing that can fail: `torch.cuda.is_available()`, `torch.cuda.manual_seed()`.
- The loader is created before `data.images = data.images.cuda()`. (Its later epochs may fail; this is not examined.)
- Only the constructor or other methods of the main process use the GPU. Workers do not use the result, or use it after
  it is back on the CPU (`.cpu()`), or read only its shape or device.
- The loader has no workers, or none where the device is a GPU: `num_workers=0 if device == "cuda" else 4`.

`if torch.cuda.is_available():` does not help: on a machine with a GPU the branch runs and raises. The finding is a
warning for a device that is chosen this way (`"cuda" if torch.cuda.is_available() else "cpu"`), and for CUDA in a
project whose main process shows no sign of using it. Where it is only possible that forked workers run the line, or
where it is under a condition that is not known (`if image.ndim == 4:`), it is a hint: somebody would have noticed a
program that fails like this, and would have fixed it or removed the workers.

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
`torch.load(path, map_location="cpu")` is safe, but unsafe where a loader without workers runs the code too. There is no
fix for the others: move the line to the training loop.

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
from loaderlint.rules.cuda_in_worker.cuda_conditions import ASKS, cure, doubts_of, main_uses_cuda, severity_under
from loaderlint.rules.cuda_in_worker.gpu_memory import Brought, brought_to_gpu
from loaderlint.rules.cuda_in_worker.prefilled_caches import is_filled_before
from loaderlint.rules.cuda_in_worker.torch_loads import fix_of_load, loads_anywhere, loads_array, saves_on_cpu
from loaderlint.rules.shared.cuda_uses import CudaUse, cuda_use
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, as_hint, judged, lowered
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.shared.wording import in_workers_of

_FILLED = "the constructor calls it to fill a store, and workers look there first"
_ARRAY = "what it loads is used as a NumPy array, which a tensor on the GPU cannot be"

_SAVED = "the project brings to the CPU what it saves with torch.save"


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each call, for all loaders whose forked workers perform it; one for each thing in GPU memory that
    they use."""
    for use in judged(RULE, _uses(function, model), model, weigh=partial(_weigh, model)):
        yield use if isinstance(use, Silence) else _use(use, model)
    for load in judged(RULE, _loads(function, model), model, weigh=partial(_weigh_load, model)):
        yield load if isinstance(load, Silence) else _load(load, model)
    for brought in judged(RULE, brought_to_gpu(function, model), model, weigh=partial(_weigh, model)):
        yield brought if isinstance(brought, Silence) else _use_of_brought(brought, model)


def _uses(function: WorkerFunction, model: Model) -> Iterator[Candidate[CudaUse]]:
    """The calls that use CUDA."""
    for call in model.calls(function):
        here, use = Spot(call.frame, call.number), cuda_use(call, model)
        if use is None:
            continue
        filled = is_filled_before(call, model)
        conditions = None if filled else doubts_of(call, model)
        why_not = _FILLED if filled else ASKS if conditions is None or use.is_off else ""
        severity = severity_under(conditions)
        yield Candidate(
            use, call.frame, here, cure(use, model), why_not, severity=severity, doubts=use.doubts, key=here.key
        )


def _weigh(
    model: Model, uses: Sequence[Candidate[CudaUse]] | Sequence[Candidate[Brought]], exposure: Exposure
) -> Severity | Unsaid:
    """A hint where that is only possible, or under a condition that is not known: whoever ran a program whose workers
    fail would know it."""
    severity = lowered(RULE.severity, exposure, uses[0].doubts + (0 if model.once(main_uses_cuda) else 1))
    is_unsure = exposure.certainty == "possible" or all(one.severity is Severity.HINT for one in uses)
    return as_hint(severity) if is_unsure else severity


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
            here, saved = Spot(call.frame, call.number), _SAVED if model.once(saves_on_cpu) else ""
            why_not = _ARRAY if loads_array(call, model) else saved
            yield Candidate(call, call.frame, here, cure(None, model), why_not, severity=Severity.HINT, key=here.key)


def _weigh_load(model: Model, loads: Sequence[Candidate[WorkerCall]], exposure: Exposure) -> Severity | Unsaid:
    if exposure.certainty == "possible":
        return Unsaid("it is not certain that workers run it")
    return Severity.HINT if model.once(main_uses_cuda) else Unsaid("nothing in the project uses CUDA")


def _load(verdict: WorkerVerdict[WorkerCall], model: Model) -> Finding:
    return verdict.finding(
        "`torch.load` without map_location puts tensors that were saved on a GPU back on it "
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
        f"the worker raises RuntimeError (CUDA error: initialization error): {text} {where} puts data on the GPU that "
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
    follows_data=True,
)
