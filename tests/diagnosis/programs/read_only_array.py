import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        record = np.frombuffer(b"12345678", dtype=np.uint8)
        return torch.from_numpy(record)  # cause: read-only-sample


if __name__ == "__main__":
    for batch in DataLoader(Records(), batch_size=4, num_workers=1):
        print(batch)
