"""Whether a model is trained on samples in the order that the dataset gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.evaluation_loaders import is_for_evaluation
from loaderlint.rules.shared.listing_order import Listing
from loaderlint.rules.unsorted_listing.positional_items import Taken

#: Words of code that trains a model.
_TRAINING = ("backward", "training_step", ".fit(")
_TRAINS = re.compile("train", re.IGNORECASE)
_SAMPLERS = ("sampler", "batch_sampler")


class TrainingOrder:
    """The listings in whose order loaders train on samples, for a method that takes samples (`__getitem__`) in all its
    frames."""

    def __init__(self, taken_in: Mapping[Frame, Sequence[Taken]], model: Model) -> None:
        self._model = model
        self._listings = {
            frame: [order.listing for one in taken for order in one.orders if not order.drawn]
            for frame, taken in taken_in.items()
        }
        #: The loaders that take samples in the order of each call that lists.
        self._bits: dict[tuple[Path, int, int], int] = {}
        for frame, listings in self._listings.items():
            for listing in listings:
                call = _call(listing)
                self._bits[call] = self._bits.get(call, 0) | model.reached[frame].bits()

    def of(self, frame: Frame) -> frozenset[Listing]:
        """Those of one frame."""
        return frozenset(listing for listing in self._listings[frame] if self._is_trained(listing))

    def _is_trained(self, listing: Listing) -> bool:
        loaders = self._model.loaders_of(self._bits[_call(listing)])
        return any(_trains_in_order(loader, self._model) for loader in loaders)


def _call(listing: Listing) -> tuple[Path, int, int]:
    return listing.frame.path, listing.frame.piece, listing.expr


def _trains_in_order(loader: Loader, model: Model) -> bool:
    """Whether a loader may train a model on the samples in their order: by its name, or because its file trains one and
    nothing says that the loader is for evaluation."""
    if not _is_in_order(loader) or is_for_evaluation(loader, model):
        return False
    return bool(_TRAINS.search(loader.name)) or (loader.path is not None and _trains(loader.path, model))


def _trains(path: Path, model: Model) -> bool:
    """Whether code of a file trains a model."""
    file = model.files.file(path)
    return file is not None and any(True for word in _TRAINING for _ in file.mentioning(word))


def _is_in_order(loader: Loader) -> bool:
    """Whether a loader gives a dataset's samples in their order: not a part of it that `random_split` has drawn, nor
    through a sampler."""
    is_whole = bool(loader.argument("dataset").only(Instance)) and not loader.wrapped
    return is_whole and loader.keeps_order and all(loader.argument(name).is_none for name in _SAMPLERS)
