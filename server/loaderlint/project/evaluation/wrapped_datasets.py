"""What `Subset(dataset, indices)` and `ConcatDataset(datasets)` give: the items of the datasets in them. What loaders
and subsets hold: `loader.dataset`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.knowledge.library_datasets import HOLDERS_OF_ONE, WRAPPING_DATASETS, makes_items_anew
from loaderlint.knowledge.wrappers import TORCH_PARAMETERS
from loaderlint.project.evaluation.later_attributes import set_on
from loaderlint.project.evaluation.values import Atom, Instance, LibObject, SeqOf, Val, constant, join, unknown

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Wrappers whose items are those of one dataset in them.
GIVES_ITEMS = frozenset({"torch.utils.data.Subset", "torch.utils.data.ConcatDataset"})
_MAX_WRAPPED = 3
_DATASET, _WORKERS = "dataset", "num_workers"
_LOADER = "torch.utils.data.DataLoader"


def datasets_inside(ev: Evaluator, wrapper: LibObject) -> list[Instance]:
    """The datasets of the project whose items a wrapper of `GIVES_ITEMS` gives."""
    return [one for one in _inside(ev, wrapper) if isinstance(one, Instance)]


def held_by(ev: Evaluator, holder: LibObject, name: str) -> Val | None:
    """Attribute `dataset` of a loader or a subset: the dataset that it was made of, or one that some code assigns; and
    `num_workers` of a loader. None for other attributes and objects, and if it is not known."""
    if holder.name not in HOLDERS_OF_ONE:
        return None
    if name == _DATASET:
        held = ev.calls.site_arguments(holder.site).get(_DATASET, 0)
        is_known = held is not None and held.has(Instance, LibObject)
        return join((held, *set_on(ev, holder, _DATASET))) if held is not None and is_known else None
    if name != _WORKERS or holder.name != _LOADER:
        return None
    passed = ev.calls.site_arguments(holder.site)
    given = passed.get(_WORKERS, TORCH_PARAMETERS.index(_WORKERS))
    return given or (None if passed.more_keywords or passed.more_positional else constant("int", 0))


def gives_new_items(ev: Evaluator, dataset: LibObject) -> bool:
    """Whether a dataset of a library makes each item when it is asked for it, so that nobody else holds it."""
    if dataset.name not in GIVES_ITEMS:
        return makes_items_anew(dataset.name)
    inside = list(_inside(ev, dataset))
    return bool(inside) and all(isinstance(one, LibObject) and makes_items_anew(one.name) for one in inside)


def _inside(ev: Evaluator, wrapper: LibObject, depth: int = 0) -> Iterator[Atom]:
    """The datasets in a wrapper, also in wrappers in it."""
    held = ev.calls.site_arguments(wrapper.site).get(*WRAPPING_DATASETS[wrapper.name]) or unknown("item")
    if wrapper.name == "torch.utils.data.ConcatDataset":
        items = [item for one in held.only(SeqOf) for item in one.items]
        held = join(items) if items else unknown("item")
    for one in held.ordered():
        if isinstance(one, LibObject) and one.name in GIVES_ITEMS and depth < _MAX_WRAPPED:
            yield from _inside(ev, one, depth + 1)
        else:
            yield one
