"""Caches that sample code fills, one entry per sample, on the object or in a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, Literal_, is_index
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.kept_state import (
    is_aware,
    is_empty,
    is_of_process,
    is_workers_own,
    only_workers_change,
    own_attribute,
    starts_empty,
)
from loaderlint.rules.shared.listing_order import listing_name
from loaderlint.rules.shared.unresolved_places import Spot

#: How many calls around a list are looked through: `sorted(list(set(names)))`.
_MAX_CALLS = 4
_KEEP_ITEMS = frozenset({"builtins.list", "builtins.tuple", "builtins.sorted", "builtins.reversed"})
_DISTINCT = frozenset({"builtins.set", "builtins.frozenset", "builtins.range", "numpy.unique", "numpy.arange"})
_NOTHING = Literal_("NoneType", None)


class SampleCache(NamedTuple):
    """An entry of the cache `name` that `frame` makes at `spot`. `owner`: the object that holds the cache; None if the
    module does."""

    frame: Frame
    spot: Spot
    owner: Instance | None
    name: str


def sample_caches(frame: Frame, model: Model) -> Iterator[SampleCache]:
    """The caches that a frame fills: `self.cache[index] = x` or `CACHE[index] = x`, where `index` is the sample's
    index, or the item at it in a list of the object (`self.names[index]`), and sample code reads the cache by the same
    key."""
    owner = frame.receiver if isinstance(frame.receiver, Instance) else None
    for number, step in model.steps_of(frame, ir.SetItem):
        if not _is_sample_key(step.index, frame, model) or is_aware(frame, model):
            continue
        counted = isinstance(model.ev.expr(frame, step.value), ir.Augmented | ir.Const)
        if counted or is_of_process(step.value, frame, model):
            continue
        spot = Spot(frame, number, "step")
        base = model.ev.expr(frame, step.base)
        name = own_attribute(step.base, frame, model)
        if owner is not None and name and model.remembered(is_workers_own, owner, name):
            if starts_empty(owner, name, model) and name in model.remembered(_looked_up, owner):
                yield SampleCache(frame, spot, owner, name)
        elif isinstance(base, ir.Global) and model.remembered(_is_modules_own, frame.path, base.name):
            if base.name in model.remembered(_looked_up_in_module, frame.path):
                yield SampleCache(frame, spot, None, base.name)


def made_in_module(cache: SampleCache, model: Model) -> Place | None:
    """Where the module makes a cache of its own."""
    file = model.files.file(cache.frame.path)
    binding = file.names[cache.name][0] if file else None
    return model.step_place(model.ev.body(file.path, binding.piece), binding.step) if file and binding else None


# --- the keys ---------------------------------------------------------------------------------------------------------


def _is_sample_key(number: int, frame: Frame, model: Model) -> bool:
    """Whether a key is the sample's own: its index, or the item at that index in a list without duplicates."""
    if _is_sample_index(number, frame, model):
        return True
    e = model.ev.expr(frame, number)
    if not isinstance(e, ir.Index) or not isinstance(frame.receiver, Instance):
        return False
    name = own_attribute(e.base, frame, model)
    return (
        bool(name)
        and _is_sample_index(e.index, frame, model)
        and model.remembered(_has_distinct_items, frame.receiver, name)
    )


def _is_sample_index(number: int, frame: Frame, model: Model) -> bool:
    return is_index(model.ev.eval(number, frame))


def _has_distinct_items(owner: Instance, name: str, model: Model) -> bool:
    """Whether an attribute that only the constructor sets holds no item twice: the names of a folder, a set, a list of
    constants."""
    stores = model.ev.classes.stores(owner, name)
    if len(stores) != 1 or not stores[0].construction or not only_workers_change(owner, name, model):
        return False
    step = model.def_of(stores[0].frame).steps[stores[0].step]
    return isinstance(step, ir.SetAttr) and _are_distinct(step.value, stores[0].frame, model, _MAX_CALLS)


def _are_distinct(number: int, frame: Frame, model: Model, calls: int) -> bool:
    match model.ev.expr(frame, number):
        case ir.Const("str", str(text)):
            return len(set(text)) == len(text)
        case ir.Seq(_, items):
            values = [model.ev.eval(item, frame).literal for item in items]
            known = {one.value for one in values if isinstance(one, Literal_)}
            return len(known) == len(items)
        case ir.Call(func, args) as call:
            names = {atom.name for atom in model.ev.eval(func, frame).atoms if isinstance(atom, Lib)}
            if names & _DISTINCT or listing_name(call, frame, model):
                return True
            if args and calls and names & _KEEP_ITEMS:
                return _are_distinct(args[0].value, frame, model, calls - 1)
    return False


# --- where they are looked up -----------------------------------------------------------------------------------------


def _looked_up(owner: Instance, model: Model) -> frozenset[str]:
    """The attributes that sample code reads by the sample's key: `self.cache[index]`, `index in self.cache`,
    `self.cache.get(index)`."""
    found = {
        own_attribute(base, frame, model)
        for frame in model.reached_on(owner)
        for base, key in _lookups(frame, model)
        if _is_sample_key(key, frame, model)
    }
    return frozenset(found - {""})


def _looked_up_in_module(path: Path, model: Model) -> frozenset[str]:
    """The names of a module that sample code reads by the sample's key."""
    found: set[str] = set()
    for frame in [one for one in model.reached if one.path == path]:
        for base, key in _lookups(frame, model):
            e = model.ev.expr(frame, base)
            if isinstance(e, ir.Global) and _is_sample_key(key, frame, model):
                found.add(e.name)
    return frozenset(found)


def _lookups(frame: Frame, model: Model) -> Iterator[tuple[int, int]]:
    """What a frame looks up, each with the key."""
    for number in sorted(model.ev.evaluated(frame)):
        match model.ev.expr(frame, number):
            case ir.Index(base, index) | ir.Compare(index, ("in" | "not in",), (base,)):
                yield base, index
            case ir.Call(func, args) if args:
                called = model.ev.expr(frame, func)
                if isinstance(called, ir.Attr) and called.name == "get":
                    yield called.base, args[0].value


# --- caches of a module -----------------------------------------------------------------------------------------------


def _is_modules_own(path: Path, name: str, model: Model) -> bool:
    """Whether a module-level name starts as an empty container or None, and only worker code mentions it."""
    file = model.files.file(path)
    bindings = file.names.get(name, []) if file else []
    if file is None or len(bindings) != 1 or bindings[0].def_ != 0 or bindings[0].step < 0:
        return False
    atoms = model.ev.names.lookup(path, name).atoms
    if not all(is_empty(atom) or atom == _NOTHING for atom in atoms):
        return False
    workers = {frame.piece for frame in model.reached if frame.path == path}
    others = set(file.mentioning(name)) - workers - {bindings[0].piece}
    return not others and not any(_may_import(other, path, name, model) for other in model.files.containing(name))


def _may_import(path: Path, module: Path, name: str, model: Model) -> bool:
    """Whether another file that contains the name may refer to this module's variable."""
    if path == module or path not in model.files.containing(module.stem):
        return False
    file = model.files.file(path)
    return file is not None and bool(file.mentioning(name))
