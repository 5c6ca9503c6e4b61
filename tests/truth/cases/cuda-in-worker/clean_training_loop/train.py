"""The training loop moves the batches; workers stay on the CPU."""

import torch
from torch.utils.data import DataLoader, Dataset

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Images(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.full((2, 2), float(index)).to("cpu").to(torch.float32)


def make_loader():
    return DataLoader(Images(), num_workers=2, pin_memory=DEVICE.type == "cuda")


if __name__ == "__main__":
    for images in make_loader():
        print(images.to(DEVICE, non_blocking=True))
