"""The path in each record gets its prefix once: the record says that it has it."""

from torch.utils.data import DataLoader, Dataset


class Paths(Dataset):
    def __init__(self, count):
        self.items = [{"path": f"{number}.png", "label": number} for number in range(count)]
        for info in self.items:
            info["path"] = "data/" + info["path"]
            info["is_whole"] = True

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        info = self.items[index]
        if not info["is_whole"]:
            info["path"] = "data/" + info["path"]
            info["is_whole"] = True
        return info["path"], info["label"]


def make_loader():
    return DataLoader(Paths(8), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return [info["path"] for info in dataset.items]


if __name__ == "__main__":
    for paths, labels in make_loader():
        print(paths, labels)
