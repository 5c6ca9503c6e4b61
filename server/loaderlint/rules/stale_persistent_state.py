"""
# stale-persistent-state (LDR405)

## What it does
Finds assignments to a dataset, or to a transform or collate object that a loader holds, and calls of their setters
(`dataset.set_epoch(epoch)`), in the epoch loop of a loader whose workers live on: `persistent_workers=True`, timm's
`MultiEpochsDataLoader`, ultralytics' `InfiniteDataLoader`.

## Why is this bad?
The workers get their copy of the dataset when they start, which is once. What the main process sets later never
reaches them. Measured: with `dataset.epoch = epoch` in each of three epochs, plain workers see 0, 1, 2, persistent ones
0, 0, 0, under every start method. A curriculum never advances, a shuffle that is seeded by the epoch is the same each
time, an augmentation that should end goes on; nothing is said.

## When it is not a bug
- The loader's workers are started anew for each epoch (no `persistent_workers`), or the loader is made in the loop.
- The epoch is kept in memory that is really shared: `multiprocessing.Value`, a tensor after `share_memory_()`.
- A sampler's `set_epoch`: samplers run in the main process.
- What the workers never read, and what is set before the loop.

## Example
```python
loader = DataLoader(dataset, num_workers=4, persistent_workers=True)
for epoch in range(epochs):
    dataset.set_epoch(epoch)
    for batch in loader:
        ...
```

## Fixed
```python
loader = DataLoader(dataset, num_workers=4, persistent_workers=False)
for epoch in range(epochs):
    dataset.set_epoch(epoch)
    for batch in loader:
        ...
```

## Fix safety
Safe: the workers start anew in each epoch with what the dataset holds then. That takes the time of a start.

To keep the workers, keep the state in shared memory:

```python
self.epoch = torch.zeros((), dtype=torch.long).share_memory_()

def set_epoch(self, epoch):
    self.epoch.fill_(epoch)
```

## References
- [persistent_workers](https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
- [The issue that describes it](https://github.com/pytorch/pytorch/issues/97326)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Fix, SetArgument, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, Site
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.epoch_loops import Loop, goes_through, is_loader, loops_around, step_context
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.lazy_places import Spot, spot_of
from loaderlint.rules.shared.silence_reasons import few_workers, silent

#: Methods that Lightning calls in each epoch.
_HOOKS = frozenset(
    """
    on_train_epoch_start on_train_epoch_end on_epoch_start on_epoch_end training_epoch_end on_validation_epoch_end
    """.split()
)
_NOTHING = ir.Const("NoneType", None)
#: For each object of the main process that workers have a copy of: what they read of it, and where.
Read = Mapping[Instance, Mapping[str, Frame]]


class Change(NamedTuple):
    """The main process sets `attribute` of `owner` at `spot`, by a setter if `by` is one. `constant`: to this value
    (None: to a computed one)."""

    frame: Frame
    context: int
    spot: Spot
    owner: Instance
    attribute: str
    by: str
    constant: ir.Const | None


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding a place where something is set too late for the loader's workers."""
    exposure = model.exposed(1 << loader.index, 0, 1)
    if loader.site is None:
        return
    if exposure is None or not _persists(loader, model):
        reason = few_workers(loader) if exposure is None else "its workers start anew in each epoch"
        yield from silent(RULE.name, spot_of(loader.site), reason, model)
        return
    severity = loudness(Severity.ERROR, exposure.certainty)
    if severity is None:
        return
    read = _read_in_workers(loader, model)
    made_in = {loop.key for loop in loops_around(*_made(loader.site, model), model)}
    changes = list(_changes(loader, read, model))
    late = [change for change in changes if _is_late(change, loader, made_in, model)]
    for change in changes:
        if change not in late:
            reason = f"it is not set again and again while {loader.described} lives"
            yield from silent(RULE.name, change.spot, reason, model)
    for change in late:
        if _is_constant(change, late, model):
            reason = "it is set to one value each time: the workers start with that"
            yield from silent(RULE.name, change.spot, reason, model)
            continue
        reader = read[change.owner][change.attribute]
        name = model.ev.classes.name(change.owner.cls)
        what = f"`{change.by}` changes" if change.by else "this changes"
        yield Finding(
            RULE.name,
            severity,
            exposure.certainty,
            f"the workers of {loader.described} never see it: {what} the main process's `{name}` only, and they keep "
            f"the copy that they got when they started ({_why_kept(loader)}); {_remedy(loader)}",
            change.spot.place(model),
            f"{name}.{change.attribute}",
            (Evidence(model.def_place(reader), f"{model.label(reader)} reads {change.attribute}"),)
            + model.why(reader, exposure),
            _fixes(loader, model),
        )


def _made(site: Site, model: Model) -> tuple[Frame, int]:
    """Where a loader comes into being, as a frame and a context: where the object is made that keeps it, if it makes
    its loader once."""
    owner = site.frame.receiver
    if isinstance(owner, Instance) and owner.site is not None and _is_kept(site, owner, model):
        return owner.site.frame, step_context(owner.site, model)
    return site.frame, step_context(site, model)


def _is_kept(site: Site, owner: Instance, model: Model) -> bool:
    """Whether an object keeps a loader behind a test of the attribute that holds it, and nothing takes it away."""
    frame = site.frame
    names = {
        step.name
        for _, step in frame.code.steps_of(ir.SetAttr)
        if step.value == site.expr and ir.is_self(model.ev.expr(frame, step.base))
    }
    tests = [one.expr for one in model.def_of(frame).around(step_context(site, model)) if one.kind == "if"]
    for e in (model.ev.expr(frame, number) for number in ir.made_of(frame.code.exprs, tests)):
        if isinstance(e, ir.Attr) and e.name in names and ir.is_self(model.ev.expr(frame, e.base)):
            stores = model.ev.classes.stores(owner, e.name)
            return all(store.construction or store.value.literal is None for store in stores)
    return False


def _persists(loader: Loader, model: Model) -> bool:
    """Whether the workers live on; `persistent_workers=num_workers > 0` says so too."""
    if loader.persistent is not None:
        return loader.persistent
    for atom in loader.argument("persistent_workers").atoms:
        if not isinstance(atom, LibObject) or atom.name != "builtins.bool":
            return False
        e = model.ev.expr(atom.site.frame, atom.site.expr)
        if not isinstance(e, ir.Compare) or e.ops != (">",):
            return False
        if model.ev.eval(e.left, atom.site.frame).atoms != loader.argument("num_workers").atoms:
            return False
    return loader.has_workers() == "yes"


def _why_kept(loader: Loader) -> str:
    if loader.kind.persistent and loader.kind.name == "torch.utils.data.DataLoader":
        return "their loader makes one iterator for all epochs"
    return loader.kind.name.rpartition(".")[2] if loader.kind.persistent else "persistent_workers"


def _remedy(loader: Loader) -> str:
    shared = "keep it in a shared tensor or `multiprocessing.Value`"
    prefix = loader.kind.options.prefix if loader.kind.options else ""
    return shared if loader.kind.persistent else f"pass `{prefix}persistent_workers=False`, or {shared}"


# --- what workers read, and what the main process sets ----------------------------------------------------------------


def _read_in_workers(loader: Loader, model: Model) -> Read:
    read: dict[Instance, dict[str, Frame]] = {}
    stored: set[tuple[Instance, str]] = set()
    for reached in model.reached_by(loader):
        frame, bit = reached.frame, 1 << loader.index
        if not reached.bits(("sample", "collate")) & bit or reached.possible & bit:
            continue
        for number in tuple(frame.memo):
            e = model.ev.expr(frame, number)
            if isinstance(e, ir.Attr):
                for owner in _instances(e.base, frame, model):
                    read.setdefault(owner, {}).setdefault(e.name, frame)
        for _, step in model.steps(frame):
            if isinstance(step, ir.SetAttr):
                stored.update((owner, step.name) for owner in _instances(step.base, frame, model))
    return {
        owner: {name: frame for name, frame in names.items() if (owner, name) not in stored}
        for owner, names in read.items()
        if owner.site is None or not model.runs_in_worker(owner.site.frame)
    }


def _instances(number: int, frame: Frame, model: Model) -> list[Instance]:
    return [atom for atom in model.ev.eval(number, frame).atoms if isinstance(atom, Instance)]


def _setters(read: Read, model: Model) -> dict[str, dict[Instance, tuple[Instance, str]]]:
    """The methods, by name and object, that set something which workers read: of which object, and what."""
    found: dict[str, dict[Instance, tuple[Instance, str]]] = {}
    in_workers = {(frame.path, frame.piece, frame.def_) for frame in model.reached}
    for owner in read:
        for method in model.ev.classes.public_methods(owner):
            function = method.function
            if (function.path, function.piece, function.def_) in in_workers:
                continue
            opened = model.ev.functions.open_frame(function, owner, method.owner)
            stored = next(iter(_stores(opened, read, model)), None) if opened else None
            if stored is not None and opened is not None:
                found.setdefault(model.def_of(opened).name, {})[owner] = stored
    return found


def _stores(opened: Frame, read: Read, model: Model) -> Iterator[tuple[Instance, str]]:
    for frame in model.run_by([opened]):
        for _, step in model.steps(frame):
            if isinstance(step, ir.SetAttr):
                for owner in _instances(step.base, frame, model):
                    if step.name in read.get(owner, ()):
                        yield owner, step.name


def _changes(loader: Loader, read: Read, model: Model) -> Iterator[Change]:
    setters = _setters(read, model)
    names = sorted({name for names in read.values() for name in names})
    words = [*(f".{name} =" for name in names), *(f".{name} +=" for name in names), *(f".{name}(" for name in setters)]
    for function in model.main_functions(tuple(words)) if words else ():
        for frame in function.frames:
            for number, step in model.steps(frame):
                if isinstance(step, ir.SetAttr) and frame.receiver not in read:  # in a setter, its call counts
                    for owner in _held(step.base, frame, loader, model):
                        if step.name in read.get(owner, ()):
                            constant = _constant(step.value, frame, model)
                            spot = Spot(frame, number, "step")
                            yield Change(frame, step.context, spot, owner, step.name, "", constant)
                elif isinstance(step, ir.Perform):
                    yield from _set_by(step, frame, setters, loader, model)


def _set_by(
    step: ir.Perform,
    frame: Frame,
    setters: Mapping[str, Mapping[Instance, tuple[Instance, str]]],
    loader: Loader,
    model: Model,
) -> Iterator[Change]:
    call = model.ev.expr(frame, step.call)
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Attr) or func.name not in setters:
        return
    for owner in _held(func.base, frame, loader, model):
        if owner in setters[func.name]:
            given = [_constant(arg.value, frame, model) for arg in call.args] or [_NOTHING]
            constant = given[0] if len(given) == 1 else None
            spot = Spot(frame, step.call)
            yield Change(frame, step.context, spot, *setters[func.name][owner], func.name, constant)


def _constant(number: int, frame: Frame, model: Model) -> ir.Const | None:
    e = model.ev.expr(frame, number)
    return e if isinstance(e, ir.Const) else None


def _held(number: int, frame: Frame, loader: Loader, model: Model) -> list[Instance]:
    """The objects that an expression may be; `loader.dataset` (and `.dataset` of that) are the loader's."""
    found = _instances(number, frame, model)
    e = model.ev.expr(frame, number)
    if found or not isinstance(e, ir.Attr) or e.name != "dataset":
        return found
    while isinstance(e, ir.Attr) and e.name == "dataset":
        number, e = e.base, model.ev.expr(frame, e.base)
    held: tuple[Atom, ...] = loader.datasets if is_loader(number, frame, loader, model) else ()
    return [atom for atom in held if isinstance(atom, Instance)]


# --- whether it is too late -------------------------------------------------------------------------------------------


def _is_late(change: Change, loader: Loader, made_in: Set[object], model: Model) -> bool:
    """Whether it is set again and again while the loader lives: in a loop that goes through the loader."""
    if model.def_of(change.frame).name in _HOOKS:
        return True
    loops = [loop for loop in loops_around(change.frame, change.context, model) if loop.key not in made_in]
    return any(goes_through(loop, loader, model) and not _starts_anew(loop, loader, model) for loop in loops)


def _starts_anew(loop: Loop, loader: Loader, model: Model) -> bool:
    """Whether the loop makes the loader start new workers: `loader.reset()`, `loader._iterator = None`."""
    for _, step in model.steps(loop.frame):
        if isinstance(step, ir.SetAttr) and step.name == "_iterator":
            return True
        call = model.ev.expr(loop.frame, step.call) if isinstance(step, ir.Perform) else None
        func = model.ev.expr(loop.frame, call.func) if isinstance(call, ir.Call) else None
        if isinstance(func, ir.Attr) and func.name == "reset" and is_loader(func.base, loop.frame, loader, model):
            return True
    return False


def _is_constant(change: Change, changes: list[Change], model: Model) -> bool:
    """Whether it is set to one and the same value in every epoch: the workers start with that."""
    alike = [one for one in changes if (one.owner, one.attribute) == (change.owner, change.attribute)]
    if change.constant is None or any(one.constant != change.constant for one in alike):
        return False
    contexts = model.def_of(change.frame).contexts
    return change.context == 0 or contexts[change.context].kind in ("loop", "while", "with")


def _fixes(loader: Loader, model: Model) -> tuple[Fix, ...]:
    call = model.ev.expr(loader.site.frame, loader.site.expr) if loader.site else None
    if loader.site is None or loader.kind.persistent or not isinstance(call, ir.Call):
        return ()
    if not any(arg.kind == "kw" and arg.name == "persistent_workers" for arg in call.args):
        return ()
    intent = SetArgument(model.site_place(loader.site), "persistent_workers", "False")
    return (Fix("Start the workers anew in each epoch: `persistent_workers=False`", "safe", (intent,)),)


RULE = Rule(
    code="LDR405",
    name="stale-persistent-state",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
