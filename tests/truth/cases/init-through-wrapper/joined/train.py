"""The worker_init_fn sets what the samples read on the ConcatDataset that the loader holds."""

from torch.utils.data import ConcatDataset, DataLoader, Dataset, get_worker_info


class Records(Dataset):
    worker = -1

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.worker


def init_worker(worker_id):
    dataset = get_worker_info().dataset
    setattr(dataset, "worker", worker_id)


def make_loader():
    return DataLoader(ConcatDataset([Records(), Records()]), num_workers=2, worker_init_fn=init_worker)


if __name__ == "__main__":
    for worker in make_loader():
        print(worker)
