import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, limit=2.0):
        self.clahe = cv2.createCLAHE(limit)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.clahe.apply(np.full((8, 8), index, np.uint8))


def make_loader():
    cv2.setNumThreads(0)
    return DataLoader(Rows(), batch_size=2, num_workers=2)
