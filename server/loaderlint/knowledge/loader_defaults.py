"""The defaults of a loader's arguments.

Source: PyTorch's `torch/utils/data/dataloader.py`. What other loaders have instead is in
`loaderlint.knowledge.wrappers`.
"""

from __future__ import annotations

from types import MappingProxyType

#: torch's defaults of the parameters that rules ask for.
TORCH_DEFAULTS: MappingProxyType[str, str | int | bool | None] = MappingProxyType(
    {
        "batch_size": 1,
        "shuffle": None,
        "sampler": None,
        "batch_sampler": None,
        "num_workers": 0,
        "collate_fn": None,
        "pin_memory": False,
        "drop_last": False,
        "timeout": 0,
        "worker_init_fn": None,
        "multiprocessing_context": None,
        "generator": None,
        "prefetch_factor": None,
        "persistent_workers": False,
    }
)
