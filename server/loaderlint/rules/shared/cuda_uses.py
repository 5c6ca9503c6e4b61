"""Calls that use CUDA, and what they leave in GPU memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.cuda import INITIALISES, KEEPS_DEVICE, LOOKING_FUNCTIONS, LOOKS, TAKES_DEVICE
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.name_patterns import templates_of_value
from loaderlint.project.evaluation.values import Instance, Lib, LibObject, Literal_, Val
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.option_tests import is_as_configured, is_by_option, is_off
from loaderlint.rules.shared.process_guards import asks, tests_around

#: How many method calls on the moved tensor are followed: `x.cuda().float().unsqueeze(0)`.
_MAX_METHODS = 8
#: How many choices and attributes are followed to what names a device.
_MAX_CHOICES = 6
#: Words of a condition that checks which CUDA work is possible here.
_ASKING = frozenset({"is_cuda", "is_initialized", "get_worker_info", "device", "device_type", "get_start_method"})
#: Words of a condition that is true wherever CUDA is available.
_NO_DOUBT = frozenset({"is_available", "device_count"})


class CudaUse(NamedTuple):
    """A call that uses CUDA. `text`: the call as messages show it; `doubts`: the number of unknown conditions; `names`:
    the devices that it may use, '' for one that is no GPU; `is_off`: whether it uses a GPU only with an option that is
    off; `is_conditional`: whether a branch that may not run makes the call, as far as that is known (see
    `kept_on_gpu`)."""

    call: WorkerCall
    text: str
    doubts: int
    names: frozenset[str] = frozenset({"cuda"})
    is_off: bool = False
    is_conditional: bool = False


def cuda_use(call: WorkerCall, model: Model) -> CudaUse | None:
    """The use of CUDA by a call; None if it does not use CUDA."""
    if any(isinstance(atom, Lib) and atom.name in INITIALISES for atom in call.callee.atoms):
        name = next(atom.name for atom in call.callee.ordered() if isinstance(atom, Lib))
        return CudaUse(call, f"`{name}`", 0)
    return moved_to_gpu(call, model)


def moved_to_gpu(call: WorkerCall, model: Model) -> CudaUse | None:
    """The use of CUDA of a call whose result is on the GPU: `.cuda()`, `.to("cuda")`, `device="cuda"`."""
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and func.name in ("cuda", "to") and _moves(func, call, model):
        if func.name == "cuda":
            return CudaUse(call, "`.cuda()`", 0)
        device = model.ev.calls.arguments(call.call, call.frame).get("device", 0)
        use = _on(device, call, '.to("{}")', model) if device is not None else None
        return _weighed(use, ir.written_argument(call.call, "device", 0), model)
    if any(isinstance(atom, Lib) and atom.name.startswith(TAKES_DEVICE) for atom in call.callee.atoms):
        keywords = model.ev.calls.arguments(call.call, call.frame).keywords
        device = next((value for name, value in keywords if name == "device"), None)
        made = next(atom.name for atom in call.callee.ordered() if isinstance(atom, Lib))
        if device is not None and made != "torch.device":
            use = _on(device, call, f'{made}(device="{{}}")', model)
            return _weighed(use, ir.written_argument(call.call, "device"), model)
    return None


def _weighed(use: CudaUse | None, device: int, model: Model) -> CudaUse | None:
    """A use of CUDA, off if its device is chosen by an option that is off."""
    if use is None or use.doubts == 0 or device == ir.NONE:
        return use
    return use._replace(is_off=_is_chosen_off(device, use.call.frame, model))


def _moves(func: ir.Attr, call: WorkerCall, model: Model) -> bool:
    """Whether `x.cuda` or `x.to` may be a method of a tensor: not of a module, and not defined by the project."""
    base = model.ev.eval(func.base, call.frame)
    return any(
        not isinstance(atom, Lib | Literal_)
        and not (isinstance(atom, Instance) and model.ev.classes.member(atom.cls, func.name))
        for atom in base.atoms
    )


def _on(device: Val, call: WorkerCall, text: str, model: Model) -> CudaUse | None:
    """A use of CUDA if the device is a CUDA device, with a doubt if it may also be another one; None if it is
    unknown."""
    names = list(device_names(device, model))
    cuda = [name for name in names if name and name.startswith("cuda")]
    if not cuda or None in names:
        return None
    all_names = frozenset(name for name in names if name is not None)
    return CudaUse(call, f"`{text.format(cuda[0])}`", 0 if len(cuda) == len(names) else 1, all_names)


def device_names(value: Val, model: Model) -> Iterator[str | None]:
    """The devices that a value may name: 'cuda:0', '' for any other device, None if it is unknown or an option."""
    for atom in value.ordered():
        match atom:
            case Literal_("str", str(name), ""):
                yield name
            case Literal_(_, _, "") | Lib():
                yield ""
            case LibObject() if _begins_with_cuda(atom, model):
                yield "cuda"
            case LibObject("torch.device", site):
                passed = model.ev.calls.site_arguments(site)
                inner = passed.get("device", 0) or passed.get("type", 0)
                yield from device_names(inner, model) if inner else (None,)
            case _:
                yield None


def _begins_with_cuda(atom: LibObject, model: Model) -> bool:
    """Whether something is a text that is built after `cuda:`, such as `f"cuda:{gpu}"`."""
    return all(built[0].startswith("cuda:") for built in templates_of_value(model.ev, Val(frozenset({atom}))))


def _is_chosen_off(device: int, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether a device is no GPU as configured, because an option chooses it: `"cuda" if self.gpu else "cpu"`."""
    if depth > _MAX_CHOICES:
        return False
    names = list(device_names(model.ev.eval(device, frame), model))
    if names and all(name is not None and not name.startswith("cuda") for name in names):
        return True
    match model.ev.expr(frame, device):
        case ir.IfExp(test, then, other):
            branches = {True: then, False: other}
            chosen = [one for holds, one in branches.items() if not is_as_configured(test, not holds, frame, model)]
            return len(chosen) == 1 and _is_chosen_off(chosen[0], frame, model, depth + 1)
        case ir.Call(func, _) as call if Lib("torch.device") in model.ev.eval(func, frame).atoms:
            inner = ir.written_argument(call, "device", 0)
            return inner != ir.NONE and _is_chosen_off(inner, frame, model, depth + 1)
        case ir.Attr(base, name) if ir.is_self(model.ev.expr(frame, base)) and isinstance(frame.receiver, Instance):
            stores = model.ev.classes.stores(frame.receiver, name)
            return bool(stores) and all(_is_stored_off(one, model, depth) for one in stores)
    return False


def _is_stored_off(store: Store, model: Model, depth: int) -> bool:
    step = model.def_of(store.frame).steps[store.step]
    if not isinstance(step, ir.SetAttr):
        return False
    return is_by_option(store.frame, step.context, model) or _is_chosen_off(step.value, store.frame, model, depth + 1)


# --- conditions -------------------------------------------------------------------------------------------------------


def doubts_around(frame: Frame, context: int, model: Model) -> int | None:
    """The number of unknown conditions around a use: one for an option (`if self.gpu`). None if a condition checks the
    tensor or the process, or is false as configured."""
    doubts = 0
    for test in tests_around(frame, context, model):
        if asks(test.expr, frame, model, _ASKING) or is_off(test, frame, model):
            return None
        is_open = not test.negated and model.ev.liveness.truth(test.expr, frame) is None
        if is_open and not asks(test.expr, frame, model, _NO_DOUBT):
            doubts = 1
    return doubts


# --- what is kept in GPU memory ---------------------------------------------------------------------------------------


def kept_on_gpu(held: LibObject, model: Model) -> CudaUse | None:
    """The call that moved an object to GPU memory, if it is still there; None if it is not, or if that is unknown."""
    return model.remembered(_moved_by, held)


def _moved_by(held: LibObject, model: Model) -> CudaUse | None:
    for _ in range(_MAX_METHODS):
        frame, number = held.site.frame, held.site.expr
        call = model.ev.expr(frame, number)
        if not isinstance(call, ir.Call):
            return None
        step = frame.code.evaluated_by(number)
        context = model.def_of(frame).steps[step].context if step is not None else 0
        use = moved_to_gpu(WorkerCall(frame, number, call, model.ev.eval(call.func, frame), context), model)
        if use is not None:
            doubts = None if use.is_off else doubts_around(frame, context, model)
            if doubts is None:
                return None
            return use._replace(doubts=max(use.doubts, doubts), is_conditional=doubts > 0)
        func = model.ev.expr(frame, call.func)
        if not isinstance(func, ir.Attr) or func.name not in KEEPS_DEVICE:
            return None
        before = [atom for atom in model.ev.eval(func.base, frame).atoms if isinstance(atom, LibObject)]
        if len(before) != 1:
            return None
        held = before[0]
    return None


def used_reads(frame: Frame, model: Model) -> Iterator[tuple[int, Val]]:
    """The expressions that a frame uses: passes on, calls, computes with, indexes or returns. Reading the shape or the
    device of a tensor does not count."""
    evaluated = model.ev.evaluated(frame)
    found = {
        one
        for number, used in model.remembered(_uses_in, frame.path, frame.piece)
        if number in evaluated
        for one in used
    }
    found.update(step.value for _, step in model.steps_of(frame, ir.Return))
    found.update(step.value for _, step in model.steps_of(frame, ir.YieldStep))
    for number in sorted(found - {ir.NONE}):
        yield number, model.ev.eval(number, frame)


def _uses_in(path: Path, piece: int, model: Model) -> list[tuple[int, tuple[int, ...]]]:
    """The expressions of a piece that use others, each with those. They are the same in all frames."""
    facts = model.ev.facts(path, piece)
    exprs = facts.ir.exprs if facts else ()
    uses = ((number, _used_by(e, exprs)) for number, e in enumerate(exprs))
    return [(number, used) for number, used in uses if used]


def _used_by(e: ir.Expr, exprs: tuple[ir.Expr, ...]) -> tuple[int, ...]:
    match e:
        case ir.Call(func, args):
            callee = exprs[func] if func != ir.NONE else None
            if isinstance(callee, ir.Global) and callee.name in LOOKING_FUNCTIONS:
                return ()
            receiver = (callee.base,) if isinstance(callee, ir.Attr) and callee.name not in LOOKS else ()
            return (func, *receiver, *(arg.value for arg in args))
        case ir.Compare(_, ops, _) if {"is", "is not", "in", "not in"}.isdisjoint(ops):
            return ir.operands(e)
        case ir.Bin() | ir.Unary() | ir.Index() | ir.Seq() | ir.Map() | ir.Star() | ir.Element() | ir.Augmented():
            return ir.operands(e)
    return ()
