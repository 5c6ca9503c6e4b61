"""Loaders that only try out the module that creates them."""

from __future__ import annotations

from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.reach.scripts import in_main_guard, main_guard_contexts


def is_trial(loader: Loader, model: Model) -> bool:
    """Whether a loader is created under the main guard of a module that others import and that trains nothing. Its
    speed does not matter."""
    site = loader.site
    file = model.files.file(site.frame.path) if site is not None and site.frame.def_ == 0 else None
    if site is None or file is None:
        return False
    contexts = main_guard_contexts(model.facts(site.frame))
    if not in_main_guard(file, site.frame.piece) and site.frame.code.context_of(site.expr) not in contexts:
        return False
    return not any(True for _ in file.mentioning("backward")) and bool(model.scripts.importers(site.frame.path))
