"""
# stored-data-mutation (LDR401)

## What it does
Finds sample code that changes in place what the dataset stores: `x = self.data[i]; x *= 2`, `x[mask] = 0`,
`x.clamp_(0)`, `np.random.shuffle(x)`, `cv2.rectangle(x, ...)`, directly or in a helper that edits its argument. Where
the dataset keeps one dictionary, list or object for each sample, it also finds what changes such a record more each
time: `info["path"] = root + info["path"]`, `info["boxes"].append(box)`, `info.pop("mask")`.

## Why is this bad?
`self.data[i]` is no copy: the next time the sample is read it has been changed already, a little more each epoch.
Measured: with `num_workers=0` three epochs see 2, 4, 8 times the stored value; with `persistent_workers=True` too, in
each worker's copy. With plain workers each epoch starts from a fresh copy, which hides the fault until somebody sets
`num_workers=0` or persistent workers. A memory-mapped array in mode `r+` is changed on disk. Tensors are really shared
between spawned workers, and with the main process.

## When it is not a bug
- The data is copied first: `.copy()`, `.clone()`, `np.copy`, `np.array`, `copy.deepcopy`, an index that is a list or a
  mask; `x = x * 2` makes a new array.
- The array is read anew for each sample (`np.load(path)`).
- A field of a record gets the same value each time (`info["index"] = i`), or the record says that it was done already
  (`if not info.get("done")`).
- Keeping state on self (caches, buffers, counters, an order that is shuffled) is another matter.

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
Safe where it is known to be an array, a tensor or a list that is sorted: the copy has the same values. Where a helper
edits its argument, what its callers pass is copied where they take it out; there is no fix where one is a pipeline.
Unsafe (`copy.deepcopy`) for a record, which may hold what cannot be copied, and where the kind of object is not known.

## References
- [Copy-on-write and fork](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [numpy.copy](https://numpy.org/doc/stable/reference/generated/numpy.copy.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Finding, Fix, Place, Severity, Silence, Wrap
from loaderlint.knowledge.arrays import (
    KEEPS_VALUES,
    LIST_METHODS,
    MUTATING_FUNCTIONS,
    MUTATING_METHODS,
    OUT_ARGUMENT,
    OVERWRITES,
)
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Instance, Lib, Method, Origin, Val
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.argument_sources import passed_for
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.lazy_places import Spot
from loaderlint.rules.shared.record_edits import RecordEdit, is_record, record_edits
from loaderlint.rules.shared.silence_reasons import silent, too_unsure
from loaderlint.rules.shared.stored_kinds import (
    Kind,
    container_kind,
    has_rows,
    is_array_index,
    known_kind,
    memory,
    used_as_array,
)
from loaderlint.rules.shared.wording import in_workers_of, loaders_of

#: How many calls lie between the edit and where the data is taken out.
_MAX_CALLERS = 3


_NOT_STORED = "what it changes is not known to be stored: it is a copy, made for this sample, or from elsewhere"
_OVERWRITING = frozenset(f"`.{name}()`" for name in OVERWRITES)
_STATE = "it may be a number or a list, or what is meant to change: a cache, a buffer, a shuffled order"


class Edit(NamedTuple):
    """A change in place of expression `target`, at `spot`. `shows`: what kind of object the way it is done shows.
    `form`: 'augment', 'item augment' (`x[i] += 1`), 'item' (`x[i] = 1`), 'method', 'function', 'record'."""

    target: int
    spot: Spot
    shows: Kind | None
    how: str
    form: str


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each stored object that is edited, at the first edit."""
    for frame in function.frames:
        done: set[int] = set()
        for edit in _edits(frame, model):
            root = _root(edit.target, frame, model)
            if root in done:
                continue
            findings = list(_stored_edit(edit, frame, model))
            yield from findings
            if any(isinstance(one, Finding) for one in findings):
                done.add(root)
        for record in record_edits(frame, model):
            if _root(record.record, frame, model) not in done:
                yield from _edited_record(record, frame, model)


def _stored_edit(edit: Edit, frame: Frame, model: Model) -> Iterator[Finding | Silence]:
    value = model.ev.eval(edit.target, frame)
    for origin in sorted(value.origins, key=lambda o: (len(o.path), o.path)):
        if _is_stored(origin, value, model):
            yield from _judge(frame, edit, value, origin, model)
            return
    made = "what it changes is made anew in the worker" if value.origins else _NOT_STORED
    reason = "where what it changes comes from is not known" if value.unknown and not value.origins else made
    yield from silent(RULE.name, edit.spot, reason, model)


def _edited_record(edit: RecordEdit, frame: Frame, model: Model) -> Iterator[Finding | Silence]:
    value = model.ev.eval(edit.record, frame)
    for origin in sorted(value.origins, key=lambda o: (len(o.path), o.path)):
        if is_record(value, origin) and _is_stored(origin, value, model):
            yield from _judge(frame, Edit(edit.record, edit.spot, None, edit.how, "record"), value, origin, model)
            return


def _root(target: int, frame: Frame, model: Model) -> int:
    """What a name was bound to before it was edited with `+=` and its like."""
    return model.once(_Roots).of(target, frame)


class _Roots:
    """The roots of the expressions of each piece: a name may be edited thousands of times."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[tuple[Path, int], dict[int, int]] = {}

    def of(self, target: int, frame: Frame) -> int:
        """The root of an expression."""
        known = self._known.setdefault((frame.path, frame.piece), {})
        line: dict[int, None] = {}
        while target not in known:
            e = self._model.ev.expr(frame, target)
            if target in line:
                # In a loop a name that nothing bound before is its own old value: `for x in xs: total += x`.
                passed = list(line)
                known.update((one, one) for one in passed[passed.index(target) :])
            elif isinstance(e, ir.Augmented):
                line[target] = None
                target = e.target
            else:
                known[target] = target
        root = known[target]
        for one in line:
            known.setdefault(one, root)
        return next((known[one] for one in line), root)


# --- what changes something in place ----------------------------------------------------------------------------------


def _edits(frame: Frame, model: Model) -> Iterator[Edit]:
    unused = {step.expr for _, step in model.steps_of(frame, ir.Evaluate)}
    for number, step in model.steps(frame):
        if isinstance(step, ir.Augment) and step.stored != "attr":  # a counter on self is state
            yield from _augment(step, number, frame, model)
        elif isinstance(step, ir.SetItem) and not _follows_augment(frame, number, model):
            shows = _shown_by_index(step.index, frame, model)
            yield Edit(step.base, Spot(frame, number, "step"), shows, "an assignment to its items", "item")
        elif isinstance(step, ir.Perform):
            yield from _calls(step.call, step.call in unused, frame, model)


def _augment(step: ir.Augment, number: int, frame: Frame, model: Model) -> Iterator[Edit]:
    spot = Spot(frame, number, "step")
    if step.stored == "name":
        yield Edit(step.target, spot, None, f"`{step.op}=`", "augment")
        return
    item = model.ev.expr(frame, step.target)
    if not isinstance(item, ir.Index):
        return
    shows = _shown_by_index(item.index, frame, model)
    added = model.ev.eval(step.value, frame).literal
    if shows is None and step.op in "+-" and added is not None and added.kind == "int":
        return  # `self.counts[i] += 1` is a counter
    yield Edit(item.base, spot, shows, f"`{step.op}=` on an item", "item augment")


def _follows_augment(frame: Frame, number: int, model: Model) -> bool:
    """`x[i] += 1` is an Augment and then a SetItem: one edit."""
    before = model.def_of(frame).steps[number - 1] if number else None
    return isinstance(before, ir.Augment) and before.stored == "item"


def _shown_by_index(index: int, frame: Frame, model: Model) -> Kind | None:
    """Only arrays take some indexes; a plain slice is taken by lists too."""
    return "unknown" if is_array_index(index, frame, model) else None


def _calls(number: int, unused: bool, frame: Frame, model: Model) -> Iterator[Edit]:
    call = model.ev.expr(frame, number)
    if not isinstance(call, ir.Call):
        return
    spot = Spot(frame, number)
    callee = model.ev.eval(call.func, frame)
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr) and not callee.only(Method, FunctionRef, Lib):
        yield from _method(func, unused, spot)
    for atom in callee.atoms:
        if isinstance(atom, Lib) and atom.name in MUTATING_FUNCTIONS:
            positional = [arg for arg in call.args if arg.kind == "pos"]
            for position in MUTATING_FUNCTIONS[atom.name]:
                if position < len(positional):
                    word = atom.name.rpartition(".")[2]
                    yield Edit(positional[position].value, spot, "unknown", f"`{word}`", "function")
    for arg in call.args:
        if arg.kind == "kw" and arg.name == OUT_ARGUMENT:
            yield Edit(arg.value, spot, "unknown", "`out=`", "function")


def _method(func: ir.Attr, unused: bool, spot: Spot) -> Iterator[Edit]:
    if func.name.endswith("_") and not func.name.startswith("_") and func.name not in KEEPS_VALUES:
        yield Edit(func.base, spot, "tensor", f"`.{func.name}()`", "method")
    elif func.name in MUTATING_METHODS and unused:
        yield Edit(func.base, spot, "list" if func.name in LIST_METHODS else None, f"`.{func.name}()`", "method")


# --- what is stored ---------------------------------------------------------------------------------------------------


def _is_stored(origin: Origin, value: Val, model: Model) -> bool:
    """Whether an origin outlives the sample: a field filled outside worker code, or a module's own data."""
    if isinstance(origin.owner, ModuleRef | ClassRef):
        return len(origin.path) > 1 or origin.relation == "view" or known_kind(value) in ("array", "tensor")
    if not isinstance(origin.owner, Instance):
        return False
    site = origin.owner.site
    if site is not None and model.runs_in_worker(site.frame):
        return False
    stores = model.ev.classes.stores(origin.owner, origin.path[0])
    return not any(model.runs_in_worker(store.frame) for store in stores)


def _kind_of(frame: Frame, edit: Edit, value: Val, origin: Origin, model: Model) -> Kind | None:
    """The kind of what is edited; None if it may be a number, or keeps state: a cache, a buffer, a shuffled order."""
    if edit.form == "record":
        return "record"
    is_whole = origin.relation == "same" and len(origin.path) == 1
    if is_whole and (edit.form == "item" or edit.how == "`shuffle`" or edit.how in _OVERWRITING):
        return None
    known = known_kind(value)
    if edit.shows == "tensor" or known in ("array", "tensor"):
        return "tensor" if edit.shows == "tensor" else known
    if edit.shows == "list" and model.ev.expr(frame, edit.target) is not None:
        return "list"  # `x.sort()` as a statement: a list or an array, and both have `.copy()`
    if edit.shows is not None or used_as_array(edit.target, frame, model) or has_rows(origin, model):
        return "list" if known == "list" else container_kind(origin, model)
    if edit.form == "item augment" and origin.relation == "element":
        return "unknown"  # whatever the item is, its container is changed
    return None


# --- the finding ------------------------------------------------------------------------------------------------------


def _judge(frame: Frame, edit: Edit, value: Val, origin: Origin, model: Model) -> Iterator[Finding | Silence]:
    kind = _kind_of(frame, edit, value, origin, model)
    held = memory(origin, model)
    exposure = model.exposure(frame, 0, parts=("sample", "collate"))
    if kind is None or exposure is None or held == "read only":
        reason = "the array is mapped read-only: writing to it raises" if held == "read only" else _STATE
        yield from silent(RULE.name, edit.spot, reason, model)
        return

    def stays(loader: Loader) -> bool:
        return _stays(loader, kind, held, model)

    exposure = Exposure(tuple(sorted(exposure.loaders, key=lambda loader: not stays(loader))), exposure.certainty)
    base = Severity.ERROR if stays(exposure.lead) else Severity.WARNING
    severity = loudness(base, exposure.certainty, 1 if kind == "unknown" else 0)
    if severity is None:
        yield from silent(RULE.name, edit.spot, too_unsure(exposure.certainty), model)
        return
    name = _field(origin)
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{edit.how} changes the stored `{name}` itself, {_when(exposure, held, stays(exposure.lead))}; edit a copy",
        edit.spot.place(model),
        name,
        model.why(frame, exposure),
        _fixes(frame, edit, kind, model),
    )


def _field(origin: Origin) -> str:
    parts = "".join(part if part == "[]" else f".{part}" for part in origin.path)
    owner = "self" if isinstance(origin.owner, Instance) else ""
    return f"{owner}{parts.replace('[]', '[...]')}".lstrip(".")


def _when(exposure: Exposure, held: str, stays: bool) -> str:
    if held == "file":
        return "and the file it is mapped from with it"
    if exposure.lead.out_of_sight:
        return "so it is changed a little more each time it is read without workers or with persistent ones"
    if stays:
        return f"so every epoch of {loaders_of(exposure)} sees it changed a little more"
    until = "until the epoch ends, and for ever without workers or with persistent ones"
    return f"which {in_workers_of(exposure)} lasts {until}"


def _stays(loader: Loader, kind: Kind, held: str, model: Model) -> bool:
    """Whether the changes stay: no workers, workers that live on, or memory that is really shared."""
    if loader.out_of_sight:
        return False
    if loader.has_workers() == "no" or loader.persistent or held == "shared":
        return True
    forked = "fork" in model.start_methods(loader)
    return forked if held == "file" else kind == "tensor" and not forked


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fixes(frame: Frame, edit: Edit, kind: Kind, model: Model) -> tuple[Fix, ...]:
    """Copy where the alias is bound in this def, or where it is passed to it."""
    e = model.ev.expr(frame, edit.target)
    if isinstance(root := model.ev.expr(frame, _root(edit.target, frame, model)), ir.Param):
        return _copies(_bound_by_callers(frame, root.index, model, 0), kind)
    if not isinstance(e, ir.Index | ir.Attr):
        return ()
    bound = model.place(frame, edit.target)
    if bound.anchor < 0 or bound.anchor >= edit.spot.place(model).anchor:
        return ()  # no name holds it: `self.data[i] += 1` has nothing to copy
    return _copies([bound], kind)


def _bound_by_callers(frame: Frame, index: int, model: Model, depth: int) -> list[Place]:
    """Where worker code takes out what it passes for a parameter of a def, if stored; none if some of it is out of
    sight. Copied there, it is what the caller goes on with as well."""
    places: dict[Place, None] = {}
    here = (frame.path, frame.piece, frame.def_)
    for one in [f for f in model.reached if (f.path, f.piece, f.def_) == here]:
        for passed in passed_for(one, index, model):
            e = model.ev.expr(passed.frame, passed.number) if passed.number != NONE else None
            if e is None:
                return []
            value = model.ev.eval(passed.number, passed.frame)
            if not any(_is_stored(origin, value, model) for origin in value.origins):
                continue
            if isinstance(e, ir.Param) and depth < _MAX_CALLERS:
                above = _bound_by_callers(passed.frame, e.index, model, depth + 1)
                if not above:
                    return []
                places.update(dict.fromkeys(above))
            elif isinstance(e, ir.Index) and (place := model.place(passed.frame, passed.number)).anchor >= 0:
                places[place] = None
            else:
                return []
    return list(places)


def _copies(bound: list[Place], kind: Kind) -> tuple[Fix, ...]:
    """A copy at each of these places."""
    if not bound:
        return ()
    before, after, how = {
        "array": ("{numpy}.copy(", ")", "np.copy(...)"),
        "tensor": ("", ".clone()", ".clone()"),
        "list": ("", ".copy()", ".copy()"),
        "record": ("{copy}.deepcopy(", ")", "copy.deepcopy(...)"),
        "unknown": ("{copy}.deepcopy(", ")", "copy.deepcopy(...)"),
    }[kind]
    wraps = tuple(Wrap(place, before, after) for place in bound)
    return (Fix(f"Edit a copy: `{how}`", "unsafe" if kind in ("record", "unknown") else "safe", wraps),)


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
