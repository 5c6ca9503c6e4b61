"""A pool of processes: each task has its result or its failure, and costs no other task anything."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from loaderlint.runtime import process_pool
from loaderlint.runtime.process_pool import Failure

PID = "__import__('os').getpid()"


def test_results_and_failures() -> None:
    tasks = ["6 * 7", "1 / 0", "__import__('os')._exit(3)", "bytearray(2**62)", "lambda: 0", "'end'"]
    found = {task: outcome for task, outcome in process_pool.run(eval, tasks, 2)}
    assert found["6 * 7"] == 42 and found["'end'"] == "end"
    failures = {task: one for task, one in found.items() if isinstance(one, Failure)}
    assert [failures[task].kind for task in tasks[1:5]] == ["error", "crash", "memory", "error"]
    assert failures["1 / 0"].message == "ZeroDivisionError: division by zero"
    assert "Traceback" in failures["1 / 0"].details
    assert failures["__import__('os')._exit(3)"].message == "3"


def test_what_takes_too_long_is_ended() -> None:
    """Its time does not begin before its process is ready."""
    tasks = [10_000.0, 0.0]
    assert dict(process_pool.run(time.sleep, tasks, 1, seconds=5)) == {10_000.0: Failure("time"), 0.0: None}


def test_a_process_is_used_again_and_then_renewed() -> None:
    processes = [found for _, found in process_pool.run(eval, [PID] * 6, 1, renew_after=3)]
    assert len(set(processes[:3])) == len(set(processes[3:])) == 1 and processes[0] != processes[3]


def test_what_is_printed_does_not_get_between_the_results(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(process_pool.run(partial(print, flush=True), ["said"], 1)) == [("said", None)]
    assert capfd.readouterr() == ("", "said\n")


def test_a_look_ends_the_work() -> None:
    def look() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        list(process_pool.run(time.sleep, [10_000], 1, look=look))


def test_a_preparation_that_fails_is_a_failure_of_each_task() -> None:
    outcomes = [one for _, one in process_pool.run(eval, ["1", "2"], 1, prepare=sys.exit)]
    assert [isinstance(one, Failure) and one.kind for one in outcomes] == ["crash", "crash"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux has them")
def test_a_process_that_dies_when_it_has_nothing_to_do_costs_no_task(tmp_path: Path) -> None:
    note = tmp_path / "process"

    def tasks() -> Iterator[str]:
        yield f"open({str(note)!r}, 'w').write(str({PID}))"
        process = int(note.read_text())
        os.kill(process, 9)
        while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.01)
        yield "'second'"

    assert list(process_pool.run(eval, tasks(), 1))[1] == ("'second'", "second")


def test_a_process_that_dies_before_it_is_told_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dead:
        def __init__(self, module: str, heard: Callable[[bytes | None], None]) -> None:
            heard(None)

        def send(self, message: object) -> None:
            raise BrokenPipeError

        def end(self) -> None:
            pass

        def exit_code(self) -> int:
            return 9

    monkeypatch.setattr(process_pool.child_processes, "Child", Dead)
    assert list(process_pool.run(abs, [-1, -2], 1)) == [(-1, Failure("crash", "9")), (-2, Failure("crash", "9"))]
