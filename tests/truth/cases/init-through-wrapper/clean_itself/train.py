"""One loader holds the dataset itself, and the function for the other goes through the wrapper."""

from torch.utils.data import ChainDataset, DataLoader, IterableDataset, get_worker_info


class Records(IterableDataset):
    worker = -1

    def __iter__(self):
        for _ in range(get_worker_info().num_workers):
            yield self.worker


def init_worker(worker_id):
    get_worker_info().dataset.worker = worker_id


def init_each(worker_id):
    for dataset in get_worker_info().dataset.datasets:
        dataset.worker = worker_id


def make_loader():
    first = DataLoader(Records(), num_workers=2, worker_init_fn=init_worker)
    second = DataLoader(ChainDataset([Records()]), num_workers=2, worker_init_fn=init_each)
    return [*first, *second]


if __name__ == "__main__":
    print(make_loader())
