"""The state is put back after the draw that should be the same."""

import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        state = np.random.get_state()
        np.random.seed(0)
        pattern = np.random.rand()
        np.random.set_state(state)
        return pattern, np.random.rand()


def make_loader():
    return DataLoader(Noise(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
