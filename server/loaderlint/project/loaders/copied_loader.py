"""Loader classes that a project copied from an old PyTorch: `DataLoader` and the `_worker_loop` that its workers run.

Source: PyTorch's `torch/utils/data/dataloader.py` before 1.1. Its workers are processes as today. They seed NumPy only
if the copy was changed to do so."""

from __future__ import annotations

from loaderlint.knowledge.wrappers import LoaderKind
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import ClassRef
from loaderlint.project.modules.project_files import ProjectFile

_NAME = "DataLoader"
_WORKER_LOOP = "_worker_loop"
_PARAMETERS = frozenset({"dataset", "batch_size", "num_workers", "collate_fn"})


def copied_kind(ev: Evaluator, cls: ClassRef) -> LoaderKind | None:
    """The kind of a project class that is a copy of torch's loader; None for other classes."""
    file = ev.file(cls.path)
    if file is None or _WORKER_LOOP not in file.names or ev.classes.name(cls) != _NAME:
        return None
    init = ev.classes.own_member(cls, "__init__")
    one = ev.code(init.function).one if init is not None and init.function is not None else None
    names = tuple(param.name for param in one.params[1:]) if one is not None else ()
    if not _PARAMETERS.issubset(names):
        return None
    # not by torch's full name: it takes fewer arguments, and its `default_collate` need not batch as torch's does today
    loop = "" if "worker_init_fn" in names else _WORKER_LOOP
    return LoaderKind(_NAME, names, open_defaults=("collate_fn",), seeds_numpy=_seeds(file), worker_loop=loop)


def _seeds(file: ProjectFile) -> bool:
    """Whether the function that workers run seeds something."""
    return any(file.pieces[binding.piece].holds("seed(") for binding in file.names[_WORKER_LOOP])
