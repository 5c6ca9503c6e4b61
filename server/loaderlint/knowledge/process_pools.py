"""Pools of processes, other than a loader's workers: what starts one and what it runs there.

None of them seeds NumPy in its processes. Sources: CPython's `multiprocessing/pool.py` and
`concurrent/futures/process.py`; torchdata 0.11 `nodes/map.py`; datasets `arrow_dataset.py`
(`Dataset.map` hands its shards to a pool).
"""

from __future__ import annotations

from types import MappingProxyType

from msgspec import Struct


class PoolKind(Struct, frozen=True):
    """A class of pools: its parameters (name and position) for the number of processes (None: as many as processors),
    for the function that each process runs first, and for the context it is started with."""

    processes: tuple[str, int]
    initializer: tuple[str, int]
    context: tuple[str, int]


_POOL = PoolKind(("processes", 0), ("initializer", 1), ("context", 4))
_EXECUTOR = PoolKind(("max_workers", 0), ("initializer", 2), ("mp_context", 1))

#: Pools by full name; `multiprocessing.get_context("fork").Pool` is the third of each.
POOLS = MappingProxyType(
    {
        **{
            f"{package}{maker}": _POOL
            for package in ("multiprocessing", "torch.multiprocessing", "multiprocess")
            for maker in (".Pool", ".pool.Pool", ".get_context.Pool")
        },
        "concurrent.futures.ProcessPoolExecutor": _EXECUTOR,
        "concurrent.futures.process.ProcessPoolExecutor": _EXECUTOR,
    }
)

#: Pools that run what they are given in threads of this process.
THREAD_POOLS = frozenset(
    {
        "concurrent.futures.ThreadPoolExecutor",
        "concurrent.futures.thread.ThreadPoolExecutor",
        "multiprocessing.dummy.Pool",
        "multiprocessing.pool.ThreadPool",
    }
)

#: Methods of pools that run their first argument in the processes.
POOL_METHODS = frozenset(
    {"map", "imap", "imap_unordered", "map_async", "starmap", "starmap_async", "apply", "apply_async", "submit"}
)

#: Methods of Hugging Face datasets that run their first argument in `num_proc` processes.
SHARDED_METHODS = frozenset({"map", "filter"})

#: torchdata's mapper: parameters as for `PoolKind`, for those with `method="process"`.
PARALLEL_MAPPERS = frozenset({"torchdata.nodes.ParallelMapper", "torchdata.nodes.map.ParallelMapper"})
