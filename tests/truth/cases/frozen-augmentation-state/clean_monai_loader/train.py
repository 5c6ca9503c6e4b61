"""MONAI's own loader seeds the transforms in each worker."""

import numpy as np
from monai.data import DataLoader, Dataset
from monai.transforms import Compose, RandGaussianNoise


def make_loader():
    transform = Compose([RandGaussianNoise(prob=1.0)])
    volumes = [np.zeros((1, 1, 1), np.float32) for _ in range(16)]
    return DataLoader(Dataset(volumes, transform), num_workers=4, batch_size=2, collate_fn=plain)


def plain(samples):
    return [[float(sample.sum()) for sample in samples]]


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
