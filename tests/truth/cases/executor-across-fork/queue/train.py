"""A thread of the main process fills a queue, from which the worker takes its items."""

import itertools
import queue
import threading

from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __init__(self):
        self.queue = queue.Queue(maxsize=2)
        self.thread = threading.Thread(target=self.fill, daemon=True)
        self.thread.start()

    def fill(self):
        for number in itertools.count():
            self.queue.put(number)

    def __iter__(self):
        for _ in range(8):
            yield self.queue.get()


def make_loader():
    return DataLoader(Numbers(), num_workers=1)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
