"""Library datasets that keep the functions they are given, and call them when a loader's workers go over them."""

from __future__ import annotations

from types import MappingProxyType

_WEBDATASET = frozenset("associate batched compose decode map map_dict map_tuple select then".split())
_DATAPIPE = frozenset("collate filter flatmap map map_batches".split())

#: Methods that return a dataset which calls their arguments for each sample, by the beginning of the dataset's name.
#: Sources: `FluidInterface` of webdataset 1.0.2, `Dataset.with_transform` of datasets 5.2.0, `IterDataPipe` of torch
#: 2.1 and torchdata 0.9.
LAZY_METHODS = MappingProxyType(
    {
        "webdataset.WebDataset": _WEBDATASET,
        "webdataset.DataPipeline": _WEBDATASET,
        "datasets.": frozenset({"with_transform"}),
        "torchdata.datapipes.": _DATAPIPE,
        "torch.utils.data.datapipes.": _DATAPIPE,
    }
)

#: A dataset that is given functions, also after it is made, and the copies of it that its methods make.
ITEM_DATASET = "speechbrain.dataio.dataset.DynamicItemDataset"
#: The calls that make one and take a list of functions: the parameter (name and position). A function may be the `ITEM`
#: of a dict. Source: `dataio/dataset.py` and `utils/data_pipeline.py` of SpeechBrain 0.5.16 and 1.1.2.
GIVEN_LISTS = MappingProxyType(
    {
        ITEM_DATASET: ("dynamic_items", 1),
        **{
            f"{ITEM_DATASET}.{maker}": ("dynamic_items", 2) for maker in ("from_csv", "from_json", "from_arrow_dataset")
        },
    }
)
ITEM = "func"

#: Methods by which such a dataset is given a function later, and functions that give one to each of a list of datasets.
GIVING_METHODS = frozenset({"add_dynamic_item"})
GIVING_FUNCTIONS = frozenset({"speechbrain.dataio.dataset.add_dynamic_item"})

#: Hugging Face datasets, by the beginning of their names, the method that makes its argument their transform, and those
#: that return a copy with another one, or without. Source: `arrow_dataset.py` of datasets 5.2.0.
TABLES = "datasets."
SETTING_METHOD = "set_transform"
REPLACING_METHODS = frozenset({"with_transform", "with_format"})

#: Hugging Face datasets whose items are made while they are read: the call that makes one, or the argument that does.
#: Elsewhere `map` runs at once, in the main process.
STREAM_METHODS = frozenset({"map", "filter"})
TO_STREAM = "to_iterable_dataset"
STREAMING = "streaming"

#: Datasets that call the stages they are made from: functions, or what one of `STAGES` makes of functions.
STAGED = frozenset({"webdataset.DataPipeline"})
STAGES = frozenset(f"webdataset.{name}" for name in _WEBDATASET - {"compose"})


def lazy_methods(dataset: str) -> frozenset[str]:
    """The methods of the library dataset called `dataset` that call their arguments later, for each sample."""
    for prefix, methods in LAZY_METHODS.items():
        if dataset.startswith(prefix):
            return methods
    return frozenset()


def keeps_functions(dataset: str) -> bool:
    """Whether the library dataset called `dataset` keeps functions that its methods are given."""
    return dataset.startswith((*LAZY_METHODS, ITEM_DATASET))


def pickles_functions(dataset: str) -> bool:
    """Whether pickle writes the functions that the library dataset called `dataset` keeps by their names. Measured with
    datasets 5.2.0 and webdataset 1.0.2. torch's pipes are written with dill."""
    return dataset.startswith(("datasets.", "webdataset."))
