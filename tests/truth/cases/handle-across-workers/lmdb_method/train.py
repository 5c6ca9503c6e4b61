"""A method opens an LMDB environment at the first use, and the main process reads the first sample itself."""

import lmdb
from torch.utils.data import DataLoader, Dataset


class Values(Dataset):
    def __init__(self, path):
        self.path = path

    def _connect(self):
        self.env = lmdb.open(self.path, readonly=True, lock=False, readahead=False)

    def __len__(self):
        return 256

    def __getitem__(self, index):
        if not hasattr(self, "env"):
            self._connect()
        with self.env.begin(write=False) as transaction:
            value = transaction.get(b"%d" % index)
        return index, int(value)


def write_values(path):
    with lmdb.open(path, map_size=2**24) as env, env.begin(write=True) as transaction:
        for number in range(256):
            transaction.put(b"%d" % number, b"%d" % number)


def make_loader():
    write_values("values.lmdb")
    values = Values("values.lmdb")
    print("first value:", values[0])
    return DataLoader(values, batch_size=8, num_workers=4)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
