"""The fix: a worker_init_fn that seeds the transforms of one library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.findings.finding import AddImport, Fix, Intent, SetArgument
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, Literal_
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.frozen_augmentation_state.affected_versions import is_affected
from loaderlint.rules.frozen_augmentation_state.copied_transforms import TransformUse
from loaderlint.rules.shared.init_functions import InitFunction, edits_many_files, init_passed, passed_name, passing
from loaderlint.rules.shared.run_seeds import set_by_torchs_seed
from loaderlint.rules.shared.seed_sources import is_same_in_each_run
from loaderlint.rules.shared.worker_seeding import (
    LIGHTNING_IS_REPLACED,
    TAKES_INIT,
    may_be_passed,
    replaces_lightnings_init,
)

#: Where each dataset stores a `Compose` under one name, and all versions that are possible can seed it.
_SEEDING_COMPOSE = """\
def {{seed_transform}}(worker_id: int) -> None:
    \"\"\"Give each worker's copy of the transform its own random state.\"\"\"
    transform = {{torch}}.utils.data.get_worker_info().dataset.{name}
    transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""
#: Where each known dataset is of a class of the project and stores its transform under one name.
_SEEDING_OWN = """\
def {{seed_transform}}(worker_id: int) -> None:
    \"\"\"Give each worker's copy of the transform its own random state.\"\"\"
    transform = {{torch}}.utils.data.get_worker_info().dataset.{name}
    if hasattr(transform, "set_random_seed"):
        transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""
#: Where some of these datasets store none.
_SEEDING_SOME = """\
def {{seed_transform}}(worker_id: int) -> None:
    \"\"\"Give each worker's copy of the transform its own random state.\"\"\"
    dataset = {{torch}}.utils.data.get_worker_info().dataset
    transform = getattr(dataset, "{name}", None)
    if hasattr(transform, "set_random_seed"):
        transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""
#: Where the datasets may hold others.
_SEEDING = """\
def {{seed_transforms}}(worker_id: int) -> None:
    \"\"\"Give each worker's transforms random states of their own.\"\"\"
    datasets = [{{torch}}.utils.data.get_worker_info().dataset]
    for dataset in datasets:
        if isinstance(dataset, {{torch}}.utils.data.Subset):
            datasets.append(dataset.dataset)
        elif isinstance(
            dataset,
            ({{torch}}.utils.data.ConcatDataset, {{torch}}.utils.data.ChainDataset),
        ):
            datasets.extend(dataset.datasets)
{seeding}"""
_OF_ONE = """\
        transform = getattr(dataset, "{name}", None)
        if hasattr(transform, "set_random_seed"):
            transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""
_OF_SEVERAL = """\
        for name in ({names}):
            transform = getattr(dataset, name, None)
            if hasattr(transform, "set_random_seed"):
                transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""

#: What the functions above call.
_CALLED = frozenset("append extend getattr get_worker_info hasattr isinstance item randint set_random_seed".split())
#: A function whose name says that it seeds transforms.
_SEEDS = re.compile(r"def \w*seed_transform")


class Seeded(NamedTuple):
    """A loader, and the transforms of one library that its workers have copies of."""

    loader: Loader
    uses: list[TransformUse]


def seeding_fix(seeded: Sequence[Seeded], model: Model) -> Fix | None:
    """Pass a worker_init_fn that seeds all transforms of one library on the dataset of each loader. None if that is not
    possible for the first one; the others are left out then."""
    all_composes = all(_keeps_compose(one, model) for one in seeded)
    common = None if all_composes else _common_names(seeded, model)
    first, *others = [_seeding_one(one, all_composes, common, model) for one in seeded]
    if first is None:
        return None
    intents = dict.fromkeys(intent for one in (first, *filter(None, others)) for intent in one)
    name = _name(first)
    of_monai = seeded[0].uses[0].library.name == "MONAI"
    seeds = f"Seed each worker's transforms: pass `worker_init_fn={name}`"
    if any(_has_fixed_seed(use, model) for one in seeded for use in one.uses):
        seeds += set_by_torchs_seed(model, "their")
    title = "Seed MONAI's transforms: pass its `worker_init_fn`" if of_monai else seeds
    replaces = any(replaces_lightnings_init(one.loader, model) for one in seeded)
    is_safe = not replaces and not edits_many_files(intents)
    return Fix(title + (LIGHTNING_IS_REPLACED if replaces else ""), "safe" if is_safe else "unsafe", tuple(intents))


def _has_fixed_seed(use: TransformUse, model: Model) -> bool:
    """Whether a transform gets a seed that may be the same in each run: `A.Compose([...], seed=137)`."""
    frame = use.made.site.frame
    making = model.ev.expr(frame, use.made.site.expr)
    seeds = [arg.value for arg in making.args if arg.name == "seed"] if isinstance(making, ir.Call) else []
    return any(is_same_in_each_run(number, frame, model) for number in seeds)


def _name(intents: Sequence[Intent]) -> str:
    """What is passed as worker_init_fn."""
    return next(passed_name(one) for one in intents if isinstance(one, SetArgument))


def _common_names(seeded: Sequence[Seeded], model: Model) -> list[str] | None:
    """What all datasets keep, if one function for all loaders has to look into some of them; None if each loader gets
    the function that it needs."""
    names = [_kept_names(one) for one in seeded]
    known = [(kept, one) for kept, one in zip(names, seeded, strict=True) if kept]
    functions = {_seeding(kept, one.uses, one.loader, model)[0] for kept, one in known}
    return sorted({name for kept, _ in known for name in kept}) if len(functions) > 1 else None


def _kept_names(seeded: Seeded) -> list[str]:
    """The attributes in which the datasets of a loader keep the transforms; empty where one is kept elsewhere."""
    kept = [_kept_as(use, seeded.loader) for use in seeded.uses]
    return [] if None in kept else sorted({name for one in kept for name in one or ()})


def _seeding_one(
    seeded: Seeded, all_composes: bool, common: list[str] | None, model: Model
) -> tuple[Intent, ...] | None:
    """The intents that pass a worker_init_fn to one loader; None if that is not possible. `all_composes`: whether all
    datasets that the function is for keep a `Compose`. `common`: what they keep, if one function is for all loaders."""
    loader, uses = seeded
    library = uses[0].library
    passed = loader.argument("worker_init_fn").literal
    if loader.site is None or loader.kind.name not in TAKES_INIT or passed is None or not may_be_passed(loader, model):
        return None
    if any(_kept_as(use, loader) is None for use in uses):
        return None
    names = common or _kept_names(seeded)
    call = model.site_place(loader.site)
    if library.name == "MONAI":
        return (
            AddImport(call.path, "monai.data.utils", name="worker_init_fn"),
            passing(call, "{worker_init_fn}"),
        )
    if library.name != "albumentations" or not names:
        return None
    name, source = _looking_inside(names) if common else _seeding(names, uses, loader, model)
    if all_composes:
        source = _SEEDING_COMPOSE.format(name=names[0])
    same = _SeedsAttributes(tuple(names), all_composes)
    function = InitFunction(name, source, ("torch", "albumentations"), names[0], "set_random_seed", same, _SEEDS)
    return tuple(init_passed([call], function, model))


class _SeedsAttributes(Struct, frozen=True):
    """Whether a function seeds what datasets keep under these names, and does nothing else. `all_composes`: all of them
    can be seeded, so the function need not ask."""

    names: tuple[str, ...]
    all_composes: bool

    def __call__(self, frame: Frame, model: Model) -> bool:
        exprs = frame.code.exprs
        said = {e.name for e in exprs if isinstance(e, ir.Attr)} | {e.value for e in exprs if isinstance(e, ir.Const)}
        called = {called_name(exprs, call.call.func) for call in model.frame_calls(frame)}
        needed = {"set_random_seed"} if self.all_composes else {"set_random_seed", "hasattr"}
        return said >= {*self.names, "set_random_seed"} and needed <= called <= _CALLED


def _keeps_compose(seeded: Seeded, model: Model) -> bool:
    """Whether each dataset of a loader keeps a `Compose` under one name, and nothing else in any case, in a version of
    albumentations that has `set_random_seed`."""
    loader, uses = seeded
    kept = {origin.path for use in uses for origin in use.origins if isinstance(origin.owner, Instance)}
    if (
        len(kept) != 1
        or uses[0].library.name != "albumentations"
        or is_affected(uses[0].library, loader, model) != "yes"
    ):
        return False
    (path,) = kept
    return len(path) == 1 and all(_stores_compose(atom, path[0], model) for atom in loader.argument("dataset").atoms)


def _stores_compose(dataset: Atom, name: str, model: Model) -> bool:
    stores = model.ev.classes.stores(dataset, name) if isinstance(dataset, Instance) else ()
    kept = [atom for store in stores for atom in store.value.atoms or (None,)]
    made = (atom.name.rpartition(".") for atom in kept if isinstance(atom, LibObject))
    return _stores(dataset, name, model) and [one[2] for one in made] == ["Compose"] * len(kept)


def _seeding(names: Sequence[str], uses: Sequence[TransformUse], loader: Loader, model: Model) -> tuple[str, str]:
    """The name and the source of a worker_init_fn that seeds what datasets keep under these names."""
    passed = loader.argument("dataset")
    datasets = {atom for atom in passed.atoms if not isinstance(atom, Literal_)}  # None until it is made
    owners = (origin.owner for use in uses for origin in use.origins)
    keepers = {owner for owner in owners if isinstance(owner, Instance)}  # not the module that makes the transform
    if len(names) == 1 and datasets and all(one in keepers or _stores(one, names[0], model) for one in datasets):
        return "seed_transform", _SEEDING_OWN.format(name=names[0])
    are_own = all(isinstance(atom, Instance) for atom in datasets)
    if len(names) == 1 and are_own and keepers <= datasets:
        return "seed_transform", _SEEDING_SOME.format(name=names[0])
    return _looking_inside(names)


def _looking_inside(names: Sequence[str]) -> tuple[str, str]:
    """The name and the source of a worker_init_fn that seeds what datasets, and those in them, keep under these
    names."""
    of_several = _OF_SEVERAL.format(names=", ".join(f'"{name}"' for name in names))
    seeding = _OF_ONE.format(name=names[0]) if len(names) == 1 else of_several
    return "seed_transforms", _SEEDING.format(seeding=seeding)


def _stores(dataset: Atom, name: str, model: Model) -> bool:
    """Whether a dataset of the project has an attribute of this name in any case."""
    stores = model.ev.classes.stores(dataset, name) if isinstance(dataset, Instance) else ()
    return any(store.construction and store.sure for store in stores)


def _kept_as(use: TransformUse, loader: Loader) -> tuple[str, ...] | None:
    """The attributes of the loader's datasets that hold the transform; None where it is kept anywhere else."""
    if use.frame is None:
        return ()
    held = [o for o in use.origins if isinstance(o.owner, Instance)]
    if not held or not all(o.owner in loader.datasets and len(o.path) == 1 for o in held):
        return None
    return tuple(sorted({origin.path[0] for origin in held}))
