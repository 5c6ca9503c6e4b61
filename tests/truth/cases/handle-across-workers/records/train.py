"""Records of fixed size in one file, which is opened once."""

from pathlib import Path

from torch.utils.data import DataLoader

from records import Records, write_records


def make_loader():
    path = Path("records.bin")
    if not path.exists():
        write_records(path)
    return DataLoader(Records(path), batch_size=16, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
