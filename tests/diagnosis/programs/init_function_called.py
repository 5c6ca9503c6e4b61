import random

import torch
from torch.utils.data import DataLoader, TensorDataset


def seed_worker(worker_id):
    random.seed(torch.initial_seed())


if __name__ == "__main__":
    data = TensorDataset(torch.arange(8))
    loader = DataLoader(data, num_workers=2, worker_init_fn=seed_worker())  # cause: called-worker-init
    for batch in loader:
        print(batch)
