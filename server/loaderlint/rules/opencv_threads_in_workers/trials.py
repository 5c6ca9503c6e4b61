"""Loaders that only try out the module that creates them."""

from __future__ import annotations

from loaderlint.project.evaluation.values import Instance
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.reach.scripts import in_main_guard, main_guard_contexts

#: A file that contains one of these words runs a model, so its loaders do work whose speed matters.
_WORKING = ("backward", "no_grad", "inference_mode", "load_state_dict", "eval", "fit", "rainer", "cuda", "model(")


def is_trial(loader: Loader, model: Model) -> bool:
    """Whether a loader is created under the main guard of a module that others import and that trains nothing, or that
    defines its dataset and runs no model. Its speed does not matter."""
    site = loader.site
    file = model.files.file(site.frame.path) if site is not None and site.frame.def_ == 0 else None
    if site is None or file is None:
        return False
    contexts = main_guard_contexts(model.facts(site.frame))
    if not in_main_guard(file, site.frame.piece) and site.frame.code.context_of(site.expr) not in contexts:
        return False
    path = site.frame.path
    if model.scripts.importers(path):
        return not any(True for _ in file.mentioning("backward"))
    defines = any(isinstance(one, Instance) and one.cls.path == path for one in loader.datasets)
    return defines and not any(True for word in _WORKING for _ in file.mentioning(word))
