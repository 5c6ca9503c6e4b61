"""Why a rule does not report a candidate: the reasons that many rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from loaderlint.findings.finding import Place, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.loaders.loaders import Loader
from loaderlint.project.reach.model import Model, Part
from loaderlint.rules.shared.unresolved_places import Spot

#: A reason names at most this many loaders.
_MAX_NAMED = 3
#: The reason that loaders for evaluation share.
EVALUATION = "the loader reads its samples in order, and its name says that it is for evaluation"
CURED = "it is handled there"
ONE_STREAM = "its only worker persists and draws from one state"
ONE_PASS = "its samples never end, so its only worker starts once and draws from one state"


def silent(rule: str, spot: Spot, reason: str, model: Model) -> Iterator[Silence]:
    """The silence about a spot. Looking up the place is slow, so it is done only if the model explains."""
    if model.explains:
        yield Silence(rule, spot.place(model), reason)


def silences(rule: str, place: Place, reasons: Iterable[str]) -> Iterator[Silence]:
    """A silence for each of several reasons, once."""
    for reason in dict.fromkeys(reasons):
        yield Silence(rule, place, reason)


def _cured(loader: Loader) -> str:
    return CURED


def unexposed(
    model: Model,
    frame: Frame,
    workers: int,
    *,
    parts: tuple[Part, ...] = ("sample", "collate", "init"),
    cure: Callable[[Loader], str] = _cured,
) -> str:
    """Why `Model.exposure` of a frame is None for the same `workers` and `parts`. `cure` returns why a loader with
    enough workers has no fault ('its worker_init_fn seeds NumPy'). '' unless the model explains."""
    if not model.explains:
        return ""
    reached = model.reached.get(frame)
    if reached is None:
        return "no known loader reaches it"
    bits = reached.bits(parts)
    if not bits:
        others = " and ".join(part for part, loaders in sorted(reached.loaders.items()) if loaders)
        return f"workers run it as their {others} code only"
    return uncovered(model, bits, workers, cure)


def uncovered(model: Model, bits: int, workers: int, cure: Callable[[Loader], str] = _cured) -> str:
    """As `unexposed`, for a bitset of loaders (see `Model.exposed`)."""
    if not model.explains:
        return ""
    reasons: dict[str, list[Loader]] = {}
    for loader in model.loaders_of(bits):
        few = workers > 0 and loader.has_workers(workers) == "no"
        reasons.setdefault(few_workers(loader) if few else cure(loader), []).append(loader)
    if not reasons:
        return "no known loader reaches it"
    return "; ".join(f"{reason}: {named(loaders)}" for reason, loaders in reasons.items())


def few_workers(loader: Loader) -> str:
    """Why a loader does not have enough workers: 'no workers (num_workers=0)', 'one worker only (num_workers=1)'."""
    count = "no workers" if loader.has_workers(1) == "no" else "one worker only"
    return f"{count} ({loader.workers_text})"


def started_by(loader: Loader, model: Model) -> str:
    """'its workers start by spawn only'."""
    return f"its workers start by {' or '.join(sorted(model.start_methods.of(loader)))} only"


def unpickled(loader: Loader, model: Model) -> str:
    """'its workers start by fork only: nothing is pickled'."""
    return f"{started_by(loader, model)}: nothing is pickled"


def named(loaders: list[Loader]) -> str:
    """'`train_loader` in train.py', '`a` in x.py, `b` in y.py, `c` in z.py and 2 others'."""
    names = list(dict.fromkeys(loader.described for loader in loaders))
    others = len(names) - _MAX_NAMED
    rest = f" and {others} other{'s' if others > 1 else ''}" if others > 0 else ""
    return ", ".join(names[:_MAX_NAMED]) + rest
