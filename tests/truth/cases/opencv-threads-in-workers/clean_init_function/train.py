"""One thread, set in the worker_init_fn."""

import os

import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        image = np.full((512, 512, 3), index, np.uint8)
        cv2.GaussianBlur(cv2.resize(image, (1024, 1024)), (31, 31), 0)
        return cv2.getNumThreads(), len(os.listdir("/proc/self/task"))


def init_worker(worker_id):
    cv2.setNumThreads(1)


def make_loader():
    return DataLoader(Images(), batch_size=2, num_workers=4, worker_init_fn=init_worker)


if __name__ == "__main__":
    for threads in make_loader():
        print(threads)
