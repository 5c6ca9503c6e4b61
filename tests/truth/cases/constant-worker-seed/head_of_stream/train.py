"""Each epoch of the stream begins with the same seed; the workers shuffle alike and take turns."""

import random

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        random.seed(7)
        order = random.sample(range(32), 32)
        for place in order[info.id :: info.num_workers]:
            yield place, place + random.random()


def make_loader():
    return DataLoader(Stream(), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
