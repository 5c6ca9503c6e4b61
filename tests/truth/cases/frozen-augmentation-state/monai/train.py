"""MONAI's dataset and transforms with torch's own loader."""

import numpy as np
from monai.data import Dataset
from monai.transforms import Compose, EnsureType, RandGaussianNoise
from torch.utils.data import DataLoader


def make_loader():
    transform = Compose([EnsureType(), RandGaussianNoise(prob=1.0)])
    volumes = [np.zeros((1, 1, 1), np.float32) for _ in range(16)]
    return DataLoader(Dataset(volumes, transform), batch_size=2, num_workers=4, collate_fn=plain)


def plain(samples):
    return [[float(sample.sum()) for sample in samples]]


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
