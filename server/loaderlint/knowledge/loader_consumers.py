"""What iterates over the loaders that it is given: builtins, progress bars, and the trainers of libraries."""

from __future__ import annotations

from types import MappingProxyType

#: What goes over its argument when it is called: a loader in it starts its workers. All of itertools does so too.
GOES_OVER_NOW = frozenset(
    """
    builtins.iter builtins.list builtins.tuple builtins.set builtins.sorted builtins.enumerate builtins.zip builtins.map
    builtins.filter builtins.sum builtins.max builtins.min builtins.any builtins.all builtins.dict builtins.frozenset
    torch.optim.swa_utils.update_bn torch.utils.data.DataLoader.__iter__
    """.split()
)

#: Those of them that take the items of a generator only when they are gone over themselves. All of itertools does so
#: too.
LAZY = frozenset(f"builtins.{name}" for name in "iter enumerate zip map filter".split())

#: What takes items of a generator when it is called.
TAKES_NOW = (GOES_OVER_NOW - LAZY) | {"builtins.next"}

#: What goes over its first argument when it is gone over itself.
GOES_OVER_LATER = frozenset(
    """
    tqdm.tqdm tqdm.trange tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.autonotebook.tqdm tqdm.rich.tqdm tqdm.std.tqdm
    rich.progress.track progressbar.progressbar fastprogress.progress_bar alive_progress.alive_it
    """.split()
)

#: What asks its first argument for its length when it is called.
ASK_FOR_LENGTH = frozenset({"builtins.len", *(name for name in GOES_OVER_LATER if name.endswith(".tqdm"))})

#: Methods of a library's trainer, or of what tries out its settings, that go over the loaders, data modules and models
#: they are given. `lr_find` and `scale_batch_size` of Lightning's `Tuner` call `fit`; fastai's learner has an `lr_find`
#: as well, torch-lr-finder a `range_test`.
LOADER_CONSUMERS = frozenset(
    """
    fit fit_one_cycle validate test predict evaluate run train tune lr_find scale_batch_size range_test
    """.split()
)

#: Methods that give back the loaders they are given, ready for a device.
LOADER_PREPARERS = frozenset("prepare prepare_data_loader setup_dataloaders".split())

#: The methods of a data module or a model with which a trainer makes its loaders end with this (`train_dataloader`).
LOADER_HOOK = "_dataloader"

_FIT = ("train_dataloader", "val_dataloader")
#: The hooks that a trainer of Lightning asks for its loaders, by the method of the trainer. Source: Lightning 2.6.
HOOKS_OF_STAGE = MappingProxyType(
    {
        "fit": _FIT,
        "tune": _FIT,
        "lr_find": _FIT,
        "scale_batch_size": _FIT,
        "validate": ("val_dataloader",),
        "test": ("test_dataloader",),
        "predict": ("predict_dataloader",),
    }
)

#: The classes of Lightning whose hooks a trainer calls in the order of `SETUP_HOOKS`, and then those for its loaders.
#: Source: Lightning 2.6.
STAGED_MODULES = frozenset("LightningDataModule LightningModule".split())
SETUP_HOOKS = ("prepare_data", "setup")
