"""Reading with threads."""

from concurrent.futures import ThreadPoolExecutor

from torch.utils.data import Dataset


class Reading(Dataset):
    """A dataset that reads in parallel."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.executor = ThreadPoolExecutor(max_workers=2)
        self.sizes = list(self.executor.map(abs, numbers))

    def read(self, index):
        return sum(self.executor.map(abs, [self.sizes[index]]))
