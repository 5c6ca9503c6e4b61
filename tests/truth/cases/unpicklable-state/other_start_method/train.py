import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.lock = multiprocessing.Lock()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with self.lock:
            return float(index)


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2, multiprocessing_context="forkserver")
