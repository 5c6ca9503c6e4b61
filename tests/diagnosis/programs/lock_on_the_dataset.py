import threading

from torch.utils.data import DataLoader, Dataset


class Counted(Dataset):
    def __init__(self):
        self.lock = threading.Lock()  # cause: unpicklable-state

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with self.lock:
            return index


if __name__ == "__main__":
    loader = DataLoader(Counted(), num_workers=2, multiprocessing_context="forkserver")
    for batch in loader:
        print(batch)
