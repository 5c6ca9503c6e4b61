import os

import cv2
import numpy as np
from torch.utils.data import Dataset


class Images(Dataset):
    """Gives, instead of images, the number of threads that OpenCV may use and that this process has."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        image = np.full((512, 512, 3), index, np.uint8)
        cv2.GaussianBlur(cv2.resize(image, (1024, 1024)), (31, 31), 0)
        return cv2.getNumThreads(), len(os.listdir("/proc/self/task"))
