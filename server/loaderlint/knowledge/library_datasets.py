"""Library classes and functions of datasets: which are iterable, which hold or split other datasets, and which call the
functions that they are given for each sample.

Source: PyTorch's `torch/utils/data/dataset.py`, and the named packages.
"""

from __future__ import annotations

from types import MappingProxyType

from loaderlint.knowledge.torchvision_datasets import DERIVED_PARAMETERS

#: Base classes of datasets. True: iterable (workers run `__iter__`), False: by index. Libraries whose source is read
#: are not here, except for LitData: its streams are long to read, and no fault depends on what they do.
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
        "litdata.StreamingDataset": True,
        **dict.fromkeys(DERIVED_PARAMETERS, False),
    }
)


def is_library_dataset(name: str) -> bool:
    """Whether a library's class of this name is one of datasets, as far as the name says."""
    return name in DATASET_BASES or ".datasets." in name


#: Datasets of torchvision whose items hold what they store: rows of a tensor, or annotations.
_GIVES_STORED = frozenset(
    f"torchvision.datasets.{name}"
    for name in "CelebA CocoDetection MovingMNIST PhotoTour VisionDataset WIDERFace".split()
)


def makes_items_anew(name: str) -> bool:
    """Whether a dataset of this class makes each item when it is asked for it. torchvision's read an image or convert
    one, `Image.fromarray(self.data[index])`, with few exceptions."""
    return name in DERIVED_PARAMETERS and name not in _GIVES_STORED


#: Datasets that hold other datasets: the parameter (name and position) that does.
WRAPPING_DATASETS = MappingProxyType(
    {
        "torch.utils.data.Subset": ("dataset", 0),
        "torch.utils.data.ConcatDataset": ("datasets", 0),
        "torch.utils.data.ChainDataset": ("datasets", 0),
        "torch.utils.data.StackDataset": ("datasets", 0),
    }
)

#: Loaders and subsets that have the dataset which they are made of, their first argument, as an attribute `dataset`.
#: Source: PyTorch's `dataloader.py` and `dataset.py`; `random_split` makes subsets of its first argument.
HOLDERS_OF_ONE = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.Subset"})

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

BATCH_SAMPLER = "torch.utils.data.BatchSampler"
#: Samplers that give indices, whatever they are made from.
INDEX_SAMPLERS = frozenset(
    f"torch.utils.data.{name}"
    for name in "SequentialSampler RandomSampler SubsetRandomSampler WeightedRandomSampler DistributedSampler".split()
)

#: Library datasets whose constructor arguments are called for each sample.
SAMPLE_CALLABLES = ("transform", "target_transform", "transforms", "loader", "pre_transform", "pre_filter")

#: The parameters of library datasets in the order of their constructors, as far as a function among them is called for
#: each sample. Libraries whose source is read are not here.
DATASET_PARAMETERS = MappingProxyType(
    {
        "litdata.StreamingDataset": tuple(
            """
            input_dir cache_dir item_loader shuffle drop_last seed serializers max_cache_size subsample encryption
            storage_options session_options max_pre_download index_path force_override_state_dict transform
            """.split()
        ),
        **DERIVED_PARAMETERS,
    }
)


#: What torchvision's `VisionDataset` combines into its attribute `transforms` if it gets one of them. An argument
#: `transforms` is kept only if it gets neither. (`torchvision/datasets/vision.py`, `StandardTransform`)
COMBINED_TRANSFORMS = ("transform", "target_transform")


def combines_transforms(dataset: str) -> bool:
    """Whether a library's dataset passes `transforms` and what is combined into it to `VisionDataset`: in torchvision,
    those that have all three parameters do."""
    return {"transforms", *COMBINED_TRANSFORMS} <= {*DATASET_PARAMETERS.get(dataset, ())}


def keeps_argument(dataset: str, name: str) -> bool:
    """Whether a library's dataset keeps what its constructor is passed as `name` in an attribute of that name."""
    if name in SAMPLE_CALLABLES:
        return name in DATASET_PARAMETERS.get(dataset, ()) or ".datasets." in dataset
    return WRAPPING_DATASETS.get(dataset, ("",))[0] == name
