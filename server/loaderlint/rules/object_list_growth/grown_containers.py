"""Lists and dictionaries of a dataset that have an entry for each item of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject, MapOf, SeqOf, Site, Val
from loaderlint.project.reach.model import Model

#: Library calls that give a Python list or dict with an entry for each file, line or record.
_READERS = re.compile(
    r"^(?:json\.loads?|pickle\.load|yaml\.(?:safe_)?load|glob\.i?glob|os\.listdir|os\.scandir)$"
    r"|\.(?:readlines|splitlines|tolist|to_dict|rglob|glob|iterdir)$"
)
#: Library objects whose memory is not that of Python objects.
_ARRAYS = ("numpy.", "torch.", "cv2.", "PIL.", "pyarrow.", "pandas.", "h5py.")


def grows(store: Store, name: str, model: Model) -> bool:
    """Whether a store of the constructor gives a container with an entry for each item of the data."""
    return store.construction and any(
        _is_grown(store.value, atom, store.frame, name, model) for atom in store.value.atoms
    )


def _is_grown(value: Val, atom: object, frame: Frame, name: str, model: Model) -> bool:
    match atom:
        case SeqOf(_, items, site) | MapOf(_, items, site):
            return not _are_arrays(items) and (_is_built_in_loop(site, model) or _is_filled_in_loop(name, frame, model))
        case LibObject("builtins.sorted" | "builtins.list" | "builtins.tuple", site):
            given = model.ev.calls.site_arguments(site).positional[:1]
            return any(_is_grown(one, inner, frame, name, model) for one in given for inner in one.atoms)
        case LibObject(full, _):
            return _READERS.search(full) is not None
    return False


def _are_arrays(items: tuple[Val, ...]) -> bool:
    atoms = [atom for item in items for atom in item.atoms]
    return bool(atoms) and all(isinstance(atom, LibObject) and atom.name.startswith(_ARRAYS) for atom in atoms)


def _is_built_in_loop(site: Site | None, model: Model) -> bool:
    """A comprehension over what is no display, or a list that the same def appends to in a loop."""
    if site is None:
        return False
    e = model.ev.expr(site.frame, site.expr)
    if isinstance(e, ir.Comp):
        return not any(isinstance(model.ev.expr(site.frame, one), ir.Seq | ir.Map) for one in e.iterables)
    return any(base == site.expr for base in _filled(site.frame, model))


def _is_filled_in_loop(name: str, frame: Frame, model: Model) -> bool:
    wanted = [model.ev.expr(frame, base) for base in _filled(frame, model)]
    return any(isinstance(e, ir.Attr) and e.name == name for e in wanted)


def _filled(frame: Frame, model: Model) -> Iterator[int]:
    """What a def puts items into, in a loop: `x.append(...)`, `x[key] = ...`."""
    contexts = model.def_of(frame).contexts
    for _, step in model.steps(frame):
        context = step.context
        while context > 0 and contexts[context].kind not in ("loop", "while"):
            context = contexts[context].parent
        if context <= 0:
            continue
        call = model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
        func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
        if isinstance(func, ir.Attr) and func.name in ("append", "extend", "add"):
            yield func.base
        elif isinstance(step, ir.SetItem):
            yield step.base
