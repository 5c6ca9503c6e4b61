import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset


def seed_worker(worker_id):
    np.random.seed(torch.initial_seed())  # cause: worker-seed-overflow


if __name__ == "__main__":
    data = TensorDataset(torch.arange(8))
    for batch in DataLoader(data, num_workers=2, worker_init_fn=seed_worker):
        print(batch)
