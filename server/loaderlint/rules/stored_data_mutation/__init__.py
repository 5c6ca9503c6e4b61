"""
# stored-data-mutation (LDR401)

## What it does
Finds sample code that changes the dataset's own data in place: `x = self.data[i]; x *= 2`, `x[mask] = 0`,
`x.clamp_(0)`, `np.random.shuffle(x)`, `cv2.rectangle(x, ...)`, `F.dropout(x, inplace=True)`, directly, in a helper
that edits its argument, or in a step of a pipeline. What a function with `lru_cache` returns is stored data, too.

If the dataset keeps one dictionary, list or object per sample, the rule also finds edits that change such a record more
each time: `info["path"] = root + info["path"]`, `info["boxes"].append(box)`, `info.pop("mask")`. A shallow copy
(`dict(info)`, `info.copy()`, `{**info}`) still shares the record's lists.

## Why is this bad?
`self.data[i]` is not a copy, so the next read of the sample gets the changed data, a little more changed in each epoch.
Measured: with `num_workers=0`, three epochs see 2, 4 and 8 times the stored value. With `persistent_workers=True` the
same happens in each worker's copy. With normal workers, each epoch starts from a fresh copy, which hides the fault
until someone sets `num_workers=0` or persistent workers. A memory-mapped array in mode `r+` changes on disk. Spawned
workers and the main process share the memory of tensors.

## When it is not a bug
- The code copies the data first: `.copy()`, `.clone()`, `np.copy`, `np.array`, `copy.deepcopy`, an index that is a list
  or a mask, `[:]` of what is not known to be an array. `x = x * 2` creates a new array. An index that is read from a
  record is taken for a mask if the code uses it as one (`~mask`, `mask.sum()`).
- The code creates the item just before: `batch[key] = {}`, then `batch[key][name] = value`.
- What is stored is a text, a number or a path beside what is edited, or a test of the key leaves it out: `if "mask" in
  key:`. What is stored under a key that is not known is *possible* where the edit names a key.
- The code copies an array and converts a tensor, or the other way round: `np.copy(x) if isinstance(x, np.ndarray) else
  to_array(x)`. Only what is known to have the type that is not copied is reported.
- An earlier step of the pipeline returns new data: each step of a `Compose` or `nn.Sequential` gets the result of the
  step before. After `ToTensor()`, `T.Lambda(lambda image: image.clone())` or a step that returns `image + noise`, an
  edit changes only the copy. A crop of a tensor is a view, and an edit after it is reported.
- Only the shape of a new view changes: `self.points[index][:, 0].unsqueeze_(1)`.
- Each sample reads the array anew (`np.load(path)`), or the main process makes it anew before each epoch
  (`dataset.generate_chunks()` in the loop).
- A field of a record gets the same value each time (`info["index"] = i`), or the record says that the edit was already
  made (`if not info.get("done")`).
- The second time changes nothing: items are limited to a range that stays the same (`boxes[:, 0] = boxes[:, 0].clip(0,
  width)`), numbers or rows are replaced by others (`mask[mask == 4] = 3`, `boxes[np.isnan(boxes[:, 0])] = [0, 0]`), a
  mask that does not change sets the same items (`image[self.depths[i] == 0] = 0`), or the data is scaled by its own
  mean and range (`x -= x.min()`, then `x /= x.max()`). After that it may be multiplied by a number greater than 0
  (`x *= y.std()`), if only what is computed with it is kept; `x *= y.max()` may be below 0, and is a hint. It does
  change something where a drawn number decides whether the edit is made, where the data is read before it, or in a file
  that is mapped into memory. Where the mask does not change, a read before the edit is a hint: it gives other values
  after the first time.
- The same function begins the list that it adds to: `if key not in self.cache: self.cache[key] = [item]`.
- The item that is taken out is loaded again, because workers store such items in the same place: `del
  self.cache["images"][oldest]`, and `self.cache["images"][name] = load(name)`. Or the same function fills the list
  again: `if not self.queue[kind]: self.queue[kind] = shuffled(kind)`, and `self.queue[kind].pop()`.
- The workers store something new in the same place, before or after the edit: `self.state["rows"] = read(block)`, then
  `self.state["rows"].pop()`.
- The function overwrites all of a buffer each time, `self.buffer.zero_()`, or a call only writes its result into it:
  `np.abs(signal, out=self.buffer)`.
- What the dataset itself creates is only counted up and compared, and no sample contains it: `self.hits[i] += weight`,
  then `np.argmin(self.hits)`.
- The edit is under a lock that all processes share, `with self.lock:` with a `multiprocessing.Lock`: the data is meant
  to change. A `threading.Lock` does not count, because each process has its own.
- The program reads the loader once: one loop goes over it, no other loop is around that, the code that creates the
  loader runs once, and each sample edits the item at its own index. Nothing reads the changed data, so the finding is a
  hint: a second pass would. What happens to a loader that is stored or returned is not known, and neither is how often
  the cell of a notebook runs.
- The dataset keeps state on `self`: caches, buffers, counters, an order that is shuffled, or reversed by chance, a list
  that the workers fill and keep sorted.
- What is shuffled holds positions in other data, for each key or sample: `random.shuffle(self.places[kind])`, and its
  items are only used as indexes (`self.images[self.places[kind][turn]]`). This does not count where a list beside it
  has the same order, or where worker code sets a seed.
- A list that the dataset keeps for a key is shuffled each time before anything reads it: `clips = self.load(name)`,
  `random.shuffle(clips)`, `clips[:2]`. This does not count where the sample's index picks from the list, where a list
  beside it has the same order, or where worker code sets a seed.

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
Safe where the data is known to be an array, a tensor or a list that is sorted: the copy has the same values. If a
helper edits its argument, the fix copies what its callers pass. There is no fix where one of the callers is a pipeline.

An edit inside a record (`record["boxes"].append(box)`) needs a copy of the whole record: `record =
copy.deepcopy(self.records[i])`. The fix also copies the record if only the boxes have a name but the code goes on with
the record (`boxes = record["boxes"]`, `boxes *= 2`, `return record`). There is no fix if no name holds the record, or
if nothing but the edit would use the copy.

`copy.deepcopy` is safe for a record that holds only text, numbers, NumPy arrays, lists, dictionaries, tuples and sets.
That is known if it was read from JSON, YAML or TOML, if it is written out in the code, or if an annotation of the
attribute, of the stored parameter or of the field says so: `records: list[dict[str, list[int]]]`, or a `TypedDict` with
such values. The fix is unsafe for any other record: a class of the project may define what a copy is, `Any` and a bare
`dict` may hold objects that cannot be copied, and a tensor that was computed with gradients cannot. It is also unsafe
for a record that keeps what was computed once (`if "image" not in record: ...`), which a copy would lose.

## References
- [Copy-on-write and fork](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
- [numpy.copy](https://numpy.org/doc/stable/reference/generated/numpy.copy.html)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import Literal

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Origin, Val
from loaderlint.project.reach.model import Exposure, Model, Part, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.stored_objects import Memory, copies_list, is_stored, memory, takes_by_mask
from loaderlint.rules.stored_data_mutation.edit_lifetime import StoredEdit, lasts, never_seen, when_seen
from loaderlint.rules.stored_data_mutation.edited_kinds import kind_of_edited
from loaderlint.rules.stored_data_mutation.edited_roots import root_of
from loaderlint.rules.stored_data_mutation.evictions import EVICTED, is_of_cache
from loaderlint.rules.stored_data_mutation.fixed_masks import settled_by_mask
from loaderlint.rules.stored_data_mutation.fixes import copying_fixes
from loaderlint.rules.stored_data_mutation.guarded_edits import GUARDED, is_guarded
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit, edits
from loaderlint.rules.stored_data_mutation.latent_edits import is_latent
from loaderlint.rules.stored_data_mutation.made_items import CREATED, is_created_before
from loaderlint.rules.stored_data_mutation.named_items import is_left_out, may_be_under_another_key
from loaderlint.rules.stored_data_mutation.rebuilt_data import REBUILT, is_rebuilt
from loaderlint.rules.stored_data_mutation.record_edits import RecordEdit, begins_itself, is_record, record_edits
from loaderlint.rules.stored_data_mutation.refilled_containers import REFILLED, is_refilled
from loaderlint.rules.stored_data_mutation.scratch_buffers import WIPED, is_wiped
from loaderlint.rules.stored_data_mutation.settled_edits import SETTLED, settles
from loaderlint.rules.stored_data_mutation.shuffled_lists import SHUFFLED, is_always_shuffled
from loaderlint.rules.stored_data_mutation.shuffled_positions import POSITIONS, are_positions
from loaderlint.rules.stored_data_mutation.tallies import TALLY, is_tally
from loaderlint.rules.stored_data_mutation.unchangeable_items import is_unchangeable

_PARTS: tuple[Part, ...] = ("sample", "collate")


_NOT_STORED = "what it changes is not known to be stored: it may be a copy, or created for this sample"
_ANOTHER = "what is stored cannot be changed in place, or is under another key"
_MASKED = "a mask takes a copy"
_LIST = "`[:]` copies a list"
_CACHE = "the same function begins the collection that it adds to: a cache"
_GUESSED = "neither what it changes is known, nor whether the loader runs it"
_STATE = "it may be a number or a list, or meant to change: a cache, a buffer, a shuffled order"


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
    """An edit of what is stored, if it does not belong to an object that is done."""
    root = root_of(edit.target, frame, model)
    if root in done:
        return
    if takes_by_mask(root, frame, model):
        yield from silent(RULE.name, edit.spot, _MASKED, model)
        return
    if _may_be_of_list(edit) and copies_list(root, frame, model):
        yield from silent(RULE.name, edit.spot, _LIST, model)
        return
    if is_created_before(root, frame, model):
        yield from silent(RULE.name, edit.spot, CREATED, model)
        return
    value = model.ev.eval(edit.target, frame)
    stored = [origin for origin in _sorted(value) if is_stored(origin, value, model)]
    for origin in stored:
        if not _is_another(origin, edit, model):
            yield from _candidate(edit, frame, value, origin, model)
            return
    if stored:
        yield from silent(RULE.name, edit.spot, _ANOTHER, model)
        return
    made = "the worker creates what it changes" if value.origins else _NOT_STORED
    reason = "the origin of what it changes is not known" if value.unknown and not value.origins else made
    yield from silent(RULE.name, edit.spot, reason, model)


def _is_another(origin: Origin, edit: Edit, model: Model) -> bool:
    """Whether stored data is not what is edited, though it is beside that in a list or dict."""
    return is_unchangeable(origin, model) or is_left_out(edit.target, origin, edit.spot, model)


def _may_be_of_list(edit: Edit) -> bool:
    """Whether a list may be edited so."""
    return edit.shows in (None, "list") or edit.how == "`shuffle`"


def _of_record(
    edit: RecordEdit, frame: Frame, done: Set[int], model: Model
) -> Iterator[Candidate[StoredEdit] | Silence]:
    """An edit of a stored record, if it does not belong to an object that is done."""
    if root_of(edit.record, frame, model) in done:
        return
    if begins_itself(edit, frame, model):
        yield from silent(RULE.name, edit.spot, _CACHE, model)
        return
    if is_of_cache(edit, frame, model):
        yield from silent(RULE.name, edit.spot, EVICTED, model)
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
    kind, held = kind_of_edited(frame, edit, value, origin, model), memory(origin, model)
    if held == "read only":
        yield from silent(RULE.name, edit.spot, "the array is mapped read-only: writing to it raises", model)
    elif kind is None or not model.reached[frame].bits(_PARTS):
        yield from silent(RULE.name, edit.spot, _STATE, model)
    elif is_tally(value, origin, model):
        yield from silent(RULE.name, edit.spot, TALLY, model)
    elif is_guarded(edit.spot, model):
        yield from silent(RULE.name, edit.spot, GUARDED, model)
    elif is_rebuilt(origin, model):
        yield from silent(RULE.name, edit.spot, REBUILT, model)
    elif is_always_shuffled(edit, value, origin, model):
        yield from silent(RULE.name, edit.spot, SHUFFLED, model)
    elif are_positions(edit, value, origin, model):
        yield from silent(RULE.name, edit.spot, POSITIONS, model)
    elif is_refilled(edit.target, origin, frame, model):
        yield from silent(RULE.name, edit.spot, REFILLED, model)
    elif is_wiped(edit.target, frame, model):
        yield from silent(RULE.name, edit.spot, WIPED, model)
    else:
        settled = _settled(edit, held, model)
        if settled == "yes":
            yield from silent(RULE.name, edit.spot, SETTLED, model)
        else:
            about = StoredEdit(edit, kind, origin, held, settled)
            unproven = may_be_under_another_key(edit.target, origin, frame, model)
            yield Candidate(about, frame, edit.spot, unproven=unproven)


def _settled(edit: Edit, held: Memory, model: Model) -> Literal["yes", "read before", "if positive", ""]:
    """Whether an edit changes nothing the second time. A file keeps the first change for the next program."""
    if held == "file":
        return ""
    settled = settles(edit.spot, model)
    if settled != "no":
        return settled
    by_mask = settled_by_mask(edit.spot, model)
    return "yes" if by_mask == "unread" else by_mask


def _weigh(model: Model, stored: Sequence[Candidate[StoredEdit]], exposure: Exposure) -> Severity | Unsaid:
    one = stored[0].about
    if one.kind == "unknown" and all(model.reached[each.frame].possible >> exposure.lead.index & 1 for each in stored):
        return Unsaid(_GUESSED)
    latent = all(is_latent(each.about, each.frame, exposure, model) for each in stored)
    if latent or all(each.about.settles for each in stored):
        return lowered(Severity.HINT, exposure)
    stays = any(lasts(loader, one, model) for loader in exposure.loaders)
    return lowered(Severity.ERROR if stays else Severity.WARNING, exposure, 1 if one.kind == "unknown" else 0)


def _finding(verdict: WorkerVerdict[StoredEdit], model: Model) -> Finding:
    one, name = verdict.about, _field(verdict.about.origin)
    loaders = sorted(verdict.exposure.loaders, key=lambda loader: not lasts(loader, one, model))
    exposure = Exposure(tuple(loaders), verdict.certainty)
    is_seen = not is_latent(one, verdict.frame, exposure, model)
    when = when_seen(one, exposure, model) if is_seen else never_seen(exposure)
    return verdict.finding(
        f"{one.edit.how} changes the stored `{name}` itself, {when}; edit a copy",
        verdict.spot.place(model),
        name,
        model.why(verdict.frame, exposure),
        copying_fixes(verdict.frame, one.edit, one.kind, model),
    )


def _field(origin: Origin) -> str:
    parts = "".join(part if part == "[]" else f".{part}" for part in origin.path)
    owner = "self" if isinstance(origin.owner, Instance) else ""
    return f"{owner}{parts.replace('[]', '[...]')}".lstrip(".")


# --- what is stored ---------------------------------------------------------------------------------------------------


def _sorted(value: Val) -> list[Origin]:
    return sorted(value.origins, key=lambda origin: (len(origin.path), origin.path))


RULE = Rule(
    code="LDR401",
    name="stored-data-mutation",
    severity=Severity.WARNING,
    needs="L",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
    follows_data=True,
)
