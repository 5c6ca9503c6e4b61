"""Workers ask for CUDA, seed it and load to the CPU: nothing initialises it."""

import torch
from gpu_files import saved
from torch.utils.data import DataLoader, Dataset


class Features(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        if torch.cuda.device_count() and not torch.cuda.is_available():
            raise RuntimeError
        return torch.load(self.paths[index], map_location="cpu")


def init_worker(worker_id):
    seed = torch.initial_seed() % 2**32
    torch.cuda.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.cuda.empty_cache()


def make_loader():
    return DataLoader(Features(saved(4)), num_workers=2, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch.cuda() if torch.cuda.is_available() else batch)
