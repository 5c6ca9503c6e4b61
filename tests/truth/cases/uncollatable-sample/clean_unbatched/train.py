"""Nothing is batched, so nothing is refused."""

from pathlib import Path

from torch.utils.data import DataLoader, Dataset


class Paths(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return Path(str(index))


def make_loader():
    return DataLoader(Paths(), batch_size=None, num_workers=2)


if __name__ == "__main__":
    for sample in make_loader():
        print(sample)
