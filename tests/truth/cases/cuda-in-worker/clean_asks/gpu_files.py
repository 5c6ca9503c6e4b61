"""Files of tensors as a machine with a GPU saves them; none is needed to write them."""

import tempfile
from pathlib import Path
from unittest import mock

import torch


def saved(count):
    """The paths of `count` files whose tensors were on 'cuda:0'."""
    folder = Path(tempfile.mkdtemp())
    paths = [folder / f"{number}.pt" for number in range(count)]
    with mock.patch("torch.serialization.location_tag", lambda storage: "cuda:0"):
        for number, path in enumerate(paths):
            torch.save(torch.tensor([number]), path)
    return paths
