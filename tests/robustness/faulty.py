"""Code with faults that have fixes."""

from __future__ import annotations

from tests.cli.projects import DATA as GENERATOR
from tests.cli.projects import TRAIN

__all__ = ["FAULTY", "GENERATOR", "LOADER", "SETTINGS", "TWO_FAULTS"]

#: A dataset and a loader; the fix of the fault changes what stands around the loader.
FAULTY = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return index + np.random.rand()  # keep this comment


def main():
    for batch in DataLoader(Noisy(), num_workers=4):
        print(batch)


if __name__ == "__main__":
    main()
"""
#: A loader of `GENERATOR`, which is in `{module}` and where the fix is made.
LOADER = TRAIN.replace("from data", "from {module}")
SETTINGS = '[tool.loaderlint]\ntarget-torch = "1.8.1"\nplatforms = ["linux"]\n'
#: A dataset whose samples have two faults on one line, with its loader.
TWO_FAULTS = """import numpy as np
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index): return np.random.rand(3)[::-1]

loader = DataLoader(Data(), num_workers=2)
"""
