"""
# shared-generator (LDR102)

## What it does
Finds random generator objects (`np.random.default_rng()`, `RandomState`, `random.Random`, `torch.Generator`) that are
made before a loader's workers start and are drawn from in the workers.

## Why is this bad?
Every worker gets a copy of the object with the same state: all workers draw the same numbers, and each epoch starts
from that state again. torch seeds its own, Python's and NumPy's global states in each worker; it cannot know these
objects. Measured on torch 2.13 with 4 workers and 16 samples: each number occurs 4 times and epoch 2 equals epoch 1,
under fork, spawn and forkserver, seeded or not. With `persistent_workers=True` the epochs differ, the workers still
agree. A `torch.Generator` on the dataset cannot be sent to spawned workers at all (pytorch/pytorch#146828).

ruff's NPY002 asks to replace `np.random.*` by a Generator. That is good advice, if the Generator is made in the worker.

## When it is not a bug
- The generator is made in worker code: in `__getitem__`, in `__iter__`, in the `worker_init_fn`.
- It is used in the main process only: in `__init__`, in a sampler, as `DataLoader(generator=...)`.
- A `worker_init_fn` reseeds it on the very dataset that the loader holds. Through a `Subset` the attribute lands on the
  wrapper, and nothing is cured.
- A generator of a module or class without a seed, in workers that are spawned: they make their own.
- One worker that lives on over the epochs (`num_workers=1, persistent_workers=True`): nothing repeats.
- An iterable dataset shuffles its files before each worker takes its share: the order has to be the same in all.

## Example
```python
class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(42)

    def __getitem__(self, index):
        return self.data[index] + self.rng.normal(size=3)
```

## Fixed
```python
class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(42)

    def __getitem__(self, index):
        return self.data[index] + self._get_rng().normal(size=3)

    def _get_rng(self):
        if torch.utils.data.get_worker_info() is None:
            return self.rng
        key = torch.initial_seed()  # another in each worker and epoch
        if getattr(self, "_worker_rng_key", None) != key:
            self._worker_rng_key = key
            # With the key as the seed, two objects of a worker would draw alike.
            fresh = torch.randint(2**63 - 1, ()).item()
            seed = [self.rng.integers(2**32), fresh]
            self._worker_rng = np.random.default_rng(seed)
        return self._worker_rng
```

## Fix safety
Safe where only methods of one class and of those derived from it draw from the generator, and for those of a module
that draws from them by their name. The main process keeps the generator that it has: with `num_workers=0` nothing
changes. In workers the user's seed still counts, however it is set (`reset_seed(epoch)` in each epoch too), together
with torch's: it takes `torch.manual_seed` too to repeat a run. Making the object `if self.rng is None` is not enough:
where the main process has read a sample first, the workers copy it again. `default_rng(torch.initial_seed())` gives two
transforms of one worker the same numbers. There is no fix where others draw from the same object, or where one of the
generators that a constructor makes has none.

A `torch.Generator` is also left out of the pickled state, by a `__getstate__`, so that spawned workers start. It has a
fix where the class's own `__init__` makes it without a seed, from a constant or from a parameter; none where a method
outside the workers uses it, where it is made for another device than the CPU, and in classes that say themselves how
they are pickled.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
- pytorch/pytorch#107034, pytorch/pytorch#146828
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from loaderlint.findings.finding import Evidence, Finding, Fix, Severity, Silence
from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS
from loaderlint.project.evaluation.values import (
    Instance,
    Lib,
    LibMember,
    LibObject,
    Site,
    repr_origin,
)
from loaderlint.project.reach.model import Exposure, Loader, Model, Part, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.common_order import sets_common_order
from loaderlint.rules.shared.generator_accessor import Draw, accessor_fix
from loaderlint.rules.shared.generator_creation import birth_place, born, is_seeded, library_of
from loaderlint.rules.shared.judgement import Candidate, Cure, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.lazy_places import SiteKey, site_key, spot_of
from loaderlint.rules.shared.loader_traits import one_stream
from loaderlint.rules.shared.seeding import init_in_sight
from loaderlint.rules.shared.silence_reasons import ONE_STREAM, started_by
from loaderlint.rules.shared.wording import in_workers_of, repeated
from loaderlint.rules.shared_generator.reseeded_generators import remade_in_worker, reseeded_at_start, reseeded_by_monai
from loaderlint.rules.shared_generator.seed_mixing import seeds_with_more

#: A function: its path, piece and number there.
_DefKey = tuple[Path, int, int]
#: How many draws a finding shows.
_MAX_SHOWN_DRAWS = 6
_PARTS: tuple[Part, ...] = ("sample", "collate")
_WORDS = {"numpy": "Generator", "numpy_legacy": "RandomState", "python": "random.Random", "torch": "torch.Generator"}


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a generator that the function draws from, where it is made."""
    for one in judged(RULE, _candidates(function, model), model, parts=_PARTS, weigh=partial(_weigh, model)):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Draw]]:
    """The draws from generators."""
    for call in model.calls(function):
        for draw in _draws_of(call, model):
            made, why_not = draw.made.site, _why_good(draw, model)
            yield Candidate(draw, call.frame, spot_of(made), _cures(draw, model), why_not, key=site_key(made))


def _weigh(model: Model, draws: Sequence[Candidate[Draw]], exposure: Exposure) -> Severity | Unsaid:
    if exposure.certainty == "possible" and _is_settable(draws[0].about, model):
        # who makes the object out of sight may set it anew in each worker
        return Unsaid("its object can be given another generator, and who makes it is out of sight")
    return lowered(RULE.severity, exposure)


def _finding(verdict: WorkerVerdict[Draw], model: Model) -> Finding:
    made, exposure = verdict.about.made, verdict.exposure
    draws = (verdict.about, *verdict.together)
    library = library_of(made) or "numpy"
    uses = {model.place(one.call.frame, one.call.number): model.label(one.call.frame) for one in draws}
    shown = tuple(Evidence(where, f"{label} draws from it") for where, label in [*uses.items()][:_MAX_SHOWN_DRAWS])
    fix = _fix(verdict.about, model)
    return verdict.finding(
        f"{repeated(exposure)} {in_workers_of(exposure)}: this {_WORDS[library]} is made {born(made.site, model)}, "
        "before the workers start; make it in the worker, from `torch.initial_seed()`",
        verdict.spot.place(model),
        made.name,
        (*_kept(verdict.about, model), *shown, *verdict.why(model)),
        (fix,) if fix else (),
    )


# --- what is drawn from -----------------------------------------------------------------------------------------------


def _why_good(draw: Draw, model: Model) -> str:
    """Why a generator is none that the workers share the state of; '' if it may be."""
    if model.runs_in_worker(draw.made.site.frame):
        return "the generator is made in the worker"
    if remade_in_worker(draw, model):
        return "worker code makes it anew, or gives it a new seed"
    if seeds_with_more(draw.call, model):
        return "the number is part of a seed that is another one in each worker"
    return "it sets an order in which all workers have to agree" if _is_common_order(draw, model) else ""


def _draws_of(call: WorkerCall, model: Model) -> Iterator[Draw]:
    """The generators that a call draws from."""
    for atom in call.callee.only(LibMember):
        if isinstance(atom, LibMember) and isinstance(atom.owner, LibObject) and atom.name in GENERATOR_DRAWS:
            if library_of(atom.owner):
                yield Draw(call, atom.owner, call.callee.origins)
    passed = model.ev.calls.arguments(call.call, call.frame).get("generator")
    if passed is not None and not passed.unknown:
        for atom in passed.only(LibObject):
            if isinstance(atom, LibObject) and library_of(atom) == "torch":
                yield Draw(call, atom, passed.origins)


def _kept(draw: Draw, model: Model) -> Iterator[Evidence]:
    """Where the object that draws keeps a generator that was made elsewhere."""
    for origin in sorted(draw.origins, key=repr_origin):
        if isinstance(origin.owner, Instance) and len(origin.path) == 1:
            for store in model.ev.classes.stores(origin.owner, origin.path[0]):
                if store.construction and store.frame is not draw.made.site.frame and draw.made in store.value.atoms:
                    place = model.step_place(store.frame, store.step)
                    yield Evidence(place, f"{model.label(store.frame)} keeps it as {origin.path[0]}")
                    return


def _cures(draw: Draw, model: Model) -> Cure:
    """Why the workers of a loader do not draw the same numbers; '' if they do."""
    copied = birth_place(draw.made.site, model) == "an object" or is_seeded(draw.made, model)

    def cure(loader: Loader) -> str:
        if one_stream(loader):
            return ONE_STREAM
        if reseeded_by_monai(draw, loader, model):
            return "MONAI's worker_init_fn gives what has `set_random_state` a new state in each worker"
        if not init_in_sight(loader):
            return "what its worker_init_fn does is out of sight"
        if not copied and "fork" not in model.start_methods(loader):
            return f"{started_by(loader, model)}, and each makes the generator anew, from other bits"
        if reseeded_at_start(loader, draw.origins, model):
            return "its worker_init_fn gives the dataset's generator a new state"
        return ""

    return cure


def _fix(draw: Draw, model: Model) -> Fix | None:
    """The fix for the generator that is drawn from, and for all that are made beside it: half of them mended would look
    like all."""
    site = draw.made.site
    own = _generators(model)[_def_key(site)][site_key(site)]
    if any(_is_common_order(one, model) for one in own):
        return None  # it has to stay the same in all workers
    if site.frame.def_ == 0:
        return accessor_fix([own], model)
    beside = _generators(model)[_def_key(site)].values()
    faulty = [draws for draws in beside if draws is own or not any(_why_good(one, model) for one in draws)]
    return accessor_fix(faulty, model)


def _generators(model: Model) -> Mapping[_DefKey, Mapping[SiteKey, list[Draw]]]:
    """Every draw in worker code, by the function that makes the generator and by the place where it does."""
    return model.once(_drawn_from)


def _drawn_from(model: Model) -> Mapping[_DefKey, Mapping[SiteKey, list[Draw]]]:
    found: dict[_DefKey, dict[SiteKey, list[Draw]]] = {}
    for frame in model.reached:
        for call in model.frame_calls(frame):
            for draw in _draws_of(call, model):
                site = draw.made.site
                if not seeds_with_more(call, model):
                    found.setdefault(_def_key(site), {}).setdefault(site_key(site), []).append(draw)
    return found


def _def_key(site: Site) -> _DefKey:
    return (site.frame.path, site.frame.piece, site.frame.def_)


def _is_common_order(draw: Draw, model: Model) -> bool:
    return any(
        sets_common_order(draw.call, atom.name, model)
        for atom in draw.call.callee.atoms
        if isinstance(atom, Lib | LibMember)
    )


def _is_settable(draw: Draw, model: Model) -> bool:
    """Whether the object has a public method that sets the generator: `set_random_state(seed)`."""
    return any(
        not model.def_of(store.frame).name.startswith("_")
        for origin in draw.origins
        if isinstance(origin.owner, Instance) and len(origin.path) == 1
        for store in model.ev.classes.stores(origin.owner, origin.path[0])
    )


RULE = Rule(
    code="LDR102",
    name="shared-generator",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
