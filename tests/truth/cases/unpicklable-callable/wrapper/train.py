"""The decorator's wrapper keeps a name of its own, `sorted_first.<locals>.wrapper`."""

from torch.utils.data import DataLoader, Dataset


def sorted_first(function):
    def wrapper(batch):
        return function(sorted(batch))

    return wrapper


@sorted_first
def collate(batch):
    return sum(batch)


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return float(index)


def make_loader():
    return DataLoader(Rows(), batch_size=2, num_workers=2, collate_fn=collate)
