"""What starts processes and threads. Measured in loader workers, which are daemons: what starts processes raises
AssertionError there. joblib falls back to one job, and `multiprocess` (dill's, which `datasets` uses) does not know
that it is in a worker: both work."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

#: Calls that start processes.
STARTS_PROCESSES = frozenset(
    {
        "multiprocessing.Pool",
        "multiprocessing.Manager",
        "multiprocessing.spawn",  # torch.multiprocessing's
        "multiprocessing.start_processes",
        "concurrent.futures.ProcessPoolExecutor",
        "tqdm.contrib.concurrent.process_map",
    }
)

#: Objects whose `start()` starts a process.
STARTED = frozenset(
    {
        "multiprocessing.Process",
        "multiprocessing.managers.BaseManager",
        "multiprocessing.managers.SyncManager",
        "multiprocessing.managers.SharedMemoryManager",
    }
)

_SAME = (
    ("torch.multiprocessing.", "multiprocessing."),
    ("multiprocessing.get_context.", "multiprocessing."),
    ("multiprocessing.context.", "multiprocessing."),
    ("multiprocessing.process.", "multiprocessing."),
    ("multiprocessing.pool.Pool", "multiprocessing.Pool"),
    ("concurrent.futures.process.", "concurrent.futures."),
    ("concurrent.futures.thread.", "concurrent.futures."),
)


@lru_cache(maxsize=10_000)
def plain(name: str) -> str:
    """The one name for what torch, a context and the inner modules export as well."""
    for prefix, replacement in _SAME:
        if name.startswith(prefix):
            name = replacement + name[len(prefix) :]
    return name


class PoolKind(NamedTuple):
    """A pool of threads or processes. `word`: how messages call it. `eager`: its threads start with it, else with the
    first task. `processes`: its tasks run in child processes, which a worker cannot have. `uses`: the methods that hand
    it a task."""

    word: str
    eager: bool
    processes: bool
    uses: frozenset[str]


_TASKS = frozenset({"submit", "map"})
_CALLS = frozenset("apply apply_async map map_async imap imap_unordered starmap starmap_async".split())

#: Pools. Measured in forked workers, for one made before: with an eager one, or one that the main process has given a
#: task, the first task hangs for ever; an idle executor of threads works, one of processes raises AssertionError.
POOLS = MappingProxyType(
    {
        "concurrent.futures.ThreadPoolExecutor": PoolKind("ThreadPoolExecutor", False, False, _TASKS),
        "concurrent.futures.ProcessPoolExecutor": PoolKind("ProcessPoolExecutor", False, True, _TASKS),
        "multiprocessing.pool.ThreadPool": PoolKind("ThreadPool", True, False, _CALLS),
        "multiprocessing.dummy.Pool": PoolKind("ThreadPool", True, False, _CALLS),
        "multiprocessing.Pool": PoolKind("process pool", True, True, _CALLS),
    }
)

#: Queues between threads: what a thread of the main process puts in does not come to a forked worker.
THREAD_QUEUES = frozenset({"queue.Queue", "queue.LifoQueue", "queue.PriorityQueue", "queue.SimpleQueue"})
