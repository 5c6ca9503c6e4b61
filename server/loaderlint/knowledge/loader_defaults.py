"""What a loader has by default, what it may hold, and what goes over it.

Sources: PyTorch's `torch/utils/data/dataloader.py` and `dataset.py`, and the named packages. The loaders themselves
stand in `loaderlint.knowledge.wrappers`.
"""

from __future__ import annotations

from types import MappingProxyType

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
        "torchvision.datasets.CocoCaptions": False,
        "torchvision.datasets.STL10": False,
        "torchvision.datasets.FakeData": False,
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
        "streaming.StreamingDataset": True,
        "litdata.StreamingDataset": True,
    }
)


def is_library_dataset(name: str) -> bool:
    """Whether a library's class of this name is one of datasets, as far as the name says."""
    return name in DATASET_BASES or ".datasets." in name


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

_CIFAR = "root train transform target_transform download"
_SPLIT = "root split transform target_transform download"
_FOLDER = "root transform target_transform loader"
_COCO = "root annFile transform target_transform transforms"
_VOC = "root year image_set download transform target_transform transforms"
_PRE = "root transform"  # the others are called when the files are processed
#: The parameters of library datasets in the order of their constructors, as far as a function among them is called for
#: each sample. The same in all versions since 2019.
DATASET_PARAMETERS = MappingProxyType(
    {
        name: tuple(parameters.split())
        for name, parameters in {
            **{f"torchvision.datasets.{name}": _CIFAR for name in ("CIFAR10", "CIFAR100", "MNIST", "FashionMNIST")},
            **{f"torchvision.datasets.{name}": _CIFAR for name in ("KMNIST", "USPS")},
            **{f"torchvision.datasets.{name}": _SPLIT for name in ("SVHN", "GTSRB", "Flowers102", "Food101")},
            **{f"torchvision.datasets.{name}": _COCO for name in ("CocoDetection", "CocoCaptions")},
            **{f"torchvision.datasets.{name}": _VOC for name in ("VOCDetection", "VOCSegmentation")},
            "torchvision.datasets.VisionDataset": "root transforms transform target_transform",
            "torchvision.datasets.ImageFolder": _FOLDER,
            "torchvision.datasets.DatasetFolder": "root loader extensions transform target_transform",
            "torchvision.datasets.LSUN": "root classes transform target_transform",
            "torchvision.datasets.CelebA": "root split target_type transform target_transform download",
            "torchvision.datasets.STL10": "root split folds transform target_transform download",
            "torchvision.datasets.Cityscapes": "root split mode target_type transform target_transform transforms",
            "torchvision.datasets.FakeData": "size image_size num_classes transform target_transform random_offset",
            "torchvision.datasets.Places365": "root split small download transform target_transform loader",
            "torch_geometric.data.Dataset": _PRE,
            "torch_geometric.data.InMemoryDataset": _PRE,
            "monai.data.Dataset": "data transform",
            "monai.data.CacheDataset": "data transform",
            "monai.data.PersistentDataset": "data transform",
        }.items()
    }
)


def keeps_argument(dataset: str, name: str) -> bool:
    """Whether a library's dataset keeps what its constructor is passed as `name` in an attribute of that name."""
    if name in SAMPLE_CALLABLES:
        return name in DATASET_PARAMETERS.get(dataset, ()) or ".datasets." in dataset
    return WRAPPING_DATASETS.get(dataset, ("",))[0] == name


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
