"""Functions and classes that pickle cannot find by a name."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Place
from loaderlint.knowledge.higher_order import NAMING_DECORATORS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Instance, Literal_
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.pickled_to_workers import Payload, is_local


def unnamed(payload: Payload, model: Model) -> FunctionRef | ClassRef | None:
    """The lambda, nested function or local class that is (the class of) what is sent."""
    match payload.atom:
        case FunctionRef() as function:
            unnamed = _is_lambda(function, model) or is_local(function, model)
            return function if unnamed else unnamed_wrapper(function, model)
        case ClassRef() as cls:
            return cls if is_local(cls, model) else None
        case Instance(cls, _):
            return cls if is_local(cls, model) else None
    return None


def unnamed_wrapper(function: FunctionRef, model: Model) -> FunctionRef | None:
    """The nested function that a decorator of the project puts in the place of a function of the module, and that
    keeps a name of its own: pickle looks for `timed.<locals>.wrapper`."""
    if model.ev.functions.decoration(function) != "unknown":
        return None
    wrapper = model.ev.functions.wrapper(function)
    if wrapper is None or wrapper.bare or wrapper.scope is None or not is_local(wrapper, model):
        return None
    takes_name = model.ev.functions.is_decorated(wrapper, NAMING_DECORATORS)
    return None if takes_name or _is_named(wrapper.scope, model) else wrapper


def _is_named(decorator: Frame, model: Model) -> bool:
    """Whether a decorator gives its wrapper the name of the function: `update_wrapper(wrapper, function)`."""
    file = model.files.file(decorator.path)
    piece = file.pieces[decorator.piece] if file is not None else None
    return piece is None or any(piece.holds(word) for word in ("update_wrapper", "__qualname__", "__reduce__"))


def _is_lambda(function: FunctionRef, model: Model) -> bool:
    facts = model.ev.facts(function.path, function.piece)
    return facts is not None and facts.ir.defs[function.def_].kind == "lambda"


def is_alternative(ref: FunctionRef | ClassRef, model: Model) -> bool:
    """Whether a lambda is only made if what is before an `or` is false, and that is not known:
    `transform or (lambda x: x)`."""
    made = ir.MakeDef(ref.def_)
    scope = ref.scope
    if scope is None:
        return False
    chosen = (e for e in scope.code.exprs if isinstance(e, ir.BoolOp) and e.op == "or")
    return any(
        _may_be_true(e.left, scope, model)
        for e in chosen
        if any(scope.code.exprs[one] == made for one in ir.made_of(scope.code.exprs, (e.right,)))
    )


def _may_be_true(number: int, frame: Frame, model: Model) -> bool:
    atoms = model.ev.eval(number, frame).atoms
    return any(not isinstance(atom, Literal_) or bool(atom.value) for atom in atoms)


def place_of(ref: FunctionRef | ClassRef, model: Model) -> Place:
    """Where a function or class is defined."""
    facts = model.ev.facts(ref.path, ref.piece)
    return Place(ref.path, ref.piece, facts.anchors.defs[ref.def_][1] if facts else -1)


def name_of(ref: FunctionRef | ClassRef, model: Model) -> str:
    """The name of a function or class; '' for a lambda."""
    facts = model.ev.facts(ref.path, ref.piece)
    return facts.ir.defs[ref.def_].name if facts else ""


def described(ref: FunctionRef | ClassRef, payload: Payload, model: Model) -> str:
    """A function or class, as text for messages: "`crop`, a function inside `make`,"."""
    facts = model.ev.facts(ref.path, ref.piece)
    assert facts is not None
    one = facts.ir.defs[ref.def_]
    if one.kind == "lambda":
        return "this lambda"
    outer = facts.ir.defs[one.parent]
    inside = f"inside {'a lambda' if outer.kind == 'lambda' else f'`{outer.name}`'}"
    if isinstance(ref, FunctionRef):
        return f"`{one.name}`, a function {inside},"
    of = "" if isinstance(payload.atom, ClassRef) else "an object of "
    return f"{of}`{one.name}`, a class {inside},"
