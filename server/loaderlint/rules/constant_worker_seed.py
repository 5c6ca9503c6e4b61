"""
# constant-worker-seed (LDR103)

## What it does
Finds `worker_init_fn`s that seed from something which does not change from epoch to epoch, or not from worker to
worker: a constant, `worker_id` alone, the whole second of `time.time()`, `np.random.get_state()[1][0]`, or a number
that the main process draws once, even with `worker_id` added: `partial(init, seed=random.randint(0, 99))`. So does a
dataset that seeds once, with its first sample (`if not self.seeded: ...`) or at the head of its `__iter__`. Seeds that
are set for each sample are `reseed-per-sample`, those by which several workers share their noise
`common-seed-in-workers`.

## Why is this bad?
torch gives each worker a fresh seed in each epoch. Such a function throws it away. Measured on torch 1.8 and 2.13:
`np.random.seed(0)` makes all workers draw the same numbers in all epochs; `np.random.seed(worker_id)` repeats the
numbers in every epoch. `np.random.get_state()[1][0] + worker_id`, the idiom of a well-known article, is worse on torch
1.9 and later: that word of the state is always 2147483648 there, so every epoch of every run of every project draws the
same numbers.

## When it is not a bug
- The seed comes from `torch.initial_seed()` or `get_worker_info().seed`.
- `worker_id` alone with `persistent_workers=True`: the function runs once.
- The epoch enters the seed: an attribute that is set anew before each epoch, or a loader made in the loop over epochs.
- `np.random.get_state()`, or a number drawn from NumPy, before torch 1.9, where the main process calls
  `np.random.seed()` in each epoch, or draws itself: workers start with its state there.
- Loaders for evaluation, where the same numbers each time are wanted: a hint at most.
- A loader without workers never calls the function.
- The workers draw from other libraries only, and all that they call is known.

## Example
```python
def init(worker_id):
    np.random.seed(42 + worker_id)

loader = DataLoader(dataset, num_workers=4, worker_init_fn=init)
```

## Fixed
```python
def init(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)

loader = DataLoader(dataset, num_workers=4, worker_init_fn=init)
```

## Fix safety
Safe: every seeding call of the function is changed at once. One that is left (`torch.manual_seed(42)`) would make
`torch.initial_seed()` a constant.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Finding, Fix, Place, Replace, Severity, Silence
from loaderlint.knowledge.numpy_random import NUMPY_GLOBAL_DRAWS, SEEDERS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Exposure, Loader, MainFunction, Model, WorkerCall
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.common_seeds import is_common_seed
from loaderlint.rules.shared.global_draws import is_drawn_from
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.loader_traits import is_for_evaluation
from loaderlint.rules.shared.seed_sources import Source, seed_sources
from loaderlint.rules.shared.seeding_calls import SEED_CALLS, Written, is_read_only_in, often, seeds_of, written
from loaderlint.rules.shared.silence_reasons import few_workers, too_unsure
from loaderlint.rules.shared.wording import in_workers_of

#: The torch that seeds NumPy in each worker.
FIXED_IN = "1.9"
_DRAW_NAMES = frozenset(name.rpartition(".")[2] for name in NUMPY_GLOBAL_DRAWS)
_FRESH_SOURCES: frozenset[Source] = frozenset({"fresh", "unknown", "index"})
_UNUSED = "the workers draw no numbers from the state that it sets"
#: Torch's seed of the worker, cut to what NumPy takes.
_NARROW = "% 2**32"


class Seeding(NamedTuple):
    """A seeding call that a worker makes once: which function, where the seed comes from, and where it is written.
    `each_epoch`: a worker that lives on comes by again, at the head of an `__iter__`. `rank`: how the seed names the
    rank of the process, '' if it does not."""

    call: WorkerCall
    function: str
    sources: frozenset[Source]
    place: Written
    each_epoch: bool
    rank: str


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding a loader, at the first bad seed of its workers (NumPy's before others)."""
    if loader.has_workers() == "no":
        if loader.site is not None and model.explains and loader.argument("worker_init_fn").literal is None:
            yield Silence(RULE.name, model.site_place(loader.site), few_workers(loader))
        return
    seedings = list(_seedings(loader, model))
    # torch's own state is set from something fresh first; what follows may be derived from it
    derived = any("fresh" in s.sources and s.function.startswith("torch.") for s in seedings)
    bad = [s for s in seedings if not derived and not s.sources & _FRESH_SOURCES]
    felt = [s for s in bad if is_drawn_from(s.function, loader, model)]
    for seeding in seedings:
        if (seeding not in bad or not felt) and model.explains:
            place = model.place(seeding.place.frame, seeding.place.number)
            reason = _UNUSED if seeding in bad else _why_good(seeding, derived=derived)
            yield Silence(RULE.name, place, reason)
    if not felt:
        return
    first = min(felt, key=lambda s: not s.function.startswith("numpy"))
    exposure = model.exposed(1 << loader.index, model.reached[first.call.frame].possible, 1)
    if exposure is None:
        return
    if "optional" in first.sources:
        exposure = Exposure(exposure.loaders, "possible")
    severity = _severity(first, loader, exposure)
    place = model.place(first.place.frame, first.place.number)
    if severity is None:
        yield Silence(RULE.name, place, _why_unsaid(first, loader, exposure))
        return
    others = {model.place(s.place.frame, s.place.number): s.function for s in bad}
    also = [Evidence(other, f"`{function}` too") for other, function in others.items() if other != place]
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{_effect(first)} {in_workers_of(exposure)}: {_cause(first)}; seed from `{_said(first)}`",
        place,
        first.function,
        (*also, *model.why(first.call.frame, exposure)),
        _fixes(seedings, bad, model),
    )


def _why_good(seeding: Seeding, *, derived: bool) -> str:
    """Why a seed is none that repeats."""
    if "fresh" in seeding.sources:
        return "the seed is another one in each worker and epoch"
    if derived:
        return "torch is seeded afresh there, and this seed may come from it"
    return "where the seed comes from is not known" if "unknown" in seeding.sources else "the seed depends on the index"


def _why_unsaid(seeding: Seeding, loader: Loader, exposure: Exposure) -> str:
    if seeding.sources & {"time", "moving"}:
        return "the seed is another one in each epoch and worker"
    if loader.persistent:
        return "its workers live on over the epochs, so that each starts once, with a seed of its own"
    return too_unsure(exposure.certainty)


def _seedings(loader: Loader, model: Model) -> Iterator[Seeding]:
    """The seeding calls that a worker of the loader makes once, when it starts, reads its first sample, or begins an
    epoch."""
    for reached in model.reached_by(loader):
        init = reached.loaders.get("init", 0) >> loader.index & 1
        for call in model.frame_calls(reached.frame):
            for name, seed in seeds_of(call):
                rhythm = "once" if init else often(call, loader, model)
                if rhythm != "sample" and (init or not is_common_seed(call, seed, loader, model)):
                    sources = _as_of(frozenset(seed_sources(seed, call.frame, model)), loader, model)
                    place = written(call, seed, loader, model)
                    rank = _rank(place.number, place.frame, model)
                    yield Seeding(call, name, sources, place, rhythm == "epoch", rank)


def _as_of(sources: frozenset[Source], loader: Loader, model: Model) -> frozenset[Source]:
    """The sources with this loader's torch: before 1.9 workers have the state of NumPy that the main process has."""
    if not sources & {"state", "inherited"}:
        return sources
    if model.environment(loader).torch.before(FIXED_IN) != "yes":
        return sources - {"inherited"} | {"unknown"} if "inherited" in sources else sources
    moves = _main_seeds_anew(model) or ("inherited" in sources and _main_draws(model))
    moved: Source = "moving" if moves else "fixed"
    return sources - {"state", "inherited"} | {moved}


def _main_draws(model: Model) -> bool:
    """Whether the main process draws from NumPy's state, which workers that start later then find moved on."""
    return any(
        isinstance(atom, Lib) and atom.name in NUMPY_GLOBAL_DRAWS
        for function in _main_only(("np.random", "numpy.random"), model)
        for call in (model.calls(function) if function.calls_one_of(_DRAW_NAMES) else ())
        for atom in call.callee.atoms
    )


def _main_only(words: tuple[str, ...], model: Model) -> Iterator[MainFunction]:
    """The functions of the main process that no worker runs."""
    in_workers = {(frame.path, frame.piece, frame.def_) for frame in model.reached}
    for function in model.main_functions(words):
        if (function.path, function.piece, function.def_) not in in_workers:
            yield function


def _main_seeds_anew(model: Model) -> bool:
    """Whether the main process seeds NumPy as it goes on: `np.random.seed()` or `np.random.seed(epoch)` in a loop or in
    a function."""
    for function in _main_only(("random.seed",), model):
        for call in model.calls(function):
            if Lib("numpy.random.seed") not in call.callee.atoms:
                continue
            looped = any(here.kind == "loop" for here in model.def_of(call.frame).around(call.context))
            seeds = {source for _, seed in seeds_of(call) for source in seed_sources(seed, call.frame, model)}
            if (looped or function.def_ > 0) and seeds != {"fixed"}:
                return True
    return False


def _severity(seeding: Seeding, loader: Loader, exposure: Exposure) -> Severity | None:
    """Error where workers or runs agree; worker_id alone is a warning, if the function runs in each epoch."""
    sources = seeding.sources
    by_worker = "worker id" in sources and "state" not in sources
    if (by_worker or seeding.each_epoch) and sources & {"time", "moving"}:
        return None
    if seeding.each_epoch:
        severity = loudness(Severity.WARNING, exposure.certainty)
    elif not by_worker:
        severity = loudness(Severity.ERROR, exposure.certainty)
    elif loader.persistent:
        return None
    else:
        severity = loudness(Severity.WARNING, exposure.certainty, 1 if loader.persistent is None else 0)
    return Severity.HINT if severity is not None and is_for_evaluation(loader) else severity


def _effect(seeding: Seeding) -> str:
    sources = seeding.sources
    if "state" in sources:
        return "every epoch of every run draws the same numbers"
    if "worker id" in sources or seeding.each_epoch:
        return "every epoch draws the same numbers"
    return "every worker draws the same numbers"


def _cause(seeding: Seeding) -> str:
    sources = seeding.sources
    if "state" in sources:
        return "this word of NumPy's state is a constant on torch 1.9 and later"
    if seeding.each_epoch:
        return "this seed is the same each time the dataset is gone through"
    if "worker id" in sources:
        return "this seed is the same each time a worker starts"
    if "time" in sources:
        return "this seed is the same for all workers that start within a second"
    return "this seed is the same in all of them"


def _fixes(seedings: list[Seeding], bad: list[Seeding], model: Model) -> tuple[Fix, ...]:
    """Change every seed at once, if all are bad and are written in the worker_init_fn itself that only workers call, or
    in the sample code that seeds once."""
    if len(seedings) != len(bad) or any(one.each_epoch for one in seedings):
        return ()  # all workers may have to shuffle alike before each takes its share
    texts: dict[Place, str] = {}
    for one in bad:
        change = _change(one, bad, model) if _only_init(one.place.frame, model) else None
        if change is None:
            return ()
        if _NARROW not in texts.get(change[0], ""):  # NumPy's narrower seed does for all of them
            texts[change[0]] = change[1]
    intents = tuple(Replace(place, text) for place, text in texts.items())
    return (Fix(f"Seed from `{_said(bad[0])}`", "safe", intents),)


def _only_init(frame: Frame, model: Model) -> bool:
    """Whether a frame is a worker_init_fn, or the head of sample code, that nobody else calls."""
    reached = model.reached.get(frame)
    if reached is None or any(parent is not None for parent in reached.parents.values()):
        return False
    name = model.def_of(frame).name
    return not name or name == "__call__" or not model.callers.sites(name)


def _change(seeding: Seeding, bad: list[Seeding], model: Model) -> tuple[Place, str] | None:
    """What to write where for one seed."""
    frame, at, number = seeding.place
    seed = _fresh(seeding, narrow=SEEDERS[seeding.function] != "torch")
    place, call = model.place(frame, number), model.place(frame, at)
    others = {s.place.at for s in bad if (s.place.frame, s.place.number) == (frame, number)}
    if number != at and (place.anchor > call.anchor or is_read_only_in(others, frame, number, model)):
        return place, seed
    if frame is not seeding.call.frame or seeding.function not in SEED_CALLS:
        return None
    return call, f"{SEED_CALLS[seeding.function]}({seed})"


def _fresh(seeding: Seeding, *, narrow: bool) -> str:
    """The seed to write. A program that seeds all its processes alike gives the workers of each the same torch seeds;
    where the bad seed holds the process's rank, the new one does so too."""
    seed = "{torch}.initial_seed()"
    if seeding.rank:
        seed = f"{seed} + 2**16 * {seeding.rank}"
    return f"{f'({seed})' if seeding.rank else seed} {_NARROW}" if narrow else seed


def _said(seeding: Seeding) -> str:
    """The seed to write, for people."""
    return _fresh(seeding, narrow=True).replace("{torch}", "torch")


def _rank(number: int, frame: Frame, model: Model, depth: int = 0) -> str:
    """The part of an expression that is called after the rank of the process, as source; '' if there is none."""
    e = model.ev.expr(frame, number)
    parts: tuple[int, ...] = ()
    if isinstance(e, ir.Bin):
        parts = (e.left, e.right)
    elif isinstance(e, ir.Call) and e.args:
        parts = tuple(arg.value for arg in e.args)
    elif "rank" in (text := _name(number, frame, model)).rpartition(".")[2].lower():
        return text
    return next((text for part in parts if depth < 8 and (text := _rank(part, frame, model, depth + 1))), "")


def _name(number: int, frame: Frame, model: Model) -> str:
    """The source of a name, an attribute or a call without arguments; '' for anything else."""
    match model.ev.expr(frame, number):
        case ir.Param(index):
            return model.def_of(frame).params[index].name
        case ir.Global(name) | ir.Capture(_, name):
            return name
        case ir.Attr(base, name):
            return f"{owner}.{name}" if (owner := _name(base, frame, model)) else ""
        case ir.Call(func, ()):
            return f"{called}()" if (called := _name(func, frame, model)) else ""
    return ""


RULE = Rule(
    code="LDR103",
    name="constant-worker-seed",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
