"""The fix: keep the workers and their caches between epochs."""

from __future__ import annotations

from loaderlint.findings.finding import Fix, SetArgument
from loaderlint.project.reach.model import Exposure, Model


def keeping_fixes(exposure: Exposure, model: Model) -> tuple[Fix, ...]:
    """Pass `persistent_workers=True` to all these loaders; none if one of them may not accept it or may have no
    workers."""
    intents: list[SetArgument] = []
    for loader in exposure.loaders:
        if loader.site is None or loader.has_workers() != "yes" or loader.kind.name != "torch.utils.data.DataLoader":
            return ()
        intents.append(SetArgument(model.site_place(loader.site), "persistent_workers", "True"))
    return (
        Fix("Keep the workers and their caches: `persistent_workers=True`", "unsafe", tuple(dict.fromkeys(intents))),
    )
