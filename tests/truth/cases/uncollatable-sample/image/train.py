"""Images that were only opened."""

import tempfile
from pathlib import Path

from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, folder):
        self.paths = [str(Path(folder) / f"{number}.png") for number in range(6)]
        for path in self.paths:
            Image.new("RGB", (4, 4)).save(path)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return Image.open(self.paths[index]).convert("RGB"), index


def make_loader():
    return DataLoader(Photos(tempfile.mkdtemp()), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
