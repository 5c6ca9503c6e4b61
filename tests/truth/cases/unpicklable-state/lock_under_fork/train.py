import threading
import time

from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    """Each item says when it was inside the lock."""

    def __init__(self):
        self.lock = threading.Lock()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with self.lock:
            start = time.time()
            time.sleep(0.05)
            return [start, time.time()]


def make_loader():
    return DataLoader(Rows(), batch_size=None, num_workers=2)
