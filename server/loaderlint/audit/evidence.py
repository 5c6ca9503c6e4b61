"""The observations of an audit, before anything is concluded from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct, field

from loaderlint.audit.crossed import Crossed
from loaderlint.audit.messages import Batch, Changed, EpochEnded, Failed, Failure, Loaded, Started, StreamUse, Unit
from loaderlint.audit.sandbox import Outcome


def process(worker: int, pid: int) -> str:
    """The name of a process, for people."""
    return "the main process" if worker < 0 else f"worker {worker} (pid {pid})"


Kind = TypeVar("Kind")


class Facts(Struct, frozen=True):
    """Facts about the loader. `iterates`, `initialises`: the lines of the dataset's `__iter__` and of the loader's own
    `worker_init_fn`."""

    workers: int
    method: str
    persistent: bool
    iterable: bool
    own_init: bool
    torch: str
    epochs: int
    batches: int
    dataset: str
    iterates: tuple[str, ...] = ()
    initialises: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """A description of the loader, for people."""
        if not self.workers:
            how = "in the main process"
        else:
            count = f"{self.workers} worker{'s' if self.workers > 1 else ''}"
            how = f"by {count} ({self.method}{', persistent' if self.persistent else ''})"
        return f"{self.dataset}, read {how}, {self.epochs} epochs of at most {self.batches} batches, torch {self.torch}"


class Done(Struct, frozen=True):
    """A unit of work, with the process that did it."""

    worker: int
    pid: int
    epoch: int
    unit: Unit

    @property
    def who(self) -> str:
        """The name of the process, for people."""
        return process(self.worker, self.pid)

    @property
    def where(self) -> str:
        """The process, its epoch and the sample, for people."""
        what = {"collate": "when it collated", "next": "at item"}.get(self.unit.kind, "at sample")
        return f"{self.who}, epoch {self.epoch + 1}, {what} {self.unit.index}"


class Drawn(Struct, frozen=True):
    """A use of a stream by a unit."""

    done: Done
    use: StreamUse


class Evidence(Struct):
    """All runs of one loader. `run` is the first; `again` began in the same random states, `alone` had no workers,
    `poisoned` had no open files. `pickled` and `read_again` are the answers of the probes, `crossed` is what workers
    have from the main process, `idle` the streams that samples draw from without an effect; in `changing` the main
    process set something between two epochs of persistent workers. `ranks` are the runs of the ranks of a distributed
    program, `ranks_alone` the same without workers, `whole` the run of a single rank."""

    facts: Facts
    run: Outcome
    again: Outcome | None = None
    alone: Outcome | None = None
    poisoned: Outcome | None = None
    changing: Outcome | None = None
    whole: Outcome | None = None
    ranks: Sequence[Outcome] = ()
    ranks_alone: Sequence[Outcome] = ()
    pickled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    read_again: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    crossed: tuple[Crossed, ...] = ()
    idle: frozenset[str] = frozenset()

    @property
    def _runs(self) -> tuple[Outcome | None, ...]:
        alone = (self.run, self.again, self.alone, self.poisoned, self.changing, self.whole)
        return (*alone, *self.ranks, *self.ranks_alone)

    @property
    def seconds(self) -> float:
        """How many seconds all runs took."""
        return sum(each.seconds for each in self._runs if each is not None)

    @property
    def moved(self) -> tuple[str, ...]:
        """The files opened before the workers started whose position the workers moved."""
        return tuple(sorted({target for each in units(self.run) for target in each.unit.offsets}))

    @property
    def inherited(self) -> tuple[str, ...]:
        """The open files that the workers of the run inherited from the main process."""
        return tuple(sorted({target for each in of_kind(self.run, Started) for target in each.files}))

    @property
    def loaded(self) -> tuple[str, ...]:
        """The user's files that the processes of all runs imported."""
        return tuple(sorted({file for run in self._runs for each in of_kind(run, Loaded) for file in each.files}))

    def draws(self) -> list[Drawn]:
        """Each unit that drew, with the stream. For iterable datasets, the first item of an epoch is left out: workers
        often draw the same order of all items there, and then divide the items among themselves."""
        return [
            Drawn(done, use)
            for done in units(self.run)
            for use in done.unit.streams
            if not (done.unit.kind == "next" and done.unit.index == "0")
        ]


def of_kind(outcome: Outcome | None, kind: type[Kind]) -> Iterator[Kind]:
    """The messages of a kind."""
    if outcome is not None:
        yield from (each for each in outcome.messages if isinstance(each, kind))


def units(outcome: Outcome | None) -> list[Done]:
    """All units of work of a run, in the order in which they were reported."""
    return [
        Done(batch.worker, batch.pid, batch.epoch, unit) for batch in of_kind(outcome, Batch) for unit in batch.units
    ]


def samples_of(outcome: Outcome | None, epoch: int = 0) -> list[Done]:
    """The samples or items that were made for an epoch."""
    return [each for each in units(outcome) if each.unit.kind != "collate" and each.epoch == epoch]


def failures(outcome: Outcome | None) -> list[tuple[Done | None, Failure]]:
    """The exceptions of a run: those of units, and those that the main process got without any unit."""
    found: list[tuple[Done | None, Failure]] = [
        (done, done.unit.failure) for done in units(outcome) if done.unit.failure is not None
    ]
    if not found:
        found = [(None, each.failure) for each in of_kind(outcome, Failed)]
    return found


def complete(outcome: Outcome | None) -> bool:
    """Whether the first epoch of a run was read to its end."""
    return any(each.epoch == 0 and each.complete for each in of_kind(outcome, EpochEnded))


def changed(outcome: Outcome | None) -> list[Changed]:
    """The changes that the processes of a run reported."""
    return list(of_kind(outcome, Changed))
