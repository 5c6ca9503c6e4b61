"""Datasets that the project splits by a draw of positions with a seed, which gives the same files only where the
listing has the same order: `random_split(dataset, sizes, generator=...)`, or `Subset(dataset, positions)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.call_sites import CallSite
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.generator_creation import library_of
from loaderlint.rules.shared.listing_order import draws_with_seed, splits_with_seed

#: At most this many callers of a function are looked at.
_MAX_FRAMES = 8
_MAX_DEPTH = 8
_SPLIT = Lib("torch.utils.data.random_split")
_SUBSET = Lib("torch.utils.data.Subset")
_LIBRARIES = frozenset({"torch", "all"})
_DRAWING = frozenset("shuffle permutation permuted sample choice randperm train_test_split".split())


def is_split_with_seed(dataset: Instance, model: Model) -> bool:
    """Whether the project splits a dataset by positions that a generator with a seed draws."""
    return dataset in model.once(_split_datasets)


def _split_datasets(model: Model) -> frozenset[Instance]:
    found: set[Instance] = set()
    for frame, call in _calls("random_split", _SPLIT, model):
        generator = model.ev.calls.arguments(call, frame).get("generator", 2)
        if _is_generator(generator) if generator is not None else _is_seeded_before(frame, model):
            found |= _held(call, frame, model)
    for frame, call in _calls("Subset", _SUBSET, model):
        positions = [arg.value for arg in call.args if arg.kind == "pos"][1:2]
        positions += [arg.value for arg in call.args if arg.name == "indices"]
        if any(_is_drawn(one, frame, model, 0) for one in positions):
            found |= _held(call, frame, model)
    return frozenset(found)


def _calls(name: str, callee: Lib, model: Model) -> Iterator[tuple[Frame, ir.Call]]:
    """The calls of a function of torch in the project, in each of their frames."""
    for site in model.callers.sites(name):
        for frame in _frames(site, model):
            call = model.ev.expr(frame, site.expr)
            if isinstance(call, ir.Call) and callee in model.ev.eval(call.func, frame).atoms:
                yield frame, call


def _frames(site: CallSite, model: Model) -> tuple[Frame, ...]:
    return model.callers.frames(site.path, site.piece, site.def_)[:_MAX_FRAMES]


def _held(call: ir.Call, frame: Frame, model: Model) -> set[Instance]:
    dataset = model.ev.calls.arguments(call, frame).get("dataset", 0)
    return set(dataset.only(Instance)) if dataset is not None else set()


def _is_generator(given: Val) -> bool:
    """Whether a value is a generator of torch, which has a fixed seed from the start."""
    made = given.only(LibObject)
    return bool(made) and all(library_of(one) == "torch" for one in made)


# --- a seed before ----------------------------------------------------------------------------------------------------


def _is_seeded_before(frame: Frame, model: Model) -> bool:
    """Whether the code that leads to a frame seeds torch's generator: in the same def, in one that calls it, or in one
    that creates the object whose method it is."""
    receiver = frame.receiver
    made = receiver.site.frame if isinstance(receiver, Instance) and receiver.site is not None else None
    seeding = model.once(_run_after_seeds)
    return frame in seeding or (made is not None and made in seeding)


def _run_after_seeds(model: Model) -> frozenset[Frame]:
    """The frames that seed torch's generator, call a function that only seeds, or are run by such frames."""
    seeding: dict[Frame, None] = {}
    names = {name.rpartition(".")[2] for name, library in SEEDERS.items() if library in _LIBRARIES}
    for name in sorted(names):
        for site in model.callers.sites(name):
            for frame in _frames(site, model):
                call = model.ev.expr(frame, site.expr)
                if isinstance(call, ir.Call) and _seeds(model.ev.eval(call.func, frame)):
                    seeding[frame] = None
    return frozenset(model.run_by((*seeding, *_callers(seeding, model))))


def _seeds(callee: Val) -> bool:
    return any(SEEDERS.get(lib.name) in _LIBRARIES for lib in callee.only(Lib))


def _callers(seeding: Iterable[Frame], model: Model) -> Iterator[Frame]:
    """The frames that call a function that seeds."""
    defs = {(frame.path, frame.piece, frame.def_): model.def_of(frame).name for frame in seeding if frame.def_}
    for name in sorted({name for name in defs.values() if name}):
        for site in model.callers.sites(name):
            for frame in _frames(site, model):
                targets = model.ev.targets(site.expr, frame)
                if any((one.path, one.piece, one.def_) in defs for one in targets):
                    yield frame


# --- positions --------------------------------------------------------------------------------------------------------


def _is_drawn(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether positions are drawn with a seed: here, or in the function of the project that returns them."""
    if depth > _MAX_DEPTH or number == ir.NONE:
        return False
    if _is_shuffled(number, frame, model):
        return True
    match model.ev.expr(frame, number):
        case ir.Index(base, _) | ir.Unpack(base, _, _):
            return _is_drawn(base, frame, model, depth + 1)
        case ir.Phi(choices):
            return bool(choices) and all(_is_drawn(one, frame, model, depth + 1) for one in choices)
        case ir.Call(func) as call:
            if _draws(call, frame, model):
                return True
            method = model.ev.expr(frame, func)
            if isinstance(method, ir.Attr) and method.name in ("tolist", "numpy"):
                return _is_drawn(method.base, frame, model, depth + 1)
            if Lib("builtins.list") in model.ev.eval(func, frame).atoms and call.args:
                return _is_drawn(call.args[0].value, frame, model, depth + 1)
            run = model.run_by(model.ev.targets(number, frame))
            return any(_draws(one.call, one.frame, model) for each in run for one in model.calls_named(each, _DRAWING))
    return False


def _draws(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether a call draws positions or items with a seed."""
    func = model.ev.expr(frame, call.func)
    name = func.name if isinstance(func, ir.Attr | ir.Global) else ""
    callee = model.ev.eval(call.func, frame)
    if Lib("torch.randperm") in callee.atoms:
        generator = model.ev.calls.arguments(call, frame).get("generator", None)
        return generator is not None and _is_generator(generator)
    if splits_with_seed(call, frame, model):
        return True
    return name in _DRAWING and draws_with_seed(call, frame, model)


def _is_shuffled(number: int, frame: Frame, model: Model) -> bool:
    """Whether the def shuffles a list in place with a seed."""
    shuffles = model.calls_named(frame, ("shuffle",))
    return any(
        [arg.value for arg in one.call.args][:1] == [number] and draws_with_seed(one.call, frame, model)
        for one in shuffles
    )
