"""How fast it shall be."""

import torch

THREADS = 2


def faster():
    """Compute with more threads."""
    torch.set_num_threads(THREADS)
