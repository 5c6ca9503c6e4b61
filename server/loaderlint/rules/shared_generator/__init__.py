"""
# shared-generator (LDR102)

## What it does
Finds random generator objects (`np.random.default_rng()`, `RandomState`, `random.Random`, `torch.Generator`) that are
created before a loader's workers start and that the workers draw from.

## Why is this bad?
Every worker gets a copy of the object with the same state, so all workers draw the same numbers, and each epoch starts
from that state again. torch seeds its own, Python's and NumPy's global states in each worker, but does not know these
objects. Measured on torch 2.13 with 4 workers and 16 samples: each number occurs 4 times and epoch 2 equals epoch 1,
under fork, spawn and forkserver, seeded or not. With `persistent_workers=True` the epochs differ, but the workers still
draw the same numbers. A `torch.Generator` on the dataset cannot be sent to spawned workers at all
(pytorch/pytorch#146828).

ruff's NPY002 recommends a Generator instead of `np.random.*`. Follow it, but create the Generator in the worker.

## When it is not a bug
- Worker code creates the generator: `__getitem__`, `__iter__`, or the `worker_init_fn`. (`if self.rng is None` creates
  none in a worker if `__init__` has called the same method, or read the same property, or if the main process has taken
  a sample: `dataset[0]`. With a seed that is the same in all workers it is `common-seed-in-workers`.)
- Only the main process uses it: in `__init__`, in a sampler, as `DataLoader(generator=...)`.
- A library gets the generator and only keeps it. (A function of a library that worker code passes `random_state=`,
  `rng=` or `generator=` is supposed to draw from it, and such a finding is only possible.)
- The loader gets unknown options (`**config["loader"]`), and a file of the project names a `worker_init_fn`, which may
  be one of them.
- A `worker_init_fn` reseeds it on the dataset that the loader holds. Behind a `Subset`, the attribute lands on the
  wrapper and the generator stays as it is.
- It belongs to a module or a class and has no seed, and the workers are spawned: each creates its own.
- The loader has one worker that persists (`num_workers=1, persistent_workers=True`): nothing repeats. The same holds
  for one worker if the sampler never ends and the training is one pass.
- An iterable dataset shuffles its files before each worker takes its share: the order must be the same in all workers.

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
            # With the key alone, two objects of a worker would draw alike.
            fresh = torch.randint(2**63 - 1, ()).item()
            seed = [self.rng.integers(2**32), fresh]
            self._worker_rng = np.random.default_rng(seed)
        return self._worker_rng
```

## Fix safety
The fix adds an accessor that returns the dataset's own generator in the main process, and another one in each worker.
It is safe where only the methods of one class and its subclasses draw from the generator. A generator that belongs to a
module, a closure, a default argument or a `partial` is replaced where workers read it or receive it, by
`_worker_rng(rng, torch.initial_seed())`, a function of the module that does the same. It is unsafe where a method of
the main process passes the generator to other code, which may keep it, and where the workers of an evaluation loader
draw from it too, because they may be meant to draw the same numbers each time. It is also unsafe where two generators
of one object, or of two objects of a class, get the same seed for the same loader, as those that flip an image and its
mask alike: after the fix they would draw different numbers in a worker. It is unsafe, too, where the constructor makes
an object with a generator that has no fix: its numbers would still be the same in all workers; and where the project
admits torch before 1.2, which has no `get_worker_info`.

With `num_workers=0` nothing changes. In workers, the fix combines your seed with torch's. Your seed counts however you
set it, also with `reset_seed(epoch)` in each epoch, but a reproducible run needs `torch.manual_seed` too. If your seed
is fixed and nothing calls `torch.manual_seed` in any case, the title of the fix says so. Two simpler ways are wrong.
Creating the object `if self.rng is None` is not enough: if the main process has read a sample first, the workers copy
the object again. `default_rng(torch.initial_seed())` gives two transforms of one worker the same numbers.

There is no fix where other objects draw from the same generator, where one of several generators of a constructor has
no fix, where a function also gets generators that a worker creates, or where several files read the name.

For a `torch.Generator` on an object, a `__getstate__` also leaves it out of the pickled state, so that spawned workers
can start. There is a fix where the class's own `__init__` creates it without a seed, from a constant or from a
parameter. If a method that the main process runs uses the generator, such as `manual_seed(epoch)`, its seed is pickled,
and a `__setstate__` makes it again. There is no fix where it is on another device than the CPU, or where the class
defines how it is pickled.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
- pytorch/pytorch#107034, pytorch/pytorch#146828
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.project.evaluation.values import Instance, repr_origin
from loaderlint.project.reach.model import Exposure, Model, Part, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.first_uses import first_uses
from loaderlint.rules.shared.generator_accessor import Draw
from loaderlint.rules.shared.generator_creation import born, library_of
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.unresolved_places import site_key, spot_of
from loaderlint.rules.shared.wording import in_workers_of, repeated
from loaderlint.rules.shared_generator.cures import cures
from loaderlint.rules.shared_generator.fixes import own_generator_fix
from loaderlint.rules.shared_generator.generator_draws import draws_of, is_supposed, why_good

#: How many draws a finding shows.
_MAX_SHOWN_DRAWS = 6
_PARTS: tuple[Part, ...] = ("sample", "collate")
_WORDS = {"numpy": "Generator", "numpy_legacy": "RandomState", "python": "random.Random", "torch": "torch.Generator"}


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each generator that the function draws from, where it is made."""
    for one in judged(RULE, _candidates(function, model), model, parts=_PARTS, weigh=partial(_weigh, model)):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Draw]]:
    """The draws from generators."""
    for call in model.calls(function):
        for draw in draws_of(call, model):
            made, why_not = draw.made.site, why_good(draw, model)
            cure, key = cures(draw, model), site_key(made)
            yield Candidate(
                draw,
                call.frame,
                spot_of(made),
                cure,
                why_not,
                unproven=is_supposed(draw),
                key=key,
                context=call.context,
            )


def _weigh(model: Model, draws: Sequence[Candidate[Draw]], exposure: Exposure) -> Severity | Unsaid:
    if exposure.certainty == "possible" and _is_settable(draws[0].about, model):
        # the unknown code that creates the object may set it again in each worker
        return Unsaid("its object can get another generator, and the code that creates it is not known")
    return lowered(RULE.severity, exposure)


def _finding(verdict: WorkerVerdict[Draw], model: Model) -> Finding:
    made, exposure = verdict.about.made, verdict.exposure
    draws = (verdict.about, *verdict.together)
    library = library_of(made) or "numpy"
    uses = {model.place(one.call.frame, one.call.number): model.label(one.call.frame) for one in draws}
    supposed = {model.place(one.call.frame, one.call.number) for one in draws if is_supposed(one)}
    shown = tuple(
        Evidence(
            where,
            f"{label} passes it to a library, which may draw from it"
            if where in supposed
            else f"{label} draws from it",
        )
        for where, label in [*uses.items()][:_MAX_SHOWN_DRAWS]
    )
    fix = own_generator_fix(verdict.about, model)
    return verdict.finding(
        f"{repeated(exposure)} {in_workers_of(exposure)}: this {_WORDS[library]} is made {born(made.site, model)}, "
        "before the workers start; make it in the worker, from `torch.initial_seed()`",
        verdict.spot.place(model),
        made.name,
        (*_kept(verdict.about, model), *_touched(verdict.about, model), *shown, *verdict.why(model)),
        (fix,) if fix else (),
    )


# --- what is drawn from -----------------------------------------------------------------------------------------------


def _kept(draw: Draw, model: Model) -> Iterator[Evidence]:
    """Where the object that draws keeps a generator that was made elsewhere."""
    for origin in sorted(draw.origins, key=repr_origin):
        if isinstance(origin.owner, Instance) and len(origin.path) == 1:
            for store in model.ev.classes.stores(origin.owner, origin.path[0]):
                if store.construction and store.frame is not draw.made.site.frame and draw.made in store.value.atoms:
                    place = model.step_place(store.frame, store.step)
                    yield Evidence(place, f"{model.label(store.frame)} keeps it as {origin.path[0]}")
                    return


def _touched(draw: Draw, model: Model) -> Sequence[Evidence]:
    """Where the main process makes a generator that sample code makes at its first use."""
    return first_uses(draw.made, draw.origins, model) if model.runs_in_worker(draw.made.site.frame) else ()


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
