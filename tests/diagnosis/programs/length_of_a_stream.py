import torch
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        yield torch.zeros(1)


if __name__ == "__main__":
    print(len(DataLoader(Stream())))
