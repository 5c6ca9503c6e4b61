"""Positions of samples that code chooses, which stand for the same files only where a listing has the same order: by a
draw with a seed, or as folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from loaderlint.facts import ir
from loaderlint.knowledge.listings import DRAWN_FOLDS, FOLDS
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject
from loaderlint.project.modules.dependencies import does
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.module_names import module_names
from loaderlint.rules.shared.passed_arguments import passed_anywhere, passed_to_constructor
from loaderlint.rules.shared.seeded_draws import draws_with_seed, is_generator, splits_with_seed

#: How positions are chosen: by a seed, by where they stand, or not so that it is known.
Choice = Literal["seed", "place", ""]

_MAX_DEPTH = 8
#: What a step to the callers counts: each may have as many callers again.
_CALLER = 3
_DRAWING = frozenset("shuffle permutation permuted sample choice randperm train_test_split".split())
#: Functions that give the items of their first argument, or one of them.
_PASSING_ON = frozenset(
    map(Lib, ("builtins.list", "builtins.next", "builtins.iter", "builtins.enumerate", "tqdm.tqdm"))
)


def chosen_positions(number: int, frame: Frame, model: Model, depth: int = 0) -> Choice:
    """How the positions are chosen that an expression gives: here, or in the function of the project that returns
    them."""
    if depth > _MAX_DEPTH or number == ir.NONE:
        return ""
    if _is_shuffled(number, frame, model):
        return "seed"
    match model.ev.expr(frame, number):
        case ir.Unpack(base, index) if parts := _zipped(base, index, frame, model):
            return _agreed(chosen_positions(one, frame, model, depth + 1) for one in parts)
        case ir.Index(base, _) | ir.Unpack(base, _, _):
            return chosen_positions(base, frame, model, depth + 1)
        case ir.Element(iterable):
            parts = _written(iterable, frame, model)
            chosen = _agreed(chosen_positions(one, frame, model, depth + 1) for one in parts)
            return chosen or _folds(iterable, frame, model, depth + 1)
        case ir.Phi(choices):
            return _agreed(chosen_positions(one, frame, model, depth + 1) for one in choices)
        case ir.Param(index):
            created = passed_to_constructor(frame, index, model)
            passed = passed_anywhere(frame, index, model) if created is None else [created]
            return _agreed(chosen_positions(one.number, one.frame, model, depth + _CALLER) for one in passed)
        case ir.Attr(base, name):
            return _agreed(_kept(inst, name, model, depth + 1) for inst in model.ev.eval(base, frame).only(Instance))
        case ir.Global(name):
            bound = [pair for one in module_names(name, frame, model) for pair in one.bound]
            return _agreed(chosen_positions(value, body, model, depth + 1) for body, value in bound)
        case ir.Call() as call:
            return _of_call(call, number, frame, model, depth + 1)
    return ""


def _kept(inst: Instance, name: str, model: Model, depth: int) -> Choice:
    """How the positions are chosen that an object keeps in an attribute."""
    stores = [
        (store.frame, model.def_of(store.frame).steps[store.step]) for store in model.ev.classes.stores(inst, name)
    ]
    return _agreed(
        chosen_positions(step.value, frame, model, depth) if isinstance(step, ir.SetAttr) else ""
        for frame, step in stores
    )


def _of_call(call: ir.Call, number: int, frame: Frame, model: Model, depth: int) -> Choice:
    if _draws(call, frame, model):
        return "" if call.args and _is_random(call.args[0].value, frame, model, depth) else "seed"
    if _passes_on(call, frame, model):
        return chosen_positions(call.args[0].value, frame, model, depth)
    method = model.ev.expr(frame, call.func)
    if isinstance(method, ir.Attr) and method.name in ("tolist", "numpy"):
        return chosen_positions(method.base, frame, model, depth)
    if folds := _folds(number, frame, model, depth):
        return folds
    run = model.run_by(model.ev.targets(number, frame))
    is_drawn = any(_draws(one.call, one.frame, model) for each in run for one in model.calls_named(each, _DRAWING))
    return "seed" if is_drawn else ""


def _folds(number: int, frame: Frame, model: Model, depth: int) -> Choice:
    """How the folds are chosen that an expression goes through: `KFold(5, shuffle=True, random_state=0).split(x)`."""
    call = model.ev.expr(frame, number) if depth <= _MAX_DEPTH else None
    if not isinstance(call, ir.Call):
        return ""
    if _passes_on(call, frame, model):
        return _folds(call.args[0].value, frame, model, depth + 1)
    method = model.ev.expr(frame, call.func)
    if isinstance(method, ir.Attr) and method.name == "split":
        return _agreed(_chosen_by(one, model) for one in model.ev.eval(method.base, frame).only(LibObject))
    returned = [
        _folds(step.value, target, model, depth + 1)
        for target in model.ev.targets(number, frame)
        for _, step in model.steps_of(target, ir.Return)
    ]
    return _agreed(returned)


def _chosen_by(splitter: LibObject, model: Model) -> Choice:
    """How an object of scikit-learn chooses the positions of its parts."""
    if splitter.name not in FOLDS | DRAWN_FOLDS:
        return ""
    arguments = model.ev.calls.site_arguments(splitter.site)
    shuffles, state = arguments.get("shuffle"), arguments.get("random_state")
    keeps_order = shuffles is None or (shuffles.literal is not None and shuffles.literal.value is False)
    if splitter.name in FOLDS and keeps_order:
        return "place"
    return "seed" if state is not None and state.atoms and not state.is_none else ""


def _written(number: int, frame: Frame, model: Model) -> Sequence[int]:
    """The items of a tuple or list that stands where it is gone through: `for part in (train, test)`, also counted with
    `enumerate`."""
    match model.ev.expr(frame, number):
        case ir.Call() as call if _passes_on(call, frame, model):
            return _written(call.args[0].value, frame, model)
        case ir.Seq("tuple" | "list", items):
            return items
    return ()


def _zipped(item: int, index: int, frame: Frame, model: Model) -> Sequence[int]:
    """The items of the tuple or list that part `index` of an item of `zip` comes from: `for name, part in
    zip(names, (train, test))`."""
    e = model.ev.expr(frame, item)
    call = model.ev.expr(frame, e.iterable) if isinstance(e, ir.Element) else None
    if not isinstance(call, ir.Call) or model.ev.eval(call.func, frame).atoms != {Lib("builtins.zip")}:
        return ()
    return _written(call.args[index].value, frame, model) if index < len(call.args) else ()


def _agreed(choices: Iterable[Choice]) -> Choice:
    """One choice for several; none if one of them is not known."""
    found: Choice = ""
    for choice in choices:
        if not choice:
            return ""
        found = "seed" if "seed" in (choice, found) else "place"
    return found


def _passes_on(call: ir.Call, frame: Frame, model: Model) -> bool:
    callee = model.ev.eval(call.func, frame).atoms
    return bool(call.args and callee) and callee <= _PASSING_ON


def _draws(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether a call draws positions or items with a seed."""
    callee = model.ev.eval(call.func, frame)
    if Lib("torch.randperm") in callee.atoms:
        generator = model.ev.calls.arguments(call, frame).get("generator", None)
        return is_generator(generator) if generator is not None else draws_with_seed(call, frame, model)
    if splits_with_seed(call, frame, model):
        return True
    return called_name(frame.code.exprs, call.func) in _DRAWING and draws_with_seed(call, frame, model)


def _is_random(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether the items of an expression were drawn or shuffled without a seed, so that a seed which then draws from
    them decides nothing."""
    if depth > _MAX_DEPTH:
        return False
    if number in _shuffled_anew(frame, model):
        return True
    match model.ev.expr(frame, number):
        case ir.Index(base, _) | ir.Unpack(base, _, _):
            return _is_random(base, frame, model, depth + 1)
        case ir.Call() as call:
            return called_name(frame.code.exprs, call.func) in _DRAWING and not _draws(call, frame, model)
        case ir.Global(name):
            named = list(module_names(name, frame, model))
            bound = [pair for one in named for pair in one.bound]
            bodies = (body for one in named for body in one.bodies(does, model))
            return any(_is_random(value, body, model, depth + 1) for body, value in bound) or any(
                model.ev.expr(body, shuffled) == ir.Global(name)
                for body in bodies
                for shuffled in _shuffled_anew(body, model)
            )
    return False


def _shuffled_anew(frame: Frame, model: Model) -> Iterator[int]:
    """The expressions of a frame that it shuffles in place, without a seed."""
    for one in model.calls_named(frame, ("shuffle",)):
        if one.call.args and not draws_with_seed(one.call, frame, model):
            yield one.call.args[0].value


def _is_shuffled(number: int, frame: Frame, model: Model) -> bool:
    """Whether the def shuffles a list in place with a seed."""
    shuffles = model.calls_named(frame, ("shuffle",))
    return any(
        [arg.value for arg in one.call.args][:1] == [number] and draws_with_seed(one.call, frame, model)
        for one in shuffles
    )
