"""Sequences of a genome, each of which says its number in every letter."""

from pathlib import Path

from pyfaidx import Fasta
from torch.utils.data import DataLoader, Dataset

LENGTH, COUNT = 30_000, 128


def sequence(number):
    return "".join("ACGT"[number >> shift & 3] for shift in (6, 4, 2, 0)) * (LENGTH // 4)


class Sequences(Dataset):
    def __init__(self, path):
        self.path = path
        self.genome = Fasta(path)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        found = str(self.genome[f"chr{index}"][:])
        return index, index if found == sequence(index) else -1


def make_loader():
    path = Path("genome.fa")
    if not path.exists():
        path.write_text("".join(f">chr{number}\n{sequence(number)}\n" for number in range(COUNT)))
    return DataLoader(Sequences(str(path)), batch_size=8, num_workers=4, shuffle=True)


if __name__ == "__main__":
    for asked, found in make_loader():
        print(asked, found)
