"""Each worker shuffles all shards, and empties a buffer in random order."""

import random

from torch.utils.data import DataLoader, IterableDataset


class Shards(IterableDataset):
    def __init__(self, shards, num_workers):
        self.shards = shards
        self.num_workers = num_workers

    def __iter__(self):
        shards = list(self.shards)
        random.shuffle(shards)
        buffer = []
        for shard in shards:
            for item in shard:
                buffer.append(item)
                if len(buffer) > 4:
                    yield buffer.pop(random.randrange(len(buffer)))
        random.shuffle(buffer)
        yield from buffer


def make_loader():
    shards = [list(range(start, start + 8)) for start in range(0, 32, 8)]
    return DataLoader(Shards(shards, 4), batch_size=2, num_workers=4)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
