"""
# init-through-wrapper (LDR510)

## What it does
Finds a `worker_init_fn` that sets an attribute on `get_worker_info().dataset` for a dataset that the loader holds
inside a `Subset` (also from `random_split`), `ConcatDataset`, `ChainDataset` or `StackDataset`.

## Why is this bad?
`get_worker_info().dataset` is the object that the loader holds: the wrapper. The attribute lands on the wrapper, and
the dataset inside keeps what its constructor set: a handle that is still None, a range that is not split, a seed that
is the same in each worker. Setting it raises no exception. Measured on torch 2.13 under fork, spawn and forkserver:
every sample sees the constructor's value.

## When it is not a bug
- The loader holds the dataset itself.
- The function goes through the wrapper: `info.dataset.dataset.handle = ...`, a loop over `.datasets`, a test
  `isinstance(dataset, Subset)`.
- The attribute belongs to the wrapper: `info.dataset.indices`, or an attribute of the project's own subclass of
  `Subset`.
- Nothing in the samples reads the attribute on the dataset inside.
- The attribute is a random generator or a handle that the constructor creates too: `shared-generator` and
  `handle-across-workers` report those.

## Example
```python
class Records(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None

    def __getitem__(self, index):
        return self.file[index]

def init_worker(worker_id):
    info = get_worker_info()
    info.dataset.file = h5py.File(info.dataset.path)

train, test = random_split(Records("records.h5"), [0.9, 0.1])
loader = DataLoader(train, num_workers=4, worker_init_fn=init_worker)
```

## Fixed
```python
def init_worker(worker_id):
    info = get_worker_info()
    dataset = info.dataset.dataset
    dataset.file = h5py.File(dataset.path)
```

## Fix safety
Unsafe: the fix goes through one wrapper, so a loader that later holds the dataset itself fails. It is offered where
every loader with this function holds a `Subset`.

## References
- [torch.utils.data.get_worker_info](https://pytorch.org/docs/stable/data.html#torch.utils.data.get_worker_info)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.knowledge.handles import OPENERS
from loaderlint.knowledge.library_datasets import OWN_ATTRIBUTES
from loaderlint.knowledge.numpy_random import GENERATORS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.init_through_wrapper.dataset_writes import Write, unwrapping_fixes, writes_on_dataset
from loaderlint.rules.shared.judgement import certainty_of_workers, undoubted
from loaderlint.rules.shared.silence_reasons import few_workers


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each attribute that the loader's worker_init_fn sets on a wrapper."""
    wrappers = _wrappers(loader, model)
    if not wrappers:
        return
    for reached in model.reached_by(loader):
        if reached.loaders.get("init", 0) >> loader.index & 1:
            for write in writes_on_dataset(reached.frame, model):
                readers = list(_readers(write.name, loader, model))
                reason = _why_not(write, readers, wrappers, loader)
                if reason:
                    yield Silence(RULE.name, write.place, f"{reason}: {loader.described}")
                else:
                    yield _finding(write, readers, wrappers[0], loader, model)


def _why_not(write: Write, readers: list[Evidence], wrappers: list[str], loader: Loader) -> str:
    """Why nothing is missed where it is set on the wrapper; '' if it is."""
    if loader.has_workers() == "no":
        return few_workers(loader)
    if any(write.name in OWN_ATTRIBUTES.get(name, ()) for name in wrappers):
        return f"`{write.name}` belongs to the wrapper"
    return "" if readers else f"nothing is known to read `{write.name}` on the dataset inside"


def _finding(write: Write, readers: list[Evidence], wrapper: str, loader: Loader, model: Model) -> Finding:
    assert loader.site is not None  # a presumed loader holds no wrapper
    short = wrapper.rpartition(".")[2]
    inside = "`.dataset`" if short == "Subset" else "`.datasets`, one by one"
    return undoubted(RULE, certainty_of_workers(loader)).finding(
        f"the samples of {loader.described} do not see `{write.name}`: it is set on the {short} that the loader holds, "
        f"and read on the dataset inside; set it on its {inside}",
        write.place,
        write.name,
        (Evidence(model.site_place(loader.site), f"{loader.called} holds a {short}"), *readers),
        unwrapping_fixes(write, model),
    )


# --- what the loader holds --------------------------------------------------------------------------------------------


def _wrappers(loader: Loader, model: Model) -> list[str]:
    """The library wrappers that the loader may hold; none where it may hold something else too."""
    names = [_wrapper(atom, model) for atom in loader.argument("dataset").ordered()]
    return names if all(names) else []


def _wrapper(atom: Atom, model: Model) -> str:
    """The wrapper that a dataset is, '' if it is not one. A class of the project may set what it likes on itself."""
    return atom.name if isinstance(atom, LibObject) and atom.name in OWN_ATTRIBUTES else ""


def _readers(name: str, loader: Loader, model: Model) -> Iterator[Evidence]:
    """Where the dataset inside reads the attribute; nothing where it holds what other rules mention."""
    for dataset in loader.datasets:
        if isinstance(dataset, Instance) and not _is_anothers(dataset, name, model):
            for reached in model.reached_by(loader):
                frame = reached.frame
                if frame.receiver == dataset and reached.bits(("sample",)) >> loader.index & 1:
                    for number in sorted(model.ev.evaluated(frame)):
                        if _is_own(number, name, frame, model):
                            yield Evidence(model.place(frame, number), f"{model.label(frame)} reads it")
                            break


def _is_own(number: int, name: str, frame: Frame, model: Model) -> bool:
    e = model.ev.expr(frame, number)
    return isinstance(e, ir.Attr) and e.name == name and ir.is_self(model.ev.expr(frame, e.base))


def _is_anothers(dataset: Instance, name: str, model: Model) -> bool:
    """Whether the constructor puts a generator or an open handle there."""
    return any(
        isinstance(atom, LibObject) and (atom.name in GENERATORS or atom.name in OPENERS)
        for store in model.ev.classes.stores(dataset, name)
        if store.construction
        for atom in store.value.atoms
    )


RULE = Rule(
    code="LDR510",
    name="init-through-wrapper",
    severity=Severity.WARNING,
    needs="W1",
    over="loader",
    find=find,
    fix="unsafe",
    page=page(__doc__),
)
