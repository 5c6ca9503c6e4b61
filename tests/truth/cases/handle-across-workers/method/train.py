"""A method opens two files at the first read, and the main process reads the first sample itself."""

from torch.utils.data import DataLoader, Dataset

from writing import HEADER, PIXELS, RECORDS, read_header, write_records


class Records(Dataset):
    def __init__(self, path):
        self.path = path
        self.records = None
        self.more = None

    def _open(self):
        self.records = open(self.path, "rb", buffering=0)
        self.more = open(self.path, "rb", buffering=0)

    def __len__(self):
        return RECORDS

    def __getitem__(self, index):
        if self.records is None:
            self._open()
        read_header(self._read(self.records, index, HEADER))
        pixels = self._read(self.more, index, HEADER + PIXELS)
        return index, pixels[-1]

    def _read(self, file, index, size):
        file.seek(index * (HEADER + PIXELS))
        return file.read(size)


def make_loader():
    write_records("records.bin")
    dataset = Records("records.bin")
    print("first record:", dataset[0])
    return DataLoader(dataset, batch_size=16, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
