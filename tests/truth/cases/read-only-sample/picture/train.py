"""Pictures that Pillow reads."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        picture = np.asarray(Image.open(self.paths[index]).convert("L"))
        return torch.from_numpy(picture), index


def make_loader():
    folder = Path(tempfile.mkdtemp())
    paths = [folder / f"{number}.png" for number in range(8)]
    for path in paths:
        Image.new("L", (4, 4)).save(path)
    return DataLoader(Pictures(paths), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch[0].shape)
