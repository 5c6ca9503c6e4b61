"""At module level the loader is only made; the bar around it starts nothing before the guard."""

import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(4)), num_workers=1, multiprocessing_context="spawn")
samples = [sample for sample in loader.dataset]


def train():
    return sum(int(batch[0].sum()) for batch in loader)


if __name__ == "__main__":
    assert train() == 6 == sum(int(sample[0]) for sample in samples)
    assert len(loader) == 4
