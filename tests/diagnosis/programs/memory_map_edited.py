import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Mapped(Dataset):
    def __init__(self, path):
        self.images = np.load(path, mmap_mode="r")

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        image -= image.mean()
        return torch.tensor(image)


if __name__ == "__main__":
    np.save("images.npy", np.ones((8, 4), dtype=np.float32))
    for batch in DataLoader(Mapped("images.npy"), batch_size=4, num_workers=2):
        print(batch)
