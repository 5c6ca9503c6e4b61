"""OpenCV works in the main process alone; the workers never call it."""

import os

import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, length):
        self.images = [cv2.resize(np.full((8, 8, 3), number, np.uint8), (16, 16)) for number in range(length)]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        self.images[index].mean()
        return 1, len(os.listdir("/proc/self/task"))


def make_loader():
    return DataLoader(Images(16), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for threads in make_loader():
        print(threads)
