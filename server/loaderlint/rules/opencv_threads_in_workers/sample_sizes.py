"""The sizes to which workers bring the images of samples: `cv2.resize(image, (224, 224))`, `transforms.Resize(256)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from loaderlint.facts import ir
from loaderlint.knowledge.higher_order import STEPS
from loaderlint.knowledge.opencv import LEAST_PIXELS, RESIZES, RESIZING_STEPS
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.library_calls import flattened
from loaderlint.project.evaluation.number_bounds import count_of
from loaderlint.project.evaluation.values import Lib, LibObject, Literal_, SeqOf, Val
from loaderlint.project.reach.model import Loader, Model, WorkerCall

Size = Literal["small", "large"]

#: How many pipelines are opened that are steps of others.
_MAX_DEPTH = 4
_PAIR = 2


def make_only_small(loaders: Iterable[Loader], model: Model) -> bool:
    """Whether the workers of these loaders bring images to known sizes, all of them too small for OpenCV's threads.
    What becomes so small is often not much larger in its file."""
    return {size for loader in loaders for size in model.remembered(_sizes, loader)} == {"small"}


def _sizes(loader: Loader, model: Model) -> set[Size]:
    """The known sizes for which the workers of a loader ask."""
    return {size for call in model.calls_in(loader, "sample") for given in _asked(call, model) for size in given}


def _asked(call: WorkerCall, model: Model) -> Iterator[set[Size]]:
    """The sizes for which a call asks: of a function, of a method of PIL, or of the steps of a pipeline."""
    arguments = model.ev.calls.arguments(call.call, call.frame)
    for atom in flattened(call.callee):
        if isinstance(atom, Lib) and atom.name in RESIZES:
            yield _known(arguments.get(*RESIZES[atom.name]), model.ev)
        elif isinstance(atom, LibObject):
            yield from (_of_step(step, model.ev) for step in _steps(atom, model.ev, 0))
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and func.name == "resize" and not call.callee.only(Lib):
        yield _known(arguments.get("size", 0), model.ev)


def _steps(made: LibObject, ev: Evaluator, depth: int) -> Iterator[LibObject]:
    """An object of a library, and what it was made from as a pipeline."""
    yield made
    steps = ev.calls.site_arguments(made.site).get(STEPS, 0) if depth < _MAX_DEPTH else None
    for one in flattened(steps) if steps is not None else ():
        if isinstance(one, LibObject):
            yield from _steps(one, ev, depth + 1)


def _of_step(made: LibObject, ev: Evaluator) -> set[Size]:
    name = RESIZING_STEPS.get(made.name)
    return _known(ev.calls.site_arguments(made.site).get(name, 0), ev) if name is not None else set()


def _known(asked: Val | None, ev: Evaluator) -> set[Size]:
    """The known sizes among what is asked for: pairs, or the length of a side."""
    found: set[Size] = set()
    for atom in asked.atoms if asked is not None else ():
        if isinstance(atom, SeqOf) and len(atom.items) == _PAIR:
            width, height = (count_of(ev, item) for item in atom.items)
            if min(width.least, height.least) > 0:
                found.add("small" if width.most * height.most < LEAST_PIXELS else "large")
        elif isinstance(atom, Literal_) and isinstance(atom.value, int):
            found.add("small" if atom.value**2 < LEAST_PIXELS else "large")
    return found
