"""
# stop-iteration-sample (LDR506)

## What it does
Finds `next(...)` without a default in the code that makes a sample or a batch, where a StopIteration goes up to the
loader.

## Why is this bad?
The loader's own iterator ends with StopIteration. One that comes out of `__getitem__` or out of the `collate_fn` looks
the same: the epoch ends there, without an error, and the rest of the data is never seen. Measured on PyTorch 2.13, 8
items and an iterator over 2: 2 items come, with 0 workers, with 1, and under each start method. With several workers
one that runs out ends the epoch for all.

## When it is not a bug
- `next(items, default)`, or a `try` around it that catches StopIteration.
- The iterator never ends: `itertools.cycle(...)`, a generator with `while True`.
- The iterator is made for this sample and has an item for sure: `next(iter(self.paths.values()))`.
- Inside a generator function Python makes a RuntimeError of it, which is loud.
- Iterable datasets: `__next__` is meant to end so.

## Example
```python
class Pairs(Dataset):
    def __init__(self, images, backgrounds):
        self.images = images
        self.backgrounds = iter(backgrounds)

    def __getitem__(self, index):
        return self.images[index], next(self.backgrounds)
```

## Fixed
```python
def next_or_fail(items):
    try:
        return next(items)
    except StopIteration:
        raise RuntimeError("no more items for this sample") from None

class Pairs(Dataset):
    def __init__(self, images, backgrounds):
        self.images = images
        self.backgrounds = iter(backgrounds)

    def __getitem__(self, index):
        return self.images[index], next_or_fail(self.backgrounds)
```

## Fix safety
Unsafe: the epoch fails where it ended before. What should come instead (a default, the items from the start, an index)
only the author knows.

## References
- `torch/utils/data/_utils/fetch.py` asks the dataset for each sample, `_BaseDataLoaderIter.__next__` in
  `torch/utils/data/dataloader.py` lets what it raises through
- [PEP 479](https://peps.python.org/pep-0479/): StopIteration inside generators
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Finding, Fix, InsertFunction, Replace, Severity, Silence
from loaderlint.knowledge.iterators import FOUND_FILES_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib
from loaderlint.project.reach.model import Model, Part, WorkerCall, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.lazy_places import Spot
from loaderlint.rules.shared.one_shot_iterators import Kept, kept, one_shot
from loaderlint.rules.shared.silence_reasons import silent
from loaderlint.rules.shared.wording import loaders_of
from loaderlint.rules.stop_iteration_sample.stopped_iterations import STOPPED, Stops, is_stopped

_NEXT_OR_FAIL = '''\
def {next_or_fail}(items):
    """The next one of `items`. That there is none is an error here: a StopIteration would end the loader's epoch."""
    try:
        return next(items)
    except StopIteration:
        raise RuntimeError("no more items for this sample") from None'''


_PARTS: tuple[Part, ...] = ("sample", "collate")
_NEXT = Lib("builtins.next")
_NOT_KNOWN = "what it draws from is not known to run out, or to be empty"


@dataclass(frozen=True, slots=True)
class _Risk:
    """A call of `next` that may raise: when, how loud that is, and what is unknown of it."""

    when: str
    severity: Severity
    unknowns: int


class Next(NamedTuple):
    """A call of `next`, and when it raises."""

    call: WorkerCall
    when: str


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding a bare `next`."""
    for one in judged(RULE, _candidates(function, model), model, parts=_PARTS):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Next] | Silence]:
    """The calls of `next` without a default whose StopIteration leaves the def."""
    for call in model.calls(function):
        if _NEXT not in call.callee.atoms or len(call.call.args) != 1 or call.call.args[0].kind != "pos":
            continue
        here = Spot(call.frame, call.number)
        risk = _risk(call.call.args[0].value, call.frame, model)
        if risk is None or is_stopped(call, model):
            yield from silent(RULE.name, here, _NOT_KNOWN if risk is None else STOPPED, model)
            continue
        cure = Stops(call.frame, model).cure
        yield Candidate(Next(call, risk.when), call.frame, here, cure, severity=risk.severity, doubts=risk.unknowns)


def _finding(verdict: WorkerVerdict[Next], model: Model) -> Finding:
    call, when = verdict.about
    label = model.label(call.frame)
    return verdict.finding(
        f"the epoch of {loaders_of(verdict.exposure)} ends early and nothing is said: `next` in {label} "
        f"raises StopIteration {when}, which the loader takes for the end of the data; give it a default or "
        "raise another exception",
        verdict.spot.place(model),
        label,
        verdict.why(model),
        _fixes(call, model),
    )


# --- whether it raises ------------------------------------------------------------------------------------------------


def _risk(items: int, frame: Frame, model: Model) -> _Risk | None:
    found = kept(items, frame, model) or _kept_in_list(items, frame, model)
    if found is not None:
        unknowns = 1 if found.made.doubtful else 0
        return _Risk(f"once `{found.described}` runs out", Severity.ERROR, unknowns)
    made = one_shot(items, frame, model)
    if made is None or not made.searches:
        return None  # an iterator over something that is there: `next(iter(self.paths))`
    e = model.ev.expr(made.frame, made.expr)
    func = model.ev.expr(made.frame, e.func) if isinstance(e, ir.Call) else None
    files = isinstance(func, ir.Attr) and func.name in (*FOUND_FILES_METHODS, "iglob", "scandir")
    return _Risk("where no file is found" if files else "where nothing matches", Severity.WARNING, 0)


def _kept_in_list(items: int, frame: Frame, model: Model) -> Kept | None:
    """`next(self.iterators[i])` of a list of iterators that the constructor makes."""
    e = model.ev.expr(frame, items)
    base = model.ev.expr(frame, e.base) if isinstance(e, ir.Index) else None
    owners = model.ev.eval(base.base, frame).only(Instance) if isinstance(base, ir.Attr) else []
    if not isinstance(base, ir.Attr) or len(owners) != 1 or not isinstance(owners[0], Instance):
        return None
    stores = model.ev.classes.stores(owners[0], base.name)
    if len(stores) != 1 or not stores[0].construction or _sets_items(base.name, model):
        return None
    step = model.def_of(stores[0].frame).steps[stores[0].step]
    value = model.ev.expr(stores[0].frame, step.value) if isinstance(step, ir.SetAttr) else None
    element = value.element if isinstance(value, ir.Comp) and value.kind in ("list", "dict") else NONE
    made = one_shot(element, stores[0].frame, model)
    return Kept(f"{base.name}[...]", owners[0], made) if made else None


def _sets_items(name: str, model: Model) -> bool:
    """Whether workers put something into an attribute of this name: `self.iterators[i] = iter(...)`."""
    for frame in model.reached:
        for step in model.def_of(frame).steps:
            base = model.ev.expr(frame, step.base) if isinstance(step, ir.SetItem) else None
            if isinstance(base, ir.Attr) and base.name == name:
                return True
    return False


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fixes(call: WorkerCall, model: Model) -> tuple[Fix, ...]:
    """Another exception, from a function beside it."""
    if not isinstance(model.ev.expr(call.frame, call.call.func), ir.Global):
        return ()
    function = InsertFunction(call.frame.path, "next_or_fail", _NEXT_OR_FAIL)
    replaced = Replace(model.place(call.frame, call.call.func), "{next_or_fail}")
    return (Fix("Fail where there is no next item", "unsafe", (function, replaced)),)


RULE = Rule(
    code="LDR506",
    name="stop-iteration-sample",
    severity=Severity.ERROR,
    needs="L",
    over="worker function",
    find=find,
    fix="unsafe",
    page=page(__doc__),
)
