import numpy as np
from torch.utils.data import Dataset


class RandomWindow:
    """A window at a random place, and where it was."""

    def __init__(self, size):
        self.size = size

    def __call__(self, signal):
        start = np.random.rand()
        first = int(start * (len(signal) - self.size))
        return signal[first : first + self.size], start


class PatchDataset(Dataset):
    def __init__(self, signals, size):
        self.signals = signals
        self.window = RandomWindow(size)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        return self.window(self.signals[index])
