"""A survey on the workers of a Dask cluster: the real engine, with two workers that are processes of this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from loaderlint import cli
from loaderlint.survey import dask_cluster
from loaderlint.survey.repositories import repositories
from loaderlint.survey.result_store import Kept
from loaderlint.survey.results import Result
from loaderlint.survey.run import Answer, Executor, Limits, Task, local, survey
from tests.survey import doubles
from tests.survey.made import NOISY, repository

distributed = pytest.importorskip(
    "distributed", reason="Dask is not installed; to get it: pip install 'loaderlint[dask]'"
)

LIMITS = Limits(seconds=120, mebibytes=4096)


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A scheduler with two workers, each a process that is started again when it is lost."""
    from dask import config

    # So that what ends each worker is given up after two of them, not four.
    patience = config.set({"distributed.scheduler.allowed-failures": 1})
    workers: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with patience, pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("cluster"))  # the doubles are not found in the current folder
        with distributed.LocalCluster(**workers, dashboard_address=None, silence_logs=50) as found:
            yield found


def surveyed(folder: Path, executor: Executor, kept: Kept | None = None) -> list[Result]:
    """The results, but for the time they took."""
    found = survey(repositories([folder]), kept or Kept(None), executor, retry=False, progress=lambda done, of: None)
    return [replace(one, cpu=0.0) for one in found]


def many(folder: Path, count: int = 4) -> Path:
    for number in range(count):
        repository(folder, f"repository{number}", {"train.py": NOISY, "requirements.txt": f"torch==1.{number}.0\n"})
    return folder


def test_the_results_are_those_of_this_machine(dask: Any, tmp_path: Path) -> None:
    folder = many(tmp_path / "repositories")
    kept = Kept(tmp_path / "results.jsonl")
    there = surveyed(folder, dask_cluster.dask(dask.scheduler_address, LIMITS), kept)
    assert there == surveyed(folder, local(1, LIMITS))
    assert len(there) == 4 and all(one.measured for one in there)
    # What is known and unchanged is not read again, there either.
    assert surveyed(folder, dask_cluster.dask(dask.scheduler_address, LIMITS), kept) == there
    assert (tmp_path / "results.jsonl").read_text().count("\n") == 4


def test_a_lost_worker_loses_nothing(dask: Any, tmp_path: Path) -> None:
    folder = many(tmp_path / "repositories")
    executor = dask_cluster.dask(dask.scheduler_address, LIMITS)

    def loses(tasks: Iterable[Task]) -> Iterator[Answer]:
        for number, answer in enumerate(executor(tasks)):
            if number == 0:
                with distributed.Client(dask.scheduler_address, set_as_default=False) as client:
                    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            yield answer

    assert surveyed(folder, loses) == surveyed(folder, local(1, LIMITS))


def test_what_breaks_stops_nothing(dask: Any, tmp_path: Path) -> None:
    """Also when it takes its worker along, each time, or the process that reads it together with others."""
    for name in ("a", "b", "crashes", "kills-its-worker", "z"):
        repository(tmp_path, name, {"train.py": NOISY})
    results = surveyed(tmp_path, dask_cluster.dask(dask.scheduler_address, LIMITS, doubles.together))
    said = {one.name: one.failure and (one.failure.kind, one.failure.message) for one in results}
    assert said == {
        "a": None,
        "b": None,
        "crashes": ("crash", "its process ended with 3"),
        "kills-its-worker": ("crash", "the worker that read it was lost (KilledWorker)"),
        "z": None,
    }


def test_repositories_together(tmp_path: Path) -> None:
    """One process reads several."""
    repository(tmp_path, "fine", {"train.py": NOISY})
    repository(tmp_path, "gone", {"train.py": NOISY})
    tasks = [Task(one) for one in repositories([tmp_path])]
    (tmp_path / "gone" / "train.py").unlink()
    (tmp_path / "gone").rmdir()
    answers = {task.repository.name: result for task, result in dask_cluster.read_together(tasks, LIMITS)}
    assert answers["fine"] is not None and answers["fine"].measured is not None
    assert answers["gone"] is not None and answers["gone"].failure is not None
    assert "there is no folder" in answers["gone"].failure.message


def test_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(dask_cluster, "_PATIENCE", 0.5)
    many(tmp_path, 1)
    assert cli.main(["survey", str(tmp_path), "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
    assert cli.main(["survey", str(tmp_path), "--dask", "tcp://127.0.0.1:9", "--jobs", "2"]) == 2
    assert "leave --jobs out" in capsys.readouterr().err


def test_another_version_on_a_worker(dask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "__version__", "9.9.9")
    with pytest.raises(dask_cluster.Unreachable, match=r"pip install loaderlint==9\.9\.9 there"):
        dask_cluster._client(dask.scheduler_address)
