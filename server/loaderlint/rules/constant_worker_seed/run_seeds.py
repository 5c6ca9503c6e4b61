"""Whether the numbers of a run are fixed by a seed that the project sets."""

from __future__ import annotations

from loaderlint.project.reach.model import Model

#: Functions that set torch's seed in the main process.
_SEEDERS = ("manual_seed", "seed_everything", "set_seed", "set_determinism", "manual_seed_all")


def set_by_torchs_seed(model: Model) -> str:
    """What to add to the title of a fix that takes seeds from torch: what makes the runs alike, where nothing seems to
    set torch's seed."""
    if any(model.callers.sites(name) for name in _SEEDERS):
        return ""
    return "; `torch.manual_seed` then fixes its numbers"
