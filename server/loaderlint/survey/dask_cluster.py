"""An executor that uses the workers of a Dask cluster (the extra `dask`).

Dask distributes tasks, and distributes them again if a worker is lost. It does not enforce the limits of a repository:
each worker reads its repositories as this machine would (`run.local`), one after the other in a separate process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from loaderlint import __version__
from loaderlint.survey.run import Answer, Executor, Limits, Task, failed, local

#: The number of repositories that a worker gets at once: starting a process costs as much as a small repository. Small
#: surveys have smaller parts, so that each worker gets some.
_TOGETHER, _PARTS_A_WORKER = 16, 4
#: Seconds to wait until the scheduler answers and has a worker.
_PATIENCE = 60


class Unreachable(Exception):
    """The cluster cannot be used; the message says why and what to do."""


Reader = Callable[[Sequence[Task], Limits], list[Answer]]


def read_together(tasks: Sequence[Task], limits: Limits) -> list[Answer]:
    """The answers to `tasks`, in any order. Runs on a worker of the cluster."""
    return list(local(1, limits)(tasks))


def dask(address: str, limits: Limits, reader: Reader = read_together) -> Executor:
    """An executor on the Dask cluster whose scheduler listens at `address` ('tcp://host:8786').

    Using it raises Unreachable if the cluster does not answer, or runs another version of loaderlint."""

    def execute(tasks: Iterable[Task]) -> Iterator[Answer]:
        waiting = list(tasks)
        if not waiting:
            return
        with _client(address) as client:
            yield from _read(client, waiting, limits, reader)

    return execute


def _read(client: Any, tasks: Sequence[Task], limits: Limits, reader: Reader) -> Iterator[Answer]:
    from distributed import as_completed

    workers = len(client.scheduler_info()["workers"])
    size = max(1, min(_TOGETHER, len(tasks) // (workers * _PARTS_A_WORKER)))
    parts = [tuple(tasks[start : start + size]) for start in range(0, len(tasks), size)]
    # Not pure: the folder may have changed since the same task was submitted.
    asked = {client.submit(reader, part, limits, pure=False): part for part in parts}
    lost: list[Task] = []
    for future in as_completed(asked, loop=client.loop):
        part = asked.pop(future)
        try:
            answers = future.result()
        except Exception:  # including a worker that was lost after it finished, before its result was fetched
            lost.extend(part)
        else:
            yield from answers
    # One at a time: if a worker dies, Dask gives up all tasks that wait for it, so only a task that runs alone shows
    # whether it was the cause.
    for task in lost:
        try:
            answers = client.submit(reader, (task,), limits, pure=False).result()
        except Exception as error:
            answers = [(task, failed(task, "crash", _why(error)))]
        yield from answers


def _client(address: str) -> Any:
    """A connection to a cluster that can do the work."""
    try:
        from distributed import Client
    except ImportError as error:
        raise Unreachable("--dask needs distributed: run pip install 'loaderlint[dask]'") from error
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Unreachable(
            f"no Dask scheduler answers at {address}: start one with dask scheduler, and name its address"
        ) from error
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
        versions = client.run(_version, on_error="return")
    except TimeoutError as error:
        client.close()
        raise Unreachable(f"the Dask scheduler at {address} has no workers: start some with dask worker") from error
    for worker, version in versions.items():
        if version != __version__:
            client.close()
            has = f"loaderlint {version}" if isinstance(version, str) else "no loaderlint that can be used"
            raise Unreachable(f"the worker {worker} has {has}: run pip install loaderlint=={__version__} there")
    return client


def _version() -> str:
    return __version__


def _why(error: BaseException) -> str:
    return f"the worker that read it was lost ({type(error).__name__})"
