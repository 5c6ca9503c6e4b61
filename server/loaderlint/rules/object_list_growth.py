"""
# object-list-growth (LDR406)

## What it does
Finds lists, tuples and dicts of Python objects that grow with the data set (one entry a file or line), that the
constructor keeps on a dataset and that forked workers read item by item. Off by default.

## Why is this bad?
A forked worker shares its memory with the main process until somebody writes to it, and reading a Python object writes
to it: its reference count. Page by page the list is copied into each worker. Measured on Linux with 2 workers that each
read half of the items: what a worker has for itself grows from 11 to 70 MB for a list of strings, the same for a tuple
and for a NumPy array of objects, from 10 to 35 for integers, from 11 to 28 for dicts, and from 10 to 13 MB for a NumPy
array of fixed-width bytes, from 10 to 12 for a tensor or pyarrow. With millions of items and many workers the machine
runs out of memory in the middle of an epoch (`DataLoader worker (pid N) is killed by signal: Killed`).

## When it is not a bug
- Some thousand items: a few megabytes in each worker.
- Workers that are spawned: each gets a whole copy at once, whatever it is.
- Arrays and tensors, pyarrow tables, lists of large arrays.

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
There is no fix: what takes the place of the list depends on what is in it. `np.array(..., dtype=object)` and tuples
change nothing.

## References
- [The issue](https://github.com/pytorch/pytorch/issues/13246)
- [Multi-process data loading, the warning](https://pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, MapOf, SeqOf, Site, Val
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Verdict
from loaderlint.rules.shared.lazy_places import spot_of
from loaderlint.rules.shared.silence_reasons import few_workers, silent, started_by
from loaderlint.rules.shared.wording import in_workers_of

#: Library calls that give a Python list or dict with an entry for each file, line or record.
_READERS = re.compile(
    r"^(?:json\.loads?|pickle\.load|yaml\.(?:safe_)?load|glob\.i?glob|os\.listdir|os\.scandir)$"
    r"|\.(?:readlines|splitlines|tolist|to_dict|rglob|glob|iterdir)$"
)
#: Library objects whose memory is not that of Python objects.
_ARRAYS = ("numpy.", "torch.", "cv2.", "PIL.", "pyarrow.", "pandas.", "h5py.")


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding an attribute of the loader's datasets."""
    exposure = model.exposed(1 << loader.index, 0, 1)
    reason = _why_not(loader, exposure, model)
    if exposure is None or reason:
        if loader.site is not None:
            yield from silent(RULE.name, spot_of(loader.site), reason, model)
        return
    for dataset in loader.datasets:
        if not isinstance(dataset, Instance):
            continue
        for name, reader in sorted(_read_by_item(dataset, loader, model).items()):
            store = next((s for s in model.ev.classes.stores(dataset, name) if _grows(s, name, model)), None)
            if store is None or model.runs_in_worker(store.frame):
                if model.explains:
                    yield from _not_grown(dataset, name, model)
                continue
            yield Verdict(RULE.name, RULE.severity, "proven").finding(
                f"reading `{name}` copies it into each worker bit by bit {in_workers_of(exposure)}: a look at a Python "
                "object writes its reference count; if it is large, keep it in a NumPy array of fixed width, a tensor "
                "or a pyarrow table",
                model.step_place(store.frame, store.step),
                f"{model.ev.classes.name(dataset.cls)}.{name}",
                (
                    Evidence(model.def_place(reader), f"{model.label(reader)} reads {name}"),
                    *model.why(reader, exposure),
                ),
            )


def _why_not(loader: Loader, exposure: Exposure | None, model: Model) -> str:
    """Why nothing of the main process is copied bit by bit into the loader's workers; '' if it may be."""
    if exposure is None:
        return few_workers(loader)
    if exposure.certainty == "possible":
        return "how many workers it has is not known"
    return "" if "fork" in model.start_methods(loader) else f"{started_by(loader, model)}: they share no memory"


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
        for number in tuple(frame.memo):
            e = model.ev.expr(frame, number)
            base = model.ev.expr(frame, e.base) if isinstance(e, ir.Index) else None
            if isinstance(e, ir.Index) and isinstance(base, ir.Attr) and ir.is_self(model.ev.expr(frame, base.base)):
                if not isinstance(model.ev.expr(frame, e.index), ir.Const):
                    found.setdefault(base.name, frame)
    return found


def _grows(store: Store, name: str, model: Model) -> bool:
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
