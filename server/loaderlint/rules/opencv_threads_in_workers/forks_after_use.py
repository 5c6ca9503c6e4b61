"""Loaders whose workers are forked after the main process has used OpenCV."""

from __future__ import annotations

import math
from collections.abc import Iterator, Set

from loaderlint.facts import ir
from loaderlint.facts.ir import DefIR
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, Site
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.project.reach.scripts import module_statements
from loaderlint.rules.opencv_threads_in_workers.opencv_imports import starts_threads, surely_starts_threads
from loaderlint.rules.shared.first_starts import first_start
from loaderlint.rules.shared.first_uses import items_taken_in

#: What one sample may be taken of.
_Sampled = frozenset[Instance | LibObject]

#: How many calls are followed, one inside the other, that pass on a dataset.
_MAX_DEPTH = 3
#: How many defs are followed from the method that takes a sample.
_MAX_FRAMES = 100


def is_forked_after_use(call: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether the main process runs OpenCV before it forks the workers of a loader: before it first iterates over the
    loader, it takes a sample in any case. Measured with OpenCV 5.0 from PyPI: such workers start no threads. The pool
    is one per process, so a sample of any dataset counts that surely uses it; a sample of the loader's own datasets
    makes the same call as the workers."""
    if loader.site is None or model.start_methods.of(loader) != {"fork"}:
        return False
    samples = model.remembered(_sampled_before, loader.site)
    if any(all(model.remembered(_surely_uses_threads, one) for one in sampled) for sampled in samples):
        return True
    function = call.frame.code.one
    if function is None or not _is_reached(call, function):
        return False
    inner = _wrapped_by(loader, model)
    if any(all(_runs(function, one, inner, model) for one in sampled) for sampled in samples):
        return True
    return bool(loader.datasets) and all(any(one in sampled for sampled in samples) for one in loader.datasets)


def _runs(function: DefIR, dataset: Instance | LibObject, inner: Set[Atom], model: Model) -> bool:
    """Whether a sample of a dataset of a library, which some loader holds, or of one that the loader's dataset wraps
    (`inner`), runs a function, as far as is known."""
    if not isinstance(dataset, LibObject) and dataset not in inner:
        return False
    return any(frame.code.one is function for frame in model.remembered(_run_by, dataset))


def _run_by(dataset: Instance | LibObject, model: Model) -> tuple[Frame, ...]:
    if isinstance(dataset, LibObject):
        return model.run_by(frame for entry in model.entries if entry.dataset == dataset for frame in entry.frames)
    taken = model.ev.classes.open_method(dataset, "__getitem__")
    return model.run_by([taken]) if taken is not None else ()


def _wrapped_by(loader: Loader, model: Model) -> frozenset[Atom]:
    """What the constructors of a loader's datasets are given: `Mixed(photos)`."""
    sites = [one.site for one in loader.datasets if isinstance(one, Instance) and one.site is not None]
    passed = [model.ev.calls.site_arguments(site) for site in sites]
    return frozenset(atom for one in passed for value in one.values for atom in value.atoms)


def _sampled_before(loader: Site, model: Model) -> tuple[_Sampled, ...]:
    """The datasets of which the code around a loader, or the constructor of the object that makes it, takes a sample in
    any case before the first iteration over the loader. Each item holds what one sample may be taken of."""
    return tuple(_samples(loader, model))


def _samples(loader: Site, model: Model) -> Iterator[_Sampled]:
    maker = loader.frame.receiver
    constructor = model.ev.classes.init_frame(maker) if isinstance(maker, Instance) else None
    if constructor is not None and constructor != loader.frame:
        yield from _taken(constructor, {0}, math.inf, model)
    is_made = False
    for frame, ways in _around(loader, model):
        is_own = frame == loader.frame
        is_made = is_made or is_own
        made = frame.code.evaluated_by(loader.expr) if is_own else None
        last = first_start(loader, frame, -1 if made is None else made, model) if is_made else math.inf
        yield from _taken(frame, ways, last, model)
        if last < math.inf:
            return


def _taken(frame: Frame, ways: Set[int], last: float, model: Model, depth: int = 0) -> Iterator[_Sampled]:
    """What a frame takes a sample of in any case before its step `last`, itself or in a function to which it passes a
    dataset. `ways`: the contexts that are entered in any case."""
    one = frame.code.one
    if one is None or one.is_generator:
        return

    def is_sure(context: int, step: int | None) -> bool:
        return step is not None and step < last and _outside_loops(context, one) in ways

    for number, base in items_taken_in(frame, model):
        if is_sure(frame.code.context_of(number), frame.code.evaluated_by(number)):
            yield from _all_datasets(base, frame, model)
    for number, step in model.steps_of(frame, ir.Perform) if depth < _MAX_DEPTH else ():
        if is_sure(step.context, number) and _passes_dataset(step.call, frame, model):
            targets = model.ev.targets(step.call, frame)
            if len(targets) == 1:
                yield from _taken(targets[0], {0}, math.inf, model, depth + 1)


def _all_datasets(number: int, frame: Frame, model: Model) -> Iterator[_Sampled]:
    atoms = model.ev.eval(number, frame).atoms
    datasets = frozenset(atom for atom in atoms if isinstance(atom, Instance | LibObject))
    if atoms and datasets == atoms:
        yield datasets


def _passes_dataset(number: int, frame: Frame, model: Model) -> bool:
    """Whether a call passes what some loader holds, or what has items of its own: a dataset that another one wraps."""
    call = model.ev.expr(frame, number)
    held = model.once(_held)
    given = call.args if isinstance(call, ir.Call) else ()
    return any(
        atom in held or _has_items(atom, model) for arg in given for atom in model.ev.eval(arg.value, frame).atoms
    )


def _has_items(atom: Atom, model: Model) -> bool:
    return isinstance(atom, Instance) and model.ev.classes.member(atom.cls, "__getitem__") is not None


def _held(model: Model) -> frozenset[Atom]:
    return frozenset(dataset for loader in model.loaders for dataset in loader.datasets)


def _around(loader: Site, model: Model) -> Iterator[tuple[Frame, Set[int]]]:
    """The frames that run one after the other around the creation of a loader, with the contexts that are entered
    whenever it is created: the function, or the module-level statements of the file."""
    frame = loader.frame
    own = {0, *frame.code.one.enclosing(frame.code.context_of(loader.expr))} if frame.code.one is not None else {0}
    file = model.files.file(frame.path) if frame.def_ == 0 else None
    if file is None:
        yield frame, own
        return
    entered = {-1, *file.around(frame.piece)}
    for piece in module_statements(file):
        body = model.ev.body(frame.path, piece)
        if body == frame:
            yield body, own
        else:
            yield body, {0} if file.pieces[piece].parent in entered else set()


def _surely_uses_threads(dataset: Instance | LibObject, model: Model) -> bool:
    """Whether taking a sample of a dataset of the project runs a call of cv2 that starts threads, under no
    condition."""
    taken = model.ev.classes.open_method(dataset, "__getitem__") if isinstance(dataset, Instance) else None
    queue = [taken] if taken is not None else []
    for frame in queue:
        one = frame.code.one
        for call in model.frame_calls(frame):
            if one is None or not _is_reached(call, one):
                continue
            if starts_threads(call, model) and surely_starts_threads(call, model):
                return True
            targets = model.ev.targets(call.number, frame)
            if len(targets) == 1 and targets[0] not in queue and len(queue) < _MAX_FRAMES:
                queue.append(targets[0])
    return False


def _is_reached(call: WorkerCall, one: DefIR) -> bool:
    """Whether a run of the def that does not raise makes a call: `if image is None: raise` is no condition of it."""
    return call.frame.code.always_passes([_outside_loops(call.context, one)])


def _outside_loops(context: int, one: DefIR) -> int:
    """The context around a loop over samples, which is not empty, or around a `with`."""
    while one.contexts[context].kind in ("loop", "with"):
        context = one.contexts[context].parent
    return context
