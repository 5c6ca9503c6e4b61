import numpy as np
from torch.utils.data import Dataset


class Jitter:
    def __init__(self, scale):
        self.scale = scale
        self.rng = np.random.default_rng(42)

    def __call__(self, signal):
        shift = self.rng.normal(scale=self.scale)
        return signal + shift, shift


class NoisySignals(Dataset):
    def __init__(self, signals, transforms, seed=None):
        self.signals = signals
        self.transforms = transforms
        self.random = np.random.RandomState(seed)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        signal = self.signals[index]
        shifts = []
        for transform in self.transforms:
            signal, shift = transform(signal)
            shifts.append(shift)
        return shifts[0], shifts[1], self.random.uniform()
