"""The dataset and its two transforms hold generators with seeds of their own."""

import numpy as np
from torch.utils.data import DataLoader

from transforms import Jitter, NoisySignals


def make_loader():
    signals = np.linspace(0.0, 1.0, 16 * 4).reshape(16, 4)
    dataset = NoisySignals(signals, [Jitter(0.1), Jitter(0.1)], seed=7)
    return DataLoader(dataset, batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
