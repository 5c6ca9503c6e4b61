"""The worker_init_fn starts a manager and a process of its own."""

import multiprocessing

from torch.utils.data import DataLoader


class Watcher(multiprocessing.Process):
    def run(self):
        pass


def init_worker(worker_id):
    watcher = Watcher()
    watcher.start()
    watcher.join()
    multiprocessing.Manager().shutdown()


def make_loader():
    return DataLoader(range(4), num_workers=2, worker_init_fn=init_worker)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
