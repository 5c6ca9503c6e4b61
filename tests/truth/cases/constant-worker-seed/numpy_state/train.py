"""The recipe that was right before torch 1.9 and repeats every epoch, and every run, since."""

import numpy as np
from torch.utils.data import DataLoader

from noise import Noise


def make_loader():
    return DataLoader(
        Noise(16),
        batch_size=2,
        shuffle=True,
        num_workers=4,
        worker_init_fn=lambda worker_id: np.random.seed(np.random.get_state()[1][0] + worker_id),
    )


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
