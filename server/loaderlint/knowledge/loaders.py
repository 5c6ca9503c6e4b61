"""Loaders: what starts workers, under which arguments, and what it does to their random state.

Sources: the signatures of the named packages; PyTorch's `torch/utils/data/dataloader.py` and `_utils/worker.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

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


@dataclass(frozen=True, slots=True)
class LoaderKind:
    """One loader class or factory.

    `parameters`: names in positional order. `rename`: its own parameter names to torch's. `defaults`: values of torch's
    parameters where they differ from torch's. `seeds_numpy`: its workers reseed NumPy's global state on every torch.
    `reseeds_objects`: it reseeds generator objects on the dataset (MONAI's Randomizable only). `shards`: it splits an
    iterable dataset between the workers. `persistent`: its workers live on over the epochs whatever the arguments.
    `default_collate`: without a `collate_fn` it batches by torch's own `default_collate`."""

    name: str
    parameters: tuple[str, ...] = TORCH_PARAMETERS
    rename: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, str | int | bool | None], ...] = ()
    seeds_numpy: bool = False
    reseeds_objects: bool = False
    shards: bool = False
    persistent: bool = False
    default_collate: bool = False


_KINDS = (
    LoaderKind("torch.utils.data.DataLoader", default_collate=True),
    LoaderKind("torchdata.stateful_dataloader.StatefulDataLoader", default_collate=True),
    LoaderKind("torch_geometric.loader.DataLoader"),
    LoaderKind("torch_geometric.loader.DataListLoader"),
    LoaderKind("torch_geometric.loader.DenseDataLoader"),
    LoaderKind(
        "monai.data.DataLoader",
        parameters=("dataset", "num_workers"),
        reseeds_objects=True,
    ),
    LoaderKind("monai.data.CacheDataLoader", parameters=("dataset", "num_workers"), reseeds_objects=True),
    LoaderKind(
        "timm.data.create_loader",
        parameters=("dataset", "input_size", "batch_size"),
        defaults=(("num_workers", 1), ("persistent_workers", True)),
        seeds_numpy=True,
    ),
    LoaderKind("timm.data.MultiEpochsDataLoader", persistent=True, default_collate=True),
    LoaderKind("ultralytics.data.build.InfiniteDataLoader", persistent=True, default_collate=True),
    LoaderKind(
        "ultralytics.data.build.build_dataloader",
        parameters=("dataset", "batch", "workers", "shuffle"),
        rename=(("batch", "batch_size"), ("workers", "num_workers")),
        seeds_numpy=True,
        persistent=True,
    ),
    LoaderKind(
        "fastai.data.load.DataLoader",
        parameters=("dataset", "bs", "num_workers"),
        rename=(("bs", "batch_size"), ("wif", "worker_init_fn")),
        seeds_numpy=True,
    ),
    LoaderKind("webdataset.WebLoader", shards=True),
    LoaderKind("streaming.StreamingDataLoader", shards=True),
    LoaderKind("litdata.StreamingDataLoader", shards=True),
    LoaderKind(
        "ignite.distributed.auto_dataloader",
        parameters=("dataset",),
        default_collate=True,
    ),
)

#: Loaders by full name.
LOADERS = MappingProxyType({kind.name: kind for kind in _KINDS})

#: The last parts of their names: the words a file must hold to build a loader itself.
LOADER_WORDS = frozenset(name.rpartition(".")[2] for name in LOADERS)

#: torch's defaults of the parameters that rules ask for.
TORCH_DEFAULTS: MappingProxyType[str, str | int | bool | None] = MappingProxyType(
    {
        "batch_size": 1,
        "shuffle": None,
        "sampler": None,
        "batch_sampler": None,
        "num_workers": 0,
        "collate_fn": None,
        "pin_memory": False,
        "drop_last": False,
        "timeout": 0,
        "worker_init_fn": None,
        "multiprocessing_context": None,
        "generator": None,
        "prefetch_factor": None,
        "persistent_workers": False,
    }
)

#: Base classes of datasets. True: iterable (workers run `__iter__`), False: by index.
DATASET_BASES = MappingProxyType(
    {
        "torch.utils.data.Dataset": False,
        "torch.utils.data.IterableDataset": True,
        "torch.utils.data.TensorDataset": False,
        "torch.utils.data.Subset": False,
        "torch.utils.data.ConcatDataset": False,
        "torch.utils.data.ChainDataset": True,
        "torch.utils.data.IterDataPipe": True,
        "torch.utils.data.MapDataPipe": False,
        "torch.utils.data.datapipes.datapipe.IterDataPipe": True,
        "torch.utils.data.datapipes.datapipe.MapDataPipe": False,
        "torchdata.datapipes.iter.IterDataPipe": True,
        "torchvision.datasets.VisionDataset": False,
        "torchvision.datasets.ImageFolder": False,
        "torchvision.datasets.DatasetFolder": False,
        "torchvision.datasets.CIFAR10": False,
        "torchvision.datasets.CIFAR100": False,
        "torchvision.datasets.MNIST": False,
        "torchvision.datasets.FashionMNIST": False,
        "torchvision.datasets.ImageNet": False,
        "torchvision.datasets.CocoDetection": False,
        "torchvision.datasets.SVHN": False,
        "torchvision.datasets.LSUN": False,
        "torchvision.datasets.CelebA": False,
        "torchvision.datasets.VOCSegmentation": False,
        "torchvision.datasets.VOCDetection": False,
        "torchaudio.datasets.LIBRISPEECH": False,
        "torchaudio.datasets.SPEECHCOMMANDS": False,
        "torch_geometric.data.Dataset": False,
        "torch_geometric.data.InMemoryDataset": False,
        "monai.data.Dataset": False,
        "monai.data.CacheDataset": False,
        "monai.data.PersistentDataset": False,
        "monai.data.IterableDataset": True,
    }
)

#: Datasets that hold other datasets: the parameter (name and position) that does.
WRAPPING_DATASETS = MappingProxyType(
    {
        "torch.utils.data.Subset": ("dataset", 0),
        "torch.utils.data.ConcatDataset": ("datasets", 0),
        "torch.utils.data.ChainDataset": ("datasets", 0),
        "torch.utils.data.StackDataset": ("datasets", 0),
        "monai.data.Dataset": ("data", 0),
        "monai.data.ZipDataset": ("datasets", 0),
    }
)

#: What torch's wrappers have of their own: an attribute of the dataset inside is not to be had through them.
OWN_ATTRIBUTES = MappingProxyType(
    {
        "torch.utils.data.Subset": frozenset({"dataset", "indices"}),
        "torch.utils.data.ConcatDataset": frozenset({"datasets", "cumulative_sizes"}),
        "torch.utils.data.ChainDataset": frozenset({"datasets"}),
        "torch.utils.data.StackDataset": frozenset({"datasets"}),
    }
)

#: Functions that give several subsets of the dataset at (name, position).
SPLITTING_FUNCTIONS = MappingProxyType({"torch.utils.data.random_split": ("dataset", 0)})

#: Library datasets whose constructor arguments are called for each sample.
SAMPLE_CALLABLES = ("transform", "target_transform", "transforms", "loader", "pre_transform", "pre_filter")

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

#: Functions that call the main function they are given.
RUNNERS = frozenset("absl.app.run fire.Fire typer.run tyro.cli jsonargparse.CLI jsonargparse.auto_cli".split())
