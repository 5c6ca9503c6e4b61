"""
# uncollatable-sample (LDR511)

## What it does
Finds samples that PyTorch's `default_collate` cannot batch: a Pillow image, a `Path`, a `datetime`, a set, a graph of
torch_geometric, an object of a plain class, or a container with one of them. The rule looks at what `__getitem__`
returns or `__iter__` yields, and at torchvision datasets without a transform.

## Why is this bad?
The first batch raises `TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists;
found <class 'PIL.Image.Image'>`, with any number of workers. The message names the type, but not the dataset or the
part of the sample. Measured on torch 2.13.

## When it is not a bug
- The loader has a `collate_fn`, or does not batch (`batch_size=None`).
- A transform turns the object into a tensor (`ToTensor`, `PILToTensor`, `ToImage`), or the code does not show which
  transform is used.
- The object is removed from the dictionary or list before the sample is returned (`del sample["path"]`), or another one
  takes its place (`sample["path"] = str(path)`).
- `default_collate` can batch it: named tuples, dictionaries, lists of equal length, strings, NumPy arrays.
- The loader belongs to a library that batches in its own way (`torch_geometric.loader.DataLoader`, MONAI).
- The project registers its class in `default_collate_fn_map`.

The finding is an error where the fault is plain: one function, or the module level of one file, makes both the dataset
and the loader, and nothing that the dataset holds decides whether it returns the object. Elsewhere it is a hint, and so
it is where the sample itself fails before: `self.labels[index]`, where `self.labels` is always None. A program that
has been run does not fail at its first batch, so it is likely that code which the rule does not understand
converts the object.

## Example
```python
def __getitem__(self, index):
    return Image.open(self.paths[index]).convert("RGB"), self.labels[index]
```

## Fixed
```python
def __getitem__(self, index):
    return np.asarray(Image.open(self.paths[index]).convert("RGB")), self.labels[index]
```

torchvision's `ToTensor` makes a tensor of the image instead, with the channels first and values from 0 to 1.

## Fix safety
Unsafe: `np.asarray(image)` and `str(path)` can be batched, but the training code may expect something else.

## References
- [default_collate](https://pytorch.org/docs/stable/data.html#torch.utils.data.default_collate)
- [Working with collate_fn](https://pytorch.org/docs/stable/data.html#working-with-collate-fn)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.findings.finding import Certainty, Evidence, Finding, Fix, Place, Severity, Silence, Wrap
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import DefKey, Instance, LibObject, MapOf, SeqOf, Site, def_key
from loaderlint.project.reach.model import SAMPLE_METHODS, Exposure, Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.default_collate import OWN_COLLATE, has_own_collate
from loaderlint.rules.shared.judgement import Verdict
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.unresolved_places import Spot
from loaderlint.rules.uncollatable_sample.failing_samples import used_none
from loaderlint.rules.uncollatable_sample.sample_parts import Part, uncollatable_parts
from loaderlint.rules.uncollatable_sample.uncollatable_values import IMAGE, PATH, Kind, Uncollatable

_ADVICE = {
    IMAGE: "convert it to a tensor or an array, or pass a `collate_fn`",
    PATH: "return its text, or pass a `collate_fn`",
}
_OTHER_ADVICE = "return numbers, tensors or strings, or pass a `collate_fn`"
_WRAPS = {
    IMAGE: ("Convert it to an array: `np.asarray(...)`", "{numpy}.asarray("),
    PATH: ("Return its text: `str(...)`", "str("),
}


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each kind of part that cannot be batched in what a step gives, where the first one is."""
    if loader.out_of_sight or any(model.files.containing("default_collate_fn_map")):
        return
    given = [(_alike(frame, model), guessed) for frame, guessed in _entries(loader, model)]
    if _batches_itself(loader):
        for part in (part for groups, _ in given for parts in groups for part in parts):
            yield from silent(
                RULE.name, Spot(part.frame, part.step, "step"), f"{OWN_COLLATE}: {loader.described}", model
            )
        return
    for groups, guessed in given:
        for parts in groups:
            yield from _in_sample(parts, guessed, loader, model)
    for dataset in loader.datasets:
        if isinstance(dataset, LibObject) and model.once(Uncollatable).gives_images(dataset):
            yield from _in_library(dataset, loader, model)


def _batches_itself(loader: Loader) -> bool:
    size, sampler = loader.argument("batch_size").literal, loader.argument("batch_sampler").literal
    unbatched = size is not None and size.value is None and (sampler is None or sampler.value is None)
    return unbatched or has_own_collate(loader)


def _entries(loader: Loader, model: Model) -> Iterator[tuple[Frame, bool]]:
    """The methods of the datasets that give the loader a sample; True for a guess."""
    for reached in model.reached_by(loader):
        frame = reached.frame
        is_sample = reached.loaders.get("sample", 0) >> loader.index & 1
        if (
            is_sample
            and reached.parents.get(loader.index, frame) is None
            and model.def_of(frame).name in SAMPLE_METHODS
        ):
            yield frame, bool(reached.possible >> loader.index & 1)


# --- what is said -----------------------------------------------------------------------------------------------------


def _alike(frame: Frame, model: Model) -> list[list[Part]]:
    """The parts that cannot be batched in what a def gives, those of one kind in the same step together."""
    groups: dict[tuple[int, Kind], list[Part]] = {}
    for part in uncollatable_parts(frame, model):
        groups.setdefault((part.step, part.kind), []).append(part)
    return list(groups.values())


def _in_sample(parts: list[Part], guessed: bool, loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    part = parts[0]
    certainty: Certainty = "possible" if guessed or part.is_choice else "proven"
    place = model.step_place(part.frame, part.step)
    written = list(dict.fromkeys(model.place(one.frame, one.number) for one in parts))
    also: list[Evidence] = []
    fixes: tuple[Fix, ...] = ()
    if all(
        one.anchor > place.anchor for one in written
    ):  # others are bound to a name before, which may have other uses
        place = written[0]
        fixes = () if any(_is_container(one, model) for one in parts) else _fixes(part.kind, written)
        also = [Evidence(one, f"{part.kind} too") for one in written[1:]]
    gives = "yields" if model.def_of(part.frame).is_generator else "returns"
    advice = _ADVICE.get(part.kind, _OTHER_ADVICE)
    what = f"`{model.label(part.frame)}` {gives} {part.kind}; {advice}"
    fails = tuple(used_none(part.frame, part.step, model))
    why = (*also, *fails, *model.why(part.frame, Exposure((loader,), certainty)))
    dataset = part.frame.receiver
    made = dataset.site if isinstance(dataset, Instance) else None
    is_plain = certainty == "proven" and part.is_always and not fails and _is_made_beside(made, loader)
    yield _finding(part.kind, what, place, certainty, is_plain, loader, why, fixes)


def _is_container(part: Part, model: Model) -> bool:
    """Whether a part is a list or dict with something in it that cannot be batched: converting the whole cures
    nothing."""
    return model.ev.eval(part.number, part.frame).has(SeqOf, MapOf)


def _in_library(dataset: LibObject, loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    may_get_transform = model.once(Uncollatable).may_get_transform()
    certainty: Certainty = "possible" if may_get_transform or dataset in loader.guessed else "proven"
    is_plain = certainty == "proven" and _is_made_beside(dataset.site, loader)
    place = model.site_place(dataset.site)
    if place.anchor < 0:
        return
    name = dataset.name.rpartition(".")[2]
    what = f"`{name}` gives {IMAGE}, and no transform changes that; pass `transform=ToTensor()`"
    yield _finding(IMAGE, what, place, certainty, is_plain, loader, (), ())


def _is_made_beside(made: Site | None, loader: Loader) -> bool:
    """Whether one function, or the module level of one file, makes both a dataset and the loader."""
    return made is not None and loader.site is not None and _maker(made) == _maker(loader.site)


def _maker(site: Site) -> tuple[Path, DefKey | None]:
    is_module_level = site.frame.def_ == 0
    return site.frame.path, None if is_module_level else def_key(site.frame)


def _finding(
    kind: Kind,
    what: str,
    place: Place,
    certainty: Certainty,
    is_plain: bool,
    loader: Loader,
    why: tuple[Evidence, ...],
    fixes: tuple[Fix, ...],
) -> Finding:
    """An error if it is plain to see. Otherwise a hint: a program that has been run does not fail at its first batch,
    so that something else in it keeps it from that is the likelier, the more code there is between the two."""
    message = f"`default_collate` of {loader.described} raises TypeError: {what}"
    severity = RULE.severity if is_plain else Severity.HINT
    return Verdict(RULE.name, severity, certainty).finding(message, place, kind, why, fixes)


def _fixes(kind: Kind, places: list[Place]) -> tuple[Fix, ...]:
    if kind not in _WRAPS:
        return ()
    title, call = _WRAPS[kind]
    return (Fix(title, "unsafe", tuple(Wrap(place, call, ")") for place in places)),)


RULE = Rule(
    code="LDR511",
    name="uncollatable-sample",
    severity=Severity.ERROR,
    needs="L",
    over="loader",
    find=find,
    fix="unsafe",
    page=page(__doc__),
)
