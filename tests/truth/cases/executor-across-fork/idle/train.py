"""The executor is used by the samples alone: it works until the main process takes one."""

from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self):
        self.executor = ThreadPoolExecutor(2)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.executor.submit(abs, -index).result()


def make_loader():
    return DataLoader(Scenes(), num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
