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
- Keeping state on self (caches, buffers, counters, an order that is shuffled, or reversed by chance) is another matter.

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

from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Finding, Fix, Place, Severity, Silence, Wrap
from loaderlint.knowledge.arrays import OVERWRITES
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Origin, Val
from loaderlint.project.reach.model import Exposure, Loader, Model, Part, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.stored_kinds import (
    Kind,
    Memory,
    container_kind,
    has_rows,
    is_stored,
    known_kind,
    memory,
    used_as_array,
)
from loaderlint.rules.shared.stream_items import draws
from loaderlint.rules.shared.wording import in_workers_of, loaders_of
from loaderlint.rules.stored_data_mutation.argument_sources import taken_out_by_callers
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit, edits, root_of
from loaderlint.rules.stored_data_mutation.record_edits import RecordEdit, is_record, record_edits

_PARTS: tuple[Part, ...] = ("sample", "collate")


_NOT_STORED = "what it changes is not known to be stored: it is a copy, made for this sample, or from elsewhere"
_OVERWRITING = frozenset(f"`.{name}()`" for name in OVERWRITES)
_STATE = "it may be a number or a list, or what is meant to change: a cache, a buffer, a shuffled order"


class StoredEdit(NamedTuple):
    """An edit of stored data: of which kind it is, where it is stored, and in which memory."""

    edit: Edit
    kind: Kind
    origin: Origin
    held: Memory


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each stored object that is edited, at the first edit."""
    for frame in function.frames:
        done: set[int] = set()
        found = (candidate for edit in edits(frame, model) for candidate in _candidates(edit, frame, done, model))
        for one in judged(RULE, found, model, parts=_PARTS, weigh=partial(_weigh, model)):
            done.update(() if isinstance(one, Silence) else [root_of(one.about.edit.target, frame, model)])
            yield one if isinstance(one, Silence) else _finding(one, model)
        records = (found for record in record_edits(frame, model) for found in _of_record(record, frame, done, model))
        for one in judged(RULE, records, model, parts=_PARTS, weigh=partial(_weigh, model)):
            yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(edit: Edit, frame: Frame, done: Set[int], model: Model) -> Iterator[Candidate[StoredEdit] | Silence]:
    """An edit of what is stored, if it is none of an object that is done."""
    if root_of(edit.target, frame, model) in done:
        return
    value = model.ev.eval(edit.target, frame)
    for origin in _sorted(value):
        if is_stored(origin, value, model):
            yield from _candidate(edit, frame, value, origin, model)
            return
    made = "what it changes is made anew in the worker" if value.origins else _NOT_STORED
    reason = "where what it changes comes from is not known" if value.unknown and not value.origins else made
    yield from silent(RULE.name, edit.spot, reason, model)


def _of_record(
    edit: RecordEdit, frame: Frame, done: Set[int], model: Model
) -> Iterator[Candidate[StoredEdit] | Silence]:
    """An edit of a stored record, if it is none of an object that is done."""
    if root_of(edit.record, frame, model) in done:
        return
    value = model.ev.eval(edit.record, frame)
    for origin in _sorted(value):
        if is_record(value, origin) and is_stored(origin, value, model):
            record = Edit(edit.record, edit.spot, None, edit.how, "record")
            yield from _candidate(record, frame, value, origin, model)
            return


def _candidate(
    edit: Edit, frame: Frame, value: Val, origin: Origin, model: Model
) -> Iterator[Candidate[StoredEdit] | Silence]:
    kind, held = _kind_of(frame, edit, value, origin, model), memory(origin, model)
    if held == "read only":
        yield from silent(RULE.name, edit.spot, "the array is mapped read-only: writing to it raises", model)
    elif kind is None or not model.reached[frame].bits(_PARTS):
        yield from silent(RULE.name, edit.spot, _STATE, model)
    else:
        yield Candidate(StoredEdit(edit, kind, origin, held), frame, edit.spot)


def _weigh(model: Model, stored: Sequence[Candidate[StoredEdit]], exposure: Exposure) -> Severity | Unsaid:
    one = stored[0].about
    stays = any(_stays(loader, one, model) for loader in exposure.loaders)
    return lowered(Severity.ERROR if stays else Severity.WARNING, exposure, 1 if one.kind == "unknown" else 0)


def _finding(verdict: WorkerVerdict[StoredEdit], model: Model) -> Finding:
    one, name = verdict.about, _field(verdict.about.origin)
    loaders = sorted(verdict.exposure.loaders, key=lambda loader: not _stays(loader, one, model))
    exposure = Exposure(tuple(loaders), verdict.certainty)
    return verdict.finding(
        f"{one.edit.how} changes the stored `{name}` itself, {_when(one, exposure, model)}; edit a copy",
        verdict.spot.place(model),
        name,
        model.why(verdict.frame, exposure),
        _fixes(verdict.frame, one.edit, one.kind, model),
    )


def _when(one: StoredEdit, exposure: Exposure, model: Model) -> str:
    """When the change is seen."""
    if one.held == "file":
        return "and the file it is mapped from with it"
    if exposure.lead.out_of_sight:
        return "so it is changed a little more each time it is read without workers or with persistent ones"
    if _stays(exposure.lead, one, model):
        return f"so every epoch of {loaders_of(exposure)} sees it changed a little more"
    until = "until the epoch ends, and for ever without workers or with persistent ones"
    return f"which {in_workers_of(exposure)} lasts {until}"


def _stays(loader: Loader, one: StoredEdit, model: Model) -> bool:
    """Whether the changes stay: no workers, workers that live on, or memory that is really shared."""
    if loader.out_of_sight:
        return False
    if loader.has_workers() == "no" or loader.persistent or one.held == "shared":
        return True
    forked = "fork" in model.start_methods(loader)
    return forked if one.held == "file" else one.kind == "tensor" and not forked


def _field(origin: Origin) -> str:
    parts = "".join(part if part == "[]" else f".{part}" for part in origin.path)
    owner = "self" if isinstance(origin.owner, Instance) else ""
    return f"{owner}{parts.replace('[]', '[...]')}".lstrip(".")


# --- what is stored ---------------------------------------------------------------------------------------------------


def _sorted(value: Val) -> list[Origin]:
    return sorted(value.origins, key=lambda origin: (len(origin.path), origin.path))


def _kind_of(frame: Frame, edit: Edit, value: Val, origin: Origin, model: Model) -> Kind | None:
    """The kind of what is edited; None if it may be a number, or keeps state: a cache, a buffer, a shuffled order."""
    if edit.form == "record":
        return "record"
    is_whole = origin.relation == "same" and len(origin.path) == 1
    if is_whole and (edit.form == "item" or edit.how == "`shuffle`" or edit.how in _OVERWRITING):
        return None
    if edit.how == "`shuffle`" and isinstance(model.ev.expr(frame, edit.target), ir.Element):
        return None  # `for group in self.groups: random.shuffle(group)`: all groups at once, so it is no sample's data
    if is_whole and edit.how == "`.reverse()`" and _is_by_chance(edit.spot.number, frame, model):
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


def _is_by_chance(call: int, frame: Frame, model: Model) -> bool:
    """Whether a call stands in a branch that a drawn number decides about: whatever the order was before, it is either
    one then."""
    one = model.def_of(frame)
    around = (context for inner in frame.code.contexts_of(call) for context in one.around(inner))
    tests = [context.expr for context in around if context.kind == "if"]
    parts = set(ir.made_of(frame.code.exprs, tests))
    return any(made.number in parts and draws(made) for made in model.frame_calls(frame))


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fixes(frame: Frame, edit: Edit, kind: Kind, model: Model) -> tuple[Fix, ...]:
    """Copy where the alias is bound in this def, or where it is passed to it."""
    e = model.ev.expr(frame, edit.target)
    if isinstance(root := model.ev.expr(frame, root_of(edit.target, frame, model)), ir.Param):
        return _copies(taken_out_by_callers(frame, root.index, model), kind)
    if not isinstance(e, ir.Index | ir.Attr):
        return ()
    bound = model.place(frame, edit.target)
    if bound.anchor < 0 or bound.anchor >= edit.spot.place(model).anchor:
        return ()  # no name holds it: `self.data[i] += 1` has nothing to copy
    return _copies([bound], kind)


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
