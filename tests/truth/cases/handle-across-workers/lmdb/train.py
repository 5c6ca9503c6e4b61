"""An LMDB environment; the length is read in `__init__`."""

import lmdb
from torch.utils.data import DataLoader, Dataset


class Values(Dataset):
    def __init__(self, path):
        self.env = lmdb.open(path, readonly=True, lock=False, readahead=False)
        with self.env.begin() as transaction:
            self.length = transaction.stat()["entries"]

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        with self.env.begin(write=False) as transaction:
            value = transaction.get(b"%d" % index)
        return index, int(value)


def write_values(path):
    with lmdb.open(path, map_size=2**24) as env, env.begin(write=True) as transaction:
        for number in range(256):
            transaction.put(b"%d" % number, b"%d" % number)


def make_loader():
    write_values("values.lmdb")
    return DataLoader(Values("values.lmdb"), batch_size=8, num_workers=4)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
