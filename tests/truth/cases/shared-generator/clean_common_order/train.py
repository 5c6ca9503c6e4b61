"""The workers shuffle alike, and each takes its share of the one order: every number comes once."""

import random

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __init__(self, last, seed):
        self.numbers = list(range(last))
        self.rng = random.Random(seed)

    def __iter__(self):
        numbers = list(self.numbers)
        self.rng.shuffle(numbers)
        info = get_worker_info()
        yield from numbers[info.id :: info.num_workers]


def make_loader():
    return DataLoader(Numbers(40, 3), batch_size=3, num_workers=2)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
