"""
# frozen-augmentation-state (LDR106)

## What it does
Finds random transforms of albumentations (1.4.21 and later), MONAI and imgaug that are made before a loader's workers
start and are called in the workers, where nothing gives them a seed there.

## Why is this bad?
These objects hold random generators of their own, which torch does not know. Every worker gets a copy with the same
state: all workers apply the same augmentations, and each epoch starts from that state again. Measured with
albumentations 2.0.8 and MONAI 1.6.1 on torch 2.13, 4 workers and 16 samples: each number occurs 4 times and epoch 2
equals epoch 1. imgaug 0.4.0 did the same on torch 1.9. In albumentations 1.4.20 and before the transforms drew from
Python's `random`, which torch seeds.

## When it is not a bug
- Pipelines that draw nothing: `A.Compose([A.Resize(256, 256), A.Normalize()])`.
- `monai.data.DataLoader`, or torch's with `worker_init_fn=monai.data.utils.worker_init_fn`: they seed MONAI's
  transforms in each worker. (With a `worker_init_fn` of your own, MONAI's loader does not.)
- A `worker_init_fn` that calls `set_random_seed` or `set_random_state`, or transforms that are made in the worker.
- AlbumentationsX 2.5 and later, torchvision, kornia, torchio: torch's generator, or one that follows it.
- One worker that lives on over the epochs (`num_workers=1, persistent_workers=True`): nothing repeats.

## Example
```python
class Images(Dataset):
    def __init__(self):
        self.transform = A.Compose([A.HorizontalFlip()])

    def __getitem__(self, index):
        return self.transform(image=self.images[index])["image"]

loader = DataLoader(Images(), num_workers=4)
```

## Fixed
```python
def seed_transforms(worker_id):
    dataset = torch.utils.data.get_worker_info().dataset
    dataset.transform.set_random_seed(torch.randint(2**32, ()).item())

loader = DataLoader(Images(), num_workers=4, worker_init_fn=seed_transforms)
```

## Fix safety
Safe, and offered where the dataset that holds the transform is in sight and the loader has no `worker_init_fn`: for
MONAI its own is passed; for albumentations one is written, which goes through `Subset` and `ConcatDataset`. The seeds
follow `torch.manual_seed` in the main process.

## References
- albumentations-team/albumentations#2473, albumentations-team/albumentations#2561
- [MONAI's DataLoader](https://docs.monai.io/en/stable/data.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import (
    AddImport,
    Evidence,
    Finding,
    Fix,
    InsertFunction,
    Intent,
    SetArgument,
    Severity,
    Silence,
)
from loaderlint.knowledge.augmentations import RESEEDING_INITS, Library
from loaderlint.project.evaluation.values import Instance, Lib
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerCall
from loaderlint.project.versions.environment import Answer, VersionSet
from loaderlint.rules.base import Rule, page
from loaderlint.rules.frozen_augmentation_state.copied_transforms import TransformUse, copied_transforms
from loaderlint.rules.shared.judgement import Unsaid, Verdict, weighed
from loaderlint.rules.shared.lazy_places import site_key, spot_of
from loaderlint.rules.shared.loader_traits import one_stream
from loaderlint.rules.shared.seeding import TAKES_INIT, init_in_sight, may_be_passed
from loaderlint.rules.shared.silence_reasons import ONE_STREAM, few_workers, silent
from loaderlint.rules.shared.wording import in_workers_of, repeated

_OPPOSITE: dict[Answer, Answer] = {"yes": "no", "no": "yes"}
_SEEDING = """\
def {{seed_transforms}}(worker_id):
    \"\"\"Give each worker's copies of the transforms a random state of their own.\"\"\"
    datasets = [{{torch.utils.data}}.get_worker_info().dataset]
    for dataset in datasets:
        if isinstance(dataset, {{torch.utils.data}}.Subset):
            datasets.append(dataset.dataset)
        elif isinstance(dataset, ({{torch.utils.data}}.ConcatDataset, {{torch.utils.data}}.ChainDataset)):
            datasets.extend(dataset.datasets)
        for name in ({names}):
            transform = getattr(dataset, name, None)
            if hasattr(transform, "set_random_seed"):
                transform.set_random_seed({{torch}}.randint(2**32, ()).item())"""


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding a transform, where it is made."""
    if loader.out_of_sight:
        return
    uses = {site_key(use.made.site): use for use in copied_transforms(loader, model)}
    for use in uses.values():
        possible = model.reached[use.frame].possible if use.frame else 0
        exposure = model.exposed(1 << loader.index, possible, RULE.workers)
        verdict = _verdict(use.library, exposure, loader, model) if exposure else None
        reason = _cure(use, loader, model)
        if reason or exposure is None or verdict is None or isinstance(verdict, Unsaid):
            reason = reason or _old(use.library, loader, model)
            yield from silent(RULE.name, spot_of(use.made.site), f"{reason}: {loader.described}", model)
            continue
        fix = _fix([one for one in uses.values() if one.library is use.library], loader, model)
        yield verdict.finding(
            f"{repeated(exposure)} {in_workers_of(exposure)}{_border(use.library, loader, model)}: this "
            f"{use.library.name} object is made before the workers start, with a random state that is copied into "
            f"each; {_remedy(use.library)}",
            model.site_place(use.made.site),
            use.made.name,
            _why(use, loader, exposure, model),
            (fix,) if fix else (),
        )


def _cure(use: TransformUse, loader: Loader, model: Model) -> str:
    """Why the loader's workers do not draw the same numbers; '' if they may."""
    if loader.has_workers() == "no":
        return few_workers(loader)
    if one_stream(loader):
        return ONE_STREAM
    if not init_in_sight(loader):
        return "what its worker_init_fn does is out of sight"
    return "its workers give the transforms a new state" if _is_reseeded(use, loader, model) else ""


def _old(library: Library, loader: Loader, model: Model) -> str:
    """Why the declared version of a library does not have the fault."""
    declared = model.environment(loader).packages or {}
    if library.package == "albumentations" and "albumentationsx" in declared:
        return f"AlbumentationsX {declared['albumentationsx'].described}, gives each worker a state of its own"
    known = declared.get(library.package)
    if known is None:
        return "which version of it is used is not known, and it is only possible that its workers run it"
    return f"{library.name} {known.described}, is before {library.since}"


def _why(use: TransformUse, loader: Loader, exposure: Exposure, model: Model) -> tuple[Evidence, ...]:
    if use.frame is not None:
        return model.why(use.frame, exposure)
    assert loader.site is not None
    text = f"its dataset calls it in the workers of {loader.described.replace('`', '')} ({loader.workers_text})"
    return (Evidence(model.site_place(loader.site), text),)


def _border(library: Library, loader: Loader, model: Model) -> str:
    """The version from which it is so, where nobody says which one is used."""
    declared = model.environment(loader).packages or {}
    if library.package != "albumentations" or "albumentationsx" in declared:
        return ""
    known = declared.get(library.package, VersionSet()).before(library.since) == "no"
    return "" if known else f", with {library.name} {library.since} or later"


def _remedy(library: Library) -> str:
    if library.name == "MONAI":
        return "use `monai.data.DataLoader`, or pass `worker_init_fn=monai.data.utils.worker_init_fn`"
    return f"call its `{library.reseed}` in the worker_init_fn"


# --- who cures it -----------------------------------------------------------------------------------------------------


def _is_reseeded(use: TransformUse, loader: Loader, model: Model) -> bool:
    passed = loader.argument("worker_init_fn")
    if use.library.name == "MONAI":
        if loader.kind.reseeds_objects and passed.literal is not None:
            return True
        if any(isinstance(atom, Lib) and atom.name in RESEEDING_INITS for atom in passed.atoms):
            return True
    calls = (*model.calls_in(loader, "init"), *model.calls_in(loader, "sample"))
    return any(_reseeds(call, use.library, model) for call in calls)


def _reseeds(call: WorkerCall, library: Library, model: Model) -> bool:
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and func.name in (library.reseed, "set_random_state", "seed_", "deterministic"):
        return True
    named = [atom.name for atom in call.callee.atoms if isinstance(atom, Lib)]
    return any(name in RESEEDING_INITS or name in ("monai.data.set_rnd", "imgaug.seed") for name in named)


def _verdict(library: Library, exposure: Exposure, loader: Loader, model: Model) -> Verdict | Unsaid | None:
    """Error where the version that is declared has the fault, one step lower where some that are possible have,
    information where none is declared."""
    declared = model.environment(loader).packages or {}
    if library.package == "albumentations" and "albumentationsx" in declared:
        affected = declared["albumentationsx"].before("2.5")
    elif library.package != "albumentations" and library.package in declared:
        affected = "yes"  # in every version
    else:
        older = declared.get(library.package, VersionSet()).before(library.since)
        affected = _OPPOSITE.get(older, older)
    if affected == "no":
        return None
    severity = Severity.INFORMATION if affected == "unknown" else Severity.ERROR
    return weighed(RULE, exposure.certainty, 1 if affected == "maybe" else 0, severity)


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fix(uses: list[TransformUse], loader: Loader, model: Model) -> Fix | None:
    """Pass a worker_init_fn that seeds all transforms of one library on the loader's dataset."""
    library = uses[0].library
    passed = loader.argument("worker_init_fn").literal
    if loader.site is None or loader.kind.name not in TAKES_INIT or passed is None or not may_be_passed(loader, model):
        return None
    kept = [_kept_as(use, loader) for use in uses]
    if any(one is None for one in kept):
        return None
    names = sorted({name for one in kept for name in one or ()})
    call = model.site_place(loader.site)
    intents: tuple[Intent, ...]
    if library.name == "MONAI":
        intents = (
            AddImport(call.path, "monai.data.utils", name="worker_init_fn"),
            SetArgument(call, "worker_init_fn", "{worker_init_fn}"),
        )
        return Fix("Seed MONAI's transforms: pass its `worker_init_fn`", "safe", intents)
    if library.name != "albumentations" or not names:
        return None
    listed = ", ".join(f'"{name}"' for name in names)
    source = _SEEDING.format(names=f"{listed}," if len(names) == 1 else listed)
    intents = (
        InsertFunction(call.path, "seed_transforms", source),
        SetArgument(call, "worker_init_fn", "{seed_transforms}"),
    )
    return Fix("Seed each worker's transforms: pass `worker_init_fn=seed_transforms`", "safe", intents)


def _kept_as(use: TransformUse, loader: Loader) -> tuple[str, ...] | None:
    """The attributes of the loader's datasets that hold the transform; None where it is kept anywhere else."""
    if use.frame is None:
        return ()
    held = [o for o in use.origins if isinstance(o.owner, Instance)]
    if not held or not all(o.owner in loader.datasets and len(o.path) == 1 for o in held):
        return None
    return tuple(sorted({origin.path[0] for origin in held}))


RULE = Rule(
    code="LDR106",
    name="frozen-augmentation-state",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
