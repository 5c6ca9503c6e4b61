import torch
from torch.utils.data import DataLoader, Dataset


def load(index):
    if index % 2:
        raise OSError("truncated file")
    return torch.zeros(3)


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        try:
            return load(index)
        except OSError:
            return None  # cause: none-sample


if __name__ == "__main__":
    for batch in DataLoader(Images(), batch_size=4, num_workers=2):
        print(batch)
