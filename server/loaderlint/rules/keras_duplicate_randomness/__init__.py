"""
# keras-duplicate-randomness (LDR107)

## What it does
Finds random numbers from NumPy (or from a generator object of the main process) in a Keras dataset
(`keras.utils.Sequence`, `keras.utils.PyDataset`) for which Keras uses a pool of processes: `use_multiprocessing=True`.

## Why is this bad?
Keras starts a new pool in each epoch and seeds nothing in it. Every process continues from the state of the main
process: all processes draw the same numbers, and the next epoch draws them again. Measured on Keras 3.15 under fork
with 4 processes and 8 batches of one number: two different numbers in the first epoch, and the same two in the second.
Keras has nothing like PyTorch's `worker_init_fn`.

Keras 3 takes `workers` and `use_multiprocessing` in the dataset's constructor, Keras 2 in `fit`, `fit_generator` and
similar methods. Both have the fault.

## When it is not a bug
- Keras uses threads: `use_multiprocessing=False`, the default. All threads share one state.
- The main process draws the numbers: in `__init__` or `on_epoch_end` (where most datasets shuffle).
- The code creates a generator, or sets a seed, for each sample, or a generator in each process (in a function that
  compares `os.getpid()`).
- The numbers come from Python's own `random.random()` and similar functions: CPython seeds them in each forked child.
- What always fails comes before the call, such as an import of a name that the module does not have: a hint.
- The numbers come from NumPy's global state, and the processes do not start by fork. (Generator objects are copied
  there too.)

## Example
```python
class Noisy(keras.utils.PyDataset):
    def __getitem__(self, index):
        return self.x[index] + np.random.normal(size=self.x[index].shape), self.y[index]

model.fit(Noisy(x, y, workers=4, use_multiprocessing=True))
```

## Fixed
```python
class Noisy(keras.utils.PyDataset):
    def __getitem__(self, index):
        rng = np.random.default_rng((self.seed, self.epoch, index))
        return self.x[index] + rng.normal(size=self.x[index].shape), self.y[index]

    def on_epoch_end(self):
        self.epoch += 1
```

## Fix safety
The quick fix draws from a generator that each process creates for itself, from the system's entropy; the main process
keeps drawing from NumPy's own state, so its seed still counts there. The fix is safe in the dataset's own methods: any
process may produce any sample, so a seed of the main process never determined the numbers in the pool. It is unsafe for
generators with a seed, in functions that the main process may call as well, and for a single process (`workers=1`) if
the project calls `np.random.seed`, which decides the numbers of that process. A call of the same method on an object
of another class, known from the code or from a parameter's annotation, does not count. If you need reproducible
numbers, use the form above, with a seed, an epoch counter and the index.

## References
- [keras.utils.PyDataset](https://keras.io/api/utils/python_utils/#pydataset-class)
- keras-team/keras#12389
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loaderlint.findings.finding import Evidence, Finding, Fix, Safety, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Site
from loaderlint.project.reach.model import MainFunction, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.keras_duplicate_randomness.keras_pools import FLAG, Pool, is_keras_dataset, keras_pools
from loaderlint.rules.keras_duplicate_randomness.sample_methods import is_called_elsewhere, sample_frames
from loaderlint.rules.shared.generator_creation import is_seeded
from loaderlint.rules.shared.global_draws import draws_from_numpy
from loaderlint.rules.shared.inherited_randomness import Inherited, inherited, process_fix
from loaderlint.rules.shared.judgement import Unsaid, weighed

#: The end of the title of a fix where the numbers of the only process follow a seed.
_SEED_IS_LOST = "; its numbers then no longer follow `np.random.seed`"


def find(function: MainFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each draw or generator, for every dataset that the function has made in processes."""
    for call in model.calls(function):
        for pool in keras_pools(call, model):
            frames = model.run_by(sample_frames(pool, model))
            for one in inherited(frames, partial(model.start_methods.of_processes, call.frame.path), model):
                yield from _judge(one, pool, frames, model)


def _judge(one: Inherited, pool: Pool, frames: tuple[Frame, ...], model: Model) -> Iterator[Finding | Silence]:
    if pool.alone and _moves_on_in_main(pool, model):
        reason = "the main process draws between the epochs (on_epoch_end), and the one process starts from there"
        yield Silence(RULE.name, one.place(model), reason)
        return
    fails_before = model.failing.keeps_from(Site(pool.call.frame, pool.call.number))
    if fails_before:
        verdict = weighed(RULE, pool.certainty, severity=Severity.HINT)
    else:
        verdict = weighed(RULE, pool.certainty, 1 if pool.alone else 0)
    if isinstance(verdict, Unsaid):
        yield Silence(RULE.name, one.place(model), verdict.reason)
        return
    name = model.ev.classes.name(pool.dataset.cls)
    start = Evidence(model.place(pool.call.frame, pool.call.number), f"Keras makes the samples of {name} in processes")
    intents = process_fix(one, frames, model)
    follows = pool.alone and one.made is None and _is_numpy_seeded(model)
    title = "Draw from a generator of the process" + (_SEED_IS_LOST if follows else "")
    fix = Fix(title, "unsafe" if follows else _safety(one, pool, model), intents)
    yield verdict.finding(
        f"every {'epoch' if pool.alone else 'process'} draws the same numbers: {one.cause(model)}, and Keras copies "
        f"it into each process that makes samples of `{name}` (`{FLAG}=True` in {pool.call.frame.path.name}); "
        "draw from `np.random.default_rng((seed, epoch, index))`",
        one.place(model),
        one.name,
        (start, *one.evidence(model)),
        (fix,) if intents else (),
    )


def _moves_on_in_main(pool: Pool, model: Model) -> bool:
    """Whether the main process itself draws between the epochs: then a single process starts from a new state."""
    opened = model.ev.classes.open_method(pool.dataset, "on_epoch_end")
    return opened is not None and any(
        draws_from_numpy(call, model) for frame in model.run_by([opened]) for call in model.frame_calls(frame)
    )


def _is_numpy_seeded(model: Model) -> bool:
    """Whether some code of the project seeds NumPy's global state: the samples of a single process follow it."""
    return any(model.files.containing(text) for text in ("np.random.seed(", "numpy.random.seed("))


def _safety(one: Inherited, pool: Pool, model: Model) -> Safety:
    """Safe in methods that only make samples, where no seed is lost."""
    if one.made is not None:
        return "unsafe" if is_seeded(one.made, model) else "safe"
    frame = one.draws[0].call.frame
    mine = isinstance(frame.receiver, Instance) and is_keras_dataset(frame.receiver.cls, model)
    is_sample = model.def_of(frame).name == "__getitem__"
    return "safe" if mine and (is_sample or not is_called_elsewhere(frame, pool, model)) else "unsafe"


RULE = Rule(
    code="LDR107",
    name="keras-duplicate-randomness",
    severity=Severity.ERROR,
    needs="M",
    over="main function",
    find=find,
    fix="safe",
    page=page(__doc__),
    words=(FLAG,),
)
