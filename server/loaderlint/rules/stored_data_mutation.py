"""
# stored-data-mutation (LDR401)

## What it does
Finds sample code that changes in place what the dataset stores: `x = self.data[i]; x *= 2`, `x[mask] = 0`, `x.clamp_(0)`,
`np.random.shuffle(x)`, `cv2.rectangle(x, ...)`, directly or in a helper that edits its argument.

## Why is this bad?
`self.data[i]` is no copy: the next time the sample is read it has been changed already, a little more each epoch. Measured:
with `num_workers=0` three epochs see 2, 4, 8 times the stored value; with `persistent_workers=True` too, in each worker's copy.
With plain workers each epoch starts from a fresh copy, which hides the fault until somebody sets `num_workers=0` or persistent
workers. A memory-mapped array in mode `r+` is changed on disk. Tensors are really shared between spawned workers, and with the
main process.

## When it is not a bug
- The data is copied first: `.copy()`, `.clone()`, `np.copy`, `np.array`, `copy.deepcopy`, a fancy index; `x = x * 2` makes a new
  array.
- The array is read anew for each sample (`np.load(path)`).
- Keeping state on self (caches, counters) is another matter.

## Example
```python
def __getitem__(self, index):
    image = self.images[index]
    image -= self.mean
    return image
```

## Fixed
```python
def __getitem__(self, index):
    image = np.copy(self.images[index])
    image -= self.mean
    return image
```

## Fix safety
Safe where it is known to be an array, a tensor or a list of numbers: the copy has the same values. Unsafe (`copy.deepcopy`)
where the kind of object is not known.

## References
- [Copy-on-write and fork](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [numpy.copy](https://numpy.org/doc/stable/reference/generated/numpy.copy.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.findings import Finding, Fix, Place, Severity, Wrap
from loaderlint.knowledge.arrays import ARRAY_MAKERS, MUTATING_FUNCTIONS, MUTATING_METHODS, OUT_ARGUMENT
from loaderlint.project.frames import Frame
from loaderlint.project.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.project.values import ClassRef, Instance, Lib, LibMember, LibObject, ModuleRef, Origin, SeqOf, Val
from loaderlint.rules.base import Rule, in_workers_of, loudness, page

Kind = Literal["array", "tensor", "list", "unknown"]
#: Attributes and methods that only arrays and tensors have.
_ARRAY_WORDS = frozenset(
    "shape ndim dtype astype mean std reshape transpose T flatten ravel max min sum clip size copy".split()
)


class Edit(NamedTuple):
    """A change in place: of expression `target`, at `place`. `array`: the way it is done shows that it is an array."""

    target: int
    place: Place
    array: bool
    how: str


def find(function: WorkerFunction, model: Model) -> Iterator[Finding]:
    """One finding an edit."""
    for frame in function.frames:
        for edit in _edits(frame, model):
            value = model.ev.eval(edit.target, frame)
            for origin in sorted(value.origins, key=lambda o: (len(o.path), o.path)):
                if _is_stored(origin, model):
                    yield from _judge(frame, edit, value, origin, model)
                    break


# --- what changes something in place ----------------------------------------------------------------------------------


def _edits(frame: Frame, model: Model) -> Iterator[Edit]:
    for number, step in model.steps(frame):
        if isinstance(step, ir.Augment):
            if step.stored == "attr":
                continue  # a counter on self is state
            base = step.target
            place = model.step_place(frame, number)
            if step.stored == "item":
                item = model.ev.expr(frame, step.target)
                assert isinstance(item, ir.Index)
                yield Edit(item.base, place, _is_array_index(item.index, frame, model), f"`{step.op}=` on an item")
            else:
                yield Edit(base, place, False, f"`{step.op}=`")
        elif isinstance(step, ir.SetItem) and not _follows_augment(frame, number, model):
            array = _is_array_index(step.index, frame, model)
            yield Edit(step.base, model.step_place(frame, number), array, "an assignment to its items")
        elif isinstance(step, ir.Perform):
            yield from _calls(step.call, frame, model)


def _follows_augment(frame: Frame, number: int, model: Model) -> bool:
    """`x[i] += 1` is an Augment and then a SetItem: one edit."""
    before = model.def_of(frame).steps[number - 1] if number else None
    return isinstance(before, ir.Augment) and before.stored == "item"


def _is_array_index(index: int, frame: Frame, model: Model) -> bool:
    """Whether only an array takes such an index: a slice with more than one part, a mask, an ellipsis."""
    e = model.ev.expr(frame, index)
    if isinstance(e, ir.Seq):
        return e.kind == "tuple"
    return isinstance(e, ir.Compare | ir.Slice) or (isinstance(e, ir.Const) and e.kind == "ellipsis")


def _calls(number: int, frame: Frame, model: Model) -> Iterator[Edit]:
    call = model.ev.expr(frame, number)
    if not isinstance(call, ir.Call):
        return
    place = model.place(frame, number)
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr):
        in_place = func.name.endswith("_") and not func.name.startswith("_") and func.name != "requires_grad_"
        if in_place or func.name in MUTATING_METHODS:
            yield Edit(func.base, place, in_place, f"`.{func.name}()`")
    for atom in model.ev.eval(call.func, frame).atoms:
        if isinstance(atom, Lib) and atom.name in MUTATING_FUNCTIONS:
            positional = [arg for arg in call.args if arg.kind == "pos"]
            for position in MUTATING_FUNCTIONS[atom.name]:
                if position < len(positional):
                    yield Edit(positional[position].value, place, True, f"`{atom.name.rpartition('.')[2]}`")
    for arg in call.args:
        if arg.kind == "kw" and arg.name == OUT_ARGUMENT:
            yield Edit(arg.value, place, True, "`out=`")


# --- what is stored ---------------------------------------------------------------------------------------------------


def _is_stored(origin: Origin, model: Model) -> bool:
    """Whether an origin outlives the sample: a field filled outside worker code, or a module's own data."""
    if isinstance(origin.owner, ModuleRef | ClassRef):
        return len(origin.path) > 1 or origin.relation == "view"
    if not isinstance(origin.owner, Instance):
        return False
    site = origin.owner.site
    if site is not None and model.runs_in_worker(site.frame):
        return False
    if origin.relation == "same" and len(origin.path) == 1 and origin.path[0].startswith("_cache"):
        return False
    stores = model.ev.classes.stores(origin.owner, origin.path[0])
    return not any(model.runs_in_worker(store.frame) for store in stores)


def _judge(frame: Frame, edit: Edit, value: Val, origin: Origin, model: Model) -> Iterator[Finding]:
    kind = _kind_of(frame, edit, value, origin, model)
    if kind is None:
        return
    exposure = model.exposure(frame, 0, parts=("sample", "collate"))
    if exposure is None:
        return
    worst = sorted(exposure.loaders, key=lambda loader: not _accumulates(loader, kind, model))
    exposure = Exposure(tuple(worst), exposure.certainty)
    accumulates = _accumulates(exposure.lead, kind, model)
    base = Severity.ERROR if accumulates else Severity.WARNING
    severity = loudness(base, exposure.certainty, 1 if kind == "unknown" else 0)
    if severity is None:
        return
    name = _field(origin)
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{edit.how} changes the stored `{name}` itself, {_when(exposure, accumulates)}; edit a copy",
        edit.place,
        name,
        model.why(frame, exposure),
        _fixes(frame, edit, kind, model),
    )


def _field(origin: Origin) -> str:
    parts = "".join(part if part == "[]" else f".{part}" for part in origin.path)
    owner = "self" if isinstance(origin.owner, Instance) else ""
    return f"{owner}{parts.replace('[]', '[...]')}".lstrip(".")


def _when(exposure: Exposure, accumulates: bool) -> str:
    if exposure.lead.out_of_sight:
        return "so it is changed a little more each time it is read without workers or with persistent ones"
    if accumulates:
        return f"so every epoch {in_workers_of(exposure)} sees it changed a little more".replace("in the workers of", "of")
    return f"which {in_workers_of(exposure)} lasts until the epoch ends, and for ever without workers or with persistent ones"


def _accumulates(loader: Loader, kind: Kind, model: Model) -> bool:
    """Whether the changes stay: no workers, workers that live on, or memory that is really shared."""
    if loader.out_of_sight:
        return False
    if loader.has_workers() == "no" or loader.persistent:
        return True
    return kind == "tensor" and "fork" not in model.start_methods(loader)


# --- what kind of object it is ----------------------------------------------------------------------------------------


def _kind_of(frame: Frame, edit: Edit, value: Val, origin: Origin, model: Model) -> Kind | None:
    """The kind of what is edited; None if it may be a number, or a container that keeps state."""
    known = _known_kind(value)
    if edit.how.startswith("`.") and edit.array:
        return "tensor"
    if known == "list" and edit.how == "an assignment to its items":
        return None if origin.relation == "same" else "list" if edit.array else None
    if known in ("array", "tensor"):
        return known
    if edit.array or _used_as_array(edit.target, frame, model):
        return _container_kind(origin, model)
    if known == "list" and edit.how in ("`.sort()`", "`.reverse()`", "`shuffle`"):
        return "list"
    return None


def _known_kind(value: Val) -> Kind | None:
    """What the atoms show: arrays and tensors made by a library, lists in sight."""
    kinds: set[Kind] = set()
    for atom in value.atoms:
        if isinstance(atom, LibObject) and atom.name in ARRAY_MAKERS:
            kinds.add("tensor" if atom.name.startswith("torch.") else "array")
        elif isinstance(atom, SeqOf) and atom.kind == "list":
            kinds.add("list")
    return kinds.pop() if len(kinds) == 1 else None


def _container_kind(origin: Origin, model: Model) -> Kind:
    """The kind of an item, from the container it is kept in."""
    if isinstance(origin.owner, Instance):
        field = model.ev.classes.field(origin.owner, origin.path[0])
        for atom in field.only(LibObject):
            root = atom.name.removesuffix("[]") if isinstance(atom, LibObject) else ""
            if root in ARRAY_MAKERS:
                return "tensor" if root.startswith("torch.") else "array"
    return "unknown"


def _used_as_array(target: int, frame: Frame, model: Model) -> bool:
    """Whether the def uses the edited object as only arrays are used."""
    for e in model.facts(frame).ir.exprs:
        if isinstance(e, ir.Attr) and e.base == target and e.name in _ARRAY_WORDS:
            return True
        if isinstance(e, ir.Index) and e.base == target and _is_array_index(e.index, frame, model):
            return True
    return False


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fixes(frame: Frame, edit: Edit, kind: Kind, model: Model) -> tuple[Fix, ...]:
    """Copy where the alias is bound, if that is in sight in this def."""
    e = model.ev.expr(frame, edit.target)
    if not isinstance(e, ir.Index | ir.Attr):
        return ()
    bound = model.place(frame, edit.target)
    if bound.anchor < 0 or bound.anchor >= edit.place.anchor:
        return ()  # no name holds it: `self.data[i] += 1` has nothing to copy
    if kind == "array":
        return (Fix("Edit a copy: `np.copy(...)`", "safe", (Wrap(bound, "{numpy}.copy(", ")"),)),)
    if kind == "tensor":
        return (Fix("Edit a copy: `.clone()`", "safe", (Wrap(bound, "", ".clone()"),)),)
    if kind == "list":
        return (Fix("Edit a copy: `.copy()`", "safe", (Wrap(bound, "", ".copy()"),)),)
    return (Fix("Edit a copy: `copy.deepcopy(...)`", "unsafe", (Wrap(bound, "{copy}.deepcopy(", ")"),)),)


RULE = Rule(
    code="LDR401",
    name="stored-data-mutation",
    severity=Severity.WARNING,
    needs="L",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
