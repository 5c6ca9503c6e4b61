"""What stands in for reading a repository; found by name in the processes that read."""

from __future__ import annotations

import os
import time

from loaderlint.survey.data import Repository, Result
from loaderlint.survey.run import Task, read_one


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
