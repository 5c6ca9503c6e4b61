"""The worker_init_fn asks for one thread, which workers have anyway, whatever the main process has computed with."""

import torch
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.full((2000, 2000), float(index)).sum()


def init_worker(worker_id):
    torch.set_num_threads(1)


def make_loader():
    torch.set_num_threads(2)
    torch.ones(2000, 2000).sum()  # as training does
    return DataLoader(Volumes(), num_workers=2, worker_init_fn=init_worker)


if __name__ == "__main__":
    for total in make_loader():
        print(total)
