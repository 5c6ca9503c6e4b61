"""Where the main process first uses a dataset that opens a handle, or makes a generator, when it is used."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Evidence, Place
from loaderlint.knowledge.loader_consumers import ASK_FOR_LENGTH
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibObject, Origin, def_key
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.shared.epoch_loops import is_loader, step_context
from loaderlint.rules.shared.epoch_passes import Pass, has_loops, inside, passes
from loaderlint.rules.shared.first_starts import first_start
from loaderlint.rules.shared.held_handles import compares_pid, is_guarded
from loaderlint.rules.shared.made_by_constructors import constructions


def first_uses(held: LibObject, origins: frozenset[Origin], model: Model) -> Sequence[Evidence]:
    """Where the main process makes the first use of a dataset, which opens or makes `held`: it takes a sample, or calls
    `len`. Empty if it does not, or if each use makes its own. `origins`: where it is stored."""
    return model.remembered(_first_uses, held, origins)


def is_made_before(made: LibObject, origins: frozenset[Origin], model: Model) -> bool:
    """Whether the main process makes an object before the workers start, although sample code makes it where it is
    missing: by a first use, or in each run of a constructor. `origins`: where it is stored."""
    return bool(first_uses(made, origins, model)) or any(one.sure for one in constructions(made, origins, model))


def _first_uses(held: LibObject, origins: frozenset[Origin], model: Model) -> Sequence[Evidence]:
    for origin in sorted(origins, key=lambda o: o.path):
        inst = origin.owner
        if not isinstance(inst, Instance) or len(origin.path) != 1 or inst.site is None:
            continue
        stores = model.remembered(_stores_by_value, inst, origin.path[0]).get(held, ())
        if stores and all(is_guarded(s, origin.path[0], model) and not compares_pid(s.frame, model) for s in stores):
            taken = [Evidence(place, "the main process takes a sample") for place in samples_taken(inst, model)]
            return taken or (_lengths_taken(inst, model) if _len_opens(inst, stores, model) else [])
    return []


def _len_opens(inst: Instance, stores: Sequence[Store], model: Model) -> bool:
    """Whether `__len__` of a dataset runs one of these assignments."""
    member = model.ev.classes.member(inst.cls, "__len__")
    if member is None or member.function is None:
        return False
    opened = model.ev.functions.open_frame(member.function, inst, member.owner)
    if opened is None:
        return False
    run = {def_key(frame) for frame in model.run_by([opened])}
    return any(def_key(store.frame) in run for store in stores)


def _lengths_taken(inst: Instance, model: Model) -> list[Evidence]:
    """Where the main process calls `len` of a dataset before the workers start: in the def that creates the dataset, or
    through a loader."""
    found = []
    frame = inst.site.frame if inst.site is not None else None
    for call in model.calls_named(frame, ("len",)) if frame is not None else ():
        if call.call.args and inst in model.ev.eval(call.call.args[0].value, call.frame).atoms:
            place = model.place(call.frame, call.number)
            found.append(Evidence(place, "the main process asks for the length, which opens it"))
    for loader in model.loaders:
        if inst in loader.datasets:
            found.extend(_lengths_asked_by(loader, inst, model))
    return found


def _lengths_asked_by(loader: Loader, dataset: Instance, model: Model) -> Iterator[Evidence]:
    """Why a loader asks its dataset for the length in the main process, before workers start: its `RandomSampler` when
    it is created, `len(loader)` and `tqdm(loader)`, or any sampler in the epoch before."""
    if loader.site is None or not loader.argument("batch_sampler").is_none:
        return
    shuffle, place = loader.argument("shuffle").literal, model.site_place(loader.site)
    if shuffle is not None and shuffle.value is True:
        yield Evidence(place, "this loader's sampler asks for the length")
        return
    if not loader.argument("sampler").is_none:
        return
    asked = next(_asked(loader, model), None)
    if asked is not None:
        yield Evidence(asked, "this asks the dataset for its length, which opens it")
    elif loader.persistent is not True and _is_read_again(loader, dataset, model):
        yield Evidence(place, "this loader's sampler asks for the length in each epoch: the next workers inherit it")


def _asked(loader: Loader, model: Model) -> Iterator[Place]:
    """Where the main process asks a loader for its length: `len(loader)`, `tqdm(loader)`."""
    for call in model.once(_asking):
        if is_loader(call.call.args[0].value, call.frame, loader, model):
            yield model.place(call.frame, call.number)


def _asking(model: Model) -> list[WorkerCall]:
    """The calls of the main process that ask their first argument for its length."""
    return [
        call
        for function in model.main_functions(("len(", "tqdm"))
        for frame in function.frames
        for call in model.calls_named(frame, ("len", "tqdm"))
        if call.call.args and any(isinstance(one, Lib) and one.name in ASK_FOR_LENGTH for one in call.callee.atoms)
    ]


def _passes_in_loops(model: Model) -> list[Pass]:
    """The passes over loaders in the loops of the main process."""
    return [
        one
        for function in model.main_functions(("for ", "while "))
        if has_loops(function)
        for frame in function.frames
        for one in passes(frame, model)
    ]


def _is_read_again(loader: Loader, dataset: Instance, model: Model) -> bool:
    """Whether a loop goes over a loader several times with one and the same dataset."""
    assert dataset.site is not None
    made = dataset.site.frame, step_context(dataset.site, model)
    return any(
        one.loader == loader and not (one.frame == made[0] and inside(made[1], one.loop, one.frame, model))
        for one in model.once(_passes_in_loops)
    )


def _stores_by_value(inst: Instance, name: str, model: Model) -> dict[Atom, list[Store]]:
    """The assignments to an attribute, by the value that they may assign."""
    found: dict[Atom, list[Store]] = {}
    for store in model.ev.classes.stores(inst, name):
        for atom in store.value.atoms:
            found.setdefault(atom, []).append(store)
    return found


# --- what the main process takes ------------------------------------------------------------------------------------


def samples_taken(inst: Instance, model: Model) -> Iterator[Place]:
    """Where the def that creates a dataset takes an item of it, `dataset[0]` or a loop over it, before the workers of a
    loader start there."""
    frame = inst.site.frame if inst.site is not None else None
    if frame is None:
        return
    last = _first_start_with(inst, frame, model)
    for number in items_taken(inst, model):
        step = frame.code.evaluated_by(number)
        if step is None or step < last:
            yield model.place(frame, number)


def _first_start_with(dataset: Instance, frame: Frame, model: Model) -> float:
    """The first step of a frame that may start the workers of a loader which is made there and holds a dataset."""
    made = (loader.site for loader in model.loaders if dataset in loader.datasets and loader.site is not None)
    starts = (
        first_start(site, frame, frame.code.evaluated_by(site.expr) or 0, model) for site in made if site.frame == frame
    )
    return min(starts, default=math.inf)


def items_taken(inst: Instance, model: Model) -> Iterator[int]:
    """The expressions that take an item of an object, in the frame that creates it: `dataset[0]`, or a loop over it."""
    if inst.site is None:
        return
    frame = inst.site.frame
    yield from (number for number, base in items_taken_in(frame, model) if inst in model.ev.eval(base, frame).atoms)


def items_taken_in(frame: Frame, model: Model) -> Iterator[tuple[int, int]]:
    """The expressions of a frame that take an item of something, each with the expression of what it is taken of."""
    for number in sorted(model.ev.evaluated(frame)):
        e = model.ev.expr(frame, number)
        base = e.base if isinstance(e, ir.Index) else e.iterable if isinstance(e, ir.Element) else NONE
        if base != NONE:
            yield number, base
