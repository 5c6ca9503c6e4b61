"""The labels of all batches are kept as they came."""

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        return {"image": torch.ones(4), "label": index}


def make_loader():
    return DataLoader(Samples(), batch_size=2, num_workers=2)


def evaluate():
    loader = make_loader()
    kept = []
    for batch in loader:
        labels = batch["label"]
        kept.append(labels)
    return kept


if __name__ == "__main__":
    print(len(evaluate()))
