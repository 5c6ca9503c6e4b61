"""Windows of a raster, each with its own number in every pixel."""

from pathlib import Path

import numpy as np
import rasterio
from rasterio.windows import Window
from torch.utils.data import DataLoader, Dataset

SIZE, COUNT = 256, 128


def window(index):
    return Window(0, index * SIZE, SIZE, SIZE)


class Tiles(Dataset):
    def __init__(self, path):
        self.path = path
        self.raster = rasterio.open(path)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        tile = self.raster.read(1, window=window(index))
        return index, int(tile.max()) if (tile == tile.max()).all() else -1


def write_raster(path):
    kind = {"driver": "GTiff", "dtype": "uint16", "count": 1, "tiled": True, "blockxsize": SIZE, "blockysize": SIZE}
    with rasterio.open(path, "w", height=SIZE * COUNT, width=SIZE, **kind) as raster:
        for index in range(COUNT):
            raster.write(np.full((SIZE, SIZE), index, np.uint16), 1, window=window(index))


def make_loader():
    path = Path("tiles.tif")
    if not path.exists():
        write_raster(path)
    return DataLoader(Tiles(path), batch_size=8, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
