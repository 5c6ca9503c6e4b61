"""The dataset that holds the transform is inside wrappers."""

import albumentations as A
import numpy as np
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset


class Images(Dataset):
    def __init__(self, transform=None):
        self.transform = transform

    def __len__(self):
        return 16

    def __getitem__(self, index):
        image = np.zeros((2, 2, 1), np.float32)
        return index, float(self.transform(image=image)["image"].sum())


def make_loader():
    augment = A.Compose([A.GaussNoise(p=1)])
    halves = [Subset(Images(augment), range(8)), Subset(Images(augment), range(8, 16))]
    return DataLoader(ConcatDataset(halves), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
