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
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Fix, SetArgument, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject, Val
from loaderlint.project.reach.model import Exposure, Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, gathered, in_workers_of, loudness, not_forked, page
from loaderlint.rules.shared.cuda_uses import CudaUse, cuda_use, doubts_around, kept_on_gpu, used_reads
from loaderlint.rules.shared.held_handles import is_held
from loaderlint.rules.shared.kept_state import own_attribute
from loaderlint.rules.shared.lazy_places import Spot, site_key
from loaderlint.rules.shared.process_guards import callers_of, tests_around
from loaderlint.rules.shared.silence_reasons import silent, started_by, too_unsure, unexposed

#: What shows that the main process uses CUDA, or leaves it to a trainer that does.
_SIGNS = ("cuda", "Trainer", "Accelerator", "Fabric", "accelerator", "pin_memory=True")

_ASKS = "the code asks before for the device or the process, or is off as configured"
_FILLED = "the constructor calls it to fill a store, which is asked first: workers find what it holds"
_LOAD = Lib("torch.load")


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a call, for all loaders whose forked workers perform it; one a thing in GPU memory that they use."""
    uses: dict[int, list[CudaUse]] = {}
    loads: dict[int, list[WorkerCall]] = {}
    for call in model.calls(function):
        use = cuda_use(call, model)
        if use and _is_filled_before(call, model):
            yield from silent(RULE.name, Spot(call.frame, call.number), _FILLED, model)
            continue
        doubts = _doubts(call, model) if use else None
        if use and doubts is not None:
            uses.setdefault(call.number, []).append(use._replace(doubts=max(use.doubts, doubts)))
        elif use:
            yield from silent(RULE.name, Spot(call.frame, call.number), _ASKS, model)
        elif _loads_anywhere(call, model):
            loads.setdefault(call.number, []).append(call)
    for found in uses.values():
        yield from _judge(found, model)
    for calls in loads.values():
        yield from _judge_load(calls, model)
    yield from _brought(function, model)


def _judge(uses: list[CudaUse], model: Model) -> Iterator[Finding | Silence]:
    found = gathered((use.call.frame, _exposure(use.call, model)) for use in uses)
    here = Spot(uses[0].call.frame, uses[0].call.number)
    if found is None:
        for reason in dict.fromkeys(_unexposed(use.call.frame, model) for use in uses):
            yield from silent(RULE.name, here, reason, model)
        return
    frame, exposure = found
    use = next(one for one in uses if one.call.frame is frame)
    doubts = use.doubts + (0 if _main_uses_cuda(model) else 1)
    severity = loudness(Severity.ERROR, exposure.certainty, doubts)
    if severity is None:
        yield from silent(RULE.name, here, too_unsure(exposure.certainty), model)
        return
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"the worker raises RuntimeError (cannot re-initialize CUDA in forked subprocess): {use.text} "
        f"{in_workers_of(exposure)}; move the batch to the GPU in the training loop",
        model.place(frame, use.call.number),
        use.text,
        model.why(frame, exposure),
    )


def _judge_load(calls: list[WorkerCall], model: Model) -> Iterator[Finding | Silence]:
    found = gathered((call.frame, _exposure(call, model)) for call in calls)
    here = Spot(calls[0].frame, calls[0].number)
    if found is None:
        for reason in dict.fromkeys(_unexposed(call.frame, model) for call in calls):
            yield from silent(RULE.name, here, reason, model)
        return
    if found[1].certainty == "possible" or not _main_uses_cuda(model):
        unsure = "it is only possible that workers run it"
        reason = unsure if found[1].certainty == "possible" else "nothing here uses CUDA"
        yield from silent(RULE.name, here, reason, model)
        return
    frame, exposure = found
    yield Finding(
        RULE.name,
        Severity.INFORMATION,
        exposure.certainty,
        f"tensors that were saved on a GPU come back to it: `torch.load` without map_location "
        f'{in_workers_of(exposure)}, where CUDA cannot be used; pass `map_location="cpu"`',
        model.place(frame, calls[0].number),
        "torch.load",
        model.why(frame, exposure),
        (_load_fix(calls, exposure, model),),
    )


def _brought(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
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
                if not is_held(held, value.origins, model):
                    reason = "the main process does not hold it any more when the workers start"
                    yield from silent(RULE.name, Spot(use.call.frame, use.call.number), reason, model)
                    continue
                found = _judge_brought(
                    use._replace(doubts=max(use.doubts, _others(value, model))), frame, number, model
                )
                done.add(site_key(held.site))
                yield from found


def _others(value: Val, model: Model) -> int:
    """One doubt where a value may be something else that is not on the GPU."""
    return int(any(not isinstance(one, LibObject) or kept_on_gpu(one, model) is None for one in value.atoms))


def _judge_brought(use: CudaUse, frame: Frame, number: int, model: Model) -> Iterator[Finding | Silence]:
    exposure = model.exposure(frame, 1, cured=not_forked(model))
    here = Spot(use.call.frame, use.call.number)
    if exposure is None:
        yield from silent(RULE.name, here, _unexposed(frame, model), model)
        return
    severity = loudness(Severity.ERROR, exposure.certainty, use.doubts)
    if severity is None:
        yield from silent(RULE.name, here, too_unsure(exposure.certainty), model)
        return
    at = use.call.frame
    where = f"in `{model.label(at)}`" if at.def_ else f"at module level in {at.path.name}"
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"the worker raises RuntimeError (CUDA error: initialization error): {use.text} {where} puts into "
        f"GPU memory what is used {in_workers_of(exposure)}; keep it on the CPU, and move the batch to the GPU in the "
        f"training loop",
        here.place(model),
        use.text,
        (Evidence(model.place(frame, number), f"{model.label(frame)} uses it"), *model.why(frame, exposure)),
    )


def _exposure(call: WorkerCall, model: Model) -> Exposure | None:
    return model.exposure(call.frame, 1, cured=not_forked(model))


def _unexposed(frame: Frame, model: Model) -> str:
    return unexposed(model, frame, 1, cure=lambda loader: f"{started_by(loader, model)}, where CUDA can be used")


# --- conditions -------------------------------------------------------------------------------------------------------


def _doubts(call: WorkerCall, model: Model) -> int | None:
    """The conditions that the call and the way to it stand under (see `doubts_around`)."""
    found = [doubts_around(frame, context, model) for frame, context in callers_of(call, model)]
    return None if None in found else max(one for one in found if one is not None)


def _is_filled_before(call: WorkerCall, model: Model) -> bool:
    """Whether the constructor runs the method that the call stands in, and fills a store of the object which that
    method asks before the call: `if name in self.done: return self.done[name]`."""
    frame = call.frame
    if not isinstance(frame.receiver, Instance):
        return False
    asked = {
        name
        for test in tests_around(frame, call.context, model)
        for number in ir.made_of(frame.code.exprs, [test.expr])
        if (name := own_attribute(number, frame, model))
    }
    constructing = model.ev.classes.construction(frame.receiver) if asked else []
    if not any(not asked.isdisjoint(_filled(one, model)) for one in constructing):
        return False
    return any(_calls_in_loop(one, frame, model) for one in constructing)


def _calls_in_loop(caller: Frame, callee: Frame, model: Model) -> bool:
    """Whether a frame calls the def of another in a loop or a comprehension over all that there is, as far as can be
    seen."""
    here = (callee.path, callee.piece, callee.def_)
    for _, step in model.steps_of(caller, ir.Perform):
        around = model.def_of(caller).around(step.context)
        if any(one.kind == "loop" and _goes_over_all(one.expr, caller) for one in around):
            targets = model.ev.targets(step.call, caller)
            if any((one.path, one.piece, one.def_) == here for one in targets):
                return True
    return False


def _goes_over_all(iterable: int, frame: Frame) -> bool:
    """Whether a loop goes over something whole: not over a slice, or a `range` of constants."""
    match frame.code.exprs[iterable]:
        case ir.Call(_, args) if args:
            return not all(isinstance(frame.code.exprs[arg.value], ir.Const) for arg in args)
        case ir.Index(_, index):
            return not frame.code.has_slice(index)
    return True


def _filled(frame: Frame, model: Model) -> Iterator[str]:
    """The attributes of the object that a frame assigns, whole or an item of them."""
    yield from frame.code.stored
    for _, step in frame.code.steps_of(ir.SetItem):
        yield own_attribute(step.base, frame, model)


def _main_uses_cuda(model: Model) -> bool:
    """Whether code outside the workers' own shows a sign of CUDA."""
    workers = {(frame.path, frame.piece) for frame in model.reached}
    for sign in _SIGNS:
        for path in model.files.containing(sign):
            file = model.files.file(path)
            if file and any((path, piece) not in workers for piece in file.mentioning(sign)):
                return True
    return False


# --- torch.load -------------------------------------------------------------------------------------------------------


def _loads_anywhere(call: WorkerCall, model: Model) -> bool:
    """Whether a call is `torch.load` without a map_location."""
    if _LOAD not in call.callee.atoms:
        return False
    if any(Lib("torch.save") in other.callee.atoms for other in model.frame_calls(call.frame)):
        return False  # a cache: the worker saves what it has computed itself, on the CPU
    return model.ev.calls.arguments(call.call, call.frame).get("map_location", 1) is None


def _load_fix(calls: Sequence[WorkerCall], exposure: Exposure, model: Model) -> Fix:
    """Load to the CPU; unsafe where a loader without workers loads too, whose tensors would come to another device."""
    bits = [model.reached[call.frame].bits() for call in calls]
    alone = all(one in exposure.loaders for one in model.loaders if any(b >> one.index & 1 for b in bits))
    intent = SetArgument(model.place(calls[0].frame, calls[0].number), "map_location", '"cpu"', 1)
    return Fix('Load to the CPU: `map_location="cpu"`', "safe" if alone else "unsafe", (intent,))


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
