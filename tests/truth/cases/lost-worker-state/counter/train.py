"""The dataset counts its samples."""

from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self):
        self.seen = 0

    def __len__(self):
        return 8

    def __getitem__(self, index):
        self.seen += 1
        return index


def make_loader():
    return DataLoader(Numbers(), batch_size=2, num_workers=2)


def counted(dataset):
    return dataset.seen


def main():
    loader = make_loader()
    for batch in loader:
        print(batch)
    print(loader.dataset.seen)


if __name__ == "__main__":
    main()
