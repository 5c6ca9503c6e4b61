"""The worker_init_fn gives the dataset of each worker its own numbers."""

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __init__(self, first, last):
        self.first = first
        self.last = last

    def __iter__(self):
        return iter(range(self.first, self.last))


def own_part(worker_id):
    info = get_worker_info()
    dataset = info.dataset
    size = -(-(dataset.last - dataset.first) // info.num_workers)
    dataset.first += worker_id * size
    dataset.last = min(dataset.last, dataset.first + size)


def make_loader():
    return DataLoader(Numbers(0, 40), batch_size=3, num_workers=4, worker_init_fn=own_part)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
