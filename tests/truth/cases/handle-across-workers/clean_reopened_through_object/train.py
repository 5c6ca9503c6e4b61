"""The worker_init_fn calls an object that the dataset holds, which opens its file again."""

from pathlib import Path

from torch.utils.data import DataLoader, Dataset, get_worker_info

RECORDS = 256
SIZE = 40_000


class Store:
    def __init__(self, path):
        self.path = path
        self.file = open(path, "rb", buffering=0)

    def read(self, index):
        self.file.seek(index * SIZE)
        return self.file.read(SIZE)[-1]

    def reopen(self):
        if not self.file.closed:
            self.file.close()
        self.file = open(self.path, "rb", buffering=0)


class Records(Dataset):
    def __init__(self, path):
        self.store = Store(path)

    def __len__(self):
        return RECORDS

    def __getitem__(self, index):
        return index, self.store.read(index)


def reopen(worker_id):
    dataset = get_worker_info().dataset
    if hasattr(dataset, "store"):
        dataset.store.reopen()


def make_loader():
    path = Path("records.bin")
    if not path.exists():
        path.write_bytes(b"".join(bytes([number]) * SIZE for number in range(RECORDS)))
    return DataLoader(Records(path), batch_size=16, num_workers=4, shuffle=True, worker_init_fn=reopen)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
