"""The channels are reversed, from BGR to RGB, in an iterable dataset; `torch.tensor` is no better than `from_numpy`."""

import cv2
import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Frames(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, self.count, step):
            frame = cv2.flip(np.full((4, 4, 3), index, np.uint8), 1)
            rgb = frame[..., ::-1]
            yield torch.tensor(np.moveaxis(rgb, -1, 0))


def make_loader():
    return DataLoader(Frames(8), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch.shape)
