import zipfile

import torch
from torch.utils.data import DataLoader, Dataset

NAMES = [f"{number}.bin" for number in range(400)]


class Zipped(Dataset):
    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)  # cause: handle-across-workers

    def __len__(self):
        return len(NAMES)

    def __getitem__(self, index):
        return torch.tensor(list(self.archive.read(NAMES[index])[:8]))


if __name__ == "__main__":
    with zipfile.ZipFile("data.zip", "w") as made:
        for name in NAMES:
            made.writestr(name, bytes(range(250)) * 400)
    for _ in range(20):
        for _batch in DataLoader(Zipped("data.zip"), batch_size=4, num_workers=4):
            pass
