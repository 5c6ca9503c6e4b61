"""
# unsharded-iterable-dataset (LDR502)

## What it does
Finds iterable datasets whose `__iter__` gives every worker the whole stream: nothing in it asks which worker it runs in.

## Why is this bad?
Each worker has its own copy of the dataset and runs `__iter__` from the start. With N workers every item comes N times in an
epoch, and nothing is said. Measured: 8 items, 2 workers, batches of 4: [0..3], [0..3], [4..7], [4..7].

Under DistributedDataParallel the ranks read the same stream as well: shard by rank and by worker.

## When it is not a bug
- The stream is sharded by `get_worker_info()`: in `__iter__`, a helper, a base class, the `worker_init_fn`, or by a wrapper
  (webdataset, streaming, litdata, Hugging Face datasets).
- The stream is random: each worker draws its own items.
- Fewer than two workers.

## Example
```python
class Lines(IterableDataset):
    def __iter__(self):
        with open(self.path) as file:
            for line in file:
                yield parse(line)
```

## Fixed
```python
def shard_by_worker(stream):
    worker = torch.utils.data.get_worker_info()
    if worker is None:
        return stream
    return itertools.islice(stream, worker.id, None, worker.num_workers)

class Lines(IterableDataset):
    def __iter__(self):
        with open(self.path) as file:
            for line in shard_by_worker(file):
                yield parse(line)
```

## Fix safety
Safe where one loop yields and a turn of it depends on its own item alone: each item is still read once, in the same order
within a worker. No fix where a buffer or counter is carried from turn to turn.

## References
- [Iterable-style datasets](https://pytorch.org/docs/stable/data.html#iterable-style-datasets)
- [get_worker_info](https://pytorch.org/docs/stable/data.html#torch.utils.data.get_worker_info)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings import Finding, Fix, InsertFunction, Place, Severity, Wrap
from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS, GENERATORS
from loaderlint.project.frames import Frame
from loaderlint.project.model import Loader, Model
from loaderlint.project.values import Instance, Lib, LibMember, LibObject, SeqOf
from loaderlint.rules.base import Rule, in_workers_of, loudness, page

#: Words in worker code that show that somebody thought of it. A miss costs less than a false alarm.
_AWARE = re.compile(r"worker|shard|current_process", re.IGNORECASE)
_COMMENT = re.compile(r"#[^\n]*")
_RANDOM = ("numpy.random.", "random.", "torch.rand", "torch.normal", "torch.multinomial", "secrets.")

_SHARD = '''\
def {shard_by_worker}(stream):
    """The part of `stream` that this worker reads: every n-th item of n workers, and all of it in the main process."""
    worker = {torch.utils.data}.get_worker_info()
    if worker is None:
        return stream
    return {itertools}.islice(stream, worker.id, None, worker.num_workers)'''


def find(loader: Loader, model: Model) -> Iterator[Finding]:
    """One finding an iterable dataset of the loader, at its `__iter__`."""
    if loader.kind.shards:
        return
    bit = 1 << loader.index
    for entry in _iterations(loader, model):
        reached = model.reached[entry]
        exposure = model.exposed(bit, reached.possible & bit, 2)
        severity = loudness(Severity.ERROR, exposure.certainty) if exposure else None
        if exposure is None or severity is None or not _reads_everything(entry, loader, model):
            continue
        assert isinstance(entry.receiver, Instance)
        name = model.ev.classes.name(entry.receiver.cls)
        yield Finding(
            RULE.name,
            severity,
            exposure.certainty,
            f"every item comes once from each worker: `{name}.__iter__` runs whole {in_workers_of(exposure)} and nothing "
            "splits the stream; shard it by `get_worker_info()` (and by rank under DDP)",
            model.def_place(entry),
            name,
            model.why(entry, exposure),
            _fixes(entry, model),
        )


def _iterations(loader: Loader, model: Model) -> Iterator[Frame]:
    """The frames of `__iter__` (or `__next__`) with which the loader's workers go through an iterable dataset."""
    for frame, reached in model.reached.items():
        if not reached.loaders.get("sample", 0) >> loader.index & 1 or reached.parents.get(loader.index) is not None:
            continue
        receiver = frame.receiver
        if isinstance(receiver, Instance) and model.dataset_kind(receiver.cls) == "iterable":
            if model.def_of(frame).name == "__iter__" and not model.ev.classes.has_unknown_base(receiver.cls):
                yield frame


def _reads_everything(entry: Frame, loader: Loader, model: Model) -> bool:
    """Whether nothing that runs for the stream shards it or makes it random."""
    bit = 1 << loader.index
    yields = model.def_of(entry).is_generator
    for frame, reached in model.reached.items():
        if not reached.bits() & bit:
            continue
        file = model.files.file(frame.path)
        if file is None or file.pieces[frame.piece].ask(_is_aware):
            return False
        for call in model.frame_calls(frame):
            if any(_is_random(atom) for atom in call.callee.atoms):
                return False
    return yields or _returns_plain_iterator(entry, model)


def _is_aware(text: str) -> bool:
    return _AWARE.search(_COMMENT.sub("", text)) is not None


def _is_random(atom: object) -> bool:
    if isinstance(atom, Lib):
        return atom.name.startswith(_RANDOM)
    if isinstance(atom, LibMember) and isinstance(atom.owner, LibObject):
        return atom.name in GENERATOR_DRAWS and atom.owner.name in GENERATORS
    return False


def _returns_plain_iterator(entry: Frame, model: Model) -> bool:
    """Whether `__iter__` returns an iterator over data in sight: a list, a file, a map or generator of the project."""
    plain = ("builtins.generator", "builtins.open", "builtins.map", "builtins.zip", "builtins.enumerate", "builtins.range")
    value = model.ev.returned(entry)
    known = [a for a in value.atoms if isinstance(a, SeqOf) or (isinstance(a, LibObject) and a.name in plain)]
    return bool(known) and len(known) == len(value.atoms)


def _fixes(entry: Frame, model: Model) -> tuple[Fix, ...]:
    """Shard the iterable of the one outermost loop that yields."""
    one = model.def_of(entry)
    loops: list[tuple[int, ir.Iterate]] = []
    for number, step in enumerate(one.steps):
        inside = _loops_around(one.contexts, step.context)
        if isinstance(step, ir.Iterate) and inside == 0:
            loops.append((number, step))
        if isinstance(step, ir.YieldStep):
            if (inside == 0 and not step.is_from) or _carried(step.value, entry, model, 0):
                return ()
    if len(loops) != 1 or any(isinstance(s, ir.YieldStep) and s.is_from for s in one.steps):
        return ()
    number, loop = loops[0]
    statement = model.step_place(entry, number)
    iterable = model.place(entry, loop.iterable)
    if iterable.anchor <= statement.anchor:
        return ()  # the loop goes over a name that is bound before it
    place = Place(entry.path, entry.piece, iterable.anchor)
    function = InsertFunction(entry.path, "shard_by_worker", _SHARD)
    return (
        Fix("Give each worker its own part of the stream", "safe", (function, Wrap(place, "{shard_by_worker}(", ")"))),
    )


def _loops_around(contexts: tuple[ir.Context, ...], context: int) -> int:
    count = 0
    while context > 0:
        count += contexts[context].kind in ("loop", "while")
        context = contexts[context].parent
    return count


def _carried(number: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether a yielded value is built up over several turns of a loop."""
    e = model.ev.expr(frame, number)
    if isinstance(e, ir.Phi) or depth > 6:
        return True
    if isinstance(e, ir.Seq):
        return any(_carried(item, frame, model, depth + 1) for item in e.items) or (e.kind == "list" and not e.items)
    if isinstance(e, ir.Call):
        return any(_carried(arg.value, frame, model, depth + 1) for arg in e.args)
    if isinstance(e, ir.Map):
        return any(_carried(value, frame, model, depth + 1) for value in e.values)
    if isinstance(e, ir.Bin):
        return _carried(e.left, frame, model, depth + 1) or _carried(e.right, frame, model, depth + 1)
    return isinstance(e, ir.Augmented)


RULE = Rule(
    code="LDR502",
    name="unsharded-iterable-dataset",
    severity=Severity.ERROR,
    needs="W2",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
