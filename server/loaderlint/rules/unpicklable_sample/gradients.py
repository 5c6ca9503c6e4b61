"""Whether a tensor requires grad, judging by the known code."""

from __future__ import annotations

from typing import Literal

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibMember, LibObject
from loaderlint.project.reach.model import Model

Grad = Literal["leaf", "node"]
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
#: Modules of torch that have parameters.
_LAYERS = tuple(
    f"torch.nn.{name}" for name in ("Linear", "Bilinear", "Conv", "Embedding", "LSTM", "GRU", "RNN", "Transformer")
)
_NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
#: Functions and methods of tensors whose result is part of the graph if what they are given is.
_CARRYING = frozenset(
    """
    abs add cat chunk clamp clone concat contiguous cos div exp expand float double half flatten log matmul mean mul neg
    norm permute pow relu repeat reshape sigmoid sin softmax sqrt square squeeze stack sub sum tanh to transpose
    unsqueeze view cpu log_softmax bmm mm t normalize
    """.split()
)
_MAX_DEPTH = 8


def grad(number: int, frame: Frame, model: Model, depth: int = 0) -> Grad | None:
    """'leaf' for a tensor that was created with grad, 'node' for one that was computed from such, None if neither is
    known."""
    if depth > _MAX_DEPTH or number == NONE:
        return None
    e = model.ev.expr(frame, number)
    match e:
        case ir.Call():
            return _of_call(e, number, frame, model, depth)
        case ir.Bin(_, left, right):
            sides = (grad(left, frame, model, depth + 1), grad(right, frame, model, depth + 1))
            return "node" if any(sides) and not _is_off(number, frame, model) else None
        case ir.Index(base, _) | ir.Attr(base, "T" | "mT" | "real"):
            return "node" if grad(base, frame, model, depth + 1) else None
        case ir.Attr() | ir.Global() | ir.Capture() | ir.Param():
            value = model.ev.eval(number, frame)
            kept = [a for a in value.atoms if isinstance(a, LibObject)]
            found = {grad(a.site.expr, a.site.frame, model, depth + 1) for a in kept}
            return found.pop() if len(found) == 1 and len(kept) == len(value.atoms) else None
    return None


def _of_call(call: ir.Call, number: int, frame: Frame, model: Model, depth: int) -> Grad | None:
    callee = model.ev.eval(call.func, frame)
    func = model.ev.expr(frame, call.func)
    if len(callee.atoms) != 1:
        return None
    (atom,) = callee.atoms
    match atom:
        case Lib(name):
            return _of_function(name, call, number, frame, model, depth)
        case LibObject(name, _):
            off = _is_off(number, frame, model) or _is_frozen(frame, model)
            return "node" if name.startswith(_LAYERS) and not off else None
        case Instance(cls, _):
            layers = "torch.nn.Module" in model.ev.classes.library_bases(cls) and _has_layers(atom, model)
            return "node" if layers and not _is_off(number, frame, model) and not _is_frozen(frame, model) else None
        case LibMember(_, "requires_grad_"):
            asked = model.ev.calls.arguments(call, frame).get("requires_grad", 0)
            return "leaf" if asked is None or (asked.literal is not None and asked.literal.value is True) else None
        case LibMember(_, name) if name in _CARRYING and isinstance(func, ir.Attr):
            carried = grad(func.base, frame, model, depth + 1)
            return "node" if carried and not _is_off(number, frame, model) else None
    return None


def _of_function(name: str, call: ir.Call, number: int, frame: Frame, model: Model, depth: int) -> Grad | None:
    if not name.startswith("torch."):
        return None
    asked = model.ev.calls.arguments(call, frame).get("requires_grad", 1 if name in _PARAMETERS else None)
    literal = asked.literal if asked is not None else None
    if name in _PARAMETERS:
        return "leaf" if asked is None or (literal is not None and literal.value is True) else None
    if literal is not None and literal.value is True:
        return "leaf"
    if name.rpartition(".")[2] not in _CARRYING or not call.args:
        return None
    first = call.args[0].value
    e = model.ev.expr(frame, first)
    parts = e.items if isinstance(e, ir.Seq) else (first,)
    carried = any(grad(part, frame, model, depth + 1) for part in parts)
    return "node" if carried and not _is_off(number, frame, model) else None


def _has_layers(inst: Instance, model: Model) -> bool:
    """Whether a module of the project keeps a layer with parameters."""
    for frame in model.ev.classes.construction(inst):
        for _, step in model.steps(frame):
            if isinstance(step, ir.SetAttr) and step.value != NONE:
                values = model.ev.eval(step.value, frame).only(LibObject)
                if any(one.name.startswith(_LAYERS) for one in values):
                    return True
    return False


def _is_off(number: int, frame: Frame, model: Model) -> bool:
    """Whether gradients are switched off where an expression is evaluated."""
    one = model.def_of(frame)
    if any(_is_switch(decorator, frame, model) for decorator in one.decorators):
        return True
    steps = [step for step in one.steps if isinstance(step, ir.Perform | ir.Bind | ir.Return) and number in _own(step)]
    for step in steps:
        context = step.context
        while context > 0:
            here = one.contexts[context]
            if here.kind == "with" and _is_switch(here.expr, frame, model):
                return True
            context = here.parent
    return bool(model.files.containing("set_grad_enabled"))


def _own(step: ir.Perform | ir.Bind | ir.Return) -> tuple[int, ...]:
    return (step.call,) if isinstance(step, ir.Perform) else (step.value,)


def _is_switch(number: int, frame: Frame, model: Model) -> bool:
    scope = frame.scope or model.ev.body(frame.path, frame.piece)
    for where in (frame, scope):
        for atom in model.ev.eval(number, where).atoms:
            if isinstance(atom, Lib | LibObject) and atom.name in _NO_GRAD:
                return True
    return False


def _is_frozen(frame: Frame, model: Model) -> bool:
    """Whether something in the file sets what requires grad: the parameters may be frozen."""
    return frame.path in set(model.files.containing("requires_grad"))
