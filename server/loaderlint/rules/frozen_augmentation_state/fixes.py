"""The fix: a worker_init_fn that seeds the transforms of one library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

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
#: The same three where these datasets store transforms under several names.
_SEEDING_COMPOSES = """\
def {{seed_transforms}}(worker_id: int) -> None:
    \"\"\"Give each worker's transforms random states of their own.\"\"\"
    dataset = {{torch}}.utils.data.get_worker_info().dataset
    for transform in {attributes}:
        transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""
_SEEDING_ALL_OWN = """\
def {{seed_transforms}}(worker_id: int) -> None:
    \"\"\"Give each worker's transforms random states of their own.\"\"\"
    dataset = {{torch}}.utils.data.get_worker_info().dataset
    for transform in {attributes}:
        if hasattr(transform, "set_random_seed"):
            transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""
_SEEDING_SOME_OF_ALL = """\
def {{seed_transforms}}(worker_id: int) -> None:
    \"\"\"Give each worker's transforms random states of their own.\"\"\"
    dataset = {{torch}}.utils.data.get_worker_info().dataset
    for name in {names}:
        transform = getattr(dataset, name, None)
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
        for name in {names}:
            transform = getattr(dataset, name, None)
            if hasattr(transform, "set_random_seed"):
                transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""

#: What is known of the datasets of which the transforms are seeded: each is of a class of the project and stores a
#: `Compose` under each name, or anything under each name, or perhaps nothing; or there may be others in them.
_Known = Literal["composes", "all", "some", "nothing"]
_ONE_NAME = {"composes": _SEEDING_COMPOSE, "all": _SEEDING_OWN, "some": _SEEDING_SOME}
_SEVERAL_NAMES = {"composes": _SEEDING_COMPOSES, "all": _SEEDING_ALL_OWN, "some": _SEEDING_SOME_OF_ALL}
#: What the functions above call.
_CALLED = frozenset("append extend getattr get_worker_info hasattr isinstance item randint set_random_seed".split())
#: The code that rules insert fits into it.
_LINE_LENGTH = 79
#: A function whose name says that it seeds transforms.
_SEEDS = re.compile(r"def \w*seed_transform")


class Seeded(NamedTuple):
    """A loader, and the transforms of one library that its workers have copies of."""

    loader: Loader
    uses: list[TransformUse]


def seeding_fix(seeded: Sequence[Seeded], model: Model) -> Fix | None:
    """Pass a worker_init_fn that seeds all transforms of one library on the dataset of each loader. None if that is not
    possible for the first one; the others are left out then."""
    ways = _ways(seeded, model)
    first, *others = [_seeding_one(one, way, model) for one, way in zip(seeded, ways, strict=True)]
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


class _Way(NamedTuple):
    """The names under which datasets keep transforms, and what is known of these datasets."""

    names: tuple[str, ...]
    known: _Known

    @property
    def function(self) -> str:
        """The name of the function that seeds in this way."""
        return "seed_transform" if len(self.names) == 1 and self.known != "nothing" else "seed_transforms"


def _ways(seeded: Sequence[Seeded], model: Model) -> list[_Way]:
    """How the function of each loader seeds: in one way for all where one has to look for what another knows."""
    ways = [_way(one, model) for one in seeded]
    if all(_keeps_composes(one, model) for one in seeded):
        return [way._replace(known="composes") for way in ways]
    kept = [way for way in ways if way.names]
    if len({(way.function, way.known == "nothing") for way in kept}) < 2:
        return ways
    names = sorted({name for way in kept for name in way.names})
    known: _Known = "nothing" if any(way.known == "nothing" for way in kept) else "some"
    return [_Way(tuple(names), known)] * len(ways)


def _way(seeded: Seeded, model: Model) -> _Way:
    names = _kept_names(seeded)
    return _Way(tuple(names), _known(names, seeded.uses, seeded.loader, model))


def _kept_names(seeded: Seeded) -> list[str]:
    """The attributes in which the datasets of a loader keep the transforms; empty where one is kept elsewhere."""
    kept = [_kept_as(use, seeded.loader) for use in seeded.uses]
    return [] if None in kept else sorted({name for one in kept for name in one or ()})


def _seeding_one(seeded: Seeded, way: _Way, model: Model) -> tuple[Intent, ...] | None:
    """The intents that pass a worker_init_fn to one loader; None if that is not possible."""
    loader, uses = seeded
    library = uses[0].library
    passed = loader.argument("worker_init_fn").literal
    if loader.site is None or loader.kind.name not in TAKES_INIT or passed is None or not may_be_passed(loader, model):
        return None
    if any(_kept_as(use, loader) is None for use in uses):
        return None
    call = model.site_place(loader.site)
    if library.name == "MONAI":
        return (
            AddImport(call.path, "monai.data.utils", name="worker_init_fn"),
            passing(call, "{worker_init_fn}"),
        )
    if library.name != "albumentations" or not way.names:
        return None
    same = _SeedsAttributes(way.names, way.known == "composes")
    libraries = ("torch", "albumentations")
    function = InitFunction(way.function, _source(way), libraries, way.names[0], "set_random_seed", same, _SEEDS)
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


def _keeps_composes(seeded: Seeded, model: Model) -> bool:
    """Whether each dataset of a loader keeps a `Compose` under each name, and nothing else in any case, in a version of
    albumentations that has `set_random_seed`."""
    loader, uses = seeded
    kept = {origin.path for use in uses for origin in use.origins if isinstance(origin.owner, Instance)}
    if uses[0].library.name != "albumentations" or is_affected(uses[0].library, loader, model) != "yes":
        return False
    if not kept or any(len(path) != 1 for path in kept):
        return False
    datasets = loader.argument("dataset").atoms
    return all(_stores_compose(atom, path[0], model) for atom in datasets for path in kept)


def _stores_compose(dataset: Atom, name: str, model: Model) -> bool:
    stores = model.ev.classes.stores(dataset, name) if isinstance(dataset, Instance) else ()
    kept = [atom for store in stores for atom in store.value.atoms or (None,)]
    made = (atom.name.rpartition(".") for atom in kept if isinstance(atom, LibObject))
    return _stores(dataset, name, model) and [one[2] for one in made] == ["Compose"] * len(kept)


def _known(names: Sequence[str], uses: Sequence[TransformUse], loader: Loader, model: Model) -> _Known:
    """What is known of the datasets of a loader, which keep transforms under these names."""
    passed = loader.argument("dataset")
    datasets = {atom for atom in passed.atoms if not isinstance(atom, Literal_)}  # None until it is made
    owners = (origin.owner for use in uses for origin in use.origins)
    keepers = {owner for owner in owners if isinstance(owner, Instance)}  # not the module that makes the transform
    if datasets and all(_has(one, name, model) for one in datasets for name in names):
        return "all"
    are_own = all(isinstance(atom, Instance) for atom in datasets)
    return "some" if are_own and keepers <= datasets else "nothing"


def _source(way: _Way) -> str:
    """The source of a worker_init_fn that seeds what datasets keep under these names; those in them, too, if nothing is
    known of them."""
    names = [f'"{name}"' for name in way.names]
    if way.known == "nothing":
        of_several = _OF_SEVERAL.format(names=_tuple(names, "        for name in "))
        seeding = _OF_ONE.format(name=way.names[0]) if len(way.names) == 1 else of_several
        return _SEEDING.format(seeding=seeding)
    source = (_ONE_NAME if len(way.names) == 1 else _SEVERAL_NAMES)[way.known]
    attributes = _tuple([f"dataset.{name}" for name in way.names], "    for transform in ")
    return source.format(name=way.names[0], names=_tuple(names, "    for name in "), attributes=attributes)


def _tuple(items: Sequence[str], before: str) -> str:
    """A tuple behind `before` in a line that ends with a colon; with an item on each line where they do not fit."""
    joined = f"({', '.join(items)})"
    if len(before) + len(joined) < _LINE_LENGTH:
        return joined
    line = "\n" + before[: len(before) - len(before.lstrip())]
    return "(" + "".join(f"{line}    {item}," for item in items) + f"{line})"


def _has(dataset: Atom, name: str, model: Model) -> bool:
    """Whether a dataset of the project, or its class, has an attribute of this name in any case."""
    if _stores(dataset, name, model):
        return True
    member = model.ev.classes.member(dataset.cls, name) if isinstance(dataset, Instance) else None
    return member is not None and bool(member.bindings)


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
