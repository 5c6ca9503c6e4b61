"""One name for one thing: libraries export the same object under several dotted names."""

from __future__ import annotations

from functools import cache

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
            "torch_geometric.loader.dataloader.": "torch_geometric.loader.",
            "monai.data.dataloader.": "monai.data.",
            "monai.data.utils.": "monai.data.",
            "timm.data.loader.": "timm.data.",
            "ultralytics.data.build.": "ultralytics.data.",
            "fastai.data.load.": "fastai.",
            "fastai.data.core.": "fastai.",
            "fastai.data.all.": "fastai.",
            "fastai.basics.": "fastai.",
            "fastai.vision.all.": "fastai.",
            "fastai.text.all.": "fastai.",
            "fastai.tabular.all.": "fastai.",
            "fastai.torch_core.": "fastai.",
            "torch_geometric.loader.node_loader.": "torch_geometric.loader.",
            "torch_geometric.loader.link_loader.": "torch_geometric.loader.",
            "torch_geometric.loader.neighbor_loader.": "torch_geometric.loader.",
            "torch_geometric.loader.link_neighbor_loader.": "torch_geometric.loader.",
            "torch_geometric.loader.cluster.": "torch_geometric.loader.",
            "ignite.distributed.auto.": "ignite.distributed.",
            "transformers.trainer.": "transformers.",
            "transformers.trainer_seq2seq.": "transformers.",
            "transformers.training_args.": "transformers.",
            "transformers.training_args_seq2seq.": "transformers.",
            "transformers.trainer_utils.": "transformers.",
            "mmengine.runner.runner.": "mmengine.runner.",
            "detectron2.data.build.": "detectron2.data.",
            "mmcv.utils.parrots_wrapper.DataLoader": "torch.utils.data.DataLoader",
            "mmcv.utils.DataLoader": "torch.utils.data.DataLoader",
            "webdataset.compat.": "webdataset.",
            "streaming.base.dataloader.": "streaming.",
            "streaming.base.": "streaming.",
            "litdata.streaming.dataloader.": "litdata.",
            "litdata.streaming.": "litdata.",
            "monai.data.thread_buffer.": "monai.data.",
            "torchdata.stateful_dataloader.stateful_dataloader.": "torchdata.stateful_dataloader.",
            "pytorch_lightning.": "lightning.pytorch.",
            "lightning.pytorch.utilities.seed.": "lightning.pytorch.",
            "albumentations.core.composition.": "albumentations.",
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
    for prefix, replacement in _PREFIXES:
        if name.startswith(prefix):
            return replacement + name[len(prefix) :]
    return name


#: Functions that import the module named by their first argument and say whether that worked: MONAI's
#: `optional_import("lmdb")` gives (module, bool), with `name=` the attribute instead of the module.
OPTIONAL_IMPORTERS = frozenset({"optional_import"})
