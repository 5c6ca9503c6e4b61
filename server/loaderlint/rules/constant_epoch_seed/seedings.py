"""The calls that set the same seed in each iteration of a loop over epochs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.project.evaluation.values import def_key
from loaderlint.project.reach.model import MainFunction, Model
from loaderlint.rules.constant_epoch_seed.seeds_in_loops import (
    SEEDER_NAMES,
    Seeding,
    may_be_fixed,
    seeding_in_loop,
    seeding_names,
)
from loaderlint.rules.constant_epoch_seed.training_passes import trains

WORDS = ("seed", "SEED", "Seed")


def seedings(function: MainFunction, model: Model) -> Iterator[Seeding]:
    """The calls of a def that set the same seed in each iteration of a loop, and the calls of the def itself, if it
    seeds."""
    names = model.once(seeding_names)
    if function.calls_one_of(names, may_be_fixed, in_loop=True):
        for frame in function.frames:
            found = [seeding_in_loop(call, model) for call in model.calls_named(frame, names)]
            yield from (seeding for seeding in found if seeding is not None)
    if function.written.name and function.calls_one_of(SEEDER_NAMES):
        yield from _called_in_loops(function, model)


def _called_in_loops(function: MainFunction, model: Model) -> Iterator[Seeding]:
    """The calls of a def that seeds, in loops of pieces that do not mention seeds and are not asked about: those of
    `train_one_epoch`."""
    name, wanted = function.written.name, (function.path, function.piece, function.def_)
    places = {
        def_key(site)
        for site in model.callers.sites_running(name, wanted)
        if site.context > 0 and not _speaks_of_seeds(site.path, site.piece, model)
    }
    frames = [frame for place in sorted(places) for frame in model.callers.frames(*place)]
    for frame in frames:
        for call in model.calls_named(frame, {name}) if frame not in model.reached else ():
            seeding = seeding_in_loop(call, model)
            # Whether it trains is asked last: for that all calls in the loops of the caller are followed.
            if seeding and any(trains(target, frame, model) for target in model.ev.targets(call.number, frame)):
                yield seeding


def _speaks_of_seeds(path: Path, piece: int, model: Model) -> bool:
    file = model.files.file(path)
    return file is not None and any(file.pieces[piece].holds(word) for word in WORDS)
