"""Watches the user's code in each worker, and reports what it does.

`Watcher` takes the place of the loader's `worker_init_fn`, so it reaches workers of every start method. In the worker,
it makes PyTorch create watched fetchers: a fetcher asks the dataset for samples and collates them.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from loaderlint.audit import sandbox
from loaderlint.audit.crossed import Crossed, still_there
from loaderlint.audit.digests import data_of, digest
from loaderlint.audit.epoch_changes import held
from loaderlint.audit.line_trace import LineTrace
from loaderlint.audit.messages import (
    Batch,
    Began,
    Change,
    Changed,
    Holds,
    Loaded,
    Move,
    Sender,
    Started,
    StreamUse,
    Unit,
)
from loaderlint.audit.open_files import Inherited, inherited, poison
from loaderlint.audit.reachable import reachable
from loaderlint.audit.resources import used
from loaderlint.audit.sandbox import failure_of
from loaderlint.audit.stored import Snapshot, changes, snapshot
from loaderlint.audit.streams import Stream, streams
from loaderlint.audit.user_places import loaded_files

#: How many samples of each worker and epoch are watched line by line; the others are watched as a whole.
WATCHED_LINES = 2

#: For how many units of each worker the positions of open files are compared.
_WATCHED_FILES = 8


class Plan(Struct, frozen=True):
    """How a run is watched. `poisoned`: in the workers, files that were opened before they started are empty;
    `crossed`: what forked workers have from the main process; `holds`: workers report their attributes."""

    poisoned: bool = False
    holds: bool = False
    crossed: tuple[Crossed, ...] = ()


#: The plan of a run without special questions.
PLAIN = Plan()


class Watcher:
    """The `worker_init_fn` of a watched loader. `own`: the loader's own one. `stacks`: the socket to which a worker
    writes its stack on request. `epoch` is set before the workers of an epoch start."""

    def __init__(self, own: Callable[[int], None] | None, sender: Sender, stacks: socket.socket, plan: Plan) -> None:
        self.own = own
        self.epoch = 0
        self._sender = sender
        self._stacks = stacks
        self._plan = plan

    def __call__(self, worker: int) -> None:
        from torch.utils.data import get_worker_info

        if sandbox.SHOW_STACK is not None:
            faulthandler.register(sandbox.SHOW_STACK, file=self._stacks.fileno(), all_threads=False)
        info = get_worker_info()
        dataset = info.dataset if info is not None else None
        files = inherited()
        if self._plan.poisoned:
            poison(files)
        found = streams({"dataset": dataset, "worker_init_fn": self.own})
        born = {stream.name: stream.digest() for stream in found}
        if self.own is not None:
            self.own(worker)
        initialised = {stream.name: stream.digest() for stream in found}
        Trace(worker, self._sender, self._plan, self.epoch, files, born, initialised).watch()


class Trace:
    """What one process does with the samples of a loader. `worker` is -1 for the main process; `epoch`: its first."""

    def __init__(
        self,
        worker: int,
        sender: Sender,
        plan: Plan = PLAIN,
        epoch: int = 0,
        files: Sequence[Inherited] = (),
        born: Mapping[str, str] | None = None,
        initialised: Mapping[str, str] | None = None,
    ) -> None:
        self.worker = worker
        self.epoch = epoch - 1
        self.number = 0
        self.streams: list[Stream] = []
        self._sender = sender
        self._plan = plan
        self._files = files
        self._born = dict(born or {})
        self._initialised = dict(initialised or {})
        self._roots: dict[str, Any] = {}
        self._stored: Snapshot | None = None
        self._settled: Snapshot | None = None

    def watch(self) -> None:
        """Make PyTorch create watched fetchers in this process from now on, and report at its end what was stored."""
        from multiprocessing import util

        from torch.utils.data import _DatasetKind

        original = _DatasetKind.create_fetcher

        def create(kind: Any, dataset: Any, auto_collation: Any, collate: Any, drop_last: Any) -> Any:
            self.begin_epoch(dataset, collate)
            fetcher = original(kind, dataset, auto_collation, collate, drop_last)
            return WatchedFetcher(fetcher, self)

        _DatasetKind.create_fetcher = staticmethod(create)
        util.Finalize(None, self.end_epoch, exitpriority=100)

    def begin_epoch(self, dataset: Any, collate: Any) -> None:
        """An epoch begins in this process: take a new snapshot of everything."""
        self.end_epoch()
        self.epoch += 1
        self.number = 0
        self._roots = {"dataset": dataset, "collate_fn": collate}
        self.streams = streams(self._roots)
        now = {stream.name: stream.digest() for stream in self.streams}
        self._sender.send(
            Started(
                self.worker,
                os.getpid(),
                self.epoch,
                {**now, **self._born},
                {**now, **self._initialised},
                tuple(file.target for file in self._files),
                {stream.name: stream.kind for stream in self.streams},
            )
        )
        if self._plan.holds:
            values = {each.path: each.text for each in held(self._roots)}
            self._sender.send(Holds(self.worker, os.getpid(), self.epoch, values))
        self._born, self._initialised = {}, {}
        self._stored, self._settled = snapshot({"dataset": dataset}), None

    def settle(self) -> None:
        """The first batch is made, so what the first sample creates exists now."""
        if self._settled is not None or self._stored is None:
            return
        self._settled = snapshot({"dataset": self._roots["dataset"]})
        known = {stream.name for stream in self.streams}
        self.streams = streams(self._roots)
        made = tuple(stream.name for stream in self.streams if stream.name not in known)
        if made:
            new = tuple(Change(name, "stream", "", "") for name in made)
            self._sender.send(Changed(self.worker, os.getpid(), self.epoch, new))

    def end_epoch(self) -> None:
        """Report what has changed in the dataset since the epoch began; counters and containers since the first
        batch."""
        if self._stored is None or self._settled is None:
            return
        now = snapshot({"dataset": self._roots["dataset"]})
        running = [each for each in changes(self._settled, now) if each.kind in ("grown", "number")]
        kept = [each for each in changes(self._stored, now) if each.kind not in ("grown", "number")]
        self._stored = None
        there = [Change(path, "crossed", "", "") for path in still_there(self._plan.crossed, self._roots)]
        if kept or running or there:
            self._sender.send(Changed(self.worker, os.getpid(), self.epoch, (*kept, *running, *there)))
        self._sender.send(Loaded(loaded_files()))

    def began(self, index: str) -> None:
        """A batch begins."""
        self._sender.send(Began(self.worker, os.getpid(), self.epoch, index))

    def ended(self, units: Sequence[Unit]) -> None:
        """A batch is made, or failed."""
        self._sender.send(Batch(self.worker, os.getpid(), self.epoch, tuple(units), used()))

    def moved_files(self) -> tuple[str, ...]:
        """The files opened before this process started that have been read since the last call."""
        return tuple(file.target for file in self._files if file.moved()) if self.number < _WATCHED_FILES else ()


class WatchedFetcher:
    """Creates batches with PyTorch's fetcher, and watches the samples."""

    def __init__(self, fetcher: Any, trace: Trace) -> None:
        self._fetcher = fetcher
        self._trace = trace
        self._units: list[Unit] = []
        self._index: Any = None
        self._collate = fetcher.collate_fn
        fetcher.collate_fn = self._collated
        if hasattr(fetcher, "dataset_iter"):
            self._items = fetcher.dataset_iter
            fetcher.dataset_iter = self._iterated()
        else:
            fetcher.dataset = _Samples(fetcher.dataset, self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fetcher, name)

    def fetch(self, index: Any) -> Any:
        """Fetch one batch; PyTorch calls this."""
        self._units, self._index = [], index
        self._trace.began(f"{index!r:.80}")
        try:
            return self._fetcher.fetch(index)
        finally:
            self._trace.ended(self._units)
            self._trace.settle()

    def unit(self, kind: str, index: str, make: Callable[[], Any]) -> Any:
        """Call `make`, and record what it did. Raises what `make` raises."""
        trace = self._trace
        watched = trace.number < WATCHED_LINES or (kind == "collate" and trace.number < 3 * WATCHED_LINES)
        before = [stream.digest() for stream in trace.streams]
        lines = LineTrace(trace.streams) if watched else None
        value, failure = None, None
        try:
            with lines or contextlib.nullcontext():
                value = make()
            return value
        except BaseException as error:
            if kind != "next" or not isinstance(error, StopIteration):
                failure = failure_of(error)
            raise
        finally:
            if value is not None or failure is not None or kind != "next":
                uses = tuple(_uses(trace.streams, before, lines))
                remarks = _remarks(value) if failure is None else ()
                made = digest(value) if failure is None else ""
                number, trace.number = trace.number, trace.number + 1
                self._units.append(Unit(kind, number, index, made, uses, trace.moved_files(), remarks, failure))

    def _iterated(self) -> Iterator[Any]:
        count = 0
        while True:
            try:
                item = self.unit("next", str(count), lambda: next(self._items))
            except StopIteration:
                return
            count += 1
            yield item

    def _collated(self, data: Any) -> Any:
        def make() -> Any:
            batch = self._collate(data)
            if self._trace.worker >= 0:
                _check_sendable(batch)
            return batch

        return self.unit("collate", f"{self._index!r:.80}", make)


class _Samples:
    """The dataset as the fetcher sees it."""

    def __init__(self, dataset: Any, fetcher: WatchedFetcher) -> None:
        self._dataset = dataset
        self._fetcher = fetcher
        if getattr(dataset, "__getitems__", None):
            self.__getitems__ = lambda indices: fetcher.unit(
                "samples", f"{indices!r:.80}", lambda: dataset.__getitems__(indices)
            )

    def __getitem__(self, index: Any) -> Any:
        return self._fetcher.unit("sample", f"{index!r:.80}", lambda: self._dataset[index])


def _uses(found: Sequence[Stream], before: Sequence[str], lines: LineTrace | None) -> Iterator[StreamUse]:
    """The streams that a unit used, or moved in between."""
    for number, stream in enumerate(found):
        after = stream.digest()
        moves: tuple[Move, ...] | None = tuple(lines.moves[number]) if lines is not None else None
        if after != before[number] or moves:
            yield StreamUse(stream.name, before[number], after, moves)


def _remarks(value: Any) -> tuple[str, ...]:
    """The parts of a sample that PyTorch's default collate function rejects."""
    found = []
    for path, part in _leaves(value):
        if part is None:
            found.append(f"None at {path}" if path else "None")
    return tuple(found[:5])


def _leaves(value: Any, path: str = "", depth: int = 4) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and depth:
        for key, part in list(value.items())[:100]:
            yield from _leaves(part, f"{path}[{key!r:.40}]", depth - 1)
    elif isinstance(value, (list, tuple)) and depth:
        for number, part in enumerate(value[:100]):
            yield from _leaves(part, f"{path}[{number}]", depth - 1)
    else:
        yield path, value


class UnsendableBatch(Exception):
    """A worker cannot send a batch to the main process. PyTorch would wait for it for ever."""


def _check_sendable(batch: Any) -> None:
    """Raise UnsendableBatch if PyTorch's queue cannot send the batch: its thread would print why, and nothing would
    arrive."""
    from multiprocessing.reduction import ForkingPickler

    import torch

    for path, part in _leaves(batch):
        if isinstance(part, torch.Tensor):
            if part.requires_grad and not part.is_leaf:
                raise UnsendableBatch(f"the tensor at batch{path} requires grad and is not a leaf")
        elif data_of(part) is None and not isinstance(part, (str, bytes, int, float, bool, type(None))):
            if any(isinstance(each, torch.Tensor) for _, each in reachable({"batch": part}, 200)):
                continue  # pickling it here would share its memory twice
            try:
                ForkingPickler.dumps(part)
            except Exception as error:
                raise UnsendableBatch(f"batch{path} is a {type(part).__qualname__}: {error}") from error
