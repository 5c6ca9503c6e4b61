"""Random transforms of libraries that the workers of a loader call, and have a copy of with its random state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.augmentations import DRAWN_POSITIONS, Library, library_of
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.library_calls import flattened, library_arguments
from loaderlint.project.evaluation.values import Instance, LibObject, Origin, Val
from loaderlint.project.reach.model import Loader, Model

#: albumentations' transforms that draw only whether they are applied.
_SURE = frozenset({"HorizontalFlip", "VerticalFlip", "Transpose", "ToGray", "InvertImg", "ToSepia"})


class TransformUse(NamedTuple):
    """A random transform that the workers of a loader call: in the branch `context` of `frame`, or by the library
    itself (None). `origins`: where it is kept."""

    made: LibObject
    library: Library
    frame: Frame | None
    origins: frozenset[Origin]
    context: int = 0


def copied_transforms(loader: Loader, model: Model) -> Iterator[TransformUse]:
    """The uses of such transforms."""
    for call in (*model.calls_in(loader, "sample"), *model.calls_in(loader, "collate")):
        uses = _of(call.callee, call.frame, loader, model, call.context)
        yield from (use for use in uses if not _fails(use, call.call))
    for held in flattened(loader.argument("dataset")):
        if isinstance(held, LibObject) and held.name.startswith("monai.data."):
            value = model.ev.calls.site_arguments(held.site).get("transform", 1)
            yield from _of(value, None, loader, model) if value is not None else ()
    for dataset in loader.datasets:
        if isinstance(dataset, Instance) and model.ev.classes.member(dataset.cls, "__getitem__") is None:
            for stored in library_arguments(model.ev, dataset, "transform"):
                yield from _of(stored, None, loader, model)


def _of(value: Val, frame: Frame | None, loader: Loader, model: Model, context: int = 0) -> Iterator[TransformUse]:
    for atom in value.only(LibObject):
        library = library_of(atom.name)
        if library is None or not _draws(atom, library, model, 0):
            continue
        if model.ev.installed.holds(atom.site.frame.path):
            continue  # the library's own, around what it is given: MONAI's datasets make a `Compose`
        if not model.runs_in_worker(atom.site.frame) and _is_copied(atom, loader, model):
            yield TransformUse(atom, library, frame, value.origins, context)


def _fails(use: TransformUse, call: ir.Call) -> bool:
    """Whether a call raises KeyError before anything is drawn: albumentations takes images by name only."""
    return use.library.package == "albumentations" and any(arg.kind == "pos" for arg in call.args)


def _draws(made: LibObject, library: Library, model: Model, depth: int) -> bool:
    """Whether an object is known to draw random numbers, itself or in what it holds."""
    short = made.name.rpartition(".")[2]
    arguments = model.ev.calls.site_arguments(made.site)
    if short in library.holders and depth < 8:
        inner = [atom for v in arguments.values for atom in flattened(v)]
        known = [(atom, library_of(atom.name)) for atom in inner if isinstance(atom, LibObject)]
        return any(_draws(atom, other, model, depth + 1) for atom, other in known if other is library)
    chance = arguments.get("p")
    literal = chance.literal if chance is not None else None
    never = literal is not None and literal.value == 0
    always = literal is not None and literal.value == 1 and short in _SURE
    if never or always or short in library.calm or (short in library.placing and _is_placed(arguments)):
        return False
    return library.random.fullmatch(short) is not None


def _is_placed(arguments: Arguments) -> bool:
    """Whether the place that is cropped or padded is named."""
    position = arguments.get("position")
    literal = position.literal if position is not None else None
    return literal is not None and isinstance(literal.value, str) and literal.value not in DRAWN_POSITIONS


def _is_copied(made: LibObject, loader: Loader, model: Model) -> bool:
    """Whether each worker has the same state: always by fork; a module that is imported again makes its own."""
    return made.site.frame.def_ != 0 or "fork" in model.start_methods.of(loader)
