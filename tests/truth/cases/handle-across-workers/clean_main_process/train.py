"""One process reads: no workers."""

from pathlib import Path

from torch.utils.data import DataLoader, Dataset

RECORDS = 256


class Records(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")

    def __len__(self):
        return RECORDS

    def __getitem__(self, index):
        self.file.seek(index * 4)
        return index, int.from_bytes(self.file.read(4), "little")


def make_loader():
    path = Path("records.bin")
    path.write_bytes(b"".join(number.to_bytes(4, "little") for number in range(RECORDS)))
    return DataLoader(Records(path), batch_size=8, num_workers=0)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
