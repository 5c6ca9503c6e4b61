"""Something copies between the reversal and the tensor, or nothing is reversed in the end."""

import copy

import cv2
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)


class Images(Dataset):
    def __init__(self, count):
        self.images = np.random.default_rng(0).random((count, 4, 4, 3), np.float32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        arrays = [
            image[:, ::-1].copy(),
            np.ascontiguousarray(image[:, :, ::-1]),
            image[::-1] * 2.0,
            np.flip(image, 0).astype(np.float64),
            np.clip(np.flipud(image), 0, 1),
            np.stack([image[::-1], image])[0],
            np.asarray(image[::-1], dtype=np.float64),
            cv2.resize(image[:, :, ::-1], (4, 4)),
            cv2.flip(image, 1),
            image[:, :, [2, 1, 0]],
            np.rot90(image, 4),
            np.roll(image, 1, 0),
            np.flip(np.flip(image, 1), 1),
            copy.deepcopy(np.fliplr(image)),
            image[:, :, ::-1][:, :, 0],
        ]
        return [torch.from_numpy(array) for array in arrays], torch.flip(torch.from_numpy(image), (0,))


def make_loader():
    return DataLoader(Images(8), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(len(batch[0]))
