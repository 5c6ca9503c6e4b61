"""WebDataset's loader is torch's: a stream of one's own comes whole from each worker."""

import webdataset
from torch.utils.data import IterableDataset


class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        for number in range(self.count):
            yield number


def make_loader():
    return webdataset.WebLoader(Numbers(40), batch_size=4, num_workers=4)


if __name__ == "__main__":
    for numbers in make_loader():
        print(numbers)
