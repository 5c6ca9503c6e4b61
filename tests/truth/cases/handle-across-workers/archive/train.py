"""Members of a zip archive. The number of members is read from the open archive."""

import zipfile
from pathlib import Path

from torch.utils.data import DataLoader, Dataset, Subset


class Members(Dataset):
    def __init__(self, folder):
        self.archive = zipfile.ZipFile(Path(folder) / "members.zip")
        self.names = sorted(self.archive.namelist())

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return index, int(self.archive.read(self.names[index])[:4])


def write_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(256):
            archive.writestr(f"{number:04}.txt", f"{number:04}" * 50_000)


def make_loader():
    path = Path("members.zip")
    if not path.exists():
        write_archive(path)
    members = Members(".")
    return DataLoader(Subset(members, range(len(members))), batch_size=16, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
