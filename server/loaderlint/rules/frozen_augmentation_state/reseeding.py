"""Whether the workers of a loader give transforms a random state of their own."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.augmentations import RESEEDING_INITS, Library
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.frozen_augmentation_state.copied_transforms import TransformUse


def is_reseeded(use: TransformUse, loader: Loader, model: Model) -> bool:
    """Whether a loader's workers give a transform a new state: by its worker_init_fn, or in their own code."""
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
