"""Calls in loops that set torch's seed to the same number in each turn, themselves or in a function that they call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibObject, Literal_, Unknown
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.constant_epoch_seed.training_passes import trains
from loaderlint.rules.shared.epoch_passes import between, inside, loop_around
from loaderlint.rules.shared.seed_sources import seed_sources
from loaderlint.rules.shared.worker_seeding import tests_an_option

#: Context managers that keep a random state, by the last part of their names.
_KEEPS_STATE = re.compile(r"(?:rng|seed|state|random|determin)\w*$", re.IGNORECASE)
_CONVERSIONS = {Lib("builtins.int"), Lib("builtins.abs")}
#: The functions of libraries that set torch's seed, by the last part of their names.
SEEDER_NAMES = frozenset(name.rpartition(".")[2] for name, library in SEEDERS.items() if library in ("torch", "all"))


class Seeding(NamedTuple):
    """A call in `loop` that sets torch's seed, itself or in a function it calls. `seed`: the expression of the seed in
    the loop's def, None if it is written elsewhere; `unknowns`: the conditions that are not known."""

    call: WorkerCall
    loop: int
    name: str
    seed: int | None
    unknowns: int


def seeding_in_loop(call: WorkerCall, model: Model) -> Seeding | None:
    """The seeding of a call, if its seed is the same in each iteration of the loop around it."""
    loop = loop_around(call.context, call.frame, model)
    if loop is None:
        return None
    unknowns = _conditions(call, loop, model)
    if unknowns is None:
        return None
    name = torch_seeder(call)
    if name is not None:
        constant = call.call.args and _is_fixed(call.call.args[0].value, call.frame, loop, model)
        return Seeding(call, loop, name, call.call.args[0].value, unknowns) if constant else None
    for target in model.ev.targets(call.number, call.frame):
        called = model.calls_named(target, SEEDER_NAMES)
        inner = [c for c in called if torch_seeder(c) is not None and c.call.args]
        if not inner or not all(c.context == 0 and _is_fixed(c.call.args[0].value, c.frame, 0, model) for c in inner):
            continue
        if not all(_stays(arg.value, call.frame, loop, model, 0) for arg in call.call.args):
            told = any(_is_told(c.call.args[0].value, c.frame, model) for c in inner)
            if told or not trains(target, call.frame, model):
                continue
        passed = call.call.args[0].value if len(call.call.args) == 1 else None
        return Seeding(call, loop, model.label(target), passed, unknowns)
    return None


def _is_told(seed: int, frame: Frame, model: Model) -> bool:
    """Whether a seed depends on a parameter of its def."""
    exprs = model.facts(frame).ir.exprs
    return any(isinstance(exprs[part], ir.Param) for part in ir.made_of(exprs, (seed,)))


def torch_seeder(call: WorkerCall) -> str | None:
    """The function of a library by which a call sets torch's seed; None if it does not."""
    names = [atom.name for atom in call.callee.only(Lib)]
    return next((name for name in names if SEEDERS.get(name) in ("torch", "all")), None)


def _is_fixed(seed: int, frame: Frame, loop: int, model: Model) -> bool:
    """Whether a seed is the same in each iteration of a loop (0: each time the def runs)."""
    value = model.ev.eval(seed, frame)
    numbers = {atom.value for atom in value.atoms if isinstance(atom, Literal_)}
    if len(numbers - {None}) > 1 or not _stays(seed, frame, loop, model, 0):
        return False
    sources = set(seed_sources(seed, frame, model))
    if None in numbers and all(isinstance(a, Literal_) or a == Unknown("parameter") for a in value.atoms):
        sources.discard("unknown")  # None is no seed: the call is skipped then
    return sources == {"fixed"}


def _stays(number: int, frame: Frame, loop: int, model: Model, depth: int) -> bool:
    """Whether an expression is made of names, attributes, constants, arithmetic and what was called before the loop,
    not of a loop's variable or a call in it."""
    if depth > 8:
        return False
    match model.ev.expr(frame, number):
        case ir.Const() | ir.Global() | ir.Param() | ir.Capture() | ir.Imported():
            return True
        case ir.Attr(base, _):
            parts: tuple[int, ...] = (base,)
        case ir.Index(left, right) | ir.Bin(_, left, right) | ir.BoolOp(_, left, right) | ir.IfExp(_, left, right):
            parts = (left, right)
        case ir.Unary(_, operand):
            parts = (operand,)
        case ir.Phi(choices):
            parts = choices
        case ir.Call(func, args) if model.ev.eval(func, frame).atoms <= _CONVERSIONS:
            parts = tuple(arg.value for arg in args)
        case ir.Call() if loop:
            calls = [step for _, step in model.steps(frame) if isinstance(step, ir.Perform) and step.call == number]
            return not any(inside(step.context, loop, frame, model) for step in calls)
        case _:
            return False
    return all(_stays(part, frame, loop, model, depth + 1) for part in parts)


def _conditions(call: WorkerCall, loop: int, model: Model) -> int | None:
    """How many unknown conditions the call is under: a test of an option is one; None for any other test, and
    under a context manager that may put torch's state back."""
    unknowns = 0
    for context in between(call.context, loop, call.frame, model):
        if context.kind == "if":
            if not tests_an_option(context.expr, call.frame, model):
                return None
            unknowns += 1
        elif context.kind == "with":
            made = model.ev.eval(context.expr, call.frame).atoms
            if not all(isinstance(atom, LibObject) and not _KEEPS_STATE.search(atom.name) for atom in made):
                return None
        elif context.kind in ("except", "match"):
            return None
    return unknowns


def may_be_fixed(call: ir.Call, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether the seed that a call passes may be the same in each iteration of a loop, as it is written. What a helper
    is told besides may change."""
    seeds = call.args[:1] if called_name(exprs, call.func) in SEEDER_NAMES else ()
    return all(_may_stay(arg.value, exprs, 0) for arg in seeds)


def _may_stay(number: int, exprs: tuple[ir.Expr, ...], depth: int) -> bool:
    """As `_stays`, where nothing is evaluated."""
    if depth > 8:
        return False
    match exprs[number]:
        case ir.Const() | ir.Global() | ir.Param() | ir.Capture() | ir.Imported() | ir.Call():
            return True
        case ir.Attr(base, _) | ir.Unary(_, base):
            return _may_stay(base, exprs, depth + 1)
        case ir.Index(left, right) | ir.Bin(_, left, right) | ir.BoolOp(_, left, right) | ir.IfExp(_, left, right):
            return _may_stay(left, exprs, depth + 1) and _may_stay(right, exprs, depth + 1)
        case ir.Phi(choices):
            return all(_may_stay(choice, exprs, depth + 1) for choice in choices)
    return False


def seeding_names(model: Model) -> frozenset[str]:
    """What functions are called that set torch's seed, by the last part of their names."""
    return SEEDER_NAMES.union(_helpers(model))


def _helpers(model: Model) -> Iterator[str]:
    """What functions are called that set torch's seed themselves, whatever they are told: by their names or, for a
    constructor, the class's."""
    for name in sorted(SEEDER_NAMES):
        for site in model.callers.sites(name):
            facts = model.ev.facts(site.path, site.piece)
            if facts is None or site.def_ == 0 or site.context != 0:
                continue
            written = facts.ir.defs[site.def_].name
            owner = model.callers.owner(site.path, site.piece, site.def_, facts)
            yield model.ev.classes.name(owner) if owner is not None and written.startswith("__") else written


def is_seed_fixed(call: WorkerCall, loop: int, model: Model) -> bool:
    """Whether the seed that a call passes is the same in each iteration of a loop."""
    return _is_fixed(call.call.args[0].value, call.frame, loop, model)
