"""`python -m loaderlint.survey.apart`: read some repositories in a process of one's own, for workers of other engines.

stdin holds a JSON object with the limits and the tasks. A line of JSON comes to stdout for each repository as soon as
it is done: its name and its result, null if it is what it was. The limits and what a crash does are those of `local`,
which reads the repositories one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict

from loaderlint.survey.data import Repository, Result, from_line, to_line
from loaderlint.survey.run import Answer, Limits, Task, local


class Incomplete(Exception):
    """The process ended before all was read; the message says how."""


def read_apart(tasks: Sequence[Task], limits: Limits) -> list[Answer]:
    """The answers to `tasks`, in any order, from a process of their own. Raises Incomplete."""
    asked = {task.repository.name: task for task in tasks}
    body = json.dumps({"limits": asdict(limits), "tasks": [asdict(task) for task in tasks]})
    done = subprocess.run([sys.executable, "-m", __name__], input=body, stdout=subprocess.PIPE, text=True)
    answers = [_answer(asked, line) for line in done.stdout.splitlines(keepends=True) if line.endswith("\n")]
    if len(answers) < len(tasks):
        raise Incomplete(f"its process ended with {done.returncode}")
    return answers


def _answer(asked: dict[str, Task], line: str) -> Answer:
    name, result = json.loads(line)
    return asked[name], None if result is None else from_line(result)


def _line(task: Task, result: Result | None) -> str:
    return json.dumps([task.repository.name, None if result is None else to_line(result)]) + "\n"


def main() -> None:
    """Read what stdin names."""
    asked = json.load(sys.stdin)
    tasks = [Task(Repository(**one["repository"]), one["known"]) for one in asked["tasks"]]
    # What readers print must not get between the lines.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with suppress(BrokenPipeError):  # who asked is gone
        for task, result in local(1, Limits(**asked["limits"]))(tasks):
            out.write(_line(task, result))
            out.flush()


if __name__ == "__main__":
    main()
