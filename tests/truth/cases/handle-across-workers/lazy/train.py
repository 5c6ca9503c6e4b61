"""The file is opened at the first read, but the main process reads the first sample itself."""

from torch.utils.data import DataLoader, Dataset

from writing import HEADER, PIXELS, RECORDS, read_header, write_records


class Records(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = None

    def __len__(self):
        return RECORDS

    def __getitem__(self, index):
        if self.file is None:
            self.file = open(self.path, "rb", buffering=0)
        self.file.seek(index * (HEADER + PIXELS))
        read_header(self.file.read(HEADER))
        pixels = self.file.read(PIXELS)
        return index, pixels[-1]


def make_loader():
    write_records("records.bin")
    dataset = Records("records.bin")
    print("first record:", dataset[0])
    return DataLoader(dataset, batch_size=16, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
