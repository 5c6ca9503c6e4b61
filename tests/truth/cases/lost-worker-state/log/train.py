"""The dataset keeps a list of what was asked for."""

from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self):
        self.asked = []

    def __len__(self):
        return 8

    def count(self):
        return len(self.asked)

    def __getitem__(self, index):
        self.asked.append(index)
        return index


def make_loader():
    return DataLoader(Numbers(), batch_size=2, num_workers=2)


def counted(dataset):
    return dataset.count()


def main():
    numbers = Numbers()
    for batch in DataLoader(numbers, batch_size=2, num_workers=2):
        print(batch)
    print(numbers.count())


if __name__ == "__main__":
    main()
