"""Lists, strings and shapes run backwards without strides; arrays in a list are copied by `torch.tensor`."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __init__(self, words):
        self.words = words

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        word = self.words[index]
        image = np.zeros((3, len(word), 5))
        codes = [ord(letter) for letter in word][::-1]
        rows = torch.tensor([image[0, ::-1].tolist(), image[1].tolist()])
        return {"word": word[::-1], "codes": torch.as_tensor(codes), "size": image.shape[1:][::-1], "rows": rows}


def make_loader():
    return DataLoader(Words(["abc", "def", "ghi", "jkl"]), batch_size=2, num_workers=2)


if __name__ == "__main__":
    for batch in make_loader():
        print(batch["word"])
