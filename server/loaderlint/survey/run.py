"""Reads many repositories, each in a process with a limit of time and memory, so that none can stop the survey.

An executor turns tasks into results, in any order. `local` uses the processors of this machine, `dask_cluster.dask`
those of others."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from loaderlint import __version__
from loaderlint.runtime import process_pool
from loaderlint.survey.result_store import Kept
from loaderlint.survey.results import Failure, FailureKind, Repository, Result

#: The environment variables that the reading process removes: the environment that is active here says nothing about a
#: repository.
_SURROUNDINGS = ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")
#: The number of repositories that a process reads before a new one replaces it: starting a process costs as much as a
#: small repository.
_READ_BY_ONE = 50
_MIB = 2**20
_MESSAGE_LENGTH = 300


class Task(Struct, frozen=True):
    """A repository, and the content key of its earlier result ('' if there is none)."""

    repository: Repository
    known: str = ""


class Limits(Struct, frozen=True):
    """The limits for one repository: `seconds` of wall-clock time, `mebibytes` of address space (not on Windows and
    macOS, which cannot limit it)."""

    seconds: float
    mebibytes: int


Answer = tuple[Task, Result | None]
"""A task with its result; None if the repository is unchanged."""
Executor = Callable[[Iterable[Task]], Iterator[Answer]]
Reader = Callable[[Task], Result | None]


def survey(
    found: Sequence[Repository], kept: Kept, executor: Executor, *, retry: bool, progress: Callable[[int, int], None]
) -> list[Result]:
    """The results of these repositories, sorted by name; unchanged repositories with a stored result are not read
    again. `retry`: read those that failed before again."""
    results: dict[str, Result] = {}
    tasks = []
    for one in found:
        known = kept.get(one.name)
        if known is not None and known.failure is not None and not retry:
            results[one.name] = known
        else:
            tasks.append(Task(one, known.key if known else ""))
    progress(len(results), len(found))
    for task, new in executor(tasks):
        name = task.repository.name
        result = new or kept.get(name)
        assert result is not None, "only what is known can be unchanged"
        if new is not None:
            kept.add(new)
        results[name] = result
        progress(len(results), len(found))
    return [results[one.name] for one in found]


def read_one(task: Task) -> Result | None:
    """Read one repository; None if it is unchanged. An internal error becomes a reported failure.

    Raises MemoryError."""
    from loaderlint.survey.measure import measure

    path = task.repository.path
    if not os.path.isdir(path):  # a worker on another machine may not have the folder
        return failed(task, "error", f"there is no folder {path}")
    try:
        return measure(task.repository, task.known)
    except MemoryError:
        raise  # too little may work in this process to report anything
    except Exception as error:
        return failed(task, "error", f"{type(error).__name__}: {error}{_where(error)}")


def local(jobs: int, limits: Limits, reader: Reader = read_one) -> Executor:
    """An executor with `jobs` processes on this machine."""

    def execute(tasks: Iterable[Task]) -> Iterator[Answer]:
        outcomes = process_pool.run(
            reader,
            tasks,
            jobs,
            prepare=partial(_prepare, limits.mebibytes),
            seconds=limits.seconds,
            renew_after=_READ_BY_ONE,
        )
        for task, outcome in outcomes:
            yield task, _failed(task, outcome, limits) if isinstance(outcome, process_pool.Failure) else outcome

    return execute


def _failed(task: Task, failure: process_pool.Failure, limits: Limits) -> Result:
    messages = {
        "time": f"not done after {limits.seconds:g} seconds",
        "memory": f"needs more than {limits.mebibytes} MiB",
        "crash": f"its process ended with {failure.message}",
        "error": failure.message,  # for example, why a result could not be pickled
    }
    return failed(task, failure.kind, messages[failure.kind])


def failed(task: Task, kind: FailureKind, message: str) -> Result:
    """The result of a repository that could not be read."""
    first = message.splitlines()[0] if message else kind
    return Result(task.repository.name, __version__, failure=Failure(kind, first[:_MESSAGE_LENGTH]))


def _where(error: BaseException) -> str:
    """The line of loaderlint that raised, for a bug report."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return f" ({os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno})" if at else ""


def _prepare(mebibytes: int) -> None:
    """Prepare a process. Modules are imported here, so that the import does not count as time of the first
    repository."""
    import loaderlint.rules
    import loaderlint.survey.measure  # noqa: F401

    for name in _SURROUNDINGS:
        os.environ.pop(name, None)
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (mebibytes * _MIB, mebibytes * _MIB))
