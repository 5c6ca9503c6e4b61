"""The kind of a stored object (array, tensor, list) and who shares its memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import ARRAY_MAKERS, CHANGES_SHAPE, KEEPS_SHAPE, ONLY_ARRAYS
from loaderlint.knowledge.library_datasets import DATASET_BASES
from loaderlint.knowledge.plain_records import PLAIN_LOADERS
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame, is_mask_expression
from loaderlint.project.evaluation.values import (
    ClassRef,
    Instance,
    Lib,
    LibObject,
    Literal_,
    Origin,
    SeqOf,
    Site,
    Unknown,
    Val,
)
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import Model

Kind = Literal["array", "tensor", "list", "record", "unknown"]
Memory = Literal["own", "shared", "file", "read only"]

#: Calls that return whatever was saved, or a dictionary of arrays.
_ANYTHING = frozenset({"torch.load", "scipy.io.loadmat"})
#: Attributes and methods that only arrays and tensors have.
_ARRAY_WORDS = frozenset("shape ndim dtype astype mean std reshape transpose T flatten ravel max min sum clip".split())
_SHAPED = frozenset("zeros ones empty full".split())
_SIZED = frozenset("rand randn".split())


#: Names of attributes that hold a dataset, or several.
_DATASET = re.compile(r"(?:^|_)data_?set$")
_DATASETS = re.compile(r"(?:^|_)data_?sets$")


class Made(NamedTuple):
    """A library array: the call that created it, whether it is an item of that call's result, and whether it has the
    result's number of dimensions."""

    maker: str
    item: bool
    same_rank: bool
    shared: bool


def made(name: str) -> Made | None:
    """Parses the name of a library object: 'numpy.load.astype[]' is an item of an array that `numpy.load` created."""
    item, same_rank, shared = False, True, False
    while name not in ARRAY_MAKERS:
        if name.endswith("[]"):
            name, item = name[:-2], True
            continue
        name, _, method = name.rpartition(".")
        if method not in KEEPS_SHAPE and method not in CHANGES_SHAPE:
            return None
        same_rank = same_rank and method in KEEPS_SHAPE
        shared = shared or method == "share_memory_"
    return Made(name, item, same_rank, shared)


def known_kind(value: Val) -> Kind | None:
    """The kind that all atoms agree on: arrays and tensors created by a library, known lists. None if they show no kind
    or two. An item of an array may be a number: it shows no kind."""
    kinds: set[Kind | None] = set()
    for atom in value.atoms:
        if isinstance(atom, LibObject):
            kinds.add(_object_kind(atom))
        elif isinstance(atom, SeqOf) and atom.kind == "list":
            kinds.add("list")
    kinds.discard(None)
    return kinds.pop() if len(kinds) == 1 else None


def _object_kind(atom: LibObject) -> Kind | None:
    found = made(atom.name)
    if found is None or found.maker in _ANYTHING:
        return None
    if found.maker.startswith("torch.") and not atom.name.endswith(".numpy"):
        return "tensor"  # its items are tensors too
    return None if found.item else "array"


def container_kind(origin: Origin, value: Val, model: Model) -> Kind:
    """The kind of an item that is known to be an array, judging by its field or by its container."""
    for atom in (*_field(origin, model).only(LibObject), *value.only(LibObject)):
        found = made(atom.name) if isinstance(atom, LibObject) else None
        if found is not None and found.maker not in _ANYTHING:
            return "tensor" if found.maker.startswith("torch.") else "array"
    return "unknown"


def has_rows(origin: Origin, model: Model) -> bool:
    """Whether the item at `origin` is an array, because the call that created its container shows its number of
    dimensions: `self.rows[i]` of `np.ones((n, 4))`."""
    taken = origin.path.count("[]")
    if origin.relation == "view" and set(origin.path[1:]) == {"[]"}:
        taken -= 1  # one of them is a slice, which keeps the number of dimensions
    for atom in _field(origin, model).only(LibObject):
        found = made(atom.name)
        if found is not None and found.same_rank and not found.item:
            rank = _rank(atom.site, found.maker, model)
            if rank is not None and rank > taken:
                return True
    return False


def _field(origin: Origin, model: Model) -> Val:
    if isinstance(origin.owner, Instance):
        return model.ev.classes.field(origin.owner, origin.path[0])
    return Val(frozenset())


def _rank(site: Site, maker: str, model: Model) -> int | None:
    """The number of dimensions of an array, from the call that created it; None if unknown."""
    call = model.ev.expr(site.frame, site.expr)
    while isinstance(call, ir.Call) and isinstance(func := model.ev.expr(site.frame, call.func), ir.Attr):
        if not isinstance(inner := model.ev.expr(site.frame, func.base), ir.Call):
            break  # `np.zeros(...)`; `np.zeros(...).astype(...)` goes on with the inner call
        call = inner
    if not isinstance(call, ir.Call):
        return None
    arguments = model.ev.calls.arguments(call, site.frame)
    word = maker.rpartition(".")[2]
    if maker == "numpy.memmap":
        return _length(arguments.get("shape", 4))
    first = arguments.positional[0] if arguments.positional else arguments.get("shape")
    if word in _SHAPED and (maker.startswith("numpy.") or (first is not None and first.only(SeqOf))):
        return _length(first)
    if word in _SHAPED | _SIZED and all(_is_number(value) for value in arguments.positional):
        return len(arguments.positional) or None
    return _depth(first) if word in ("array", "tensor") else None


def _is_number(value: Val) -> bool:
    return not value.only(SeqOf) and value.unknown is None


def _length(shape: Val | None) -> int | None:
    atoms = shape.only(SeqOf) if shape else []
    return len(atoms[0].items) if len(atoms) == 1 else None


def _depth(value: Val | None) -> int | None:
    """The nesting depth of lists: 2 for `[[1, 2], [3, 4]]`."""
    atoms = value.only(SeqOf) if value else []
    if len(atoms) != 1 or not atoms[0].items:
        return None
    return 1 + (_depth(atoms[0].items[0]) or 0)


def used_as_array(target: int, frame: Frame, model: Model) -> bool:
    """Whether the def uses an object as only arrays and tensors are used."""
    return model.once(_ArrayUses).of(target, frame)


class _ArrayUses:
    """The expressions that defs use as arrays, memoised: a def may use thousands, and change one thousands of times."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._written: dict[tuple[Path, int], _Uses] = {}
        self._known: dict[Frame, dict[int, bool]] = {}

    def of(self, target: int, frame: Frame) -> bool:
        """Whether an object is used as an array, also under the new numbers that `x += 1` gives it."""
        uses = self._uses(frame)
        known = self._known.setdefault(frame, {})
        same, waiting = set(), [target]
        while waiting:
            one = waiting.pop()
            if one not in known and one not in same:
                same.add(one)
                waiting += uses.augmented.get(one, ())
        for one in sorted(same, reverse=True):  # `x += 1` has a larger number than the `x` before it
            known[one] = any(known[later] for later in uses.augmented.get(one, ())) or any(
                _shows_array(e, frame, self._model) for e in uses.of.get(one, ())
            )
        return known[target]

    def _uses(self, frame: Frame) -> _Uses:
        key = (frame.path, frame.piece)
        if key not in self._written:
            self._written[key] = _uses_in(self._model.facts(frame).ir.exprs)
        return self._written[key]


class _Uses(NamedTuple):
    """The expressions of a piece by what they use: `augmented` has for each expression the numbers of its `+=` results,
    `of` those of the uses that may show an array."""

    augmented: dict[int, list[int]]
    of: dict[int, list[ir.Expr]]


def _uses_in(exprs: Sequence[ir.Expr]) -> _Uses:
    uses = _Uses({}, {})
    for number, e in enumerate(exprs):
        if isinstance(e, ir.Augmented) and e.target < number:
            uses.augmented.setdefault(e.target, []).append(number)
        elif isinstance(e, ir.Index) or (isinstance(e, ir.Attr) and e.name in _ARRAY_WORDS):
            uses.of.setdefault(e.base, []).append(e)
        elif isinstance(e, ir.Call) and e.args:
            uses.of.setdefault(e.args[0].value, []).append(e)
    return uses


def _shows_array(e: ir.Expr, frame: Frame, model: Model) -> bool:
    """Whether an expression shows that what it uses is an array."""
    if isinstance(e, ir.Index):
        return is_array_index(e.index, frame, model)
    return isinstance(e, ir.Attr) or (isinstance(e, ir.Call) and _takes_arrays(e.func, frame, model))


def _takes_arrays(func: int, frame: Frame, model: Model) -> bool:
    return any(isinstance(a, Lib) and a.name in ONLY_ARRAYS for a in model.ev.eval(func, frame).atoms)


def is_array_index(index: int, frame: Frame, model: Model) -> bool:
    """Whether only an array takes such an index: a slice among several, a mask, an ellipsis."""
    e = model.ev.expr(frame, index)
    if isinstance(e, ir.Seq):
        return e.kind == "tuple" and any(_is_part(item, frame, model) for item in e.items)
    return isinstance(e, ir.Compare) or (isinstance(e, ir.Const) and e.kind == "ellipsis")


def _is_part(item: int, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, item)
    return isinstance(e, ir.Slice) or (isinstance(e, ir.Const) and e.kind == "ellipsis")


def takes_by_mask(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is what a mask takes out of an array, which is a copy: the mask may come from a function
    of the project."""
    e = model.ev.expr(frame, number)
    made_by = model.ev.eval(e.index, frame).atoms if isinstance(e, ir.Index) else frozenset()
    return bool(made_by) and all(isinstance(atom, LibObject) and _is_mask(atom, model) for atom in made_by)


def _is_mask(atom: LibObject, model: Model) -> bool:
    return _is_written_as_mask(atom.site.expr, atom.site.frame, model)


def _is_written_as_mask(number: int, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Bin) and e.op == "*":  # both hold
        return all(_is_written_as_mask(side, frame, model) for side in (e.left, e.right))
    return is_mask_expression(e)


def copies_list(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is `x[:]`, where nothing shows that `x` is an array or a tensor: it copies a list. Of an
    array it would be a view, which nobody writes."""
    e = model.ev.expr(frame, number)
    index = model.ev.expr(frame, e.index) if isinstance(e, ir.Index) else None
    if not isinstance(index, ir.Slice) or {index.lower, index.upper, index.step} != {NONE}:
        return False
    value = model.ev.eval(number, frame)
    if known_kind(value) in ("array", "tensor") or used_as_array(number, frame, model):
        return False
    return all(container_kind(origin, value, model) == "unknown" for origin in value.origins)


def memory(origin: Origin, model: Model) -> Memory:
    """Who sees a write: the process alone, all processes, or the mapped file; or the array is read-only."""
    for atom in _field(origin, model).only(LibObject):
        found = made(atom.name)
        if found is not None and found.shared:
            return "shared"
        if atom.name in ("numpy.load", "numpy.memmap"):
            return _mapped(atom, model)
    return "own"


def _mapped(atom: LibObject, model: Model) -> Memory:
    arguments = model.ev.calls.site_arguments(atom.site)
    mode = arguments.get("mmap_mode", 1) if atom.name == "numpy.load" else arguments.get("mode", 2)
    if mode is None:
        return "own" if atom.name == "numpy.load" else "file"  # `np.memmap` writes by default
    literal: Literal_ | None = mode.literal
    match literal.value if literal else None:
        case "r+" | "w+":
            return "file"
        case "r":
            return "read only"
    return "own"


def is_stored(origin: Origin, value: Val, model: Model) -> bool:
    """Whether an origin outlives the sample: a field set outside worker code, or a module's own data."""
    if isinstance(origin.owner, ModuleRef | ClassRef):
        return len(origin.path) > 1 or origin.relation == "view" or known_kind(value) in ("array", "tensor")
    if not isinstance(origin.owner, Instance):
        return False
    site = origin.owner.site
    if site is not None and model.runs_in_worker(site.frame):
        return False
    stores = model.ev.classes.stores(origin.owner, origin.path[0])
    if any(model.runs_in_worker(store.frame) for store in stores):
        return False
    if len(origin.path) > 1 and any(_is_dataset_by_annotation(store, model) for store in stores):
        return False
    is_known = known_kind(value) is not None and value.unknown is None
    return is_known or not any(_is_dataset_by_name(origin, store) for store in stores)


def _is_dataset_by_name(origin: Origin, store: Store) -> bool:
    """Whether an item is taken out of what is only known to be called a dataset, or out of one of several: that may
    make it for each sample."""
    name, taken = origin.path[0].lower(), origin.path.count("[]")
    if _DATASET.search(name):
        return taken > 0 and _may_be_dataset(store.value)
    lists = store.value.only(SeqOf)
    held = all(_may_be_dataset(item) for one in lists for item in one.items) if lists else _may_be_dataset(store.value)
    return _DATASETS.search(name) is not None and taken > 1 and held


def _may_be_dataset(value: Val) -> bool:
    """Whether a value is out of sight: no array, no list, and nothing plain that was loaded."""
    return any(
        isinstance(atom, Unknown)
        or (isinstance(atom, LibObject) and made(atom.name) is None and atom.name.rstrip("[]") not in PLAIN_LOADERS)
        for atom in value.atoms
    )


def _is_dataset_by_annotation(store: Store, model: Model) -> bool:
    """Whether an attribute gets a parameter that is annotated as a dataset, and is not known to be a list or an array:
    its items are the results of its `__getitem__`."""
    step = model.def_of(store.frame).steps[store.step]
    value = model.ev.expr(store.frame, step.value) if isinstance(step, ir.SetAttr) else None
    if known_kind(store.value) or store.value.only(SeqOf) or not isinstance(value, ir.Param):
        return False
    param = model.def_of(store.frame).params[value.index]
    if param.annotation == ir.NONE:
        return False
    declared = model.ev.eval(param.annotation, model.ev.body(store.frame.path, store.frame.piece))
    return any(
        atom.name in DATASET_BASES if isinstance(atom, Lib) else model.dataset_kind(atom) is not None
        for atom in declared.only(Lib, ClassRef)
    )
