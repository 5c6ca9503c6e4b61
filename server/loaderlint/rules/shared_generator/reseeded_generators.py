"""Who gives a generator that was made before the workers start a new state in each worker."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.augmentations import RESEEDING_INITS
from loaderlint.knowledge.numpy_random import GENERATOR_SEEDS
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Instance, Lib, LibMember, Origin
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.constructor_stores import run_by_constructor
from loaderlint.rules.shared.generator_accessor import Draw
from loaderlint.rules.shared.held_handles import is_guarded
from loaderlint.rules.shared.stored_at_start import stored_at_start


def reseeded_by_monai(draw: Draw, loader: Loader, model: Model) -> bool:
    """Whether MONAI's worker_init_fn reaches the generator: it calls `set_random_state` of the objects that have it."""
    passed = loader.argument("worker_init_fn")
    monais = any(isinstance(atom, Lib) and atom.name in RESEEDING_INITS for atom in passed.atoms)
    if not monais and not (loader.kind.reseeds_objects and passed.literal is not None):
        return False
    held = [origin for origin in draw.origins if not isinstance(origin.owner, ModuleRef)]
    return not draw.origins or any(_is_set_by_monai(origin, model) for origin in held)


def _is_set_by_monai(origin: Origin, model: Model) -> bool:
    """Whether `set_random_state` of the object that holds a generator may set it. MONAI's own sets the attribute `R`
    only, and neither a `MapTransform` nor a dataset has one (run with MONAI 1.6.1)."""
    cls = origin.owner.cls if isinstance(origin.owner, Instance) else origin.owner
    if not isinstance(cls, ClassRef) or model.ev.classes.has_unknown_base(cls):
        return True
    own = model.ev.classes.member(cls, "set_random_state")
    if own is not None and not model.ev.installed.holds(own.owner.path):
        return True
    of_monai = own is not None or any(name.startswith("monai.") for name in model.ev.classes.library_bases(cls))
    return of_monai and origin.path[:1] in ((), ("R",))


def remade_in_worker(draw: Draw, model: Model) -> bool:
    """Whether worker code stores another object there, or gives this one a new seed."""
    for origin in draw.origins:
        if isinstance(origin.owner, Instance) and len(origin.path) == 1:
            stores = model.ev.classes.stores(origin.owner, origin.path[0])
            if any(_replaces(store, origin.owner, origin.path[0], model) for store in stores):
                return True
    return any(
        isinstance(atom, LibMember) and atom.owner == draw.made and atom.name in GENERATOR_SEEDS
        for call in model.calls_on(draw.made)
        for atom in call.callee.atoms
    )


def _replaces(store: Store, owner: Instance, name: str, model: Model) -> bool:
    """Whether worker code stores another object in an attribute. A property that the constructor reads, and that asks
    for the attribute first, has stored one before."""
    if store.construction or not model.runs_in_worker(store.frame):
        return False
    return store.frame not in run_by_constructor(owner, model) or not is_guarded(store, name, model)


def reseeded_at_start(loader: Loader, origins: frozenset[Origin], model: Model) -> bool:
    """Whether the worker_init_fn sets or seeds the attribute on the dataset that the loader holds."""
    if stored_at_start({origin.path[0] for origin in origins if origin.path}, loader, model):
        return True
    for reached in model.reached_by(loader):
        if reached.loaders.get("init", 0) >> loader.index & 1:
            for _, step in model.steps_of(reached.frame, ir.Perform):
                if _calls_dataset(step.call, reached.frame, model):
                    return not loader.wrapped
    return False


def _calls_dataset(call: int, frame: Frame, model: Model) -> bool:
    """Whether a call is a method of the worker's dataset, or of something on it: `info.dataset.reseed(...)`."""
    e = model.ev.expr(frame, call)
    e = model.ev.expr(frame, e.func) if isinstance(e, ir.Call) else None
    while isinstance(e, ir.Attr):
        e = model.ev.expr(frame, e.base)
        if isinstance(e, ir.Attr) and e.name == "dataset":
            return True
    return False
