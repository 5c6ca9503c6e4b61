"""The worker_init_fn takes the daemon flag away: the worker may have children."""

import multiprocessing

from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        with multiprocessing.Pool(2) as pool:
            return sum(pool.map(abs, [index, -index]))


def init_worker(worker_id):
    multiprocessing.current_process()._config["daemon"] = False


def make_loader():
    return DataLoader(Scenes(), num_workers=2, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
