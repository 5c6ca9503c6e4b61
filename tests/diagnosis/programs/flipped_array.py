import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Flipped(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        image = np.full((4, 4), index)
        return torch.from_numpy(image[:, ::-1])  # cause: negative-stride-sample


if __name__ == "__main__":
    for batch in DataLoader(Flipped(), batch_size=4, num_workers=2):
        print(batch.shape)
