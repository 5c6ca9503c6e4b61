"""Loaders and what wraps them: what each makes of its arguments, what it does to its workers, in which versions.

`WRAPPERS` is also the table of docs/wrappers.md, and each of its rows has a page of cases in tests/wrappers. Every
claim was read in the source of the named versions; what was run too is in tests/truth.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

#: The parameters of `torch.utils.data.DataLoader` in order; the last four are keyword only.
TORCH_PARAMETERS = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
    "prefetch_factor",
    "persistent_workers",
    "pin_memory_device",
    "in_order",
)

Constant = str | int | bool | None


class Switch(Struct, frozen=True):
    """An argument that, when it is true, sets one of torch's parameters to `value`."""

    argument: str
    parameter: str
    value: Constant


class Options(Struct, frozen=True):
    """An object that holds torch's parameters for a loader: passed as `argument`, made by calling `maker`, each
    parameter under its torch name with `prefix`."""

    argument: str
    maker: tuple[str, ...]
    prefix: str


class Before(Struct, frozen=True):
    """What was otherwise before `version` of the package: fields of `LoaderKind` with the values that they had, and the
    same in words."""

    version: str
    fields: tuple[tuple[str, Any], ...]
    words: str


class LoaderKind(Struct, frozen=True):
    """One loader class or factory.

    `parameters`: names in positional order. `rename`: its own parameter names to torch's. `defaults`: values of torch's
    parameters where they differ from torch's. `open_defaults`: parameters that it sets in a way that cannot be read
    from the call. `seeds_numpy`: its workers reseed NumPy's global state on every torch. `reseeds_objects`: it reseeds
    the random objects of its own library on the dataset. `shards`: it splits any iterable dataset between the workers.
    `persistent`: its workers live on over the epochs whatever the arguments. `default_collate`: without a `collate_fn`
    it batches by torch's own `default_collate`.

    `replaces`: arguments that it takes and does not use. `sets`: attributes of its dataset that it sets. `calls`:
    arguments that its workers call for each sample.
    `own_data`: what it reads is of its library, no dataset of the project. `switches` as in `Switch`.
    `datasets`: parameters that hold a dataset each, with the method that a subclass overrides to make that loader by
    itself; `*` for all positional ones. `configs`: parameters that hold the arguments of a loader each, as a dict.
    `options`: where it reads torch's parameters from. `worker_loop`: the function that its workers run, where a
    project has copied an old loader of torch's that takes no worker_init_fn. `changes`: the newest first."""

    name: str
    parameters: tuple[str, ...] = TORCH_PARAMETERS
    rename: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, Constant], ...] = ()
    open_defaults: tuple[str, ...] = ()
    seeds_numpy: bool = False
    reseeds_objects: bool = False
    shards: bool = False
    persistent: bool = False
    default_collate: bool = False
    replaces: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    own_data: bool = False
    switches: tuple[Switch, ...] = ()
    datasets: tuple[tuple[str, str], ...] = ()
    configs: tuple[str, ...] = ()
    options: Options | None = None
    worker_loop: str = ""
    changes: tuple[Before, ...] = ()

    def at(self, is_before: Callable[[str], bool]) -> LoaderKind:
        """The kind as it was in the version at hand. `is_before(version)`: whether that is known to be older."""
        kind = self
        for change in self.changes:
            if is_before(change.version):
                kind = replace(kind, **dict(change.fields))
        return kind


class Wrapper(Struct, frozen=True):
    """A library that makes, wraps or prepares loaders. `slug` names its page of cases in tests/wrappers; `packages` its
    distributions, `read` the versions whose source was read. `does`: what it does to workers, in Markdown."""

    slug: str
    title: str
    packages: tuple[str, ...]
    read: str
    does: str
    kinds: tuple[LoaderKind, ...] = ()


_TIMM_PARAMETERS = ("dataset", "input_size", "batch_size", "is_training")
_MONAI_PARAMETERS = ("dataset", "num_workers")
_DGL_PARAMETERS = ("graph", "indices", "graph_sampler", "device", "use_ddp", "ddp_seed", "batch_size", "drop_last")
_PYG_GRAPH_LOADERS = "NodeLoader LinkLoader RandomNodeLoader TemporalDataLoader"
_TRANSFORMERS = LoaderKind(
    "transformers.Trainer",
    parameters=("model", "args", "data_collator", "train_dataset", "eval_dataset"),
    rename=(("data_collator", "collate_fn"),),
    seeds_numpy=True,
    datasets=(("train_dataset", "get_train_dataloader"), ("eval_dataset", "get_eval_dataloader")),
    options=Options("args", ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments"), "dataloader_"),
    changes=(Before("4.19", (("seeds_numpy", False),), "no seeding of its own"),),
)
_FAIRSEQ = "dataset collate_fn batch_sampler seed num_shards shard_id num_workers"
_LIGHTNING_DATASETS = ("train_dataset", "val_dataset", "test_dataset", "predict_dataset")
_TORCHIO_QUEUE = ("subjects_dataset", "max_length", "samples_per_volume", "sampler", "subject_sampler", "num_workers")
_MMENGINE = ("train_dataloader", "val_dataloader", "test_dataloader")

WRAPPERS = (
    Wrapper(
        "torch",
        "torch DataLoader",
        ("torch",),
        "2.13; the change of 1.9: pytorch#56488",
        "Seeds `random`, `torch` and, from 1.9 on, NumPy's global state in each worker and epoch, before the "
        "`worker_init_fn`. Generator objects on the dataset are copied with their state.",
        (LoaderKind("torch.utils.data.DataLoader", default_collate=True),),
    ),
    Wrapper(
        "lightning",
        "Lightning Trainer and Fabric",
        ("lightning", "pytorch-lightning"),
        "1.2.10, 1.3.0, 2.6.6",
        "`seed_everything(seed, workers=True)` (from 1.3 on) makes `Trainer` and `Fabric.setup_dataloaders` add a "
        "`worker_init_fn` that seeds NumPy by rank and worker, but only to loaders that go through them and have none. "
        "`Trainer` calls `set_epoch` of a `DistributedSampler`. Generator objects are not changed. "
        "`LightningDataModule.from_datasets` creates a loader with the same workers for each dataset.",
        (
            LoaderKind(
                "lightning.pytorch.LightningDataModule.from_datasets",
                parameters=(*_LIGHTNING_DATASETS, "batch_size", "num_workers"),
                default_collate=True,
                datasets=tuple((name, "") for name in _LIGHTNING_DATASETS),
            ),
        ),
    ),
    Wrapper(
        "timm",
        "timm create_loader",
        ("timm",),
        "0.3.4, 0.4.5, 0.4.12, 0.5.4, 1.0.31",
        'One persistent worker by default; seeds NumPy in each (`worker_seeding="all"`). '
        "`MultiEpochsDataLoader` (`use_multi_epochs_loader=True`) never ends its workers. Batches by its own "
        "`fast_collate`. Replaces the `transform` of its dataset by timm's own.",
        (
            LoaderKind(
                "timm.data.create_loader",
                parameters=_TIMM_PARAMETERS,
                rename=(("is_training", "shuffle"),),
                defaults=(("num_workers", 1), ("persistent_workers", True), ("shuffle", False)),
                seeds_numpy=True,
                sets=("transform",),
                switches=(Switch("use_multi_epochs_loader", "persistent_workers", True),),
                changes=(
                    Before("0.5", (("seeds_numpy", False),), "no seeding"),
                    Before("0.4", (("defaults", (("num_workers", 1), ("shuffle", False))),), "workers end each epoch"),
                ),
            ),
            LoaderKind("timm.data.loader.MultiEpochsDataLoader", persistent=True, default_collate=True),
        ),
    ),
    Wrapper(
        "ultralytics",
        "ultralytics",
        ("ultralytics",),
        "8.0.0, 8.4.190",
        "`InfiniteDataLoader` keeps its workers for ever (`.reset()` after a change of the dataset); "
        "`build_dataloader` makes one whose `worker_init_fn` seeds NumPy. Importing ultralytics calls "
        "`cv2.setNumThreads(0)`.",
        (
            LoaderKind("ultralytics.data.InfiniteDataLoader", persistent=True, default_collate=True),
            LoaderKind(
                "ultralytics.data.build_dataloader",
                parameters=("dataset", "batch", "workers", "shuffle"),
                rename=(("batch", "batch_size"), ("workers", "num_workers")),
                defaults=(("shuffle", True),),
                open_defaults=("num_workers",),
                seeds_numpy=True,
                persistent=True,
            ),
        ),
    ),
    Wrapper(
        "monai",
        "MONAI DataLoader",
        ("monai",),
        "0.3.0, 0.4.0, 1.6.1",
        "Its default `worker_init_fn` reseeds what has `set_random_state` (MONAI's `Randomizable`), on the dataset's "
        "attributes and in lists, not in dicts; a `worker_init_fn` of yours replaces it. Other generator objects and "
        "NumPy's global state are not touched. `ThreadDataLoader(use_thread_workers=True)` has threads as workers.",
        (
            LoaderKind(
                "monai.data.DataLoader",
                parameters=_MONAI_PARAMETERS,
                reseeds_objects=True,
                changes=(
                    Before(
                        "0.4",
                        (("parameters", tuple(name for name in TORCH_PARAMETERS if name != "collate_fn")),),
                        "torch's order of arguments, takes no `worker_init_fn`",
                    ),
                ),
            ),
            LoaderKind(
                "monai.data.ThreadDataLoader",
                parameters=("dataset", "buffer_size", "buffer_timeout", "repeats", "use_thread_workers"),
                reseeds_objects=True,
                switches=(Switch("use_thread_workers", "num_workers", 0),),
            ),
        ),
    ),
    Wrapper(
        "fastai",
        "fastai",
        ("fastai",),
        "2.8.12",
        "Not torch's class, but its workers: each seeds `random`, NumPy and torch from torch's seed of the worker and "
        "uses one thread. By default, `TfmdDL` and `DataLoaders.from_dsets` start as many workers as there are CPUs, "
        "at most 16, but none on macOS or in notebooks on Windows. `wif` is a hook without arguments.",
        (
            LoaderKind(
                "fastai.DataLoader",
                parameters=("dataset", "bs", "num_workers"),
                rename=(("bs", "batch_size"),),
                seeds_numpy=True,
            ),
            LoaderKind(
                "fastai.TfmdDL",
                parameters=("dataset", "bs", "shuffle", "num_workers"),
                rename=(("bs", "batch_size"),),
                open_defaults=("num_workers",),
                seeds_numpy=True,
            ),
            LoaderKind(
                "fastai.DataLoaders.from_dsets",
                parameters=(),
                rename=(("bs", "batch_size"),),
                open_defaults=("num_workers",),
                seeds_numpy=True,
                datasets=(("*", ""),),
            ),
        ),
    ),
    Wrapper(
        "torch-geometric",
        "PyTorch Geometric",
        ("torch-geometric",),
        "2.8.1",
        "Subclasses of torch's loader that use their own `collate_fn` and drop yours. `NeighborLoader` and the like "
        "sample from a graph: no dataset of yours runs in their workers.",
        (
            *(
                LoaderKind(
                    f"torch_geometric.loader.{name}", parameters=("data",), replaces=("collate_fn",), own_data=True
                )
                for name in _PYG_GRAPH_LOADERS.split()
            ),
            LoaderKind(
                "torch_geometric.loader.ClusterLoader",
                parameters=("cluster_data",),
                replaces=("collate_fn",),
                own_data=True,
            ),
        ),
    ),
    Wrapper(
        "dgl",
        "Deep Graph Library",
        ("dgl",),
        "0.6.1, 0.8.2, 2.4.0",
        "`GraphDataLoader` passes its keywords on to torch's loader, and batches graphs by its own `collate_fn` unless "
        "it is given another. `dgl.dataloading.DataLoader` samples from a graph: no dataset of yours runs in its "
        "workers. Seeds nothing.",
        (
            LoaderKind("dgl.dataloading.GraphDataLoader", parameters=("dataset", "collate_fn", "use_ddp", "ddp_seed")),
            LoaderKind(
                "dgl.dataloading.DataLoader", parameters=_DGL_PARAMETERS, replaces=("collate_fn",), own_data=True
            ),
        ),
    ),
    Wrapper(
        "ignite",
        "Ignite auto_dataloader",
        ("pytorch-ignite",),
        "0.5.5",
        "torch's loader with a sampler that divides the samples among the processes. `num_workers` is divided among "
        "the processes of one machine. Seeds nothing.",
        (LoaderKind("ignite.distributed.auto_dataloader", parameters=("dataset",), default_collate=True),),
    ),
    Wrapper(
        "accelerate",
        "Accelerate",
        ("accelerate",),
        "1.15.0",
        "`prepare` creates the loader again with the same workers and calls `set_epoch` on the sampler, or on the "
        "dataset in the main process: persistent workers do not see that. Seeds nothing.",
    ),
    Wrapper(
        "transformers",
        "transformers Trainer",
        ("transformers",),
        "4.18.0, 4.19.0, 5.23.0",
        "Makes its loaders from `train_dataset`, `eval_dataset` and `data_collator`, with `dataloader_num_workers`, "
        "`dataloader_persistent_workers` and the like of its `TrainingArguments`. The workers of the training loader "
        "seed everything from torch's seed of the worker. A subclass that overrides `get_train_dataloader` makes its "
        "own loader.",
        (_TRANSFORMERS, replace(_TRANSFORMERS, name="transformers.Seq2SeqTrainer")),
    ),
    Wrapper(
        "mmengine",
        "MMEngine Runner",
        ("mmengine",),
        "0.10.7",
        "Makes its loaders from dicts. With a seed (`randomness=dict(seed=...)`) each worker is seeded with "
        "`num_workers * rank + worker_id + seed`: the same numbers in every epoch, unless `persistent_workers=True`. "
        "It sets the start method to fork and OpenCV's threads to 0.",
        (
            LoaderKind(
                "mmengine.runner.Runner",
                parameters=("model", "work_dir", *_MMENGINE),
                configs=_MMENGINE,
            ),
            LoaderKind("mmengine.runner.Runner.build_dataloader", parameters=("dataloader",), configs=("dataloader",)),
        ),
    ),
    Wrapper(
        "detectron2",
        "Detectron2",
        ("detectron2",),
        "0.6 (02b5c4e2)",
        "`build_detection_train_loader(cfg, mapper=...)` maps in its workers, 4 by its default configuration, and "
        "seeds them (`worker_init_reset_seed`); the loader for tests seeds nothing.",
        (
            LoaderKind(
                "detectron2.data.build_detection_train_loader",
                parameters=("dataset", "mapper"),
                open_defaults=("num_workers", "collate_fn"),
                seeds_numpy=True,
                calls=("mapper",),
                own_data=True,
            ),
            LoaderKind(
                "detectron2.data.build_detection_test_loader",
                parameters=("dataset", "mapper"),
                open_defaults=("num_workers", "collate_fn"),
                calls=("mapper",),
                own_data=True,
            ),
        ),
    ),
    Wrapper(
        "stateful-dataloader",
        "torchdata StatefulDataLoader",
        ("torchdata",),
        "0.11.0",
        "A loader with its own workers, which are seeded like torch's. The same rules apply.",
        (LoaderKind("torchdata.stateful_dataloader.StatefulDataLoader", default_collate=True, seeds_numpy=True),),
    ),
    Wrapper(
        "torchdata-nodes",
        "torchdata.nodes",
        ("torchdata",),
        "0.11.0",
        '`ParallelMapper(method="process")` maps in processes that nothing seeds: NumPy\'s numbers and generator '
        "objects are the same in all of them. With threads nothing is copied.",
    ),
    Wrapper(
        "torchio",
        "TorchIO",
        ("torchio",),
        "1.2.1",
        "`Queue` reads its subjects through a loader of its own. The loader around the queue must have no workers.",
        (
            LoaderKind(
                "torchio.Queue",
                parameters=_TORCHIO_QUEUE,
                rename=(("subjects_dataset", "dataset"), ("shuffle_subjects", "shuffle")),
                defaults=(("shuffle", True),),
                replaces=("sampler",),
            ),
        ),
    ),
    Wrapper(
        "webdataset",
        "WebDataset",
        ("webdataset",),
        "1.0.2",
        "`WebDataset` splits its shards between the workers (`split_by_worker`). `WebLoader` is torch's loader and "
        "splits nothing by itself.",
        (LoaderKind("webdataset.WebLoader", default_collate=True),),
    ),
    Wrapper(
        "fairseq",
        "fairseq",
        ("fairseq",),
        "0.12.2",
        "Its iterators make a loader for each epoch, with the `num_workers` that they are given, and call the "
        "dataset's `set_epoch` before. Seeds nothing.",
        tuple(
            LoaderKind(f"fairseq.data.iterators.{name}", parameters=tuple(parameters.split()))
            for name, parameters in {
                "EpochBatchIterator": _FAIRSEQ,
                "StreamingEpochBatchIterator": "dataset max_sentences collate_fn epoch num_workers buffer_size timeout",
            }.items()
        ),
    ),
    Wrapper(
        "speechbrain",
        "SpeechBrain",
        ("speechbrain",),
        "0.5.16, 1.1.2",
        "The functions that a `DynamicItemDataset` is given (`dynamic_items`, `add_dynamic_item`) run in the workers, "
        "also those of a filtered copy. Its loaders are torch's; seeds nothing.",
    ),
    Wrapper(
        "datasets",
        "Hugging Face datasets",
        ("datasets",),
        "5.2.0",
        "`IterableDataset` splits its shards between the workers. `map(f, num_proc=4)` runs `f` in forked processes "
        "that nothing seeds.",
    ),
    Wrapper(
        "streaming",
        "MosaicML streaming",
        ("mosaicml-streaming",),
        "0.13.0",
        "`StreamingDataset` splits its samples between workers and ranks. `StreamingDataLoader` is torch's loader and "
        "splits nothing by itself.",
    ),
    Wrapper(
        "litdata",
        "LitData",
        ("litdata",),
        "0.2.76",
        "`StreamingDataLoader` accepts only streaming datasets, which split their chunks between the workers.",
        (LoaderKind("litdata.StreamingDataLoader", parameters=("dataset",), shards=True),),
    ),
    Wrapper(
        "avalanche",
        "Avalanche",
        ("avalanche-lib",),
        "0.6.0",
        "Its strategies make torch loaders from their own datasets, with the `num_workers` of `train(...)`. Seeds "
        "nothing.",
    ),
    Wrapper(
        "composer",
        "Composer",
        ("mosaicml",),
        "0.32.1",
        "`Trainer` uses the loaders that it is given and calls `set_epoch` on their samplers. Seeds nothing.",
    ),
    Wrapper(
        "gluonts",
        "GluonTS",
        ("gluonts",),
        "0.17.0",
        "Makes its own loaders, whose `worker_init_fn` seeds with `np.random.get_state()[1][0] + worker_id`: on "
        "current NumPy a constant. Of your code, only transformations run in their workers.",
    ),
    Wrapper(
        "grain",
        "Grain",
        ("grain",),
        "0.2.18",
        "Not torch's workers: they are spawned, and `random_map` gives each sample its own generator. loaderlint "
        "does not check its `DataLoader`.",
    ),
    Wrapper(
        "keras",
        "Keras PyDataset and Sequence",
        ("keras", "tensorflow"),
        "2.15.0, 3.15.1",
        "With `use_multiprocessing=True` samples are made in a pool of processes that nothing seeds. Up to Keras 2 the "
        "flag is an argument of `fit`, from 3 on of the dataset's own constructor.",
    ),
    Wrapper(
        "tf-data",
        "tf.data",
        ("tensorflow",),
        "-",
        "Has no workers: functions are traced once. loaderlint does not check it.",
    ),
    Wrapper(
        "augmentations",
        "Augmentation libraries",
        ("albumentations", "torchvision", "kornia", "torchio"),
        "albumentations 1.4.20, 1.4.21, 2.0.8; torchvision 0.29.2; kornia 0.9.0; torchio 1.2.1",
        "From 1.4.21 on, transforms of albumentations hold generators, and every worker gets a copy; before, they "
        "drew from Python's `random`. torchvision, kornia and torchio draw from torch's generator, which torch seeds.",
    ),
)

#: Loaders by full name.
LOADERS = MappingProxyType({kind.name: kind for wrapper in WRAPPERS for kind in wrapper.kinds})

#: The distributions whose versions decide what a loader does, by its name.
PACKAGES = MappingProxyType({kind.name: wrapper.packages for wrapper in WRAPPERS for kind in wrapper.kinds})

#: The loaders that set an attribute of their dataset, by the attribute.
SET_BY_LOADERS = MappingProxyType(
    {
        name: frozenset(kind.name for kind in LOADERS.values() if name in kind.sets)
        for name in sorted({one for kind in LOADERS.values() for one in kind.sets})
    }
)
