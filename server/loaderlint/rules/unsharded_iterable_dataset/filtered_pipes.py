"""Pipes that code sends through a filter which shards them: `files.sharding_filter()`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import DefKey, Instance, def_key
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.loader_call import written
from loaderlint.rules.shared.loader_traits import is_for_workers
from loaderlint.rules.shared.same_expressions import reads_same

#: Why the items do not come more than once.
FILTERED = "`sharding_filter` splits it between the workers"

#: The method, and the class that it makes an object of.
_FILTERS = ("sharding_filter", "ShardingFilter")
#: With more calls, no further one is looked at.
_MAX_SITES = 16


class _Use(NamedTuple):
    """Expression `number` of `frame`, a call of a filter."""

    frame: Frame
    number: int


def is_filtered(entry: Frame, loader: Loader, is_guess: bool, model: Model) -> bool:
    """Whether the pipe whose `__iter__` is `entry` goes through a filter wherever the loader has workers: `if
    num_workers > 0: files = files.sharding_filter()`.

    Where it `is_guess` that the loader holds this pipe, any filter of such a pipe counts, also of one of another class
    with the same `__iter__`: the pipe need not shard itself."""
    uses = model.remembered(_filters, def_key(entry))
    return bool(uses) and (is_guess or any(_is_where_workers_are(*use, loader, model) for use in uses))


def is_filtered_somewhere(entry: Frame, model: Model) -> bool:
    """Whether some code filters a pipe with this `__iter__`: one that shards itself, too, would lose items there."""
    return bool(model.remembered(_filters, def_key(entry)))


def _filters(iterates: DefKey, model: Model) -> tuple[_Use, ...]:
    """The calls that filter an object with this `__iter__`."""
    return tuple(
        use
        for use in model.remembered(_filter_calls)
        if any(_iterates_by(number, iterates, use.frame, model) for number in _filtered(*use, model))
    )


def _filter_calls(model: Model) -> tuple[_Use, ...]:
    sites = (site for name in _FILTERS for site in model.callers.sites(name))
    return tuple(
        _Use(frame, site.expr)
        for site in islice(sites, _MAX_SITES)
        for frame in model.callers.frames(site.path, site.piece, site.def_)
    )


def _filtered(frame: Frame, number: int, model: Model) -> Iterator[int]:
    """What a call filters, and what that is made of: `files.shuffle().sharding_filter()`."""
    call = model.ev.expr(frame, number)
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if isinstance(func, ir.Attr):
        yield from ir.made_of(frame.code.exprs, [func.base])
    if isinstance(call, ir.Call):
        yield from ir.made_of(frame.code.exprs, [arg.value for arg in call.args])


def _iterates_by(number: int, iterates: DefKey, frame: Frame, model: Model) -> bool:
    """Whether an expression may be an object with this `__iter__`."""
    members = (model.ev.classes.member(one.cls, "__iter__") for one in model.ev.eval(number, frame).only(Instance))
    return any(one is not None and one.function is not None and def_key(one.function) == iterates for one in members)


def _is_where_workers_are(frame: Frame, number: int, loader: Loader, model: Model) -> bool:
    """Whether a call runs wherever the loader has workers: all tests around it ask for that."""
    one, exprs = model.def_of(frame), frame.code.exprs
    around = list(one.around(frame.code.context_of(number)))
    choices = [e for e in exprs if isinstance(e, ir.IfExp) and number in ir.made_of(exprs, [e.then])]
    if not all(here.kind == "if" and not here.negated for here in around):
        return False
    tests = [*(here.expr for here in around), *(choice.test for choice in choices)]
    return bool(tests) and all(_asks_for_workers(test, frame, loader, model) for test in tests)


def _asks_for_workers(test: int, frame: Frame, loader: Loader, model: Model) -> bool:
    """Whether a test says that the loader has workers: `num_workers > 0`, or just `num_workers`."""
    given = written(loader, "num_workers", model)
    is_number = given is not None and given.frame is frame and reads_same(test, given.number, frame.code.exprs)
    return is_number or is_for_workers(test, frame, loader, model)
