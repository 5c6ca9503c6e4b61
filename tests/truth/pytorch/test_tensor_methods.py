"""The tables of tensors' methods against the installed torch."""

from __future__ import annotations

import torch

from loaderlint.knowledge.arrays import TENSOR_METHODS_IN_PLACE

#: They change no values, or only of sparse tensors.
_NO_VALUES = frozenset(
    "detach_ requires_grad_ share_memory_ resize_as_sparse_ sparse_resize_ sparse_resize_and_clear_".split()
)


def test_methods_in_place_are_those_of_torch() -> None:
    of_torch = {name for name in dir(torch.Tensor) if name.endswith("_") and not name.startswith("_")}
    assert of_torch - _NO_VALUES == TENSOR_METHODS_IN_PLACE
