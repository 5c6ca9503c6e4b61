"""Other names of what the tables know, as libraries export it.

Written by scripts/derived_names.py from `knowledge/library_summaries`. Run it again when these or the tables change."""

from __future__ import annotations

from types import MappingProxyType

DERIVED_NAMES = MappingProxyType(
    {
        "accelerate.utils.random.set_seed": "accelerate.utils.set_seed",
        "albumentations.core.composition.Compose": "albumentations.Compose",
        "albumentations.core.composition.OneOf": "albumentations.OneOf",
        "albumentations.core.composition.ReplayCompose": "albumentations.ReplayCompose",
        "albumentations.core.composition.Sequential": "albumentations.Sequential",
        "albumentations.core.composition.SomeOf": "albumentations.SomeOf",
        "decord.video_reader.VideoReader": "decord.VideoReader",
        "dgl.dataloading.dataloader.DataLoader": "dgl.dataloading.DataLoader",
        "dgl.dataloading.dataloader.GraphDataLoader": "dgl.dataloading.GraphDataLoader",
        "fairseq.data.EpochBatchIterator": "fairseq.data.iterators.EpochBatchIterator",
        "h5py._hl.files.File": "h5py.File",
        "ignite.distributed.auto.auto_dataloader": "ignite.distributed.auto_dataloader",
        "kornia.augmentation.container.AugmentationSequential": "kornia.augmentation.AugmentationSequential",
        "kornia.augmentation.container.augment.AugmentationSequential": "kornia.augmentation.AugmentationSequential",
        "lightning.pytorch.trainer.seed_everything": "lightning.seed_everything",
        "litdata.streaming.StreamingDataLoader": "litdata.StreamingDataLoader",
        "litdata.streaming.StreamingDataset": "litdata.StreamingDataset",
        "litdata.streaming.dataloader.StreamingDataLoader": "litdata.StreamingDataLoader",
        "litdata.streaming.dataset.StreamingDataset": "litdata.StreamingDataset",
        "lmdb.cffi.Environment": "lmdb.Environment",
        "mmcv.fileio.io.load": "mmcv.load",
        "mmcv.fileio.load": "mmcv.load",
        "mmengine.fileio.io.load": "mmengine.load",
        "mmengine.fileio.load": "mmengine.load",
        "mmengine.runner.runner.Runner": "mmengine.runner.Runner",
        "monai.data.dataloader.DataLoader": "monai.data.DataLoader",
        "monai.data.thread_buffer.ThreadDataLoader": "monai.data.ThreadDataLoader",
        "monai.data.utils.set_rnd": "monai.data.set_rnd",
        "monai.data.utils.worker_init_fn": "monai.data.worker_init_fn",
        "monai.utils.misc.set_determinism": "monai.utils.set_determinism",
        "timm.data.loader.create_loader": "timm.data.create_loader",
        "torch_geometric.data.RandomNodeLoader": "torch_geometric.loader.RandomNodeLoader",
        "torch_geometric.loader.cluster.ClusterLoader": "torch_geometric.loader.ClusterLoader",
        "torch_geometric.loader.link_loader.LinkLoader": "torch_geometric.loader.LinkLoader",
        "torch_geometric.loader.node_loader.NodeLoader": "torch_geometric.loader.NodeLoader",
        "torch_geometric.loader.random_node_loader.RandomNodeLoader": "torch_geometric.loader.RandomNodeLoader",
        "torch_geometric.loader.temporal_dataloader.TemporalDataLoader": "torch_geometric.loader.TemporalDataLoader",
        "torchdata.stateful_dataloader.stateful_dataloader.StatefulDataLoader": "torchdata.stateful_dataloader.StatefulDataLoader",  # noqa: E501
        "torchio.data.Queue": "torchio.Queue",
        "torchio.data.queue.Queue": "torchio.Queue",
        "transformers.trainer.Trainer": "transformers.Trainer",
        "transformers.trainer_seq2seq.Seq2SeqTrainer": "transformers.Seq2SeqTrainer",
        "transformers.trainer_utils.set_seed": "transformers.set_seed",
        "transformers.training_args.TrainingArguments": "transformers.TrainingArguments",
        "transformers.training_args_seq2seq.Seq2SeqTrainingArguments": "transformers.Seq2SeqTrainingArguments",
        "webdataset.compat.WebDataset": "webdataset.WebDataset",
        "webdataset.compat.WebLoader": "webdataset.WebLoader",
        "webdataset.dataset.WebDataset": "webdataset.WebDataset",
        "webdataset.dataset.WebLoader": "webdataset.WebLoader",
        "webdataset.pipeline.DataPipeline": "webdataset.DataPipeline",
    }
)
