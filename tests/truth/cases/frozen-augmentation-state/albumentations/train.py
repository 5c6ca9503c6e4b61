"""Two pipelines on the dataset, one of them a transform alone."""

import albumentations as A
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        self.image = np.zeros((2, 2, 1), np.float32)
        self.transform = A.Compose([A.GaussNoise(p=1), A.HorizontalFlip()])
        self.noise = A.GaussNoise(p=1)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        first = self.transform(image=self.image)["image"]
        second = self.noise(image=self.image)["image"]
        return float(first.sum()), float(second.sum())


def make_loader():
    return DataLoader(Images(), batch_size=2, shuffle=True, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
