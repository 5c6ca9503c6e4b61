"""What goes under the guard holds functions, long strings and names that other functions read."""

import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(4))
batches = list(DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context="forkserver"))

TEXT = """one
  two
"""


def show():
    """Read the globals.

    Here."""
    return TEXT, f"""{len(batches)}
  batches"""


assert show() == ("one\n  two\n", "2\n  batches")
assert show.__doc__ == "Read the globals.\n\n    Here."
