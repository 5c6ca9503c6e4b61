from torch.utils.data import DataLoader, Dataset


class Item:
    def __init__(self, value):
        self.value = value
        self.me = self


def double(value):
    return 2 * value


class Items(Dataset):
    def __init__(self):
        self.items = [Item(value) for value in range(8)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        with open(__file__, "rb") as file:
            data = file.read()
        first = sorted(self.items, key=lambda item: item.value)[0]
        return self.items[index], first, {index}, data, double, sum(n for n in range(3))


def make_loader():
    return DataLoader(Items(), batch_size=2, num_workers=2, collate_fn=lambda batch: batch)
