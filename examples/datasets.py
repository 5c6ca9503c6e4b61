"""Images of nuclei with their masks, in HDF5 files."""

import h5py
import numpy as np
from torch.utils.data import Dataset, IterableDataset


class NucleiDataset(Dataset):
    """Images, masks and a weight for each pixel: borders between nuclei count more."""

    def __init__(self, path, transform=None, border_weight=2.0):
        self.path = path
        self.transform = transform
        self.border_weight = border_weight
        self.file = h5py.File(path, "r")
        self.length = len(self.file["images"])
        self.weights = np.ones(self.file["masks"].shape, np.float32)

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        image = self.file["images"][index]
        mask = self.file["masks"][index]
        weight = self.weights[index]
        weight[border(mask) > 0] += self.border_weight
        sample = {"image": image, "mask": mask, "weight": weight}
        if self.transform is not None:
            sample = self.transform(sample)
        return sample


class ValidationSet(Dataset):
    """Images and masks as they are."""

    def __init__(self, path, transform):
        self.path = path
        self.transform = transform
        with h5py.File(path, "r") as file:
            self.length = len(file["images"])

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        with h5py.File(self.path, "r") as file:
            sample = {"image": file["images"][index], "mask": file["masks"][index]}
        return self.transform(sample)


class TileStream(IterableDataset):
    """The tiles of large slides, one slide after the other."""

    def __init__(self, paths, size=256):
        self.paths = paths
        self.size = size

    def __iter__(self):
        for path in self.paths:
            slide = np.load(path, mmap_mode="r")
            for top in range(0, slide.shape[0] - self.size + 1, self.size):
                for left in range(0, slide.shape[1] - self.size + 1, self.size):
                    tile = slide[top : top + self.size, left : left + self.size]
                    yield np.array(tile, np.float32).transpose(2, 0, 1)


def border(mask):
    """1 where a pixel differs from its right or lower neighbour, else 0."""
    edges = np.zeros(mask.shape, np.float32)
    edges[:, :-1] += mask[:, :-1] != mask[:, 1:]
    edges[:-1] += mask[:-1] != mask[1:]
    return np.minimum(edges, 1.0)
