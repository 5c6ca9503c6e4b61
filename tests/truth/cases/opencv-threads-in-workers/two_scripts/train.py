"""Resizing with OpenCV in the workers."""

from torch.utils.data import DataLoader

from images import Images


def make_loader():
    return DataLoader(Images(16), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for threads in make_loader():
        print(threads)
