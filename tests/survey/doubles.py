"""What stands in for reading a repository; found by name in the processes that read."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence

from loaderlint.survey.results import Repository, Result
from loaderlint.survey.run import Answer, Limits, Task, local, read_one


def by_name(task: Task) -> Result | None:
    """Do what the repository is called."""
    match task.repository.name:
        case "hangs":
            time.sleep(60)
        case "crashes":
            os._exit(3)
        case "eats":
            return Result("eats", str(len(bytearray(2**40))))
        case "raises":
            return read_one(Task(Repository("raises", path="\0")))
    return read_one(task)


def together(tasks: Sequence[Task], limits: Limits) -> list[Answer]:
    """On a worker of a cluster: do what one of the repositories is called, or read them all."""
    names = {task.repository.name for task in tasks}
    if "kills-its-worker" in names:
        os.kill(os.getpid(), signal.SIGKILL)
    return list(local(1, limits, by_name)(tasks))
