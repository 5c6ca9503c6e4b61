"""The parts of a loader's batches in a loop over the loader, and what they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.arrays import TENSOR_MEMORY_ATTRIBUTES, TENSOR_MEMORY_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    Instance,
    LibObject,
    Literal_,
    MapOf,
    SeqOf,
    Site,
    Unknown,
    Val,
)
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.called_libraries import library_names

#: What iterates over a loader and gives its batches.
_PASSING = ("tqdm.", "builtins.iter", "rich.progress.track")
_MAX_STEPS = 12

#: Loops over loaders: by what they go over, the loader and the place of the batch in each item (1 behind `enumerate`,
#: else -1).
Loops = dict[int, tuple[Loader, int]]


class BatchPart(NamedTuple):
    """Expression `number`, a part of a batch of `loader`. `path`: how it is taken out of the batch. `tensor`: it is
    known to be one; `array`: it is NumPy's view of one."""

    number: int
    loader: Loader
    path: tuple[str | int, ...]
    tensor: bool
    array: bool


def loops_over_loaders(frame: Frame, model: Model) -> Loops:
    """The loops of a frame over loaders whose batches lie in shared memory of workers."""
    found: Loops = {}
    for _, step in model.steps(frame):
        if isinstance(step, ir.Iterate):
            source, position = _unwrapped(step.iterable, frame, model)
            loader = _loader(model.ev.eval(source, frame), model)
            if loader is not None:
                found[step.iterable] = (loader, position)
    return found


def _unwrapped(source: int, frame: Frame, model: Model) -> tuple[int, int]:
    """The iterable inside `enumerate`, progress bars and the like, with the place of its item (see `_loops`)."""
    position = -1
    for _ in range(4):
        call = model.ev.expr(frame, source)
        names = library_names(call.func, frame, model) if isinstance(call, ir.Call) else frozenset()
        if not isinstance(call, ir.Call) or not call.args:
            break
        if "builtins.enumerate" in names and position < 0:
            position = 1
        elif not any(name.startswith(_PASSING) for name in names):
            break
        source = call.args[0].value
    return source, position


def shares_memory(loader: Loader) -> bool:
    """Whether the batches of a loader lie in shared memory of workers when the main process gets them."""
    pinned = loader.argument("pin_memory").literal
    return loader.has_workers() != "no" and pinned is not None and not pinned.value


def _loader(value: Val, model: Model) -> Loader | None:
    """The loader that a value is, if its batches lie in shared memory of workers."""
    sites = {atom.site for atom in value.only(LibObject, Instance)}
    for loader in model.loaders:
        if loader.site in sites and shares_memory(loader):
            return loader
    return None


def is_made_by_library(iterable: int, frame: Frame, model: Model) -> bool:
    """Whether the iterable comes from a call of a function or class that is known by its name: not a loader."""
    source, _ = _unwrapped(iterable, frame, model)
    call = model.ev.expr(frame, source)
    root = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    while isinstance(root, ir.Attr):
        root = model.ev.expr(frame, root.base)
    if not isinstance(root, ir.Global | ir.Imported):
        return False
    atoms = model.ev.eval(source, frame).atoms
    made = all(isinstance(atom, LibObject) and atom.site == Site(frame, source) for atom in atoms)
    return bool(atoms) and made and not model.made_at(frame.path, frame.piece, source)


def batch_parts(number: int, loops: Loops, frame: Frame, model: Model) -> list[BatchPart]:
    """What of an expression lies in the memory of a batch."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Seq):
        return [part for item in e.items for part in batch_parts(item, loops, frame, model)]
    if isinstance(e, ir.Map):
        return [part for item in e.values for part in batch_parts(item, loops, frame, model)]
    one = _part(number, loops, frame, model)
    return [one] if one else []


def _part(number: int, loops: Loops, frame: Frame, model: Model) -> BatchPart | None:
    path: list[str | int] = []
    tensor = array = False
    here = number
    for _ in range(_MAX_STEPS):
        match model.ev.expr(frame, here):
            case ir.Element(iterable) if iterable in loops:
                loader, position = loops[iterable]
                if position >= 0 and (not path or path.pop() != position):
                    return None
                return BatchPart(number, loader, tuple(reversed(path)), tensor, array)
            case ir.Unpack(value, index, False):
                path.append(index)
                here = value
            case ir.Index(base, index):
                if not frame.code.has_slice(index):
                    key = model.ev.eval(index, frame).literal
                    if key is None or not isinstance(key.value, str | int):
                        return None
                    path.append(key.value)
                here = base
            case ir.Attr(base, name) if name in TENSOR_MEMORY_ATTRIBUTES:
                here, tensor = base, True
            case ir.Call(func, _):
                method = model.ev.expr(frame, func)
                if not isinstance(method, ir.Attr) or method.name not in TENSOR_MEMORY_METHODS:
                    return None
                array = array or (method.name == "numpy" and not tensor)
                here, tensor = method.base, True
            case _:
                return None
    return None


def _sampled(part: BatchPart, model: Model) -> list[Val]:
    """What the samples hold at the place that is part."""
    found: list[Val] = []
    for frame, reached in model.reached.items():
        if reached.parents.get(part.loader.index, frame) is not None or not reached.loaders.get("sample"):
            continue
        values = [model.ev.functions.returned(frame)]
        for key in part.path:
            values = [item for value in values for item in _items(value, key)]
        found.extend(values)
    return found


def _items(value: Val, key: str | int) -> Iterator[Val]:
    """Item `key` of the containers that a value is."""
    for atom in value.only(SeqOf, MapOf):
        if isinstance(atom, SeqOf) and isinstance(key, int) and -len(atom.items) <= key < len(atom.items):
            yield atom.items[key]
        elif isinstance(atom, MapOf) and key in atom.keys:
            yield atom.values[atom.keys.index(str(key))]


def _word(atom: Atom) -> str:
    """What an atom is an example of: the name of what made it, the type of a constant, the reason for not knowing."""
    match atom:
        case LibObject(name, _):
            return name
        case Literal_(kind, _, _):
            return kind
        case Unknown(reason):
            return reason
    return ""


def is_text(part: BatchPart, model: Model) -> bool:
    """Whether what is part is text: the default collate function leaves it as it is."""
    return any(_word(atom) in ("str", "builtins.str") for value in _sampled(part, model) for atom in value.atoms)


def is_tensor(part: BatchPart, model: Model) -> bool:
    """Whether what is part is known to be a tensor: it is used as one, or samples hold an array or number there."""
    if part.tensor:
        return True
    names = [_word(atom) for value in _sampled(part, model) for atom in value.atoms]
    known = ("numpy.", "torch.", "int", "index", "float", "builtins.int", "builtins.float", "builtins.len")
    plain = part.loader.argument("collate_fn").literal is not None
    return bool(names) and plain and all(name.startswith(known) for name in names)
