import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    data = TensorDataset(torch.arange(8))
    loader = DataLoader(data, batch_size=4, persistent_workers=True)  # cause: conflicting-loader-arguments
    for batch in loader:
        print(batch)
