"""What iterates over the loaders that it is given: builtins, progress bars, and the trainers of libraries."""

from __future__ import annotations

from types import MappingProxyType

#: What goes over its argument when it is called: a loader in it starts its workers. All of itertools does so too.
GOES_OVER_NOW = frozenset(
    f"builtins.{name}"
    for name in "iter list tuple set sorted enumerate zip map filter sum max min any all dict frozenset".split()
)

#: What goes over its first argument when it is gone over itself.
GOES_OVER_LATER = frozenset(
    """
    tqdm.tqdm tqdm.trange tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.autonotebook.tqdm tqdm.rich.tqdm tqdm.std.tqdm
    rich.progress.track progressbar.progressbar fastprogress.progress_bar alive_progress.alive_it
    """.split()
)

#: Methods of a library's trainer that go over the loaders, data modules and models they are given.
LOADER_CONSUMERS = frozenset("fit fit_one_cycle validate test predict evaluate run train tune".split())

#: Methods that give back the loaders they are given, ready for a device.
LOADER_PREPARERS = frozenset("prepare prepare_data_loader setup_dataloaders".split())

#: The methods of a data module or a model with which a trainer makes its loaders end with this (`train_dataloader`).
LOADER_HOOK = "_dataloader"

#: The hooks that a trainer of Lightning asks for its loaders, by the method of the trainer. Source: Lightning 2.6.
HOOKS_OF_STAGE = MappingProxyType(
    {
        "fit": ("train_dataloader", "val_dataloader"),
        "validate": ("val_dataloader",),
        "test": ("test_dataloader",),
        "predict": ("predict_dataloader",),
    }
)
