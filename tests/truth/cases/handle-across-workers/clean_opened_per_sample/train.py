"""The file is opened for each sample, in the process that reads it."""

from pathlib import Path

from torch.utils.data import DataLoader, Dataset

RECORDS = 256
SIZE = 16 * 1024


class Records(Dataset):
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.first = file.read(4)

    def __len__(self):
        return RECORDS

    def __getitem__(self, index):
        with open(self.path, "rb", buffering=0) as file:
            file.seek(index * (SIZE + 4))
            size = int.from_bytes(file.read(4), "little")
            record = file.read(size)
        return index, int.from_bytes(record[-4:], "little")


def make_loader():
    path = Path("records.bin")
    if not path.exists():
        with open(path, "wb") as file:
            for number in range(RECORDS):
                file.write(SIZE.to_bytes(4, "little") + number.to_bytes(4, "little") * (SIZE // 4))
    return DataLoader(Records(path), batch_size=8, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
