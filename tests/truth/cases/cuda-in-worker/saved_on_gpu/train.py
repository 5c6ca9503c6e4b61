"""The samples were saved on a GPU and are loaded as they are. Here, without a GPU, that fails in any process; with one,
in every forked worker."""

import torch
from gpu_files import saved
from torch.utils.data import DataLoader, Dataset


class Features(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.load(self.paths[index])


def make_loader():
    return DataLoader(Features(saved(4)), num_workers=2)


if __name__ == "__main__":
    model = torch.nn.Linear(1, 1)
    if torch.cuda.is_available():
        model.cuda()
    for batch in make_loader():
        print(batch)
