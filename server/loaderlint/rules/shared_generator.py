"""
# shared-generator (LDR102)

## What it does
Finds random generator objects (`np.random.default_rng()`, `RandomState`, `random.Random`, `torch.Generator`) that are made
before a loader's workers start and are drawn from in the workers.

## Why is this bad?
Every worker gets a copy of the object with the same state: all workers draw the same numbers, and every epoch starts from
that state again. torch seeds its own, Python's and NumPy's global states in each worker; it cannot know these objects.
Measured on torch 2.13 with 4 workers and 16 samples: each number occurs 4 times and epoch 2 equals epoch 1, under fork,
spawn and forkserver, seeded or not. With `persistent_workers=True` the epochs differ, the workers still agree.
A `torch.Generator` on the dataset cannot be sent to spawned workers at all (pytorch/pytorch#146828).

ruff's NPY002 asks to replace `np.random.*` by a Generator. That is good advice, if the Generator is made in the worker.

## When it is not a bug
- The generator is made in worker code: in `__getitem__`, in `__iter__`, in the `worker_init_fn`.
- It is used in the main process only: in `__init__`, in a sampler, as `DataLoader(generator=...)`.
- A `worker_init_fn` reseeds it on the very dataset that the loader holds. Through a `Subset` the attribute lands on the
  wrapper, and nothing is cured.
- A generator of a module or class without a seed, in workers that are spawned: they make their own.

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
        key = torch.initial_seed()  # new in every worker and, unless the workers persist, in every epoch
        if getattr(self, "_worker_rng_key", None) != key:
            self._worker_rng_key = key
            fresh = torch.randint(2**63 - 1, ()).item()  # differs between the objects of one worker
            self._worker_rng = np.random.default_rng((42, fresh))
        return self._worker_rng
```

## Fix safety
Safe for generators made in the class's own `__init__` without a seed, from a constant, or from a parameter. The user's seed
still counts, through torch's. Making the object `if self.rng is None` is not enough: where the main process has read a
sample first, the workers copy it again. `default_rng(torch.initial_seed())` gives two transforms of one worker the same
numbers.

## References
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
- pytorch/pytorch#107034, pytorch/pytorch#146828
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings import Evidence, Finding, Fix, InsertMethod, InsertStatement, ReplaceAttributeUses, Severity
from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS, GENERATOR_SEEDS, GENERATORS
from loaderlint.project.classes import Store
from loaderlint.project.frames import Frame
from loaderlint.project.model import Exposure, Loader, Model, WorkerCall, WorkerFunction
from loaderlint.project.values import ClassRef, Instance, LibMember, LibObject, Origin, Site, Val
from loaderlint.rules.base import Rule, in_workers_of, loudness, page

_WORDS = {"numpy": "Generator", "numpy_legacy": "RandomState", "python": "random.Random", "torch": "torch.Generator"}


def find(function: WorkerFunction, model: Model) -> Iterator[Finding]:
    """One finding a generator that the function draws from, where it is made."""
    for call in model.calls(function):
        for made, origins in _drawn_from(call, model):
            if not model.runs_in_worker(made.site.frame):
                yield from _judge(call, made, origins, model)


def _drawn_from(call: WorkerCall, model: Model) -> Iterator[tuple[LibObject, frozenset[Origin]]]:
    """The generators that a call draws from, and where they are kept."""
    for atom in call.callee.only(LibMember):
        if isinstance(atom, LibMember) and isinstance(atom.owner, LibObject) and atom.name in GENERATOR_DRAWS:
            if _library(atom.owner):
                yield atom.owner, call.callee.origins
    passed = model.ev.arguments(call.call, call.frame).get("generator")
    if passed is not None and not passed.unknown:
        for atom in passed.only(LibObject):
            if isinstance(atom, LibObject) and _library(atom) == "torch":
                yield atom, passed.origins


def _library(made: LibObject) -> str | None:
    """Whose generator an object is; `torch.Generator().manual_seed(0)` is the generator itself."""
    return GENERATORS.get(made.name.removesuffix(".manual_seed"))


def _judge(call: WorkerCall, made: LibObject, origins: frozenset[Origin], model: Model) -> Iterator[Finding]:
    if _remade_in_worker(made, origins, model):
        return
    where = _birth_place(made.site, model)

    def cured(loader: Loader) -> bool:
        if where != "an object" and not _is_seeded(made, model) and "fork" not in model.start_methods(loader):
            return True
        return loader.kind.reseeds_objects or _reseeded_at_start(loader, origins, model)

    exposure = model.exposure(call.frame, 1, parts=("sample", "collate"), cured=cured)
    if exposure is None:
        return
    severity = loudness(Severity.ERROR, exposure.certainty)
    if severity is None:
        return
    word = _WORDS[_library(made) or "numpy"]
    born = f"this {word} is made {_born(made.site, where, model)}, before the workers start"
    use = Evidence(model.place(call.frame, call.number), f"{model.label(call.frame)} draws from it")
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"every worker draws the same numbers {in_workers_of(exposure)}: {born}; make it in the worker, from "
        "`torch.initial_seed()`",
        model.site_place(made.site),
        made.name,
        (use, *model.why(call.frame, exposure)),
        _fixes(made, origins, exposure, model),
    )


def _birth_place(site: Site, model: Model) -> str:
    """'a module' or 'a class or default argument' (made again by a spawned worker), else 'an object' (copied)."""
    if site.frame.def_ != 0:
        return "an object"
    facts = model.facts(site.frame)
    return "a module" if len(facts.ir.defs) == 1 else "a class or default argument"


def _born(site: Site, where: str, model: Model) -> str:
    if where == "a module":
        return f"at module level in {site.frame.path.name}"
    if where == "an object":
        return f"in `{model.label(site.frame)}`"
    return "once, when the def or class is read"


def _is_seeded(made: LibObject, model: Model) -> bool:
    arguments = model.ev.site_arguments(made.site)
    return bool(arguments.positional or arguments.keywords or arguments.more_keywords)


def _remade_in_worker(made: LibObject, origins: frozenset[Origin], model: Model) -> bool:
    """Whether worker code stores another object there, or gives this one a new seed."""
    for origin in origins:
        if isinstance(origin.owner, Instance) and len(origin.path) == 1:
            stores = model.ev.classes.stores(origin.owner, origin.path[0])
            if any(not store.construction and model.runs_in_worker(store.frame) for store in stores):
                return True
    for reached in model.reached.values():
        for call in model.frame_calls(reached.frame):
            for atom in call.callee.atoms:
                if isinstance(atom, LibMember) and atom.owner == made and atom.name in GENERATOR_SEEDS:
                    return True
    return False


def _reseeded_at_start(loader: Loader, origins: frozenset[Origin], model: Model) -> bool:
    """Whether the worker_init_fn sets or seeds the attribute on the dataset that the loader holds."""
    names = {origin.path[0] for origin in origins if origin.path}
    for reached in model.reached.values():
        if not reached.loaders.get("init", 0) >> loader.index & 1:
            continue
        for _, step in model.steps(reached.frame):
            if isinstance(step, ir.SetAttr) and step.name in names:
                through_wrapper = loader.wrapped and not _goes_deeper(step.base, reached.frame, model)
                if not through_wrapper:
                    return True
            if isinstance(step, ir.Perform) and _calls_dataset(step.call, reached.frame, model):
                return not loader.wrapped
    return False


def _goes_deeper(base: int, frame: Frame, model: Model) -> bool:
    """Whether a store goes to `info.dataset.dataset`, inside a wrapper."""
    e = model.ev.expr(frame, base)
    return isinstance(e, ir.Attr) and e.name == "dataset" and isinstance(model.ev.expr(frame, e.base), ir.Attr)


def _calls_dataset(call: int, frame: Frame, model: Model) -> bool:
    """Whether a call is a method of the worker's dataset, or of something on it: `info.dataset.reseed(...)`."""
    e = model.ev.expr(frame, call)
    e = model.ev.expr(frame, e.func) if isinstance(e, ir.Call) else None
    while isinstance(e, ir.Attr):
        e = model.ev.expr(frame, e.base)
        if isinstance(e, ir.Attr) and e.name == "dataset":
            return True
    return False


# --- the fix ----------------------------------------------------------------------------------------------------------

_ACCESSOR = '''\
def {{_get_{stem}}}(self):
    """The generator of this process: one that is made before the workers start is copied into each of them."""
    key = {{torch}}.initial_seed()  # new in every worker and, unless the workers persist, in every epoch
    if getattr(self, "_worker_{stem}_key", None) != key:
        self._worker_{stem}_key = key
        fresh = {{torch}}.randint({limit}, ()).item()  # differs between the objects of one worker
        self._worker_{stem} = {make}
    return self._worker_{stem}'''

#: Per library: what a fresh number is below, and the generator without, with a constant and with a kept seed.
_FORMS = {
    "numpy": (
        "2**63 - 1",
        "{numpy}.random.default_rng(fresh)",
        "{numpy}.random.default_rng((SEED, fresh))",
        "{numpy}.random.default_rng(fresh if SEED is None else (SEED, fresh))",
    ),
    "numpy_legacy": (
        "2**32",
        "{numpy}.random.RandomState(fresh)",
        "{numpy}.random.RandomState((SEED, fresh))",
        "{numpy}.random.RandomState(fresh if SEED is None else (SEED, fresh))",
    ),
    "python": (
        "2**63 - 1",
        "{random}.Random(fresh)",
        '{random}.Random(f"SEED {fresh}")',
        '{random}.Random(f"{SEED} {fresh}")',
    ),
}


def _fixes(made: LibObject, origins: frozenset[Origin], exposure: Exposure, model: Model) -> tuple[Fix, ...]:
    """The accessor, where the class's own `__init__` makes the generator and keeps it under one name."""
    library = _library(made) or ""
    store = _own_store(made, origins, model)
    if library not in _FORMS or store is None or store.frame.owner is None:
        return ()
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    seed = _seed_of(made, model)
    if seed is None:
        return ()
    stem = step.name.lstrip("_")
    limit, plain, constant, kept = _FORMS[library]
    intents: list[InsertStatement | InsertMethod | ReplaceAttributeUses] = []
    if seed == "":
        make = plain
    elif seed.isdigit():
        make = constant.replace("SEED", seed)
    else:
        make = kept.replace("SEED", f"self._worker_{stem}_seed")
        birth = model.step_place(store.frame, store.step)
        intents.append(InsertStatement(birth, f"self._worker_{stem}_seed = {seed}"))
    cls = model.class_place(store.frame.owner)
    source = _ACCESSOR.format(stem=stem, limit=limit, make=make)
    intents.append(InsertMethod(cls, f"_get_{stem}", source))
    intents.append(ReplaceAttributeUses(cls, step.name, f"self.{{_get_{stem}}}()", ("__init__", f"_get_{stem}")))
    return (Fix("Make the generator in the worker", "safe", tuple(intents)),)


def _own_store(made: LibObject, origins: frozenset[Origin], model: Model) -> Store | None:
    """The only assignment of the generator to an attribute of the object that draws from it, in its class's `__init__`."""
    for origin in origins:
        if not isinstance(origin.owner, Instance) or len(origin.path) != 1:
            continue
        stores = model.ev.classes.stores(origin.owner, origin.path[0])
        if len(stores) == 1 and stores[0].frame == made.site.frame and _has_plain_class(origin.owner.cls, model):
            if model.def_of(stores[0].frame).name == "__init__" and stores[0].value.atoms == {made}:
                return stores[0]
    return None


def _has_plain_class(cls: ClassRef, model: Model) -> bool:
    """Whether new attributes may be set on objects of the class: no `__slots__`, no own `__getstate__`."""
    names = ("__slots__", "__getstate__", "__reduce__", "__setattr__")
    return not any(model.ev.classes.member(cls, name) for name in names)


def _seed_of(made: LibObject, model: Model) -> str | None:
    """The seed as source: '' for none, digits for a constant, a parameter's name; None for anything else."""
    call = model.ev.expr(made.site.frame, made.site.expr)
    if not isinstance(call, ir.Call):
        return None
    if not call.args:
        return ""
    if len(call.args) > 1 or call.args[0].kind not in ("pos", "kw"):
        return None
    e = model.ev.expr(made.site.frame, call.args[0].value)
    if isinstance(e, ir.Const) and e.kind == "NoneType":
        return ""
    if isinstance(e, ir.Const) and e.kind == "int" and isinstance(e.value, int) and e.value >= 0:
        return str(e.value)
    if isinstance(e, ir.Param) and not _may_be_generator(model.ev.eval(call.args[0].value, made.site.frame)):
        return model.def_of(made.site.frame).params[e.index].name
    return None


def _may_be_generator(value: Val) -> bool:
    return bool(value.only(LibObject))


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
