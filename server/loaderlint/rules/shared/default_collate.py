"""Which samples go to torch's `default_collate`."""

from __future__ import annotations

from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib
from loaderlint.project.reach.model import Loader, Model

#: Why a loader is not considered.
OWN_COLLATE = "the loader is not known to batch with torch's default_collate"


def is_entry(frame: Frame, model: Model) -> bool:
    """Whether a loader itself calls the frame, a `__getitem__` or the wrapper that a decorator puts in its place, for a
    sample."""
    if frame.receiver is None:
        return _called_by_loader(frame, model) and any(_is_method_for_items(one, model) for one in model.ev.run(frame))
    return _is_method_for_items(frame, model) and _called_by_loader(frame, model)


def _is_method_for_items(frame: Frame, model: Model) -> bool:
    if model.def_of(frame).name != "__getitem__" or not isinstance(frame.receiver, Instance):
        return False
    return model.ev.classes.member(frame.receiver.cls, "__getitems__") is None


def _called_by_loader(frame: Frame, model: Model) -> bool:
    return any(parent is None for parent in model.reached[frame].parents.values())


def has_own_collate(loader: Loader) -> bool:
    """Whether the loader does not batch by `default_collate`, as far as is known."""
    collate = loader.argument("collate_fn")
    named = bool(collate.atoms) and all(
        isinstance(a, Lib) and a.name.endswith(".default_collate") for a in collate.atoms
    )
    if loader.reads_itself or not loader.kind.default_collate or not (collate.is_none or named):
        return True
    size, sampler = loader.argument("batch_size").literal, loader.argument("batch_sampler").literal
    return size is not None and size.value is None and sampler is not None and sampler.value is None


def own_collate(loader: Loader) -> str:
    """A cure (see `judgement`): the loader does not batch by `default_collate`, as far as is known."""
    return OWN_COLLATE if has_own_collate(loader) else ""
