"""The worker map as a tree and as JSON. Our own text is ASCII only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from loaderlint.explanations.worker_map import (
    MappedFunction,
    MappedLoader,
    MappedObject,
    WorkerMap,
    distinct,
    functions_by_file,
)
from loaderlint.report.locations import Spots
from loaderlint.report.terminal import printable

#: The maximum number of entries of each kind that are listed for a loader; the rest is only counted.
_MAX_ITEMS = 12
#: The number of loaders that are shown with everything that they run; the others get one line each.
_MAX_LOADERS = 20
#: When workers run a function.
WHEN = {"sample": "for samples", "collate": "for batches", "init": "when a worker starts"}


def text(known: WorkerMap, spots: Spots, *, whole: bool) -> Iterator[str]:
    """A tree per loader, then one line with the summary. `whole`: whether to list everything, however long."""
    return (printable(line.expandtabs()) for line in _lines(known, spots, whole=whole))


def _lines(known: WorkerMap, spots: Spots, *, whole: bool) -> Iterator[str]:
    loaders = distinct(known.loaders)
    for number, loader in enumerate(loaders):
        if number and (whole or number <= _MAX_LOADERS):
            yield ""
        yield heading(loader, spots)
        if whole or number < _MAX_LOADERS:
            yield from (f"  {line}" for line in details(loader, spots, None if whole else _MAX_ITEMS))
    if not loaders:
        yield "No loaders found."
        return
    made = [loader for loader in loaders if loader.place]
    working = sum(loader.starts_workers != "no" for loader in made)
    yield ""
    count = len(made)
    rest = "" if whole or count <= _MAX_LOADERS else f" All of each: --all; the loaders after the first {_MAX_LOADERS}"
    rest += " are shown without what they run." if rest else ""
    yield f"{count} loader{'' if count == 1 else 's'}, {working} with workers.{rest}"


def heading(loader: MappedLoader, spots: Spots) -> str:
    """'`train_loader` at train.py:12: torch.utils.data.DataLoader, num_workers=4'."""
    if loader.place is None:
        return "an unknown loader, assumed for the datasets that no known loader holds"
    none = ", no workers" if loader.starts_workers == "no" else ""
    return f"{loader.called} at {spots.text(loader.place)}: {loader.library}, {loader.workers}{none}"


def details(loader: MappedLoader, spots: Spots, most: int | None) -> Iterator[str]:
    """The lines about a loader, at most `most` of each kind (None: all)."""
    if loader.starts_workers != "no":
        lives = {True: " and persist across epochs", False: "", None: " and may persist across epochs"}
        methods = " or ".join(loader.start_methods)
        yield f"workers start by {methods} ({loader.start_source}){lives[loader.persistent]}"
    if loader.late and loader.place:
        yield f"its dataset is not known: {loader.late}"
    if loader.datasets:
        yield "datasets"
        for one in loader.datasets[:most]:
            where = f" at {spots.text(one.place)}" if one.place else ""
            yield f"  {one.name}{where}{_unsure(one.certainty)}"
        yield from _more(loader.datasets, most)
    if loader.functions:
        where = "in its workers" if loader.starts_workers != "no" else "in the main process"
        yield f"runs {where}"
        yield from _functions(loader, spots, most)
    if loader.objects and loader.starts_workers != "no":
        yield "copied into each worker"
        yield from _objects(loader.objects, spots, most)


def _functions(loader: MappedLoader, spots: Spots, most: int | None) -> Iterator[str]:
    """The functions by file; the line numbers follow their names."""
    left = len(loader.functions) if most is None else most
    for functions in functions_by_file(loader).values():
        shown = functions[:left]
        left -= len(shown)
        if not shown:
            break
        for one in shown:
            yield f"  {one.name} at {spots.text(one.place)}{_parts(one)}{_unsure(one.certainty)}"
    yield from _more(loader.functions, most)


def _parts(one: MappedFunction) -> str:
    if one.parts == ("sample",):
        return ""
    return f" ({' and '.join(WHEN[part] for part in one.parts)})"


def _objects(objects: Iterable[MappedObject], spots: Spots, most: int | None) -> Iterator[str]:
    told = [one for one in objects if not one.plain]
    plain = [one for one in objects if one.plain]
    for one in told[:most]:
        yield f"  {one.owner}.{one.name}: {one.value}, stored at {spots.text(one.place)}{_unsure(one.certainty)}"
    yield from _more(told, most)
    if plain:
        yield f"  {len(plain)} plain value{'s' if len(plain) > 1 else ''} (numbers, strings)"


def _more(items: Sequence[object], most: int | None) -> Iterator[str]:
    if most is not None and len(items) > most:
        yield f"  and {len(items) - most} more"


def _unsure(certainty: str) -> str:
    return "" if certainty == "proven" else " (possible)"


# --- JSON -------------------------------------------------------------------------------------------------------------


def as_json(known: WorkerMap, spots: Spots) -> str:
    """The map as `docs/explain.md` describes it."""
    return json.dumps({"loaders": [loader_data(loader, spots) for loader in distinct(known.loaders)]}, indent=2)


def loader_data(loader: MappedLoader, spots: Spots) -> dict[str, object]:
    """One loader."""
    return {
        "name": loader.name,
        **spots.data(loader.place),
        "library": loader.library,
        "workers": loader.workers,
        "starts_workers": loader.starts_workers,
        "persistent": loader.persistent,
        "start_methods": list(loader.start_methods),
        "start_source": loader.start_source,
        "dataset_out_of_sight": loader.late or None,
        "arguments": {one.name: {"value": one.value, "passed": one.passed} for one in loader.arguments},
        "datasets": [
            {"name": one.name, **spots.data(one.place), "certainty": one.certainty} for one in loader.datasets
        ],
        "functions": [
            {"name": one.name, **spots.data(one.place), "parts": list(one.parts), "certainty": one.certainty}
            for one in loader.functions
        ],
        "objects": [
            {
                "owner": one.owner,
                "attribute": one.name,
                "value": one.value,
                **spots.data(one.place),
                "certainty": one.certainty,
            }
            for one in loader.objects
        ],
    }
