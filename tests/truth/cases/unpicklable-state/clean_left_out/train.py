import threading

from torch.utils.data import DataLoader, Dataset

LOCK = threading.Lock()


class Rows(Dataset):
    shared = threading.Lock()

    def __init__(self):
        self.names = (row for row in range(8))
        self.names = list(self.names)
        self.lock = threading.Lock()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with LOCK:
            return float(self.names[index])

    def __getstate__(self):
        state = self.__dict__.copy()
        del state["lock"]
        return state


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2)
