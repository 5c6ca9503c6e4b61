import torch
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __len__(self):
        return 4

    def __iter__(self):  # cause: unsharded-iterable-dataset
        for number in range(4):
            yield torch.tensor(number)


if __name__ == "__main__":
    loader = DataLoader(Stream(), num_workers=2)
    print(len(loader))
    for batch in loader:
        print(batch)
