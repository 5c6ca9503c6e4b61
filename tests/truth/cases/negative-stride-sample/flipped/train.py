"""Every second image is mirrored by a transform, and the tensor is made by another."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Mirror:
    def __call__(self, sample):
        image = sample["image"]
        if sample["index"] % 2:
            image = np.fliplr(image)
        return {"image": image, "index": sample["index"]}


class ToTensor:
    def __call__(self, sample):
        image = sample["image"].transpose((2, 0, 1))
        return {"image": torch.from_numpy(image), "index": sample["index"]}


class Images(Dataset):
    def __init__(self, count, steps):
        self.images = np.random.default_rng(0).random((count, 8, 8, 3), np.float32)
        self.steps = steps

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        sample = {"image": self.images[index], "index": index}
        for step in self.steps:
            sample = step(sample)
        return sample


def make_loader():
    return DataLoader(Images(8, [Mirror(), ToTensor()]), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch["image"].shape)
