"""What is set is the Subset's own: each worker has positions of its own to choose from."""

from torch.utils.data import DataLoader, Dataset, Subset, get_worker_info


class Records(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index


def init_worker(worker_id):
    get_worker_info().dataset.indices = [worker_id] * 4


def make_loader():
    return DataLoader(Subset(Records(), [-1] * 4), num_workers=2, worker_init_fn=init_worker)


if __name__ == "__main__":
    for index in make_loader():
        print(index)
