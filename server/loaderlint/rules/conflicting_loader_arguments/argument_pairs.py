"""The arguments that torch's DataLoader rejects together, as its constructor and its iterators check them.

Read from `torch/utils/data/dataloader.py` of 2.13 and run there: each message names the exception that was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from loaderlint.knowledge.library_datasets import DATASET_BASES
from loaderlint.project.evaluation.values import NOT_GIVEN, Atom, Instance, LibObject, Literal_, SeqOf, Unknown, Val
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.loader_traits import persists_with_workers

#: How sure it is that a value is of a kind: always; as it is configured by default; only on some ways to the call;
#: if the user of the program chooses so; or never, or it is not known.
Sure = Literal["always", "by default", "sometimes", "if chosen", "no"]

#: When torch raises.
Raised = Literal["at creation", "at iteration"]

#: Pipes shuffle themselves, as they are configured.
_PIPES = ("IterDataPipe",)
_START_METHODS = frozenset({"fork", "spawn", "forkserver"})
_CREATED = "ValueError when the loader is created"
_ITERATED = "AssertionError at the first iteration"


class Conflict(Struct, frozen=True):
    """`argument` is rejected: `reason`, with the exception. `hard`, `soft`: how sure it is that the argument is so, and
    that what it conflicts with is so. `other` names what it conflicts with, '' if it is wrong by itself; `instead`:
    what the argument is where they do not conflict, as a condition's other value ('' if it can only be dropped);
    `droppable`: without it nothing is lost; `raised`: by the call that creates the loader, or by `iter`."""

    argument: str
    reason: str
    hard: Sure
    soft: Sure
    other: str = ""
    instead: str = ""
    droppable: bool = True
    raised: Raised = "at creation"


def conflicts(loader: Loader, model: Model) -> Iterator[Conflict]:
    """Every conflict between the arguments of a loader, in the order in which torch looks for them."""
    yield from _wrong_alone(loader)
    yield from _without_workers(loader, model)
    iterable = _is_iterable(loader, model)
    if iterable:
        yield from _over_iterable(loader, iterable)
    else:
        yield from _samplers(loader)
    if _given(loader.argument("batch_sampler")) == "no":
        yield from _without_batches(loader)


def _wrong_alone(loader: Loader) -> Iterator[Conflict]:
    for name in ("num_workers", "timeout", "prefetch_factor"):
        if _sure(loader.argument(name), lambda value: value.value is not None and _number(value) < 0) == "always":
            yield Conflict(name, f"`{name}` is negative: {_CREATED}", "always", "always")
    if _sure(loader.argument("batch_size"), lambda value: value.kind == "int" and _number(value) <= 0) == "always":
        yield Conflict("batch_size", f"`batch_size` is not positive: {_CREATED}", "always", "always")
    if _sure(loader.argument("batch_size"), lambda value: value.kind == "float") == "always":
        yield Conflict("batch_size", f"`batch_size` is a float: {_CREATED}; pass an int", "always", "always")
    if _sure(loader.argument("num_workers"), lambda value: value.value is None) == "always":
        yield Conflict(
            "num_workers", "`num_workers` is None, not 0: TypeError when the loader is created", "always", "always"
        )
    if _sure(loader.argument("num_workers"), lambda value: value.kind == "float" and _number(value) > 0) == "always":
        text = "`num_workers` is a float: TypeError at the first iteration; pass an int"
        yield Conflict("num_workers", text, "always", "always", raised="at iteration")
    workers = loader.has_workers() == "yes"
    context = loader.argument("multiprocessing_context")
    if workers and _sure(context, lambda value: value.kind == "str" and value.value not in _START_METHODS) == "always":
        text = f"`multiprocessing_context` is not a start method (fork, spawn, forkserver): {_CREATED}"
        yield Conflict("multiprocessing_context", text, "always", "always")
    if workers and _sure(loader.argument("prefetch_factor"), _is_zero) == "always":
        text = f"`prefetch_factor` must be greater than 0: {_ITERATED}"
        yield Conflict("prefetch_factor", text, "always", "always", raised="at iteration")


def _without_workers(loader: Loader, model: Model) -> Iterator[Conflict]:
    workers = loader.argument("num_workers")
    none = _sure(workers, _is_zero)
    if none == "no" and workers.literal is not None and workers.literal.configured:
        none = "if chosen"
    if none == "no":
        return
    old = model.environment(loader).torch.before("2.0") == "yes"
    kinds: tuple[tuple[str, Callable[[Literal_], bool], str, str], ...] = (
        ("persistent_workers", lambda value: bool(value.value), "", _CREATED),
        ("prefetch_factor", lambda value: _is_passed(value) and not (old and value.value == 2), "None", _CREATED),
        ("timeout", lambda value: _number(value) > 0, "0", _ITERATED),
        ("multiprocessing_context", lambda value: bool(value.value), "None", _CREATED),
    )
    for name, test, instead, end in kinds:
        if name == "persistent_workers" and persists_with_workers(loader, model):
            continue
        there = _sure(loader.argument(name), test)
        if name == "multiprocessing_context" and _all(loader.argument(name), LibObject):
            there = "always"
        if there != "no":
            text = f"`{name}` needs workers{{when}}: {end}"
            raised: Raised = "at iteration" if end == _ITERATED else "at creation"
            yield Conflict(name, text, there, none, "num_workers", instead, raised=raised)


def _over_iterable(loader: Loader, iterable: Sure) -> Iterator[Conflict]:
    shuffled = _sure(loader.argument("shuffle"), lambda value: bool(value.value))
    if shuffled != "no":
        text = f"a loader cannot shuffle an iterable dataset: {_CREATED}; shuffle in `__iter__`"
        yield Conflict("shuffle", text, shuffled, iterable, droppable=False)
    for name in ("sampler", "batch_sampler"):
        given = _given(loader.argument(name))
        if given != "no":
            text = f"an iterable dataset does not accept `{name}`: {_CREATED}"
            yield Conflict(name, text, given, iterable, droppable=False)


def _samplers(loader: Loader) -> Iterator[Conflict]:
    shuffled = _sure(loader.argument("shuffle"), lambda value: bool(value.value))
    dropped = _sure(loader.argument("drop_last"), lambda value: bool(value.value))
    sampler, batches = _given(loader.argument("sampler")), _given(loader.argument("batch_sampler"))
    if sampler != "no" and shuffled != "no":
        text = f"`shuffle` and `sampler` cannot be combined: {_CREATED}; the sampler defines the order"
        yield Conflict("shuffle", text, shuffled, sampler, "sampler", "is None")
    if batches != "no":
        sized = _sure(loader.argument("batch_size"), lambda value: value.value != 1)
        pairs = (("batch_size", sized), ("shuffle", shuffled), ("sampler", sampler), ("drop_last", dropped))
        for name, there in pairs:
            if there != "no":
                text = (
                    f"`{name}` and `batch_sampler` cannot be combined: {_CREATED}; the batch sampler makes the batches"
                )
                yield Conflict(name, text, there, batches, "batch_sampler", droppable=name != "sampler")


def _without_batches(loader: Loader) -> Iterator[Conflict]:
    dropped = _sure(loader.argument("drop_last"), lambda value: bool(value.value))
    single = _sure(loader.argument("batch_size"), lambda value: value.value is None)
    if single == "by default" and all(_is_not_given(one) for one in loader.argument("batch_size").atoms):
        single = "if chosen"
    if single != "no" and dropped != "no":
        text = f"without batches (`batch_size=None`) there is no last batch to drop: {_CREATED}"
        yield Conflict("drop_last", text, dropped, single, "batch_size")


# --- values -----------------------------------------------------------------------------------------------------------


def _sure(value: Val, test: Callable[[Literal_], bool]) -> Sure:
    """How sure it is that a value passes a test of constants."""
    constants = [atom for atom in value.atoms if isinstance(atom, Literal_)]
    if len(constants) < len(value.atoms) or not constants:
        return "sometimes" if any(not one.configured and test(one) for one in constants) else "no"
    passing = [one for one in constants if test(one)]
    if len(passing) == len(constants):
        return "by default" if any(one.configured for one in passing) else "always"
    return "sometimes" if any(not one.configured for one in passing) else "no"


def _given(value: Val) -> Sure:
    """How sure it is that a sampler is passed."""
    objects = [atom for atom in value.atoms if isinstance(atom, Instance | LibObject | SeqOf)]
    if not objects or any(isinstance(atom, Unknown) for atom in value.atoms):
        return "no"
    return "always" if len(objects) == len(value.atoms) else "sometimes"


def _all(value: Val, kind: type) -> bool:
    return bool(value.atoms) and all(isinstance(atom, kind) for atom in value.atoms)


def _is_zero(value: Literal_) -> bool:
    return value.kind in ("int", "bool", "float") and value.value == 0


def _is_not_given(value: Atom) -> bool:
    """Whether a value is the None of an option that the program needs: nobody chose it."""
    return isinstance(value, Literal_) and value.configured == NOT_GIVEN


def _is_passed(value: Literal_) -> bool:
    return value.value is not None and _number(value) >= 0  # a negative one is wrong with workers too


def _number(value: Literal_) -> float:
    return float(value.value) if isinstance(value.value, int | float) else 0.0


def _is_iterable(loader: Loader, model: Model) -> Sure | None:
    """'always' if the loader's own dataset is an iterable one, and no pipe; None if not, or if that is not known."""
    atoms = loader.argument("dataset").atoms
    return "always" if atoms and all(_iterates(atom, model) for atom in atoms) else None


def _iterates(atom: Atom, model: Model) -> bool:
    if isinstance(atom, LibObject):
        return DATASET_BASES.get(atom.name, False) and not atom.name.endswith(_PIPES)
    if not isinstance(atom, Instance) or model.dataset_kind(atom.cls) != "iterable":
        return False
    return not any(name.endswith(_PIPES) for name in model.ev.classes.library_bases(atom.cls))
