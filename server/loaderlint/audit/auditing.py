"""`audit`: iterates a loader in copies of this process, and reports what was seen."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from loaderlint.audit import sandbox
from loaderlint.audit.crossed import crossed
from loaderlint.audit.digests import digest
from loaderlint.audit.epoch_changes import Held, held, replaced, samples, with_effect
from loaderlint.audit.evidence import Evidence, Facts
from loaderlint.audit.messages import Answer, EpochEnded, Loaded, Sender
from loaderlint.audit.random_verdicts import drawn_alike, drawn_apart
from loaderlint.audit.rank_verdicts import all_alike
from loaderlint.audit.ranks import Rank, order
from loaderlint.audit.report import Report, Result
from loaderlint.audit.resources import used
from loaderlint.audit.sandbox import Outcome
from loaderlint.audit.stale_verdicts import of_changes
from loaderlint.audit.stored import Snapshot, changes, snapshot
from loaderlint.audit.streams import streams
from loaderlint.audit.user_places import loaded_files, of_code
from loaderlint.audit.verdicts import results
from loaderlint.audit.worker_trace import PLAIN, Plan, Trace, Watcher

#: The attributes in which wrappers hold another loader.
_WRAPPED = ("_dataloader", "base_dataloader", "dataloader", "_loader", "loader", "pipeline")

#: The iterators of the original process. Its copies keep them alive, because an iterator tells its workers to end when
#: it is collected.
_KEPT: list[Any] = []

#: How many samples are read again to see whether reading changes them, and how often each one is read. How often a
#: sample is read to see whether a draw has an effect: an effect in one of ten draws is missed once in twenty.
_READ_AGAIN = 3
_TIMES = 3
_TRIES = 10


def audit(
    loader: Any,
    *,
    epochs: int = 2,
    batches: int = 8,
    timeout: float = 60.0,
    name: str = "loader",
    between: Callable[[int], object] | None = None,
    ranks: int = 1,
) -> Report:
    """Iterate `loader` in copies of this process, and report what was seen.

    `epochs` is the number of epochs, `batches` the number of batches that are read of each, `timeout` the limit for
    everything, in seconds. `name`: the loader's name in the report. `between`: what your program does before an epoch,
    for example `dataset.set_epoch`. It is called once, in a copy, with 1 (the number of the second epoch), to see
    whether persistent workers get what it sets. `ranks`: the number of processes of a distributed program. An epoch is
    iterated as each of them would do it, and their items are compared.

    The random states, the dataset, the loader and its running iterators stay as they are, and no process remains. What
    the dataset writes to files or to shared memory is written.

    Raises TypeError if `loader` neither is nor holds a torch DataLoader, ValueError for counts below 1, and OSError if
    the system cannot copy a process (Windows).
    """
    if min(epochs, batches, ranks) < 1 or timeout <= 0:
        raise ValueError("epochs, batches and ranks are at least 1, and the timeout is above 0")
    if reason := sandbox.why_not():
        raise OSError(reason)
    loader = _unwrapped(loader)
    facts = _facts(loader, epochs, batches)
    end = time.monotonic() + timeout

    def left(share: float = 1.0) -> float:
        return max((end - time.monotonic()) * share, 0.2)

    workers = facts.workers
    forks = workers > 0 and facts.method == "fork"
    found = crossed(_roots(loader)) if forks else ()
    run = sandbox.run(_iterating(loader, epochs, batches, workers, Plan(crossed=found)), left(0.6))
    evidence = Evidence(facts, run, crossed=found)
    evidence.pickled = _answer(sandbox.run(_pickling(loader), left()))
    if evidence.run.finished and not facts.iterable:
        evidence.read_again = _answer(sandbox.run(_reading_again(loader), left(0.5)))
    if evidence.run.finished and not facts.iterable and (names := drawn_alike(evidence)):
        evidence.idle = frozenset(
            _answer(sandbox.run(_drawing_without_effect(loader, names), left(0.5))).get("names", ())
        )
    if workers and evidence.run.finished:
        evidence.again = sandbox.run(_iterating(loader, 1, batches, workers), left(0.5))
        evidence.alone = sandbox.run(_iterating(loader, 1, batches, 0), left(0.5))
        if evidence.inherited and not evidence.moved:
            evidence.poisoned = sandbox.run(_iterating(loader, 1, batches, workers, Plan(poisoned=True)), left(0.5))
    if between is not None and facts.persistent and evidence.run.finished:
        evidence.changing = sandbox.run(_changing(loader, lambda: None, lambda: between(1)), left(0.5))
    if ranks > 1 and evidence.run.finished:
        evidence.whole, *evidence.ranks = _as_ranks(loader, batches, workers, ranks, left)
        if workers and facts.iterable and all_alike(evidence.ranks):
            evidence.ranks_alone = _as_ranks(loader, batches, 0, ranks, left)[1:]
    return Report(name, facts, tuple(results(evidence)), evidence.seconds, drawn_apart(evidence), evidence.loaded)


def stale_state(loader: Any, before: Sequence[Held], timeout: float) -> Result:
    """Whether persistent workers that start with the attributes `before` get the present ones of the dataset: the
    result of a run of two epochs in a copy of this process. `timeout` in seconds."""
    now = held(_roots(loader))
    pairs = replaced(before, now)

    def put_back() -> None:
        for was, _ in pairs:
            was.put()

    def set_again() -> None:
        for _, new in pairs:
            new.put()

    return of_changes(sandbox.run(_changing(loader, put_back, set_again), timeout))


def attributes_now(loader: Any) -> tuple[Held, ...]:
    """The attributes and items that persistent workers of a loader get if they start now; () if it has none."""
    if not (loader.num_workers and getattr(loader, "persistent_workers", False)):
        return ()
    return held(_roots(loader))


def _roots(loader: Any) -> dict[str, Any]:
    return {"dataset": loader.dataset, "collate_fn": loader.collate_fn}


def _unwrapped(loader: Any) -> Any:
    """The torch loader itself."""
    given = loader
    torch_loader = _torch_loader()
    for _ in range(4):
        if isinstance(loader, list) and loader:  # the stages of a webdataset pipeline
            loader = loader[0]
        if isinstance(loader, torch_loader) or _is_like_a_loader(loader):
            return loader
        loader = next((part for name in _WRAPPED if (part := getattr(loader, name, None)) is not None), None)
    raise TypeError(
        f"audit needs a torch DataLoader, or an object that holds one; this is a {type(given).__qualname__}"
    )


def _torch_loader() -> type:
    try:
        from torch.utils.data import DataLoader
    except ImportError as error:
        raise TypeError("audit needs the torch of your project, and cannot import it here") from error
    kind: type = DataLoader
    return kind


def _is_like_a_loader(value: Any) -> bool:
    """Whether it is a loader of another library with the parts of torch's, such as torchdata's StatefulDataLoader."""
    return all(hasattr(value, name) for name in ("dataset", "num_workers", "collate_fn", "worker_init_fn", "_iterator"))


def _facts(loader: Any, epochs: int, batches: int) -> Facts:
    torch = sys.modules["torch"]
    method = "none" if loader.num_workers == 0 else _start_method(loader)
    return Facts(
        workers=loader.num_workers,
        method=method,
        persistent=bool(getattr(loader, "persistent_workers", False)),
        iterable=_is_iterable(loader),
        own_init=loader.worker_init_fn is not None,
        torch=str(torch.__version__),
        epochs=epochs,
        batches=batches,
        dataset=type(loader.dataset).__qualname__,
        iterates=of_code(getattr(type(loader.dataset), "__iter__", None)),
        initialises=of_code(loader.worker_init_fn),
    )


def _start_method(loader: Any) -> str:
    import multiprocessing

    context = getattr(loader, "multiprocessing_context", None)
    if context is None:
        return multiprocessing.get_start_method()
    return str(context.get_start_method())


def _iterating(
    loader: Any, epochs: int, batches: int, workers: int, plan: Plan = PLAIN, rank: Rank | None = None
) -> Callable[[Sender, socket.socket], None]:
    """The work of a copy of this process: read batches of some epochs."""

    def work(sender: Sender, stacks: socket.socket) -> None:
        _prepare(loader)
        if rank is not None:
            rank.take(loader)
        watcher = Watcher(loader.worker_init_fn, sender, stacks, plan)
        here = Trace(-1, sender)
        if workers:
            loader.worker_init_fn = watcher
        else:
            loader.num_workers = 0
            loader.timeout = 0
            here.watch()
        for epoch in range(epochs):
            watcher.epoch = epoch
            taken = 0
            more = False
            for batch in loader:
                del batch  # what is still in use was kept by the loader
                if more := taken == batches:
                    break
                taken += 1
            sender.send(EpochEnded(epoch, taken, not more, used()))
        loader._iterator = None  # persistent workers report their last epoch when they end
        here.end_epoch()
        sender.send(Loaded(loaded_files()))

    return work


def _changing(
    loader: Any, before: Callable[[], None], between: Callable[[], object]
) -> Callable[[Sender, socket.socket], None]:
    """Begin two epochs of persistent workers, and report what `between` sets between them, and which of it has an
    effect. `before` is called before the workers start."""

    def work(sender: Sender, stacks: socket.socket) -> None:
        _prepare(loader)
        before()
        roots = _roots(loader)
        indices = () if _is_iterable(loader) else _some_indices(loader)
        old = held(roots)
        watcher = Watcher(loader.worker_init_fn, sender, stacks, Plan(holds=True))
        loader.worker_init_fn = watcher
        next(iter(loader))
        between()
        watcher.epoch = 1
        next(iter(loader))
        pairs = replaced(old, held(roots))
        effect = tuple(with_effect(pairs, samples(loader, indices), roots)) if pairs else ()
        told = tuple(f"{was.path}\n{was.text}\n{now.text}" for was, now in pairs)
        sender.send(Answer({"set": told, "effect": effect}))

    return work


def _as_ranks(loader: Any, batches: int, workers: int, count: int, left: Callable[[float], float]) -> list[Outcome]:
    """The outcomes of an epoch read by a single rank, and then by each of `count` ranks."""
    ranks = [Rank(0, 1), *(Rank(number, count) for number in range(count))]
    if _is_iterable(loader):
        return [sandbox.run(_iterating(loader, 1, batches, workers, rank=rank), left(0.5)) for rank in ranks]
    return [sandbox.run(_ordering(loader, rank), left(0.5)) for rank in ranks]


def _ordering(loader: Any, rank: Rank) -> Callable[[Sender, socket.socket], None]:
    """Ask the sampler for the indices of an epoch, without reading samples."""

    def work(sender: Sender, stacks: socket.socket) -> None:
        rank.take(loader)
        indices, batches, complete = order(loader)
        sender.send(Answer({"indices": tuple(indices)}))
        sender.send(EpochEnded(0, batches, complete))

    return work


def _is_iterable(loader: Any) -> bool:
    from torch.utils.data import IterableDataset

    return isinstance(loader.dataset, IterableDataset)


def _prepare(loader: Any) -> None:
    """Make the copy of a loader in a copy of this process safe to iterate."""
    torch = sys.modules["torch"]
    torch.set_num_threads(1)
    _KEPT.append(loader._iterator)
    loader._iterator = None
    loader.pin_memory = False  # a copied process cannot use CUDA


def _pickling(loader: Any) -> Callable[[Sender, socket.socket], None]:
    def work(sender: Sender, stacks: socket.socket) -> None:
        from loaderlint.audit.pickling import sent

        roots = {
            "dataset": loader.dataset,
            "collate_fn": loader.collate_fn,
            "worker_init_fn": loader.worker_init_fn,
        }
        found = sent(roots)
        sender.send(
            Answer(
                {
                    "copied": (str(found.copied),),
                    "shared": (str(found.shared),),
                    "problems": tuple(f"{path}\n{why}" for path, why in found.problems),
                }
            )
        )

    return work


def _reading_again(loader: Any) -> Callable[[Sender, socket.socket], None]:
    """Read some samples three times from the same random states. If stored data changes each time, and the sample with
    it, then reading changes it. A cache that the first reading fills does not count."""

    def work(sender: Sender, stacks: socket.socket) -> None:
        _prepare(loader)
        dataset = loader.dataset
        roots = {"dataset": dataset}
        if any(snapshot(roots).shared):
            return  # other processes would see what is written there
        indices = _some_indices(loader)
        for index in indices[:1]:
            dataset[index]  # the first sample may create a generator
        saved = [(stream, stream.save()) for stream in streams(roots)]
        for index in indices:
            made: list[str] = []
            stored: list[Snapshot] = []
            for _ in range(_TIMES):
                for stream, state in saved:
                    stream.restore(state)
                made.append(digest(dataset[index]))
                stored.append(snapshot(roots))
            if len(set(made)) == 1:
                continue
            changed = {each.path for each in changes(stored[0], stored[1]) if each.kind == "data"}
            changed &= {each.path for each in changes(stored[1], stored[2]) if each.kind == "data"}
            if changed:
                sender.send(Answer({"index": (repr(index),), "paths": tuple(sorted(changed)), "made": tuple(made)}))
                return

    return work


def _drawing_without_effect(loader: Any, names: Set[str]) -> Callable[[Sender, socket.socket], None]:
    """Read some samples repeatedly while one stream advances and all others are reset. If a sample stays the same, that
    stream has no effect on it: for example, a transform draws whether to run, and always runs."""

    def work(sender: Sender, stacks: socket.socket) -> None:
        _prepare(loader)
        found = streams(_roots(loader))
        saved = [(stream, stream.save()) for stream in found]
        indices = _some_indices(loader)
        idle = []
        for chosen in (stream for stream in found if stream.name in names):
            made: list[set[str]] = [set() for _ in indices]
            states = set()
            for _ in range(_TRIES):
                for index, seen in zip(indices, made, strict=True):
                    for stream, state in saved:
                        if stream is not chosen:
                            stream.restore(state)
                    seen.add(digest(loader.dataset[index]))
                    states.add(chosen.digest())
            if all(len(seen) == 1 for seen in made) and len(states) == _TRIES * len(indices):
                idle.append(chosen.name)
        sender.send(Answer({"names": tuple(idle)}))

    return work


def _some_indices(loader: Any) -> list[Any]:
    """The first indices that the loader's sampler gives."""
    found: list[Any] = []
    order = loader.batch_sampler if loader.batch_sampler is not None else loader.sampler
    for each in order:
        found += each if isinstance(each, (list, tuple)) else [each]
        if len(found) >= _READ_AGAIN:
            break
    return found[:_READ_AGAIN]


def _answer(outcome: Outcome) -> Mapping[str, tuple[str, ...]]:
    """The answer of a probe; empty if it did not finish."""
    return next((each.values for each in outcome.messages if isinstance(each, Answer)), {})
