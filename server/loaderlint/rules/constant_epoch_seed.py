"""
# constant-epoch-seed (LDR508)

## What it does
Finds `torch.manual_seed(42)`, `seed_everything(42)` and their kin inside the loop over epochs, with a seed that is the
same in each turn.

## Why is this bad?
torch draws the order of the samples and the seed of the workers from its own state at the begin of each epoch. A
constant seed in the loop makes every epoch the same: the same order, the same augmentations, the same dropout. Measured
on torch 2.13 with 2 workers, shuffling: each of three epochs draws the same numbers for the same samples in the same
order. With the seed before the loop they all differ.

## When it is not a bug
- The seed is set before the loop, or the epoch enters it: `torch.manual_seed(seed + epoch)`.
- It is set for the validation, and the training is seeded with the epoch after it.
- Each turn is a run of its own: it makes its loaders, its model or its optimizer (folds, trials).
- The loop only evaluates, or its loader neither shuffles nor has workers.
- The state is put back: `with torch.random.fork_rng()`, `torch.set_rng_state(...)`.
- A seed for NumPy or Python alone: the workers do not take theirs from there.

## Example
```python
for epoch in range(epochs):
    torch.manual_seed(42)
    for batch in train_loader:
        step(batch)
```

## Fixed
```python
for epoch in range(epochs):
    torch.manual_seed(42 + epoch)
    for batch in train_loader:
        step(batch)
```

## Fix safety
Unsafe: whether the epochs should differ by `seed + epoch`, or the seed belongs before the loop, is a guess.

## References
- [Reproducibility: DataLoader](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from loaderlint.facts import ir
from loaderlint.findings.finding import Certainty, Evidence, Finding, Fix, Severity, Silence, Wrap
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.callers import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Lib, LibObject, Literal_, Unknown
from loaderlint.project.reach.model import Loader, MainFunction, Model, WorkerCall
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.epoch_passes import (
    Pass,
    between,
    has_loops,
    inside,
    loop_around,
    may_loop,
    passes,
    turn_name,
)
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.seed_sources import seed_sources
from loaderlint.rules.shared.seeding import tests_an_option
from loaderlint.rules.shared.silence_reasons import too_unsure

_WORDS = ("seed", "SEED", "Seed")
_MODULES = ("torch.nn.Module", "lightning.pytorch.LightningModule")
#: Context managers that keep a random state, by the last part of their names.
_KEEPS_STATE = re.compile(r"(?:rng|seed|state|random|determin)\w*$", re.IGNORECASE)
_RESTORING = frozenset({"torch.random.fork_rng", "torch.set_rng_state", "torch.random.set_rng_state"})


_CONVERSIONS = {Lib("builtins.int"), Lib("builtins.abs")}
_SEEDER_NAMES = frozenset(name.rpartition(".")[2] for name, library in SEEDERS.items() if library in ("torch", "all"))


_NO_PASS = "its loop goes through no loader for training whose order or workers draw random numbers"

#: Kept for as long as the model is: what is called so sets torch's seed.
_helpers: WeakKeyDictionary[Model, frozenset[str]] = WeakKeyDictionary()


class Seeding(NamedTuple):
    """A call in a loop that sets torch's seed, itself or in a function it calls: `seed` is the expression of the seed
    in the loop's def, None if it is written elsewhere."""

    call: WorkerCall
    name: str
    seed: int | None
    unknowns: int


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a seeding call."""
    if not has_loops(function):
        return
    names = _helpers.get(model)
    if names is None:
        names = _helpers[model] = _SEEDER_NAMES.union(_find_helpers(model))
    if function.calls_one_of(names, _may_be_fixed, in_loop=True):
        for frame in function.frames:
            calls = model.calls_named(frame, names)
            for seeding in [s for call in calls if (s := _seeding(call, model)) is not None]:
                yield from _judge(seeding, model)
    if function.written.name and function.calls_one_of(_SEEDER_NAMES):
        for seeding in _called_in_loops(function, model):
            yield from _judge(seeding, model)


def _called_in_loops(function: MainFunction, model: Model) -> Iterator[Seeding]:
    """The calls of a def that seeds, in loops of pieces that do not speak of seeds and are not asked about: those of
    `train_one_epoch`."""
    name = function.written.name
    places = {
        (site.path, site.piece, site.def_)
        for site in model.callers.sites(name)
        if site.context > 0 and not _speaks_of_seeds(site.path, site.piece, model)
    }
    frames = [frame for place in sorted(places) for frame in model.callers.frames(*place)]
    for frame in frames:
        for call in model.calls_named(frame, {name}) if frame not in model.reached else ():
            seeding = _seeding(call, model)
            # Whether it trains is asked last: for that all calls in the loops of the caller are followed.
            if seeding and any(_trains(target, frame, model) for target in model.ev.targets(call.number, frame)):
                yield seeding


def _speaks_of_seeds(path: Path, piece: int, model: Model) -> bool:
    file = model.files.file(path)
    return file is not None and any(file.pieces[piece].holds(word) for word in _WORDS)


def _loads(model: Model) -> bool:
    """Whether there are loaders, whose samples another seed would order in another way."""
    return bool(model.loaders)


def _find_helpers(model: Model) -> Iterator[str]:
    """What functions are called that set torch's seed themselves, whatever they are told: by their names or, for a
    constructor, the class's."""
    for name in sorted(_SEEDER_NAMES):
        for site in model.callers.sites(name):
            facts = model.ev.facts(site.path, site.piece)
            if facts is None or site.def_ == 0 or site.context != 0:
                continue
            written = facts.ir.defs[site.def_].name
            owner = model.callers.owner(site.path, site.piece, site.def_, facts)
            yield model.ev.classes.name(owner) if owner is not None and written.startswith("__") else written


def _may_be_fixed(call: ir.Call, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether the seed that a call passes may be the same in each turn of a loop, as it is written. What a helper is
    told besides may change."""
    seeds = call.args[:1] if called_name(exprs, call.func) in _SEEDER_NAMES else ()
    return all(_may_stay(arg.value, exprs, 0) for arg in seeds)


def _may_stay(number: int, exprs: tuple[ir.Expr, ...], depth: int) -> bool:
    """As `_stays`, where nothing is evaluated."""
    if depth > 8:
        return False
    match exprs[number]:
        case ir.Const() | ir.Global() | ir.Param() | ir.Capture() | ir.Imported() | ir.Call():
            return True
        case ir.Attr(base, _) | ir.Unary(_, base):
            return _may_stay(base, exprs, depth + 1)
        case ir.Index(left, right) | ir.Bin(_, left, right) | ir.BoolOp(_, left, right) | ir.IfExp(_, left, right):
            return _may_stay(left, exprs, depth + 1) and _may_stay(right, exprs, depth + 1)
        case ir.Phi(choices):
            return all(_may_stay(choice, exprs, depth + 1) for choice in choices)
    return False


def _seeding(call: WorkerCall, model: Model) -> Seeding | None:
    """The seeding that a call does, if its seed is the same in each turn of the loop around it."""
    loop = loop_around(call.context, call.frame, model)
    if loop is None:
        return None
    unknowns = _conditions(call, loop, model)
    if unknowns is None:
        return None
    name = _seeder(call)
    if name is not None:
        constant = call.call.args and _is_fixed(call.call.args[0].value, call.frame, loop, model)
        return Seeding(call, name, call.call.args[0].value, unknowns) if constant else None
    for target in model.ev.targets(call.number, call.frame):
        inner = [c for c in model.frame_calls(target) if _seeder(c) is not None and c.call.args]
        if not inner or not all(c.context == 0 and _is_fixed(c.call.args[0].value, c.frame, 0, model) for c in inner):
            continue
        if not all(_stays(arg.value, call.frame, loop, model, 0) for arg in call.call.args):
            told = any(_is_told(c.call.args[0].value, c.frame, model) for c in inner)
            if told or not _trains(target, call.frame, model):
                continue
        passed = call.call.args[0].value if len(call.call.args) == 1 else None
        return Seeding(call, model.label(target), passed, unknowns)
    return None


def _trains(called: Frame, caller: Frame, model: Model) -> bool:
    """Whether a def that a loop calls goes through a loader for training itself."""
    return called in model.remembered(_trained_through, caller)


def _trained_through(caller: Frame, model: Model) -> frozenset[Frame]:
    """The defs that go through a loader for training, called in the loops of a def. It may call thousands."""
    return frozenset(one.through for one in passes(caller, model) if _repeats(one, model))


def _is_told(seed: int, frame: Frame, model: Model) -> bool:
    """Whether a seed hangs on a parameter of its def."""
    exprs = model.facts(frame).ir.exprs
    return any(isinstance(exprs[part], ir.Param) for part in ir.made_of(exprs, (seed,)))


def _seeder(call: WorkerCall) -> str | None:
    names = [atom.name for atom in call.callee.only(Lib) if isinstance(atom, Lib)]
    return next((name for name in names if SEEDERS.get(name) in ("torch", "all")), None)


def _is_fixed(seed: int, frame: Frame, loop: int, model: Model) -> bool:
    """Whether a seed is one and the same in each turn of a loop (0: each time the def runs)."""
    value = model.ev.eval(seed, frame)
    numbers = {atom.value for atom in value.atoms if isinstance(atom, Literal_)}
    if len(numbers - {None}) > 1 or not _stays(seed, frame, loop, model, 0):
        return False
    sources = set(seed_sources(seed, frame, model))
    if None in numbers and all(isinstance(a, Literal_) or a == Unknown("parameter") for a in value.atoms):
        sources.discard("unknown")  # None is no seed: the call is skipped then
    return sources == {"fixed"}


def _stays(number: int, frame: Frame, loop: int, model: Model, depth: int) -> bool:
    """Whether an expression is made of names, attributes, constants, arithmetic and what was called before the loop,
    not of a loop's variable or a call in it."""
    if depth > 8:
        return False
    match model.ev.expr(frame, number):
        case ir.Const() | ir.Global() | ir.Param() | ir.Capture() | ir.Imported():
            return True
        case ir.Attr(base, _):
            parts: tuple[int, ...] = (base,)
        case ir.Index(left, right) | ir.Bin(_, left, right) | ir.BoolOp(_, left, right) | ir.IfExp(_, left, right):
            parts = (left, right)
        case ir.Unary(_, operand):
            parts = (operand,)
        case ir.Phi(choices):
            parts = choices
        case ir.Call(func, args) if model.ev.eval(func, frame).atoms <= _CONVERSIONS:
            parts = tuple(arg.value for arg in args)
        case ir.Call() if loop:
            calls = [step for _, step in model.steps(frame) if isinstance(step, ir.Perform) and step.call == number]
            return not any(inside(step.context, loop, frame, model) for step in calls)
        case _:
            return False
    return all(_stays(part, frame, loop, model, depth + 1) for part in parts)


def _conditions(call: WorkerCall, loop: int, model: Model) -> int | None:
    """How many unknown conditions the call stands under: a test of an option is one; None for any other test, and
    under a context manager that may put torch's state back."""
    unknowns = 0
    for context in between(call.context, loop, call.frame, model):
        if context.kind == "if":
            if not tests_an_option(context.expr, call.frame, model):
                return None
            unknowns += 1
        elif context.kind == "with":
            made = model.ev.eval(context.expr, call.frame).atoms
            if not all(isinstance(atom, LibObject) and not _KEEPS_STATE.search(atom.name) for atom in made):
                return None
        elif context.kind in ("except", "match"):
            return None
    return unknowns


def _judge(seeding: Seeding, model: Model) -> Iterator[Finding | Silence]:
    call = seeding.call
    loop = loop_around(call.context, call.frame, model)
    trained = [one for one in passes(call.frame, model) if one.loop == loop and _repeats(one, model)]
    place = model.place(call.frame, call.number)
    if loop is None or not trained:
        yield Silence(RULE.name, place, _NO_PASS)
        return
    through = [one for one in trained if not _is_reseeded(one, call, model)]
    if not through:
        yield Silence(RULE.name, place, "the training that follows it is seeded with another seed in each epoch")
        return
    if _is_a_run(call.frame, loop, model):
        yield Silence(RULE.name, place, "each turn of its loop is a training of its own, or puts torch's state back")
        return
    certainty: Certainty = "proven" if any(_is_random(one.loader) == "yes" for one in through) else "possible"
    severity = loudness(Severity.WARNING, certainty, seeding.unknowns)
    if severity is None:
        yield Silence(RULE.name, place, too_unsure(certainty))
        return
    lead = next((one for one in through if _is_random(one.loader) == "yes"), through[0])
    name = seeding.name.replace("lightning.pytorch.", "")
    fix = _fix(seeding, loop, model)
    yield Finding(
        RULE.name,
        severity,
        certainty,
        f"every epoch is the same: `{name}` sets the same seed in each turn of the loop that goes through "
        f"{lead.loader.described}, and the order of the samples and the workers' random numbers come from it; seed "
        "before the loop, or with `seed + epoch`",
        place,
        name,
        (Evidence(model.step_place(lead.frame, lead.step), "each turn goes through the loader here"),),
        (fix,) if fix else (),
    )


def _repeats(one: Pass, model: Model) -> bool:
    """Whether a pass is one of training through a loader that was made before the loop, and draws something."""
    return not one.evaluates(model) and _is_random(one.loader) != "no" and not _is_made_in(one, model)


def _is_reseeded(one: Pass, seeding: WorkerCall, model: Model) -> bool:
    """Whether each turn of the loop sets a seed that moves on between a constant one and the pass that follows it. What
    comes before the constant seed comes after it in the next turn."""
    frame, loop = seeding.frame, one.loop
    performed = {step.call: number for number, step in model.steps_of(frame, ir.Perform) if step.context == loop}
    calls = [call for call in model.calls_named(frame, _SEEDER_NAMES) if call.number in performed]
    moving = [call for call in calls if _seeder(call) and call.call.args and not _is_seed_fixed(call, loop, model)]
    places = [performed[call.number] for call in moving]
    at = next((number for number, step in model.steps_of(frame, ir.Perform) if step.call == seeding.number), one.step)
    if at < one.step:
        return any(at < place < one.step for place in places)
    return any(place > at or place < one.step for place in places)


def _is_seed_fixed(call: WorkerCall, loop: int, model: Model) -> bool:
    return _is_fixed(call.call.args[0].value, call.frame, loop, model)


def _is_random(loader: Loader) -> str:
    """Whether the passes through a loader depend on torch's state: 'yes', 'no' or 'maybe'."""
    shuffle = loader.argument("shuffle").literal
    if shuffle is not None and shuffle.value:
        return "yes"
    workers = "no" if loader.persistent else loader.has_workers()
    ordered = shuffle is not None and loader.argument("sampler").literal is not None
    return workers if workers == "yes" or ordered else "maybe"


def _is_made_in(one: Pass, model: Model) -> bool:
    """Whether the loader is made anew in each turn."""
    site = one.loader.site
    if site is None:
        return True
    contexts = [s.context for _, s in model.steps(site.frame) if isinstance(s, ir.Perform) and s.call == site.expr]
    if site.frame is one.frame:
        return any(inside(context, one.loop, one.frame, model) for context in contexts)
    return site.frame in model.run_by(_called_in(one.frame, one.loop, model))


def _called_in(frame: Frame, loop: int, model: Model) -> list[Frame]:
    """The frames that the calls of a loop lead to."""
    return [
        target
        for _, step in model.steps(frame)
        if isinstance(step, ir.Perform) and inside(step.context, loop, frame, model)
        for target in model.ev.targets(step.call, frame)
    ]


def _is_a_run(frame: Frame, loop: int, model: Model) -> bool:
    """Whether each turn of a loop is a training of its own, which makes a model or an optimizer; or puts torch's state
    back."""
    calls = [c for c in model.frame_calls(frame) if inside(c.context, loop, frame, model)]
    inner = [c for target in _called_in(frame, loop, model) for c in model.frame_calls(target)]
    return any(_makes(atom, model) for call in (*calls, *inner) for atom in call.callee.atoms)


def _makes(atom: object, model: Model) -> bool:
    if isinstance(atom, Lib):
        return atom.name.startswith("torch.optim.") and "lr_scheduler" not in atom.name or atom.name in _RESTORING
    return isinstance(atom, ClassRef) and any(base in _MODULES for base in model.ev.classes.library_bases(atom))


def _fix(seeding: Seeding, loop: int, model: Model) -> Fix | None:
    """Add the epoch to a seed that is written in the call itself."""
    frame, number = seeding.call.frame, seeding.seed
    epoch = turn_name(loop, frame, model)
    if epoch is None or number is None:
        return None
    e = model.ev.expr(frame, number)
    place = model.place(frame, number)
    literals = [getattr(atom, "kind", "int") for atom in model.ev.eval(number, frame).atoms]
    simple = isinstance(e, ir.Const | ir.Attr | ir.Global)
    if not simple or place.anchor < model.place(frame, seeding.call.number).anchor or set(literals) != {"int"}:
        return None
    return Fix("Add the epoch to the seed", "unsafe", (Wrap(place, "", f" + {epoch}"),))


RULE = Rule(
    code="LDR508",
    name="constant-epoch-seed",
    severity=Severity.WARNING,
    needs="M",
    over="main function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
    words=_WORDS,
    looks=may_loop,
    matters=_loads,
)
