"""
# object-list-growth (LDR406)

## What it does
Finds lists, tuples and dicts of Python objects that grow with the data set (one entry per file or line), that the
constructor keeps on a dataset, and that forked workers read item by item. Off by default.

## Why is this bad?
A forked worker shares its memory with the main process until one of them writes to it, and even reading a Python object
writes to it: its reference count changes. Page by page, each worker copies the list. Measured on Linux with 2 workers
that each read half of the items, the private memory of a worker grows as follows:

| the dataset keeps | from | to |
|---|---|---|
| a list or tuple of strings, or a NumPy array of objects | 11 MB | 70 MB |
| a list of integers | 10 MB | 35 MB |
| a list of dicts | 11 MB | 28 MB |
| a NumPy array of fixed-width bytes | 10 MB | 13 MB |
| a tensor or a pyarrow array | 10 MB | 12 MB |

With millions of items and many workers, the machine runs out of memory in the middle of an epoch
(`DataLoader worker (pid N) is killed by signal: Killed`).

## When it is not a bug
- The list has a few thousand items: that costs a few megabytes per worker.
- The workers are spawned: each gets a full copy at once, whatever the type.
- The data is in arrays, tensors, pyarrow tables, or lists of large arrays.

## Example
```python
def __init__(self, root):
    self.paths = sorted(str(path) for path in root.rglob("*.png"))
```

## Fixed
```python
def __init__(self, root):
    self.paths = np.array(sorted(str(path) for path in root.rglob("*.png")))

def __getitem__(self, index):
    return load(str(self.paths[index]))
```

## Fix safety
There is no fix: the right replacement depends on the content of the list. `np.array(..., dtype=object)` and tuples do
not help.

## References
- [The issue](https://github.com/pytorch/pytorch/issues/13246)
- [Multi-process data loading, the warning](https://pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.object_list_growth.grown_containers import grows
from loaderlint.rules.shared.judgement import Verdict
from loaderlint.rules.shared.silence_reasons import few_workers, silent, started_by
from loaderlint.rules.shared.unresolved_places import spot_of
from loaderlint.rules.shared.wording import in_workers_of


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each attribute of the loader's datasets."""
    exposure = model.exposed(1 << loader.index, None, 1)
    reason = _why_not(loader, exposure, model)
    if exposure is None or reason:
        if loader.site is not None:
            yield from silent(RULE.name, spot_of(loader.site), reason, model)
        return
    for dataset in loader.datasets:
        if not isinstance(dataset, Instance):
            continue
        for name, reader in sorted(_read_by_item(dataset, loader, model).items()):
            store = next((s for s in model.ev.classes.stores(dataset, name) if grows(s, name, model)), None)
            if store is None or model.runs_in_worker(store.frame):
                if model.explains:
                    yield from _not_grown(dataset, name, model)
                continue
            yield Verdict(RULE.name, RULE.severity, "proven").finding(
                f"reading `{name}` copies it page by page {in_workers_of(exposure)}: each access to a Python object "
                "changes its reference count; if it is large, keep it in a NumPy array of fixed width, a tensor "
                "or a pyarrow table",
                model.step_place(store.frame, store.step),
                f"{model.ev.classes.name(dataset.cls)}.{name}",
                (
                    Evidence(model.def_place(reader), f"{model.label(reader)} reads {name}"),
                    *model.why(reader, exposure),
                ),
            )


def _why_not(loader: Loader, exposure: Exposure | None, model: Model) -> str:
    """Why nothing of the main process is gradually copied into the loader's workers; '' if it may be."""
    if exposure is None:
        return few_workers(loader)
    if exposure.certainty == "possible":
        return "its number of workers is not known"
    return "" if "fork" in model.start_methods.of(loader) else f"{started_by(loader, model)}: they share no memory"


def _not_grown(dataset: Instance, name: str, model: Model) -> Iterator[Silence]:
    kept = next((s for s in model.ev.classes.stores(dataset, name) if s.construction), None)
    if kept is not None:
        place = model.step_place(kept.frame, kept.step)
        yield Silence(RULE.name, place, f"`{name}` is not known to be a list that grows with the data")


def _read_by_item(dataset: Instance, loader: Loader, model: Model) -> dict[str, Frame]:
    """The attributes of which sample code takes items by what is no constant, each with a frame that does."""
    found: dict[str, Frame] = {}
    for reached in model.reached_by(loader):
        frame = reached.frame
        if frame.receiver != dataset or not reached.loaders.get("sample", 0) >> loader.index & 1:
            continue
        for number in sorted(model.ev.evaluated(frame)):
            e = model.ev.expr(frame, number)
            base = model.ev.expr(frame, e.base) if isinstance(e, ir.Index) else None
            if isinstance(e, ir.Index) and isinstance(base, ir.Attr) and ir.is_self(model.ev.expr(frame, base.base)):
                if not isinstance(model.ev.expr(frame, e.index), ir.Const):
                    found.setdefault(base.name, frame)
    return found


RULE = Rule(
    code="LDR406",
    name="object-list-growth",
    severity=Severity.HINT,
    needs="W1",
    over="loader",
    find=find,
    fix=None,
    page=page(__doc__),
    enabled_by_default=False,
)
