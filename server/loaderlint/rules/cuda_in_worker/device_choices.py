"""Loaders that have workers only where nothing is on a GPU: `num_workers=0 if device == "cuda" else 4`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.cuda import AVAILABLE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.reach.opposed_branches import last_name
from loaderlint.rules.cuda_in_worker.worker_choices import Said, bound_to, tests_of, tests_of_workers
from loaderlint.rules.shared.cuda_uses import CudaUse, device_names

_ONLY_ON_CPU = "it has workers only where the device is no GPU"
#: The name of an option that is true for a GPU, and of one that is true for none.
_FLAG = re.compile(r"(?:^|_)(?:cuda|gpu)$", re.IGNORECASE)
_NO_FLAG = re.compile(r"(?:^|_)(?:no|not|disable)_?(?:cuda|gpu)$", re.IGNORECASE)
#: Comparisons of a number of GPUs that hold if there are some, and if there are none.
_SOME = ((">", 0), (">=", 1), ("!=", 0))
_NONE = (("==", 0), ("<=", 0), ("<", 1))
_COMPARISONS = frozenset({"==", "!=", "is", "is not", "in", "not in"})
_CUDA = ir.Const("str", "cuda")
_MAX_DEPTH = 4


def workers_only_on_cpu(loader: Loader, use: CudaUse | None, model: Model) -> str:
    """Why a loader has no workers where a use of CUDA runs, or any use for None; '' if it may have some."""
    found = tests_of_workers(loader, model)
    is_apart = bool(found) and all(any(_excludes(one, use, model, 0) for one in tests) for tests in found)
    return _ONLY_ON_CPU if is_apart else ""


def _excludes(said: Said, use: CudaUse | None, model: Model, depth: int) -> bool:
    """Whether what a test says excludes that a use of CUDA runs in the same process."""
    frame, holds = said.frame, said.holds
    if use is not None and _is_flag_of(said, use):
        return True
    match model.ev.expr(frame, said.test):
        case ir.Unary("not", operand):
            return _excludes(Said(frame, operand, not holds), use, model, depth)
        case ir.BoolOp(op, left, right):
            sides = [_excludes(Said(frame, side, holds), use, model, depth) for side in (left, right)]
            return any(sides) if (op == "and") is holds else all(sides)
        case ir.Compare(left, (op,), (right,)):
            return _compares(left, op, right, said, use, model)
        case ir.Call(func, (ir.Arg(value=prefix),)) if (read := model.ev.expr(frame, func)) and type(read) is ir.Attr:
            is_start = read.name == "startswith" and model.ev.expr(frame, prefix) == _CUDA
            return is_start and not holds and _is_device_of(read.base, frame, use, model)
        case ir.Call():
            return not holds and _counts(said.test, frame, model)
        case ir.Attr() | ir.Global():
            bound = bound_to(said.test, frame, model) if depth < _MAX_DEPTH else []
            if len(bound) == 1 and not bound[0].tests:
                return _excludes(Said(bound[0].frame, bound[0].value, holds), use, model, depth + 1)
    return False


def _compares(left: int, op: str, right: int, said: Said, use: CudaUse | None, model: Model) -> bool:
    """Whether a comparison that holds, or does not, excludes a GPU: `device == "cpu"`, `"cuda" in device`,
    `torch.cuda.device_count() > 0`."""
    frame, other = said.frame, model.ev.expr(said.frame, right)
    if _counts(left, frame, model) and isinstance(other, ir.Const):
        return (op, other.value) in (_NONE if said.holds else _SOME)
    if op in ("in", "not in") and model.ev.expr(frame, left) == _CUDA:
        return (op == "in") is not said.holds and _is_device_of(right, frame, use, model)
    if op not in _COMPARISONS or not _is_device_of(left, frame, use, model):
        return False
    named = _texts(right, frame, model)
    is_named = (op in ("==", "is", "in")) is said.holds
    gpus = {name for name in use.names if name.startswith("cuda")} if use is not None else set()
    if _is_type(left, frame, model):
        gpus = {name.partition(":")[0] for name in gpus}
    return bool(named) and (gpus.isdisjoint(named) if is_named else gpus <= named)


def _counts(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression asks torch for GPUs."""
    call = model.ev.expr(frame, number)
    callee = model.ev.eval(call.func, frame).atoms if isinstance(call, ir.Call) else ()
    return any(isinstance(atom, Lib) and atom.name in AVAILABLE for atom in callee)


def _is_device_of(number: int, frame: Frame, use: CudaUse | None, model: Model) -> bool:
    """Whether an expression is, as far as its values show, the device that a use of CUDA names, or its `type`."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Attr) and _is_type(number, frame, model):
        number = e.base
    if isinstance(e, ir.Call) and len(e.args) == 1:  # `str(device)`
        number = e.args[0].value
    return use is not None and frozenset(device_names(model.ev.eval(number, frame), model)) == use.names


def _is_type(number: int, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, number)
    return isinstance(e, ir.Attr) and e.name == "type"


def _texts(number: int, frame: Frame, model: Model) -> frozenset[str]:
    """The devices that a constant names, or several in a list: `"cpu"`, `("cpu", "mps")`, `torch.device("cpu")`."""
    e = model.ev.expr(frame, number)
    items = e.items if isinstance(e, ir.Seq) else (number,)
    names = [name for item in items for name in device_names(model.ev.eval(item, frame), model)]
    return frozenset(name for name in names if name) if all(names) else frozenset()


# --- options ----------------------------------------------------------------------------------------------------------


def _is_flag_of(said: Said, use: CudaUse) -> bool:
    """Whether an option, as the test says it is, excludes a use of CUDA: it stands under a test of the same option, or
    its device is a choice and the option is called `use_cuda`. Options are compared as they are written."""
    name = last_name(said.frame.code, said.test)
    if not name:
        return False
    call = use.call
    around = tests_of(call.frame, call.context)
    asked = {holds for one in around for flag, holds in _flags(one) if flag == name}
    if asked:
        return said.holds not in asked
    is_chosen = any(not one.startswith("cuda") for one in use.names)
    named_for = not said.holds if _FLAG.search(name) and not _NO_FLAG.search(name) else said.holds
    return is_chosen and bool(_FLAG.search(name)) and named_for


def _flags(said: Said) -> Iterator[tuple[str, bool]]:
    """The options that a test says are true, or are not."""
    match said.frame.code.exprs[said.test]:
        case ir.Unary("not", operand):
            yield from _flags(said._replace(test=operand, holds=not said.holds))
        case ir.BoolOp(op, left, right) if (op == "and") is said.holds:
            yield from _flags(said._replace(test=left))
            yield from _flags(said._replace(test=right))
        case _:
            yield last_name(said.frame.code, said.test), said.holds
