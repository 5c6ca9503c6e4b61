"""Traits of a single loader: how its workers start and draw, and its purpose."""

from __future__ import annotations

import re
from collections.abc import Callable

from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.shared.silence_reasons import started_by

_EVALUATION = re.compile(r"val|test|eval|infer|predict", re.IGNORECASE)


def not_forked(model: Model, so: str) -> Callable[[Loader], str]:
    """A cure: the workers of a loader are never forked, judging by the code. `so` says what follows from that."""
    return lambda loader: "" if "fork" in model.start_methods.of(loader) else f"{started_by(loader, model)}, {so}"


def one_stream(loader: Loader) -> bool:
    """Whether the loader has one persistent worker: it draws from one state in all epochs, so nothing repeats."""
    return loader.has_workers(2) == "no" and loader.persistent is True


def in_sight(exposure: Exposure) -> tuple[Loader, ...]:
    """The loaders that code creates, which a fix can change; the one that is presumed if there are none."""
    return tuple(loader for loader in exposure.loaders if not loader.out_of_sight) or exposure.loaders


def is_for_evaluation(loader: Loader) -> bool:
    """Whether a loader reads its samples in order and has the name of an evaluation loader: `val_loader`."""
    shuffle = loader.argument("shuffle").literal
    ordered = shuffle is not None and not shuffle.value and loader.argument("sampler").literal is not None
    return ordered and bool(_EVALUATION.search(loader.name))
