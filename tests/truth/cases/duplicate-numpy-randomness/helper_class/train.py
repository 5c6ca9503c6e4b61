"""Training with random crops. The draw is made in a helper of another module."""

import torch
from torch.utils.data import DataLoader

from patches import PatchDataset


def make_loader():
    dataset = PatchDataset(torch.arange(16 * 64, dtype=torch.float32).reshape(16, 64), size=8)
    return DataLoader(dataset, batch_size=2, num_workers=4)


def main():
    for patch, start in make_loader():
        print(patch.shape, start)


if __name__ == "__main__":
    main()
