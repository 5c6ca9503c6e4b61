"""The dataset remembers its samples in workers that live on."""

from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self):
        self.cache = {}

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index in self.cache:
            return 1
        self.cache[index] = [index] * 100
        return 0


def make_loader():
    return DataLoader(Numbers(), batch_size=2, num_workers=2, persistent_workers=True)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
