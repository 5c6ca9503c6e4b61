"""The epoch is an item of a dictionary of the dataset."""

from torch.utils.data import DataLoader, Dataset


class Epochs(Dataset):
    def __init__(self):
        self.state = {"epoch": 0}

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.state["epoch"]


def train(epochs):
    dataset = Epochs()
    loader = DataLoader(dataset, batch_size=2, num_workers=2, persistent_workers=True)
    for epoch in range(epochs):
        dataset.state["epoch"] = epoch
        for batch in loader:
            yield epoch, batch[0].item()


if __name__ == "__main__":
    print(*train(3))
