"""A worker_init_fn is there and seeds."""

import os
import random

import cv2
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        image = np.full((512, 512, 3), index, np.uint8)
        cv2.GaussianBlur(cv2.resize(image, (1024, 1024)), (31, 31), 0)
        return cv2.getNumThreads(), len(os.listdir("/proc/self/task"))


def seed_worker(worker_id):
    """Seed this worker."""
    random.seed(torch.initial_seed())


def make_loader():
    return DataLoader(Images(), batch_size=2, num_workers=4, worker_init_fn=seed_worker)


if __name__ == "__main__":
    for threads in make_loader():
        print(threads)
