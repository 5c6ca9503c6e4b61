"""The worker_init_fn sets what the samples read on the Subset that the loader holds."""

from torch.utils.data import DataLoader, Dataset, get_worker_info, random_split


class Records(Dataset):
    def __init__(self):
        self.worker = -1

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.worker


def init_worker(worker_id):
    info = get_worker_info()
    info.dataset.worker = worker_id


def make_loader():
    train, _ = random_split(Records(), [4, 4])
    return DataLoader(train, num_workers=2, worker_init_fn=init_worker)


if __name__ == "__main__":
    for worker in make_loader():
        print(worker)
