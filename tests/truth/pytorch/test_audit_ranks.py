"""The ranks of a distributed program: `audit` iterates a loader as each of them, and hears what real ones hear."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loaderlint.audit import audit
from loaderlint.audit.report import Report, Verdict
from tests.truth import harness
from tests.truth.pytorch.test_audit_command import python

data = pytest.importorskip("torch.utils.data")
distributed = pytest.importorskip("torch.distributed")

COUNT = 48


def share() -> tuple[int, int]:
    """The rank, and how many there are."""
    if not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


class Items(data.IterableDataset):  # type: ignore[misc,name-defined]
    """Numbers that the workers of a rank share, all of them on each rank."""

    def __iter__(self) -> Iterator[Any]:
        info = data.get_worker_info()
        worker, workers = (info.id, info.num_workers) if info is not None else (0, 1)
        yield from self.of_rank()[worker::workers]

    def of_rank(self) -> list[Any]:
        return list(range(COUNT))


class Shared(Items):
    def of_rank(self) -> list[Any]:
        rank, ranks = share()
        return super().of_rank()[rank::ranks]


class ByEnvironment(Items):
    def of_rank(self) -> list[Any]:
        return super().of_rank()[int(os.environ.get("RANK", 0)) :: int(os.environ.get("WORLD_SIZE", 1))]


class Uneven(Items):
    def of_rank(self) -> list[Any]:
        rank, ranks = share()
        return super().of_rank()[rank * (COUNT // ranks) : (rank + 1) * (COUNT // ranks) - 6 * rank]


class SharedTwice(Shared):
    def of_rank(self) -> list[Any]:
        rank, ranks = share()
        return super().of_rank()[rank::ranks]


class ShuffledApart(Shared):
    def of_rank(self) -> list[Any]:
        rank, ranks = share()
        return random.Random(rank).sample(range(COUNT), COUNT)[rank::ranks]


class WorkersForgotten(Items):
    """Its workers share the items, or the ranks do, never both."""

    def of_rank(self) -> list[Any]:
        rank, ranks = share() if data.get_worker_info() is None else (0, 1)
        return super().of_rank()[rank::ranks]


class OtherOrder(Items):
    """Each rank sees all items in an order of its own: that may be wanted."""

    def of_rank(self) -> list[Any]:
        return random.Random(share()[0]).sample(range(COUNT), COUNT)


class RankOfTheStart(Items):
    """The rank was taken when it was made, the number of ranks is asked for later."""

    rank = 0

    def of_rank(self) -> list[Any]:
        return super().of_rank()[self.rank :: share()[1]]


class CountOfTheStart(Items):
    """The other way round."""

    def of_rank(self) -> list[Any]:
        return super().of_rank()[share()[0] :: 1]


class MadeUp(Items):
    def of_rank(self) -> list[Any]:
        rank, ranks = share()
        return [(rank, number) for number in range(COUNT // ranks)]


class Equal(Shared):
    def of_rank(self) -> list[Any]:
        return [0 for _ in super().of_rank()]


class Waits(Shared):
    def of_rank(self) -> list[Any]:
        if share()[1] > 1:
            distributed.barrier()
        return super().of_rank()


class Endless(Shared):
    def of_rank(self) -> list[Any]:
        return super().of_rank() * 100


class EndlessAlike(Items):
    def of_rank(self) -> list[Any]:
        return super().of_rank() * 100


FAULT, NOTE, CLEAN, NOT_SEEN = Verdict.FAULT, Verdict.NOTE, Verdict.CLEAN, Verdict.NOT_SEEN

#: What is said of an iterable dataset whose workers are forked, and a part of it.
ITERABLE = (
    (Shared, CLEAN, "2 ranks share the 48 items of an epoch"),
    (ByEnvironment, CLEAN, "2 ranks share the 48 items of an epoch"),
    (SharedTwice, FAULT, "24 come on no rank, and 0 more than once"),
    (ShuffledApart, FAULT, "2 ranks do not share the 48 items"),
    (WorkersForgotten, FAULT, "each of 2 ranks gives all items, and only its share of them without workers"),
    (Uneven, NOTE, "in different numbers of batches"),
    (Items, NOTE, "each of 2 ranks gives all 48 items"),
    (OtherOrder, NOTE, "each of 2 ranks gives all 48 items"),
    (EndlessAlike, NOTE, "all 2 ranks begin with the same items"),
    (Endless, NOT_SEEN, "longer than the batches"),
    (RankOfTheStart, NOT_SEEN, "the rank no longer matters"),
    (CountOfTheStart, NOT_SEEN, "the number of ranks no longer matters"),
    (MadeUp, NOT_SEEN, "are made by each rank"),
    (Equal, NOT_SEEN, "an epoch has equal items"),
    (Waits, NOT_SEEN, "a rank raises ValueError: "),
)


def loader_of(dataset: Any, method: str = "fork", **more: Any) -> Any:
    more = {"batch_size": 2, "num_workers": 2, **more}
    if more["num_workers"]:
        more["multiprocessing_context"] = method
    return data.DataLoader(dataset, **more)


def told(loader: Any, ranks: int = 2) -> tuple[Verdict, str, Report]:
    report = audit(loader, epochs=1, batches=100, ranks=ranks, timeout=200)
    (result,) = [each for each in report.results if each.check == "ranks"]
    return result.verdict, result.text, report


@pytest.mark.parametrize(("kind", "verdict", "text"), ITERABLE)
def test_iterable_datasets(kind: type[Items], verdict: Verdict, text: str) -> None:
    seen, said, report = told(loader_of(kind()))
    assert (seen, text in said) == (verdict, True), str(report)


@pytest.mark.parametrize(("method", "verdict"), [("forkserver", FAULT), ("fork", CLEAN)])
def test_only_forked_workers_have_the_process_group(method: str, verdict: Verdict) -> None:
    """And `test_real_ranks` says that it is so."""
    assert told(loader_of(Shared(), method, num_workers=1))[0] is verdict


class Indices(data.Sampler):  # type: ignore[misc,name-defined]
    """An order of all samples."""

    def __init__(self, of: Callable[[int, int], list[int]]) -> None:
        self.of = of

    def __iter__(self) -> Iterator[int]:
        return iter(self.of(*share()))


ALL = list(range(COUNT))

#: What is said of the samplers of a map-style dataset.
SAMPLERS = (
    (lambda: data.DistributedSampler(ALL, 1, 0), CLEAN, "2 ranks share the 48 items of an epoch"),
    (lambda: data.DistributedSampler(ALL, 4, 3, shuffle=False), CLEAN, "2 ranks share the 48 items of an epoch"),
    (lambda: data.DistributedSampler(range(COUNT - 1), 1, 0), CLEAN, "0 come on no rank, and 1 more than once"),
    (lambda: Indices(lambda rank, ranks: ALL[rank::ranks]), CLEAN, "2 ranks share the 48 items of an epoch"),
    (lambda: Indices(lambda rank, ranks: ALL[rank::ranks][rank::ranks]), FAULT, "24 come on no rank"),
    (lambda: Indices(lambda rank, ranks: ALL), NOT_SEEN, "the sampler asks for no rank"),
    (lambda: data.RandomSampler(ALL, True, 10**10), NOT_SEEN, "the epoch is longer than 100,000 samples"),
    (lambda: data.RandomSampler(ALL), NOT_SEEN, "the sampler asks for no rank"),
    (lambda: data.WeightedRandomSampler([1.0] * COUNT, COUNT), NOT_SEEN, "an epoch has equal items"),
)


@pytest.mark.parametrize(("make", "verdict", "text"), SAMPLERS)
@pytest.mark.parametrize("in_batches", [False, True])
def test_samplers(make: Callable[[], Any], verdict: Verdict, text: str, in_batches: bool) -> None:
    sampler = make()
    order = {"batch_sampler": data.BatchSampler(sampler, 2, False), "batch_size": 1} if in_batches else {}
    seen, said, report = told(loader_of(ALL, num_workers=0, **(order or {"sampler": sampler})))
    assert (seen, text in said) == (verdict, True), str(report)


def test_the_process_is_no_rank_afterwards() -> None:
    sampler = data.DistributedSampler(ALL, 1, 0)
    environment = dict(os.environ)
    told(loader_of(ALL, num_workers=0, sampler=sampler), ranks=3)
    assert (sampler.num_replicas, sampler.rank, len(sampler)) == (1, 0, COUNT)
    assert dict(os.environ) == environment and not distributed.is_initialized()


#: Two ranks of a real program: what their workers give.
REAL = """
import json, sys
sys.path.append(sys.argv[3])
import torch.distributed as distributed
import torch.multiprocessing as processes
from tests.truth.pytorch.test_audit_ranks import Shared, loader_of

def rank(number, store, method):
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=number, world_size=2)
    items = sorted(int(item) for batch in loader_of(Shared(), method) for item in batch)
    found = [None, None]
    distributed.all_gather_object(found, items)
    if number == 0:
        print(json.dumps(found))
    distributed.destroy_process_group()

if __name__ == "__main__":
    processes.spawn(rank, (sys.argv[1], sys.argv[2]), nprocs=2)
"""


@pytest.mark.parametrize(("method", "items"), [("fork", [ALL[0::2], ALL[1::2]]), ("spawn", [ALL, ALL])])
def test_real_ranks(method: str, items: list[list[int]], tmp_path: Path) -> None:
    (tmp_path / "ranks.py").write_text(REAL)
    done = python(tmp_path, "ranks.py", str(tmp_path / "store"), method, str(harness.ROOT))
    assert json.loads(done.stdout or "null") == items, done.stderr


def test_the_command_has_ranks(tmp_path: Path) -> None:
    program = "\n".join(
        (
            "from torch.utils.data import DataLoader, DistributedSampler",
            "rows = list(range(48))",
            "list(DataLoader(rows, batch_size=2, sampler=DistributedSampler(rows, 1, 0)))",
        )
    )
    (tmp_path / "train.py").write_text(program)
    done = python(tmp_path, "-m", "loaderlint", "audit", "--no-record", "--ranks", "3", "train.py")
    assert "clean: ranks: 3 ranks share the 48 items of an epoch" in done.stdout, done.stdout + done.stderr
