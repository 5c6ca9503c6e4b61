"""Each worker reads its own numbers, with a helper that asks which worker it is."""

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


def own_part(first, last):
    info = get_worker_info()
    if info is None:
        return range(first, last)
    return range(first + info.id, last, info.num_workers)


class Numbers(IterableDataset):
    def __init__(self, first, last):
        self.first = first
        self.last = last

    def __iter__(self):
        for number in own_part(self.first, self.last):
            yield number


def make_loader():
    return DataLoader(Numbers(0, 40), batch_size=3, num_workers=4)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
