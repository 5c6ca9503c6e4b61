"""The arguments of loaders of libraries, under torch's names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link
from tests.project.test_values import shown

HEAD = """
import fastai.data.core, fastai.data.load, monai.data, timm.data, torch_geometric.loader, torchio
from fastai.data.core import DataLoaders
from lightning.pytorch import LightningDataModule
from mmengine.runner import Runner
from torch.utils.data import DataLoader, Dataset
from transformers import Trainer, TrainingArguments
class D(Dataset):
    def __getitem__(self, i): return i
class E(D): pass
def f(batch): return batch
def g(batch): return batch
"""
#: The arguments that are shown unless they are these.
USUAL = {
    "dataset": "D()",
    "batch_size": "1",
    "shuffle": "None",
    "sampler": "None",
    "num_workers": "0",
    "collate_fn": "None",
    "worker_init_fn": "None",
    "persistent_workers": "False",
}
CALLS = {
    "DataLoader(D())": "usual",
    "DataLoader(D(), 8, True, num_workers=2, collate_fn=f)": "batch_size=8 shuffle=True num_workers=2 collate_fn=f",
    "DataLoader(D(), 8, True, None, None, 2, f)": "batch_size=8 shuffle=True num_workers=2 collate_fn=f",
    "DataLoader(D(), 8, **dict(num_workers=2))": "batch_size=8 num_workers=2",
    "DataLoader(D(), 8, True, None, None, 2, f, **load())": "batch_size=8 shuffle=True num_workers=2 collate_fn=f "
    "worker_init_fn=?kwargs persistent_workers=?kwargs",
    "DataLoader(*load(), num_workers=2)": "dataset=?kwargs batch_size=?kwargs shuffle=?kwargs sampler=?kwargs "
    "num_workers=2 collate_fn=?kwargs worker_init_fn=?kwargs persistent_workers=?kwargs",
    # other names and positions
    "timm.data.create_loader(D(), 224, 8, True, num_workers=3)": "batch_size=8 shuffle=True num_workers=3 "
    "persistent_workers=True",
    "timm.data.create_loader(D(), 224, 8, persistent_workers=False)": "batch_size=8 shuffle=False num_workers=1",
    "fastai.data.load.DataLoader(D(), bs=8, num_workers=2)": "batch_size=8 num_workers=2",
    "fastai.data.core.TfmdDL(D(), 8)": "batch_size=8 num_workers=?the library's own default",
    "fastai.data.core.TfmdDL(D(), 8, True, 3)": "batch_size=8 shuffle=True num_workers=3",
    # a switch sets another argument
    "timm.data.create_loader(D(), 224, persistent_workers=False, use_multi_epochs_loader=True)": "shuffle=False "
    "num_workers=1 persistent_workers=True",
    "timm.data.create_loader(D(), 224, persistent_workers=False, use_multi_epochs_loader=False)": "shuffle=False "
    "num_workers=1",
    "timm.data.create_loader(D(), 224, persistent_workers=False, use_multi_epochs_loader=flag)": "shuffle=False "
    "num_workers=1 persistent_workers=?use_multi_epochs_loader",
    "monai.data.ThreadDataLoader(D(), num_workers=2)": "num_workers=2",
    "monai.data.ThreadDataLoader(D(), num_workers=2, use_thread_workers=True)": "usual",
    # arguments that are not used
    "torch_geometric.loader.NodeLoader(D(), collate_fn=f, num_workers=2)": "dataset=?no dataset argument num_workers=2",
    "torch_geometric.loader.NodeLoader(D(), f, num_workers=2)": "dataset=?no dataset argument num_workers=2",
    # several datasets in one call
    "Trainer(train_dataset=D(), eval_dataset=E(), data_collator=f)": "collate_fn=f | dataset=E() collate_fn=f",
    "Trainer(None, None, f, D(), E())": "collate_fn=f | dataset=E() collate_fn=f",
    "Trainer(train_dataset=D(), eval_dataset=None)": "usual",
    "Trainer(eval_dataset=E())": "dataset=E()",
    "Trainer(data_collator=f)": "",
    "DataLoaders.from_dsets(D(), E(), bs=8)": "dataset=(D(), E()) batch_size=8 num_workers=?the library's own default",
    "DataLoaders.from_dsets(bs=8)": "",
    "LightningDataModule.from_datasets(D(), val_dataset=E(), batch_size=8)": "batch_size=8 | dataset=E() batch_size=8",
    # options
    "Trainer(args=TrainingArguments('o', dataloader_num_workers=4), train_dataset=D())": "num_workers=4",
    "Trainer(None, TrainingArguments('o', dataloader_num_workers=4, num_workers=3), None, D())": "num_workers=4",
    "Trainer(args=None, train_dataset=D())": "usual",
    "Trainer(args=load(), train_dataset=D())": "num_workers=?training arguments persistent_workers=?training arguments",
    "Trainer(args=TrainingArguments('o') if flag else load(), train_dataset=D())": "num_workers=?training arguments "
    "persistent_workers=?training arguments",
    "Trainer(args=TrainingArguments('o', **load()), train_dataset=D())": "num_workers=?kwargs "
    "persistent_workers=?kwargs",
    "Trainer(args=TrainingArguments('o', dataloader_num_workers=4, **load()), train_dataset=D())": "num_workers=4 "
    "persistent_workers=?kwargs",
    "Trainer(args=timm.data.Config(dataloader_num_workers=4), train_dataset=D())": "num_workers=?training arguments "
    "persistent_workers=?training arguments",
    # configurations
    "Runner.build_dataloader(dict(dataset=dict(type=D), batch_size=2, num_workers=3))": "batch_size=2 num_workers=3",
    "Runner.build_dataloader(dict(dataset=D(), collate_fn=dict(type=f)))": "collate_fn=f",
    "Runner.build_dataloader(dict(dataset=D(), collate_fn=f))": "collate_fn=f",
    "Runner.build_dataloader(dict(dataset=D(), collate_fn=dict(type='f')))": "collate_fn=?registry",
    "Runner.build_dataloader(dict(dataset=D(), worker_init_fn=dict(type=f)))": "worker_init_fn=f",
    "Runner.build_dataloader(dict(dataset=D(), sampler=dict(type=f)))": "sampler=?registry",
    "Runner.build_dataloader(dict(dataset=dict(type='D')))": "dataset=?registry",
    "Runner.build_dataloader(dict(dataset=dict(type=f)))": "dataset=?registry",
    "Runner.build_dataloader(dict(dataset=dict(kind=D)))": "dataset=?registry",
    "Runner.build_dataloader(dict(dataset=dict(type=D if flag else E)))": "dataset=?registry",
    "Runner.build_dataloader(dict(dataset=dict(type=D), num_workers=3, **load()))": "batch_size=?a copied mapping "
    "shuffle=?a copied mapping sampler=?a copied mapping num_workers=3 collate_fn=?a copied mapping "
    "worker_init_fn=?a copied mapping persistent_workers=?a copied mapping",
    "Runner('m', 'w', dict(dataset=dict(type=D), num_workers=1), dict(dataset=dict(type=E)))": "num_workers=1 | "
    "dataset=E()",
    "Runner('m', 'w', val_dataloader=dict(dataset=dict(type=D), num_workers=1))": "num_workers=1",
    "Runner('m', 'w', train_dataloader=load())": "",
    "Runner(dict(dataset=E()), 'w', dict(dataset=D()))": "usual",
    # classes of the project
    "class L(DataLoader):\n def __init__(self, data): super().__init__(data, num_workers=3)\nL(D())": "num_workers=3",
    "class T(Trainer):\n def get_train_dataloader(self): pass\nT(train_dataset=D(), eval_dataset=E())": "dataset=E()",
    "class T(Trainer): pass\nT(train_dataset=D(), eval_dataset=E())": "usual | dataset=E()",
    "class A(TrainingArguments): pass\nTrainer(args=A(dataloader_num_workers=4), train_dataset=D())": "num_workers=4",
    "class A(TrainingArguments):\n dataloader_num_workers = 3\nTrainer(args=A(), train_dataset=D())": "num_workers=3",
    "class A(TrainingArguments):\n dataloader_num_workers = 3\n"
    "Trainer(args=A(dataloader_num_workers=4), train_dataset=D())": "num_workers=4",
    "class P:\n dataloader_num_workers = 3\nTrainer(args=P(), train_dataset=D())": "num_workers=?training arguments "
    "persistent_workers=?training arguments",
}


@pytest.mark.parametrize(("code", "expected"), CALLS.items(), ids=CALLS)
def test_arguments(tmp_path: Path, code: str, expected: str) -> None:
    model = link(tmp_path, f"{HEAD}{code}\n").model
    found = []
    for loader in (one for one in model.loaders if one.site is not None):
        values = {name: shown(loader.argument(name), model) for name in USUAL}
        found.append(" ".join(f"{name}={value}" for name, value in values.items() if value != USUAL[name]) or "usual")
    assert " | ".join(found) == expected
