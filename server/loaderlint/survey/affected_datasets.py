"""Finds the datasets of a model, and those that a finding affects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from loaderlint.findings.finding import Certainty, Finding, Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, ClassRef, Instance, LibObject
from loaderlint.project.reach.model import Entry, Model
from loaderlint.rules.shared.global_draws import draws_from_numpy
from loaderlint.survey.results import Workers

_Piece = tuple[Path, int]
#: A finding names at most this many loaders. If it names that many, any loader may be affected.
_NAMED_LOADERS = 6


class Holding(Struct, frozen=True):
    """One dataset in one loader. `loader`: the place where the loader is made, None if unknown. `pieces`: the code that
    makes its samples, and its class. Nothing in it refers to the model."""

    dataset: str
    certainty: Certainty
    workers: Workers
    draws_numpy: bool
    loader: Place | None
    pieces: frozenset[_Piece]


class Reach(Struct, frozen=True):
    """The datasets of a model. `loaders`: the places where known loaders are made."""

    loaders: frozenset[Place] = frozenset()
    holdings: tuple[Holding, ...] = ()


def reach(model: Model, root: Path) -> Reach:
    """Every analysable dataset of a model, with each loader that holds it or may hold it. A dataset is analysable if
    code of the project makes its samples."""
    sites = (model.site_place(one.site) for one in model.loaders if one.site is not None)
    return Reach(frozenset(sites), tuple(_holdings(model, root)))


def _holdings(model: Model, root: Path) -> Iterator[Holding]:
    for entry in model.entries:
        if not entry.frames:
            continue
        frames = model.run_by(entry.frames)
        workers = entry.loader.has_workers()
        yield Holding(
            _name(entry.dataset, model, root),
            "possible" if entry.guessed or entry.loader.out_of_sight else "proven",
            workers,
            workers != "no" and _draws(entry, frames, model),
            model.site_place(entry.loader.site) if entry.loader.site else None,
            frozenset((*_functions(frames), *_class(entry, model))),
        )


def concerned(finding: Finding, known: Reach) -> frozenset[str]:
    """The names of the datasets that a finding affects. They are among the datasets in the loaders that the finding
    names (in all loaders if it names none): those whose code it points at; if it points at the loader itself, all; if
    it points elsewhere (a transform's constructor, a helper), those whose code its evidence passes through; if it
    passes through none (a collate function), all of them."""
    evidence = [one.place for one in finding.evidence]
    named = known.loaders.intersection((finding.place, *evidence))
    held: Sequence[Holding] = known.holdings
    if named and len(named) < _NAMED_LOADERS:
        held = [one for one in held if one.loader in named]
    if finding.place in named:
        return frozenset(one.dataset for one in held if one.loader == finding.place)
    pointed = _through([finding.place], held) or _through([place for place in evidence if place not in named], held)
    return pointed or frozenset(one.dataset for one in held if named)


def _through(places: Iterable[Place], held: Sequence[Holding]) -> frozenset[str]:
    pieces = {(place.path, place.piece) for place in places}
    return frozenset(one.dataset for one in held if not pieces.isdisjoint(one.pieces))


def _name(dataset: Atom, model: Model, root: Path) -> str:
    if isinstance(dataset, Instance):
        return f"{dataset.cls.path.relative_to(root).as_posix()}::{model.ev.classes.name(dataset.cls)}"
    return dataset.name if isinstance(dataset, LibObject) else "?"


def _draws(entry: Entry, frames: Iterable[Frame], model: Model) -> bool:
    """Whether the samples are made, or collated, with numbers from NumPy's global state."""
    calls = [call for frame in frames for call in model.frame_calls(frame)]
    calls += model.calls_in(entry.loader, "collate")
    return any(draws_from_numpy(call, model) for call in calls)


def _functions(frames: Iterable[Frame]) -> Iterator[_Piece]:
    return ((frame.path, frame.piece) for frame in frames if frame.def_)


def _class(entry: Entry, model: Model) -> Iterator[_Piece]:
    """The pieces of a dataset's class and of its ancestors: heads and members."""
    if not isinstance(entry.dataset, Instance):
        return
    for cls in model.ev.classes.mro(entry.dataset.cls):
        file = model.files.file(cls.path) if isinstance(cls, ClassRef) else None
        if file is None or not isinstance(cls, ClassRef):
            continue
        yield cls.path, cls.piece
        yield from ((cls.path, index) for index, piece in enumerate(file.pieces) if piece.parent == cls.piece)
