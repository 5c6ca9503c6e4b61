import numpy as np
from torch.utils.data import Dataset


class Noise(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, np.random.rand()
