"""A dataclass connects to an SQLite database in its `__post_init__`."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from torch.utils.data import DataLoader, Dataset


@dataclass
class Values(Dataset):
    path: str

    def __post_init__(self):
        self.db = sqlite3.connect(self.path)

    def __len__(self):
        return 256

    def __getitem__(self, index):
        (value,) = self.db.execute("SELECT value FROM numbers WHERE number = ?", (index,)).fetchone()
        return index, value


def write_values(path):
    Path(path).unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY, value INTEGER)")
        db.executemany("INSERT INTO numbers VALUES (?, ?)", [(number, number) for number in range(256)])


def make_loader():
    write_values("values.sqlite")
    return DataLoader(Values("values.sqlite"), batch_size=8, num_workers=4)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
