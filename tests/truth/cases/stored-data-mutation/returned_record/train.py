"""The boxes have a name of their own, and the sample is the record that holds them."""

import json

from torch.utils.data import DataLoader, Dataset


class Boxes(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.records = json.load(file)

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record = self.records[index]
        for box in record["boxes"]:
            box["left"] = box["left"] + 10
        return record


def make_loader():
    with open("boxes.json", "w") as file:
        json.dump([{"boxes": [{"left": number}]} for number in range(8)], file)
    return DataLoader(Boxes("boxes.json"), batch_size=2, num_workers=2, persistent_workers=True)


def stored(dataset):
    return [record["boxes"][0]["left"] for record in dataset.records]


if __name__ == "__main__":
    for batch in make_loader():
        print(batch)
