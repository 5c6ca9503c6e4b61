"""Records are read from JSON; the boxes of each are moved again whenever the sample is read."""

import json

from torch.utils.data import DataLoader, Dataset


class Boxes(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.items = json.load(file)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        info = self.items[index]
        info["left"] = info["left"] + 10
        return info["left"], info["box"]["width"]


def make_loader():
    with open("boxes.json", "w") as file:
        json.dump([{"left": number, "box": {"width": 2}} for number in range(8)], file)
    return DataLoader(Boxes("boxes.json"), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return [info["left"] for info in dataset.items]


if __name__ == "__main__":
    for left, width in make_loader():
        print(left, width)
