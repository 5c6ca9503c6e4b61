"""
# cuda-in-worker (LDR203)

## What it does
Finds code that uses CUDA in forked workers: `.cuda()`, `.to("cuda")`, `device="cuda"`, `torch.cuda.synchronize()` and
the like; as information, `torch.load` without `map_location`, which brings tensors back to the device they were saved
from.

## Why is this bad?
A process that was forked after CUDA was initialised cannot use it: `RuntimeError: Cannot re-initialize CUDA in forked
subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method`. torch raises it in `_lazy_init`
(torch 2.13, `torch/cuda/__init__.py`, line 516: `if _is_in_bad_fork(): raise RuntimeError(...)`). A look at
`torch.cuda.is_available()` in the main process is enough, says the same file in line 174. Not run, for want of a GPU:
this is what torch's source says, and what pytorch/pytorch#40403 shows.

## When it is not a bug
- The training loop moves the batch: `batch.to(device)` in the main process.
- Workers that are spawned, or come from a fork server. (torch advises against CUDA tensors from workers there, too.)
- `torch.load(path, map_location="cpu")`, `.to("cpu")`, a device that cannot be read: an argument, an option.
- A store that the constructor fills for all samples with the same function, and that is asked first.
- A cache that the same function fills: what a worker has saved was on the CPU.
- `torch.cuda.is_available()`, `torch.cuda.manual_seed()`: they initialise nothing that fails.
- The constructor, or another method that only the main process calls.
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
- pytorch/pytorch#40403, pytorch/pytorch#2971
- [CUDA in multiprocessing](https://pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Finding, Fix, SetArgument, Severity, Silence
from loaderlint.knowledge.cuda import INITIALISES, TAKES_DEVICE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject, Literal_, Val
from loaderlint.project.reach.model import Exposure, Model, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, gathered, in_workers_of, loudness, not_forked, page
from loaderlint.rules.shared.kept_state import own_attribute
from loaderlint.rules.shared.lazy_places import Spot
from loaderlint.rules.shared.process_guards import asks, callers_of, tests_around
from loaderlint.rules.shared.silence_reasons import silent, started_by, too_unsure, unexposed

#: What shows that the main process uses CUDA, or leaves it to a trainer that does.
_SIGNS = ("cuda", "Trainer", "Accelerator", "Fabric", "accelerator", "pin_memory=True")

_ASKS = "the code asks before for the device or the process, or is off as configured"
_FILLED = "the constructor calls it to fill a store, which is asked first: workers find what it holds"
#: Words of a condition that asks what CUDA work is possible here.
_LOOKS = frozenset({"is_cuda", "is_initialized", "get_worker_info", "device", "device_type", "get_start_method"})
#: Words of a condition that is true wherever CUDA is.
_NO_DOUBT = frozenset({"is_available", "device_count"})
_LOAD = Lib("torch.load")


class Use(NamedTuple):
    """A call that uses CUDA. `text`: the call for people; `doubts`: unknown conditions."""

    call: WorkerCall
    text: str
    doubts: int


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a call, for all loaders whose forked workers perform it."""
    uses: dict[int, list[Use]] = {}
    loads: dict[int, list[WorkerCall]] = {}
    for call in model.calls(function):
        use = _use(call, model)
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


def _judge(uses: list[Use], model: Model) -> Iterator[Finding | Silence]:
    found = gathered((use.call.frame, _exposure(use.call, model)) for use in uses)
    here = Spot(uses[0].call.frame, uses[0].call.number)
    if found is None:
        for reason in dict.fromkeys(_unexposed(use.call, model) for use in uses):
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
        for reason in dict.fromkeys(_unexposed(call, model) for call in calls):
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


def _exposure(call: WorkerCall, model: Model) -> Exposure | None:
    return model.exposure(call.frame, 1, cured=not_forked(model))


def _unexposed(call: WorkerCall, model: Model) -> str:
    return unexposed(model, call.frame, 1, cure=lambda loader: f"{started_by(loader, model)}, where CUDA can be used")


# --- what uses CUDA ---------------------------------------------------------------------------------------------------


def _use(call: WorkerCall, model: Model) -> Use | None:
    """The use of CUDA that a call is."""
    if any(isinstance(atom, Lib) and atom.name in INITIALISES for atom in call.callee.atoms):
        name = next(atom.name for atom in call.callee.ordered() if isinstance(atom, Lib))
        return Use(call, f"`{name}`", 0)
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and func.name in ("cuda", "to") and _moves(func, call, model):
        if func.name == "cuda":
            return Use(call, "`.cuda()`", 0)
        device = model.ev.calls.arguments(call.call, call.frame).get("device", 0)
        return _on(device, call, '.to("{}")', model) if device is not None else None
    if any(isinstance(atom, Lib) and atom.name.startswith(TAKES_DEVICE) for atom in call.callee.atoms):
        keywords = model.ev.calls.arguments(call.call, call.frame).keywords
        device = next((value for name, value in keywords if name == "device"), None)
        made = next(atom.name for atom in call.callee.ordered() if isinstance(atom, Lib))
        if device is not None and made != "torch.device":
            return _on(device, call, f'{made}(device="{{}}")', model)
    return None


def _moves(func: ir.Attr, call: WorkerCall, model: Model) -> bool:
    """Whether `x.cuda` or `x.to` may be torch's: not that of a module, nor a method that the project defines."""
    base = model.ev.eval(func.base, call.frame)
    return any(
        not isinstance(atom, Lib | Literal_)
        and not (isinstance(atom, Instance) and model.ev.classes.member(atom.cls, func.name))
        for atom in base.atoms
    )


def _on(device: Val, call: WorkerCall, text: str, model: Model) -> Use | None:
    """A use of CUDA if the device is; with a doubt where it may also be another, none where that cannot be read."""
    names = list(_device_names(device, model))
    cuda = [name for name in names if name and name.startswith("cuda")]
    if not cuda or None in names:
        return None
    return Use(call, f"`{text.format(cuda[0])}`", 0 if len(cuda) == len(names) else 1)


def _device_names(value: Val, model: Model) -> Iterator[str | None]:
    """The devices that a value may name: 'cuda:0'; '' for what is none, None where that cannot be read or is an
    option."""
    for atom in value.ordered():
        match atom:
            case Literal_("str", str(name), ""):
                yield name
            case Literal_(_, _, "") | Lib():
                yield ""
            case LibObject("torch.device", site):
                passed = model.ev.calls.site_arguments(site)
                inner = passed.get("device", 0) or passed.get("type", 0)
                yield from _device_names(inner, model) if inner else (None,)
            case _:
                yield None


# --- conditions -------------------------------------------------------------------------------------------------------


def _doubts(call: WorkerCall, model: Model) -> int | None:
    """How many conditions the call stands under: one for an option (`if self.gpu`); None where the condition looks at
    the tensor or the process, or is off as configured."""
    doubts = 0
    for frame, context in callers_of(call, model):
        for test in tests_around(frame, context, model):
            if asks(test.expr, frame, model, _LOOKS) or _is_off(test, frame, model):
                return None
            if not test.negated and not asks(test.expr, frame, model, _NO_DOUBT):
                doubts = 1
    return doubts


def _is_off(test: ir.Context, frame: Frame, model: Model) -> bool:
    """Whether an option is, as configured, such that the branch is not taken."""
    values = [atom.value for atom in model.ev.eval(test.expr, frame).atoms if isinstance(atom, Literal_)]
    return bool(values) and all(bool(value) is test.negated for value in values)


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
