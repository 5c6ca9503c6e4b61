"""
# frozen-augmentation-state (LDR106)

## What it does
Finds random transforms of albumentations (1.4.21 and later), MONAI and imgaug that are created before a loader's
workers start and called in the workers, where nothing seeds them.

## Why is this bad?
These objects have their own random generators, which torch does not know. Every worker gets a copy with the same state,
so all workers apply the same augmentations, and each epoch starts from that state again. Measured with albumentations
2.0.8 and MONAI 1.6.1 on torch 2.13, with 4 workers and 16 samples: each number occurs 4 times, and both epochs are the
same. imgaug 0.4.0 did the same on torch 1.9. In albumentations 1.4.20 and earlier, the transforms drew from Python's
`random`, which torch seeds.

## When it is not a bug
- The pipeline draws nothing: `A.Compose([A.Resize(256, 256), A.Normalize()])`, or a transform with `p=0`.
- imgaug crops or pads at a fixed place: `CenterCropToFixedSize(64, 64)`, or
  `PadToFixedSize(512, 512, position="center")`. Without `position`, imgaug draws the place.
- The loader is `monai.data.DataLoader`, or torch's with `worker_init_fn=monai.data.utils.worker_init_fn`: they seed
  MONAI's transforms in each worker. (With a `worker_init_fn` of your own, MONAI's loader does not.)
- The `worker_init_fn` calls `set_random_seed` or `set_random_state`, or the worker creates the transforms.
- The code runs only on albumentations before 1.4, because it imports or uses what later versions do not have:
  `Cutout`, `IAAPerspective`, `ToTensor`, `albumentations.torch`.
- The project declares versions with which albumentations 1.4.21 cannot be installed, such as Python 3.8 or NumPy 1.21.
  A notebook records the Python of its kernel, which counts where the project declares none.
- The library uses torch's generator or follows it: AlbumentationsX 2.5 and later, torchvision, kornia, torchio.
- The loader has one worker that persists (`num_workers=1, persistent_workers=True`): nothing repeats. The same holds
  for one worker if the sampler never ends and the training is one pass.

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
Safe. The fix is offered where the dataset that holds the transform is known and the loader has no `worker_init_fn`. For
MONAI, the fix passes MONAI's own function. For albumentations, it writes one; once for all scripts that need it, if
they import a module that can contain it. The function looks inside `Subset` and `ConcatDataset` only if the loader may
hold one. The seeds follow `torch.manual_seed` in the main process. If the transform has a fixed seed,
`A.Compose([...], seed=137)`, and nothing calls `torch.manual_seed`, the title of the fix says so. Unsafe where
Lightning would give the loader its own `worker_init_fn` (after `seed_everything(..., workers=True)`), which a loader
with another one does not get.

## References
- albumentations-team/albumentations#2473, albumentations-team/albumentations#2561
- [MONAI's DataLoader](https://docs.monai.io/en/stable/data.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.knowledge.augmentations import Library
from loaderlint.project.evaluation.values import Site
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.frozen_augmentation_state.affected_versions import (
    affected_since,
    is_affected,
    removed_name,
    why_unaffected,
)
from loaderlint.rules.frozen_augmentation_state.copied_transforms import TransformUse, copied_transforms
from loaderlint.rules.frozen_augmentation_state.fixes import Seeded, seeding_fix
from loaderlint.rules.frozen_augmentation_state.reseeding import is_reseeded
from loaderlint.rules.shared.judgement import Unsaid, Verdict, unset_at, unset_evidence, weighed, weighed_for
from loaderlint.rules.shared.loader_traits import one_stream
from loaderlint.rules.shared.silence_reasons import few_workers, silent
from loaderlint.rules.shared.unresolved_places import site_key, spot_of
from loaderlint.rules.shared.wording import in_workers_of, repeated, start_of_workers
from loaderlint.rules.shared.worker_seeding import init_in_sight


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each transform, where it is made."""
    if loader.out_of_sight:
        return
    uses = model.remembered(_uses, loader.index)
    for use in uses.values():
        verdict = _verdict(use, loader, model)
        if isinstance(verdict, Unsaid):
            yield from silent(RULE.name, spot_of(use.made.site), f"{verdict.reason}: {loader.described}", model)
            continue
        exposure = _exposure(use, loader, model)
        assert exposure is not None
        fix = seeding_fix([_of_library(use, one, model) for one in _sharing(use, loader, model)], model)
        yield verdict.finding(
            f"{repeated(exposure)} {in_workers_of(exposure)}{affected_since(use.library, loader, model)}: this "
            f"{use.library.name} object is made before the workers start, with a random state that is copied into "
            f"each; {_remedy(use.library, loader)}",
            model.site_place(use.made.site),
            use.made.name,
            (*_why(use, loader, exposure, model), *unset_evidence(_unset(use, loader, model), model)),
            (fix,) if fix else (),
        )


def _uses(index: int, model: Model) -> Mapping[tuple[object, ...], TransformUse]:
    """The uses of transforms by the workers of the loader with this index, by where they are made: one that needs no
    option, if there is one."""
    loader = model.loaders[index]
    found: dict[tuple[object, ...], TransformUse] = {}
    for use in copied_transforms(loader, model):
        key = site_key(use.made.site)
        if key not in found or _unset(use, loader, model) is None:
            found[key] = use
    return found


def _unset(use: TransformUse, loader: Loader, model: Model) -> Site | None:
    """The test that, until an option is set, keeps the transform from being made or called."""
    made = unset_at(use.made.site, loader, model)
    return made or (model.off_by_default(use.frame, use.context, (loader,)) if use.frame is not None else None)


def _sharing(use: TransformUse, loader: Loader, model: Model) -> list[Loader]:
    """The loader, and the others whose workers have copies of the same transform: one fix is for all of them."""
    found = [loader]
    for other in model.loaders if use.frame is not None else ():
        if other is not loader and not other.out_of_sight and not other.presumed and not other.installed:
            same = model.remembered(_uses, other.index).get(site_key(use.made.site))
            if same is not None and not isinstance(_verdict(same, other, model), Unsaid):
                found.append(other)
    return found


def _of_library(use: TransformUse, loader: Loader, model: Model) -> Seeded:
    """The transforms of the same library that the loader's workers use."""
    uses = model.remembered(_uses, loader.index).values()
    return Seeded(loader, [one for one in uses if one.library is use.library])


def _exposure(use: TransformUse, loader: Loader, model: Model) -> Exposure | None:
    return model.exposed(1 << loader.index, model.reached[use.frame] if use.frame else None, RULE.workers)


def _cure(use: TransformUse, loader: Loader, model: Model) -> str:
    """Why the loader's workers do not draw the same numbers; '' if they may."""
    if loader.has_workers() == "no":
        return few_workers(loader)
    if alone := one_stream(loader, model):
        return alone
    if not init_in_sight(loader):
        return "what its worker_init_fn does is not known"
    if is_reseeded(use, loader, model):
        return "its workers give the transforms a new random state"
    removed = removed_name(use.made, loader, model)
    return f"only albumentations before 1.4 has `{removed}`" if removed else ""


def _why(use: TransformUse, loader: Loader, exposure: Exposure, model: Model) -> tuple[Evidence, ...]:
    if use.frame is not None:
        return model.why(use.frame, exposure)
    assert loader.site is not None
    text = f"its dataset calls it {loader.place_of_work} ({loader.workers_text})"
    return (Evidence(model.site_place(loader.site), text),)


def _remedy(library: Library, loader: Loader) -> str:
    if library.name == "MONAI":
        return "use `monai.data.DataLoader`, or pass `worker_init_fn=monai.data.utils.worker_init_fn`"
    return f"call its `{library.reseed}` in {start_of_workers(loader)}"


def _verdict(use: TransformUse, loader: Loader, model: Model) -> Verdict | Unsaid:
    """Error where the version that is declared has the fault, one step lower where some that are possible have,
    information where none is declared."""
    exposure = _exposure(use, loader, model)
    if reason := _cure(use, loader, model):
        return Unsaid(reason)
    affected = is_affected(use.library, loader, model)
    if exposure is None or affected == "no":
        return Unsaid(why_unaffected(use.library, loader, model))
    severity = Severity.INFORMATION if affected == "unknown" else Severity.ERROR
    doubts = (affected == "maybe") + (_unset(use, loader, model) is not None)
    verdict = weighed(RULE, exposure.certainty, doubts, severity)
    if isinstance(verdict, Unsaid):
        return Unsaid(why_unaffected(use.library, loader, model))
    return weighed_for(loader, verdict)


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
