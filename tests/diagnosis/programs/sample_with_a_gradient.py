import torch
from torch.utils.data import DataLoader, Dataset

layer = torch.nn.Linear(2, 2)


class Embedded(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return layer(torch.ones(2))  # cause: unpicklable-sample


if __name__ == "__main__":
    for batch in DataLoader(Embedded(), batch_size=4, num_workers=1):
        print(batch)
