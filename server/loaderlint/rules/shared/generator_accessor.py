"""The quick fix of `shared-generator`: an accessor that makes a new generator in each worker (and in the main process).

It is keyed by torch's seed, which is new in every worker and epoch, and takes a fresh number from torch, so that two
objects of one worker differ. `if self.rng is None` would be copied from a main process that has read a sample, and
`default_rng(torch.initial_seed())` would give all objects of a worker the same numbers.

A `torch.Generator` ends the worker that unpickles it: the accessor's and the constructor's are left out of the state.
"""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import (
    Fix,
    InsertFunction,
    InsertMethod,
    InsertStatement,
    Intent,
    Replace,
    ReplaceAttributeUses,
)
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.values import ClassRef, Instance, LibObject, Origin
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.expression_source import read_elsewhere
from loaderlint.rules.shared.generator_seeds import seed_of
from loaderlint.rules.shared.pickled_to_workers import pickles_itself


class Draw(NamedTuple):
    """A call in worker code that draws from a generator, and where the generator is kept."""

    call: WorkerCall
    made: LibObject
    origins: frozenset[Origin]


_METHOD = '''\
def {{_get_{stem}}}(self):
    """The generator of this process: one that is made before the workers start is copied into each of them."""
    key = {{torch}}.initial_seed()  # new in every worker and, unless the workers persist, in every epoch
    if getattr(self, "_worker_{stem}_key", None) != key:
        self._worker_{stem}_key = key
        fresh = {{torch}}.randint({limit}, ()).item()  # differs between the objects of one worker
        self._worker_{stem} = {make}
    return self._worker_{stem}'''

_GETSTATE = """\
def __getstate__(self):
    state = self.__dict__.copy()
    # A worker ends when it unpickles a torch.Generator.
    state["{name}"] = state["_worker_{stem}"] = state["_worker_{stem}_key"] = None
    return state"""

_FUNCTION = '''\
@{{functools}}.lru_cache(maxsize=1)
def {{{name}}}(key):
    """The generator of the process whose torch seed is `key`: a module's generator is copied into each worker."""
    fresh = {{torch}}.randint({limit}, ()).item()
    return {make}'''


class _Form(NamedTuple):
    """How a kind of generator is made from `fresh`, a number below `limit`: without a seed, with a number as seed, and
    with a seed that may be None."""

    limit: str
    plain: str
    constant: str
    kept: str


_FORMS = {
    "numpy": _Form(
        "2**63 - 1",
        "{numpy}.random.default_rng(fresh)",
        "{numpy}.random.default_rng((SEED, fresh))",
        "{numpy}.random.default_rng(fresh if SEED is None else (SEED, fresh))",
    ),
    "numpy_legacy": _Form(
        "2**32",
        "{numpy}.random.RandomState(fresh)",
        "{numpy}.random.RandomState((SEED, fresh))",
        "{numpy}.random.RandomState(fresh if SEED is None else (SEED, fresh))",
    ),
    "python": _Form(
        "2**63 - 1",
        "{random}.Random(fresh)",
        '{random}.Random(f"SEED {fresh}")',
        '{random}.Random(f"{SEED} {fresh}")',
    ),
    "torch": _Form(
        "2**63 - 1",
        "{torch}.Generator().manual_seed(fresh)",
        "{torch}.Generator().manual_seed(hash((SEED, fresh)))",
        "{torch}.Generator().manual_seed(fresh if SEED is None else hash((SEED, fresh)))",
    ),
}


def accessor_fix(draws: list[Draw], library: str, model: Model) -> Fix | None:
    """The fix for a generator of `library` with all its draws in worker code; None where one of them is out of the
    accessor's reach, or where it cannot be said how to make the generator anew."""
    form = _FORMS.get(library)
    if form is None or not draws:
        return None
    seeds = {seed_of(draw.made, model) for draw in draws}
    seed = seeds.pop()
    if seeds or seed is None:
        return None
    if library == "torch":
        intents = _sendable_intents(draws, form, seed, model)
    elif draws[0].made.site.frame.def_ == 0:
        intents = _function_intents(draws, form, seed, model)
    else:
        intents = _method_intents(draws, form, seed, model)
    return Fix("Make the generator in the worker", "safe", intents) if intents else None


def _make(form: _Form, seed: str, kept: str) -> str:
    """The expression that makes the generator. `kept` names what holds a seed that is no number."""
    if seed == "":
        return form.plain
    if seed.isdigit():
        return form.constant.replace("SEED", seed)
    return form.kept.replace("SEED", kept)


# --- on an object -----------------------------------------------------------------------------------------------------


def _method_intents(draws: list[Draw], form: _Form, seed: str, model: Model) -> tuple[Intent, ...]:
    """The accessor as a method of the class whose `__init__` makes the generator and keeps it under one name."""
    store = own_store(draws[0], model)
    cls = store.frame.owner if store else None
    if store is None or cls is None:
        return ()
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    if not all(is_kept_at(draw, cls, step.name, model) for draw in draws):
        return ()
    if any(read_elsewhere(cls, step.name, model)):
        return ()
    stem = step.name.lstrip("_")
    intents: list[Intent] = []
    if seed and not seed.isdigit():
        birth = model.step_place(store.frame, store.step)
        intents.append(InsertStatement(birth, f"self._worker_{stem}_seed = {seed}"))
    place = model.class_place(cls)
    source = _METHOD.format(stem=stem, limit=form.limit, make=_make(form, seed, f"self._worker_{stem}_seed"))
    intents.append(InsertMethod(place, f"_get_{stem}", source))
    keep = ("__init__", f"_get_{stem}", *_not_in_workers(cls, model))
    intents.append(ReplaceAttributeUses(place, step.name, f"self.{{_get_{stem}}}()", keep))
    return tuple(intents)


def _sendable_intents(draws: list[Draw], form: _Form, seed: str, model: Model) -> tuple[Intent, ...]:
    """The accessor, with the generators left out where the object is pickled: only where no method that workers do not
    run reads the attribute, which a copy of the object has not."""
    store = own_store(draws[0], model)
    cls = store.frame.owner if store else None
    if store is None or cls is None or pickles_itself(cls, model):
        return ()
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    if any(_names(cls, method, step.name, model) for method in _not_in_workers(cls, model)):
        return ()
    intents = _method_intents(draws, form, seed, model)
    source = _GETSTATE.format(name=step.name, stem=step.name.lstrip("_"))
    return (*intents, InsertMethod(model.class_place(cls), "__getstate__", source)) if intents else ()


def _names(cls: ClassRef, method: str, attribute: str, model: Model) -> bool:
    """Whether the text of a method of the class, not of its `__init__`, holds the attribute's name."""
    function = model.ev.classes.own_members(cls)[method].function
    file = model.files.file(function.path) if function is not None else None
    if method == "__init__" or function is None or file is None:
        return False
    return file.pieces[function.piece].holds(attribute)


def own_store(draw: Draw, model: Model) -> Store | None:
    """The only assignment of the generator to an attribute of the object that draws from it, in some `__init__`."""
    for origin in draw.origins:
        if not isinstance(origin.owner, Instance) or len(origin.path) != 1:
            continue
        stores = model.ev.classes.stores(origin.owner, origin.path[0])
        if len(stores) != 1 or stores[0].frame != draw.made.site.frame or stores[0].value.atoms != {draw.made}:
            continue
        if model.def_of(stores[0].frame).name == "__init__" and _has_plain_class(origin.owner.cls, model):
            return stores[0]
    return None


def _has_plain_class(cls: ClassRef, model: Model) -> bool:
    """Whether new attributes may be set on objects of the class: no `__slots__`, no own `__getstate__`."""
    names = ("__slots__", "__getstate__", "__reduce__", "__setattr__")
    return not any(model.ev.classes.member(cls, name) for name in names)


def is_kept_at(draw: Draw, cls: ClassRef, name: str, model: Model) -> bool:
    """Whether a draw reads the generator from attribute `name` of objects of `cls`, and from nowhere else."""
    return bool(draw.origins) and all(
        isinstance(origin.owner, Instance) and origin.path == (name,) and cls in model.ev.classes.mro(origin.owner.cls)
        for origin in draw.origins
    )


def _not_in_workers(cls: ClassRef, model: Model) -> list[str]:
    """The methods of the class that no worker runs: they keep the generator they have."""
    run = {(frame.path, frame.piece, frame.def_) for frame in model.reached}
    return [
        member.name
        for member in model.ev.classes.own_members(cls).values()
        if member.function is not None
        and (member.function.path, member.function.piece, member.function.def_) not in run
    ]


# --- of a module ------------------------------------------------------------------------------------------------------


def _function_intents(draws: list[Draw], form: _Form, seed: str, model: Model) -> tuple[Intent, ...]:
    """The accessor as a function, where all draws are made on the module's name, in its own file."""
    site = draws[0].made.site
    if len(model.facts(site.frame).ir.defs) != 1:
        return ()
    names = set()
    intents: list[Intent] = []
    for draw in draws:
        func = model.ev.expr(draw.call.frame, draw.call.call.func)
        if not isinstance(func, ir.Attr) or draw.call.frame.path != site.frame.path:
            return ()
        name = model.ev.expr(draw.call.frame, func.base)
        kept = (
            frozenset({Origin(ModuleRef(site.frame.path), (name.name,), "same")}) if type(name) is ir.Global else None
        )
        if type(name) is not ir.Global or draw.origins != kept:
            return ()
        names.add(name.name)
        accessor = f"_worker_{name.name.lstrip('_').lower()}"
        text = f"{{{accessor}}}({{torch}}.initial_seed())"
        intents.append(Replace(model.place(draw.call.frame, func.base), text))
    if len(names) != 1:
        return ()
    source = _FUNCTION.format(name=accessor, limit=form.limit, make=_make(form, seed, seed))
    return (InsertFunction(site.frame.path, accessor, source), *dict.fromkeys(intents))
