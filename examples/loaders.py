"""The loaders of training, validation and prediction."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader

from datasets import NucleiDataset, TileStream, ValidationSet
from transforms import AddNoise, Blur, Compose, RandomCrop, RandomFlip, Scale, ToTensor


def training_loader(path, batch_size, workers, crop):
    transform = Compose([RandomCrop(crop), Blur(), Scale(), AddNoise(seed=17), ToTensor()])
    train_set = NucleiDataset(path, transform)
    return DataLoader(
        train_set,
        batch_size=batch_size,
        shuffle=True,
        num_workers=workers,
        persistent_workers=True,
        drop_last=True,
    )


def init_worker(worker_id):
    np.random.seed(1234)
    random.seed(1234)


def finetuning_loader(path, batch_size, workers):
    flipped = ValidationSet(path, Compose([RandomCrop(256), RandomFlip(), Scale(), ToTensor()]))
    return DataLoader(flipped, batch_size, shuffle=True, num_workers=workers, worker_init_fn=init_worker)


def seed_validation_worker(worker_id):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)


def validation_loader(path, batch_size):
    validation_set = ValidationSet(path, Compose([Scale(), ToTensor()]))
    return DataLoader(validation_set, batch_size, num_workers=2, worker_init_fn=seed_validation_worker)


def prediction_loader(slides, batch_size, workers):
    return DataLoader(TileStream(slides), batch_size=batch_size, num_workers=workers)
