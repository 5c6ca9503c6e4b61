"""
# missing-set-epoch (LDR505)

## What it does
Finds a `DistributedSampler` that shuffles, in a training loop that never calls its `set_epoch`.

## Why is this bad?
The sampler makes its order from `seed + epoch`, and the epoch stays 0 until `set_epoch` says otherwise: every epoch
goes through the samples in the same order, in the same batches, with the same share for each process. Measured on
torch 2.13: the same indices in each of three epochs; three different orders with `set_epoch`.

## When it is not a bug
- `DistributedSampler(dataset, shuffle=False)`, and samplers of loaders that only evaluate.
- Lightning's `Trainer` and accelerate's `prepare` call `set_epoch` themselves.
- `train_loader.sampler.set_epoch(epoch)`, a call behind `hasattr(...)`, in a hook or on a wrapper: any call that may
  reach the sampler counts.

## Example
```python
sampler = DistributedSampler(dataset)
train_loader = DataLoader(dataset, sampler=sampler)
for epoch in range(epochs):
    for batch in train_loader:
        step(batch)
```

## Fixed
```python
sampler = DistributedSampler(dataset)
train_loader = DataLoader(dataset, sampler=sampler)
for epoch in range(epochs):
    train_loader.sampler.set_epoch(epoch)
    for batch in train_loader:
        step(batch)
```

## Fix safety
Safe: the call changes the order of the samples and nothing else. Where the loader may have another sampler (`if
distributed`), it stands behind a `hasattr`. There is no fix where the loop does not count its turns with `range`, or
where it does not see the loader.

## References
- [torch.utils.data.distributed.DistributedSampler](https://pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
- pytorch/pytorch#31771
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from loaderlint.facts import ir
from loaderlint.findings.finding import Certainty, Evidence, Finding, Fix, InsertStatement, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibMember, LibObject, Unknown, Val
from loaderlint.project.reach.model import Loader, MainFunction, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.epoch_passes import Pass, has_loops, inside, loop_around, may_loop, passes, turn_name
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.silence_reasons import too_unsure

SAMPLER = "torch.utils.data.DistributedSampler"
_SHUFFLE_POSITION = 3
_SEED_POSITION = 4
#: More calls of `set_epoch` than the model looks at.
_MANY = 60


#: The samplers of each model that nobody calls `set_epoch` of, by their loaders.
_forgotten: WeakKeyDictionary[Model, dict[Loader, list[LibObject]]] = WeakKeyDictionary()


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a sampler, where it is made."""
    if not has_loops(function):
        return
    forgotten = _forgotten.get(model)
    if forgotten is None:
        forgotten = _forgotten[model] = dict(_find_forgotten(model))
        for loader in model.loaders if model.explains else ():
            for sampler in _samplers(loader, model) if loader not in forgotten else ():
                reason = "something calls `set_epoch`, on it as far as is known"
                yield Silence(RULE.name, model.site_place(sampler.site), reason)
    if not forgotten:
        return
    for frame in function.frames:
        for one in passes(frame, model):
            if not one.evaluates(model):
                for sampler in forgotten.get(one.loader, ()):
                    yield from _judge(sampler, one, model)
            elif model.explains:
                for sampler in forgotten.get(one.loader, ()):
                    reason = f"the pass in `{model.label(one.frame)}` is one of evaluation"
                    yield Silence(RULE.name, model.site_place(sampler.site), reason)


def _find_forgotten(model: Model) -> Iterator[tuple[Loader, list[LibObject]]]:
    for loader in model.loaders:
        samplers = [one for one in _samplers(loader, model) if not _epoch_is_set(one, loader, model)]
        if samplers:
            yield loader, samplers


def _samplers(loader: Loader, model: Model) -> list[LibObject]:
    """The shuffling DistributedSamplers that the loader may have, itself or inside a BatchSampler."""
    atoms = [*loader.argument("sampler").atoms]
    for atom in loader.argument("batch_sampler").atoms:
        if isinstance(atom, LibObject) and atom.name.endswith(".BatchSampler"):
            inner = model.ev.calls.site_arguments(atom.site).get("sampler", 0)
            atoms.extend(inner.atoms if inner is not None else ())
    found = [atom for atom in atoms if isinstance(atom, LibObject) and atom.name == SAMPLER]
    return [atom for atom in found if _shuffles(atom, model) != "no"]


def _shuffles(sampler: LibObject, model: Model) -> str:
    arguments = model.ev.calls.site_arguments(sampler.site)
    passed, seed = arguments.get("shuffle", _SHUFFLE_POSITION), arguments.get("seed", _SEED_POSITION)
    if seed is not None and seed.literal is None and _is_counted(sampler, model):
        return "no"  # made anew in each epoch, from a seed that may be another
    if passed is None:
        return "yes"
    literal = passed.literal
    if literal is None:
        return "maybe"
    return "yes" if literal.value else "no"


def _is_counted(sampler: LibObject, model: Model) -> bool:
    """Whether the sampler is made in a loop."""
    frame = sampler.site.frame
    contexts = [s.context for _, s in model.steps(frame) if isinstance(s, ir.Perform) and s.call == sampler.site.expr]
    return any(loop_around(context, frame, model) is not None for context in contexts)


def _judge(sampler: LibObject, one: Pass, model: Model) -> Iterator[Finding | Silence]:
    certainty: Certainty = "proven" if _shuffles(sampler, model) == "yes" else "possible"
    severity = loudness(Severity.WARNING, certainty)
    if severity is None:
        yield Silence(RULE.name, model.site_place(sampler.site), too_unsure(certainty))
        return
    fix = _fix(sampler, one, model)
    yield Finding(
        RULE.name,
        severity,
        certainty,
        f"every epoch goes through {one.loader.described} in the same order: nothing calls `set_epoch` of its "
        f"DistributedSampler in the loop over epochs in `{model.label(one.frame)}`; call "
        "`sampler.set_epoch(epoch)` before each pass",
        model.site_place(sampler.site),
        SAMPLER,
        (Evidence(model.step_place(one.frame, one.step), "each turn of the loop around this goes through the loader"),),
        (fix,) if fix else (),
    )


# --- who calls set_epoch ----------------------------------------------------------------------------------------------


def _epoch_is_set(sampler: LibObject, loader: Loader, model: Model) -> bool:
    """Whether some call of `set_epoch` in the project may be one on the sampler."""
    sites = model.callers.sites("set_epoch")
    if len(sites) >= _MANY:
        return True
    for site in sites:
        for frame in model.callers.frames(site.path, site.piece, site.def_):
            call = model.ev.expr(frame, site.expr)
            func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
            if not isinstance(func, ir.Attr) or _may_be(model.ev.eval(func.base, frame), sampler, loader, model):
                return True
    return False


def _may_be(value: Val, sampler: LibObject, loader: Loader, model: Model) -> bool:
    return any(_is(atom, sampler, loader, model) for atom in value.atoms)


def _is(atom: Atom, sampler: LibObject, loader: Loader, model: Model) -> bool:
    """Whether what `set_epoch` is called on may be the sampler: it, an attribute of the loader, or out of sight."""
    if isinstance(atom, Unknown):
        return True
    while isinstance(atom, LibMember):
        if atom.name == "dataset":
            return False
        atom = atom.owner
    if isinstance(atom, LibObject):
        places = {model.site_place(sampler.site), *([model.site_place(loader.site)] if loader.site else [])}
        known = atom.name == SAMPLER or any(model.site_place(atom.site) == _of(one, model) for one in model.loaders)
        return not known or model.site_place(atom.site) in places
    return False


def _of(loader: Loader, model: Model) -> object:
    return model.site_place(loader.site) if loader.site else None


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fix(sampler: LibObject, one: Pass, model: Model) -> Fix | None:
    """Insert the call as the first thing that the loop does."""
    epoch = turn_name(one.loop, one.frame, model)
    loader = _written(one, model)
    first = _first_step(one, model)
    kept = one.loader.argument("sampler").atoms
    if epoch is None or loader is None or first is None or sampler not in kept:
        return None
    source = f"{loader}.sampler.set_epoch({epoch})"
    if len(kept) > 1:
        source = f'if hasattr({loader}.sampler, "set_epoch"):\n    {source}'
    place = model.step_place(one.frame, first)
    return Fix("Call `set_epoch` in each turn of the loop", "safe", (InsertStatement(place, source, "before"),))


def _first_step(one: Pass, model: Model) -> int | None:
    """The first statement of the loop's body, after its variable got its value."""
    contexts = model.def_of(one.frame).contexts
    for number, step in model.steps(one.frame):
        if not inside(step.context, one.loop, one.frame, model):
            continue
        variable = isinstance(step, ir.Bind) and model.ev.expr(one.frame, step.value) == ir.Element(
            contexts[one.loop].expr
        )
        if not variable:
            return number if step.context == one.loop else None
    return None


def _written(one: Pass, model: Model) -> str | None:
    """How the loop's def can name the loader."""
    names = {_name_of(number, one, model) for number in _holding(one.frame, one.loader, model)} - {None}
    if not names and one.through.receiver is not None and one.through.receiver == one.frame.receiver:
        held = [model.ev.expr(one.through, n) for n in _holding(one.through, one.loader, model)]
        mine = [e.name for e in held if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(one.through, e.base))]
        names = {f"{model.def_of(one.frame).params[0].name}.{name}" for name in mine}
    return min(names, key=lambda name: (len(str(name)), str(name))) if names else None


def _holding(frame: Frame, loader: Loader, model: Model) -> Iterator[int]:
    """The expressions of the frame's def that are the loader."""
    facts = model.facts(frame)
    for number, value in tuple(frame.memo.items()):
        if value is not None and 0 <= number < len(facts.ir.exprs) and _is_loader(value, loader):
            yield number


def _is_loader(value: Val, loader: Loader) -> bool:
    sites = {atom.site for atom in value.atoms if isinstance(atom, LibObject | Instance)}
    return len(value.atoms) == 1 and loader.site in sites


def _name_of(number: int, one: Pass, model: Model) -> str | None:
    """The source text of an expression of the loop's def: a name, or an attribute of self."""
    frame = one.frame
    match model.ev.expr(frame, number):
        case ir.Global(name):
            return name
        case ir.Param(index):
            return model.def_of(frame).params[index].name
        case ir.Attr(base, name) if ir.is_self(model.ev.expr(frame, base)) and isinstance(frame.receiver, Instance):
            return f"{model.def_of(frame).params[0].name}.{name}"
        case ir.Call() | ir.Unpack() | ir.Index():
            return _bound_to(number, one, model)
    return None


def _bound_to(number: int, one: Pass, model: Model) -> str | None:
    """The only name that an expression is bound to, before the loop and never again."""
    steps = [step for _, step in model.steps(one.frame) if isinstance(step, ir.Bind)]
    names = [step.name for step in steps if step.value == number]
    if len(names) != 1 or sum(step.name == names[0] for step in steps) != 1:
        return None
    return names[0]


RULE = Rule(
    code="LDR505",
    name="missing-set-epoch",
    severity=Severity.WARNING,
    needs="M",
    over="main function",
    find=find,
    fix="safe",
    page=page(__doc__),
    words=("poch",),
    looks=may_loop,
)
