"""One name for one thing: libraries export the same object under several dotted names.

Most of these names are derived from the libraries (`loaderlint.knowledge.derived_names`). What stands here cannot be:
names of torch and of what is not summarised, and prefixes that stand for others as a whole."""

from __future__ import annotations

from functools import cache

from loaderlint.knowledge import derived_names

#: Prefixes that are another name for something; the longest match wins.
_PREFIXES: tuple[tuple[str, str], ...] = tuple(
    sorted(
        {
            "torch.utils.data.dataloader.": "torch.utils.data.",
            "torch.utils.data.dataset.": "torch.utils.data.",
            "torch.utils.data.distributed.": "torch.utils.data.",
            "torch.utils.data.sampler.": "torch.utils.data.",
            "torch.utils.data._utils.worker.": "torch.utils.data.",
            "torch.utils.data._utils.collate.": "torch.utils.data.",
            "numpy.random.mtrand.": "numpy.random.",
            "numpy.random._generator.": "numpy.random.",
            "numpy.core.": "numpy.",
            "torchvision.transforms.transforms.": "torchvision.transforms.",
            "torchvision.transforms.v2.": "torchvision.transforms.",
            "torchvision.datasets.folder.": "torchvision.datasets.",
            "torchvision.datasets.vision.": "torchvision.datasets.",
            "torch_geometric.data.DataLoader": "torch_geometric.loader.DataLoader",
            "dgl.dataloading.pytorch.": "dgl.dataloading.",
            "ultralytics.data.build.": "ultralytics.data.",
            "fastai.data.load.": "fastai.",
            "fastai.data.core.": "fastai.",
            "fastai.data.all.": "fastai.",
            "fastai.basics.": "fastai.",
            "fastai.vision.all.": "fastai.",
            "fastai.text.all.": "fastai.",
            "fastai.tabular.all.": "fastai.",
            "fastai.torch_core.": "fastai.",
            "detectron2.data.build.": "detectron2.data.",
            "pytorch_lightning.": "lightning.pytorch.",
            "lightning.pytorch.utilities.seed.": "lightning.pytorch.",
            "tensorflow.keras.": "keras.",
            "tensorflow.python.keras.": "keras.",
            "tensorflow.compat.v1.keras.": "keras.",
            "tf_keras.": "keras.",
            "keras.utils.data_utils.": "keras.utils.",
            "keras.utils.all_utils.": "keras.utils.",
            "keras.api.": "keras.",
            "zipfile._path.": "zipfile.",
            "builtins.": "builtins.",
            "io.open": "builtins.open",
            "_io.": "io.",
        }.items(),
        key=lambda item: -len(item[0]),
    )
)


@cache
def canonical(name: str) -> str:
    """The one name under which the tables know `name`."""
    head, rest = name, ""
    while head:
        if head in derived_names.DERIVED_NAMES:
            return derived_names.DERIVED_NAMES[head] + rest
        head, dot, last = head.rpartition(".")
        rest = f"{dot}{last}{rest}"
    for prefix, replacement in _PREFIXES:
        if name.startswith(prefix):
            return replacement + name[len(prefix) :]
    return name


#: Functions that import the module named by their first argument and say whether that worked: MONAI's
#: `optional_import("lmdb")` gives (module, bool), with `name=` the attribute instead of the module.
OPTIONAL_IMPORTERS = frozenset({"optional_import"})
