"""The place in the project that is responsible for what happens inside an installed library.

Nothing is reported inside a library. A finding there belongs to the call of the project that workers run and that leads
to it, or to the place where the project creates the object that contains the fault. If there is neither, the fault is
the library's own and is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.loaders.installed_loaders import walk_inside
from loaderlint.project.reach.model import Model

#: A piece of a file.
_Piece = tuple[Path, int]
#: The number of library frames that are followed from the project to a place in the library.
_MAX_FRAMES = 64


class ProjectPlaces:
    """The places of a project that lead into libraries."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._holds = model.ev.installed.holds
        self._workers: dict[_Piece, Place] | None = None
        self._makers: dict[_Piece, Place] | None = None

    def is_library(self, path: Path) -> bool:
        """Whether a file is one of a library."""
        return self._holds(path)

    @cached_property
    def calls_making_loaders(self) -> frozenset[Place]:
        """The calls of the project that run a library function which creates a loader."""
        made = (one.site for one in self._model.loaders if one.installed and one.site is not None)
        return frozenset(map(self._model.site_place, made))

    def leading_to(self, place: Place) -> Place | None:
        """The place of the project that leads to a place in a library; None if the project has no part in it."""
        piece = (place.path, place.piece)
        if self._workers is None:
            self._workers = dict(self._led_by_workers())
        if piece in self._workers:
            return self._workers[piece]
        if self._makers is None:
            self._makers = dict(self._led_by_makers())
        return self._makers.get(piece)

    def _led_by_workers(self) -> Iterator[tuple[_Piece, Place]]:
        """The pieces of libraries that workers run, each with the call of the project that leads there; the last one
        yielded counts."""
        frames = [frame for frame in self._model.reached if not self._holds(frame.path)]
        for frame in reversed(frames):
            yield from self._led_by(frame)

    def _led_by_makers(self) -> Iterator[tuple[_Piece, Place]]:
        """The same for code that the main process runs while it creates the objects whose methods workers run."""
        objects = dict.fromkeys(frame.receiver for frame in self._model.reached)
        for inst in reversed([one for one in objects if isinstance(one, Instance)]):
            made = inst.site
            of_library = self._holds(inst.cls.path)
            for frame in self._model.ev.classes.construction(inst):
                if not self._holds(frame.path):
                    yield from self._led_by(frame)
                elif of_library and made is not None and not self._holds(made.frame.path):
                    yield (frame.path, frame.piece), self._model.site_place(made)

    def _led_by(self, frame: Frame) -> Iterator[tuple[_Piece, Place]]:
        """The pieces of libraries that the calls of a frame lead to."""
        for number, targets in self._model.ev.leads(frame).items():
            inside = [target for target in targets if self._holds(target.path)]
            if inside and number != NONE:
                place = self._model.place(frame, number)
                walk = walk_inside(self._model.ev, inside, _MAX_FRAMES)
                yield from (((target.path, target.piece), place) for target in walk)
