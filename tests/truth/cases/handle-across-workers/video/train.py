"""Frames of one video, sought one by one."""

from pathlib import Path

import cv2
import numpy as np
from torch.utils.data import DataLoader, Dataset

FRAMES = 24


class Frames(Dataset):
    """Gives the number of the frame asked for and the one that its brightness tells."""

    def __init__(self, path):
        self.path = path
        self.capture = cv2.VideoCapture(path)

    def __len__(self):
        return FRAMES

    def __getitem__(self, index):
        self.capture.set(cv2.CAP_PROP_POS_FRAMES, index)
        _, frame = self.capture.read()
        return index, int(round(frame.mean() / 10))


def write_video(path):
    writer = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MJPG"), 10, (64, 64))
    for number in range(FRAMES):
        writer.write(np.full((64, 64, 3), number * 10, np.uint8))
    writer.release()


def make_loader():
    path = "frames.avi"
    if not Path(path).exists():
        write_video(path)
    return DataLoader(Frames(path), batch_size=4, num_workers=2)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
