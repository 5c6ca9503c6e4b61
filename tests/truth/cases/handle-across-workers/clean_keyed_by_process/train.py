"""Each process opens the archive for itself, and knows its own."""

import os
import zipfile
from pathlib import Path

from torch.utils.data import DataLoader, Dataset


class Members(Dataset):
    def __init__(self, path):
        self.path = path
        with zipfile.ZipFile(path) as archive:
            self.names = sorted(archive.namelist())
        self._archive = None
        self._pid = None

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return index, int(self.archive().read(self.names[index])[:4])

    def archive(self):
        if self._archive is None or self._pid != os.getpid():
            self._archive, self._pid = zipfile.ZipFile(self.path), os.getpid()
        return self._archive

    def __getstate__(self):
        return {**self.__dict__, "_archive": None, "_pid": None}


def make_loader():
    path = Path("members.zip")
    if not path.exists():
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(256):
                archive.writestr(f"{number:04}.txt", f"{number:04}" * 2000)
    return DataLoader(Members(path), batch_size=8, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
