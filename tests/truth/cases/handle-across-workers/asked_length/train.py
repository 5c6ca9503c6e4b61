"""The file is opened at the first use, and that is `len(loader)`, which asks the dataset."""

import os

from torch.utils.data import DataLoader, Dataset

from writing import HEADER, PIXELS, read_header, write_records


class Records(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = None

    def _open(self):
        if self.file is None:
            self.file = open(self.path, "rb", buffering=0)

    def __len__(self):
        self._open()
        return os.fstat(self.file.fileno()).st_size // (HEADER + PIXELS)

    def __getitem__(self, index):
        self._open()
        self.file.seek(index * (HEADER + PIXELS))
        read_header(self.file.read(HEADER))
        pixels = self.file.read(PIXELS)
        return index, pixels[-1]


def make_loader():
    write_records("records.bin")
    loader = DataLoader(Records("records.bin"), batch_size=16, num_workers=4)
    print("batches:", len(loader))
    return loader


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
