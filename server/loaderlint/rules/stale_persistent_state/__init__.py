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

from collections.abc import Iterator, Set

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Fix, SetArgument, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, LibObject, Site
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.epoch_loops import Loop, goes_through, is_loader, loops_around, step_context
from loaderlint.rules.shared.judgement import Unsaid, Verdict, weighed
from loaderlint.rules.shared.lazy_places import spot_of
from loaderlint.rules.shared.silence_reasons import few_workers, silent
from loaderlint.rules.stale_persistent_state.late_changes import Change, changes_in_main, read_in_workers

#: Methods that Lightning calls in each epoch.
_HOOKS = frozenset(
    """
    on_train_epoch_start on_train_epoch_end on_epoch_start on_epoch_end training_epoch_end on_validation_epoch_end
    """.split()
)


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding a place where something is set too late for the loader's workers."""
    exposure = model.exposed(1 << loader.index, 0, RULE.workers)
    if loader.site is None:
        return
    if exposure is None or not _persists(loader, model):
        reason = few_workers(loader) if exposure is None else "its workers start anew in each epoch"
        yield from silent(RULE.name, spot_of(loader.site), reason, model)
        return
    verdict = weighed(RULE, exposure.certainty)
    if isinstance(verdict, Unsaid):
        return
    read = read_in_workers(loader, model)
    changes = list(changes_in_main(loader, read, model))
    made_in = {loop.key for loop in loops_around(*_made(loader.site, model), model)}
    late = [change for change in changes if _is_late(change, loader, made_in, model)]
    for change in changes:
        if change not in late:
            reason = f"it is not set again and again while {loader.described} lives"
            yield from silent(RULE.name, change.spot, reason, model)
    for change in late:
        if _is_constant(change, late, model):
            reason = "it is set to one value each time: the workers start with that"
            yield from silent(RULE.name, change.spot, reason, model)
        else:
            yield _finding(change, read[change.owner][change.attribute], loader, verdict, exposure, model)


def _finding(
    change: Change, reader: Frame, loader: Loader, verdict: Verdict, exposure: Exposure, model: Model
) -> Finding:
    name = model.ev.classes.name(change.owner.cls)
    what = f"`{change.by}` changes" if change.by else "this changes"
    reads = Evidence(model.def_place(reader), f"{model.label(reader)} reads {change.attribute}")
    return verdict.finding(
        f"the workers of {loader.described} never see it: {what} the main process's `{name}` only, and they keep "
        f"the copy that they got when they started ({_why_kept(loader)}); {_remedy(loader)}",
        change.spot.place(model),
        f"{name}.{change.attribute}",
        (reads, *model.why(reader, exposure)),
        _fixes(loader, model),
    )


def _why_kept(loader: Loader) -> str:
    if loader.kind.persistent and loader.kind.name == "torch.utils.data.DataLoader":
        return "their loader makes one iterator for all epochs"
    return loader.kind.name.rpartition(".")[2] if loader.kind.persistent else "persistent_workers"


def _remedy(loader: Loader) -> str:
    shared = "keep it in a shared tensor or `multiprocessing.Value`"
    prefix = loader.kind.options.prefix if loader.kind.options else ""
    return shared if loader.kind.persistent else f"pass `{prefix}persistent_workers=False`, or {shared}"


# --- how long the loader lives ----------------------------------------------------------------------------------------


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


# --- the fix ----------------------------------------------------------------------------------------------------------


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
