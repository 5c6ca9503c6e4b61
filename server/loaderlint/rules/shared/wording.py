"""Phrases of messages that rules share."""

from __future__ import annotations

from collections.abc import Sequence

from loaderlint.project.reach.model import Exposure, Loader


def repeated(exposure: Exposure) -> str:
    """The effect if each worker gets a copy of a state: 'every worker draws the same numbers', or 'every epoch ...' if
    there is one worker."""
    alone = all(loader.has_workers(2) == "no" for loader in exposure.loaders)
    return f"every {'epoch' if alone else 'worker'} draws the same numbers"


def loaders_of(exposure: Exposure) -> str:
    """'`train_loader` in train.py', '`a` in x.py and 2 other loaders'."""
    if exposure.lead.out_of_sight:
        return "a loader of this dataset"
    return _listed(exposure.loaders)


def except_those_of(left: Sequence[Loader]) -> str:
    """What the title of a fix adds to 'each worker' where it leaves out the workers of some loaders: ' except those of
    `val_loader` in train.py'; '' if it leaves out none."""
    return f" except those of {_listed(left)}" if left else ""


def _listed(loaders: Sequence[Loader]) -> str:
    """The first loader, and how many calls make the others."""
    others = len({(one.path, one.site.frame.piece, one.site.expr) for one in loaders if one.site}) - 1
    rest = f" and {others} other loader{'s' if others > 1 else ''}" if others > 0 else ""
    return f"{loaders[0].described}{rest}"


def start_of_workers(loader: Loader) -> str:
    """Where a worker can be set up: 'the worker_init_fn', or 'its `_worker_loop`' if the loader takes none."""
    loop = loader.kind.worker_loop
    return f"its `{loop}`" if loop else "the worker_init_fn"


def in_workers_of(exposure: Exposure) -> str:
    """'in the workers of `train_loader` in train.py'; 'for `train_loader` in train.py' if no loader has workers."""
    idle = all(one.has_workers() == "no" and not one.out_of_sight for one in exposure.loaders)
    return f"{'for' if idle else 'in the workers of'} {loaders_of(exposure)}"
