"""Many samples share what is remembered."""

from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self):
        self.files = {}

    def __len__(self):
        return 8

    def __getitem__(self, index):
        number = index // 4
        if number in self.files:
            return 1
        self.files[number] = [number] * 100
        return 0


def make_loader():
    return DataLoader(Numbers(), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
