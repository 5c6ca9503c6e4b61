"""
# unpicklable-callable (LDR301)

## What it does
Finds lambdas, nested functions and objects of local classes that are sent to a loader's workers: as `collate_fn` or
`worker_init_fn`, as a transform, or as an attribute of the dataset, also in the dicts and lists that it keeps. A
function of the module counts, too, if a decorator puts a wrapper in its place that keeps a name of its own.

## Why is this bad?
Workers that are not forked get the dataset, the collate function and the worker init function by pickle, which stores a
function as a module name and a name in that module. Lambdas and nested functions have no such name. Before the first
batch, the loader raises `AttributeError: Can't pickle local object 'main.<locals>.<lambda>'` (Python 3.12:
`Can't get local object`) or `PicklingError: Can't pickle <function <lambda>>: attribute lookup <lambda> on __main__
failed`. This happens on Windows, on macOS, on Linux from Python 3.14 on, and with `multiprocessing_context="spawn"`
everywhere (measured: torch 2.13 with spawn and forkserver). Forked workers are not affected.

## When it is not a bug
- The workers are forked: Linux before Python 3.14, unless the program sets another start method.
- The loader has no workers.
- The lambda stays in the main process: the key of a `sorted`, an argument of a sampler or callback, a class attribute.
- The worker creates it: in `__getitem__`, in the collate function, in the `worker_init_fn`.
- The class leaves it out of its `__getstate__`.
- It is a function, class or method of a module, or a `functools.partial` of one. The wrapper of a decorator has the
  function's name if it is decorated with `functools.wraps`.
- A test passes its lambda to a loader of the project whose number of workers is not known.
- The loader is created in a branch that excludes that of the lambda (`if args.data in ("a", "b"):` and `if args.data
  == "c":`), or the lambda's branch also sets the number of workers to 0.
- What always fails comes before it in the function that makes it, such as an import of a name that the module does not
  have.
- The test is skipped where workers are spawned, or the branch is for other platforms: `if sys.platform != "win32":`.

## Example
```python
train_loader = DataLoader(
    Crops(), num_workers=4, multiprocessing_context="spawn", collate_fn=lambda batch: batch
)
```

## Fixed
```python
def collate(batch):
    return batch


train_loader = DataLoader(
    Crops(), num_workers=4, multiprocessing_context="spawn", collate_fn=collate
)
```

## Fix safety
Safe where the function uses no names of the functions around it: it becomes a function of the module. Names that it
uses are passed with `functools.partial`, and so are names that the module binds only under its main guard, which
workers do not run. A lambda that is the only value of a name becomes the function of that name: `identity = lambda row:
row` becomes `def identity(row)`. A lambda that only calls a function of the file, or one that the file imports, becomes
that function, or a partial of it. That is safe where each name is bound once and holds something that is known to
pickle, and otherwise unsafe. It is unsafe for a name that the module binds again, such as a loop variable: a lambda
reads its last value. It is unsafe, too, if the workers could not start afterwards either, because the loader sends
something else that cannot be pickled and that no safe fix changes, or because the script has no main guard and no safe
fix adds one: half of the change would not help. There is no fix for local classes, for functions that change names
around them, or in a notebook: workers do not have what its cells define.

## References
- [Platform-specific behaviors](https://pytorch.org/docs/stable/data.html#platform-specific-behaviors)
- [What can be pickled](https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled)
- Python 3.14 starts workers by forkserver: [What's new](https://docs.python.org/3.14/whatsnew/3.14.html)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from loaderlint.findings.finding import Evidence, Finding, Fix, Severity, Silence
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Site, def_key
from loaderlint.project.modules.tests_and_tutorials import in_tests
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.judgement import Unsaid, unset_at, unset_evidence, weighed
from loaderlint.rules.shared.pickled_to_workers import (
    Payload,
    cannot_start,
    made_at,
    passed_as,
    payloads,
    sent_by,
    start_severity,
)
from loaderlint.rules.shared.silence_reasons import few_workers, silent, unpickled
from loaderlint.rules.shared.unresolved_places import spot_of
from loaderlint.rules.unpicklable_callable.fixes import naming_fixes, wraps
from loaderlint.rules.unpicklable_callable.unnamed_callables import (
    described,
    is_alternative,
    name_of,
    place_of,
    unnamed,
)
from loaderlint.syntax.notebook import SUFFIX


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each function or class that is sent and has no name that pickle can write."""
    exposure = model.exposed(1 << loader.index, None, 1)
    loud = start_severity(loader, model)
    if exposure is None or loud is None:
        if loader.site is not None:
            reason = few_workers(loader) if exposure is None else unpickled(loader, model)
            yield from silent(RULE.name, spot_of(loader.site), reason, model)
        return
    for payload, ref in model.remembered(_sent, loader):
        certainty = exposure.certainty if _is_sure(ref, payload, model) else "possible"
        option = _option_of(ref, loader, model)
        verdict = weighed(RULE, certainty, 0 if option is None else 1, loud)
        place = place_of(ref, model)
        if isinstance(verdict, Unsaid):
            yield Silence(RULE.name, place, verdict.reason)
            continue
        if certainty == "possible" and _is_chosen_by_test(place.path, loader, model):
            yield Silence(RULE.name, place, "a test passes it to the loader, and chooses the number of workers")
            continue
        yield verdict.finding(
            f"{cannot_start(loader, model)}: {described(ref, payload, model)} is sent to them as {payload.held}, and "
            f"pickle cannot name it; {_advice(ref, payload)}",
            place,
            name_of(ref, model),
            (
                *_made_by(ref, model),
                *payload.shown(model, place),
                *passed_as(payload, loader, model),
                *sent_by(loader, model),
                *unset_evidence(option, model),
            ),
            _fixes(ref, payload, model),
        )


def _sent(loader: Loader, model: Model) -> list[tuple[Payload, FunctionRef | ClassRef]]:
    """What a loader sends and has no name that pickle can write."""
    found = ((payload, unnamed(payload, model)) for payload in payloads(loader, model))
    return [(payload, ref) for payload, ref in found if ref is not None]


def _fixes(ref: FunctionRef | ClassRef, payload: Payload, model: Model) -> tuple[Fix, ...]:
    """The fix of a function: unsafe if it lets no workers start, because every loader that sends it sends something
    else whose fix is not safe, or is made together with a loader that does."""
    fixes = _naming(ref, payload, model)
    curable = model.once(_curable)
    if ref in curable.together:
        return fixes
    other = "another loader here" if ref in curable.alone else "its loader"
    title = f"{{}}; {other} sends something else that pickle cannot name"
    return tuple(
        replace(fix, title=title.format(fix.title), safety="unsafe") if fix.safety == "safe" else fix for fix in fixes
    )


class _Curable(NamedTuple):
    """What loaders send for which safe fixes name all that these loaders send (`alone`), and all that the loaders send
    which the same function, class or script makes (`together`)."""

    alone: frozenset[FunctionRef | ClassRef]
    together: frozenset[FunctionRef | ClassRef]


def _curable(model: Model) -> _Curable:
    alone: set[FunctionRef | ClassRef] = set()
    by_maker: dict[Hashable, set[FunctionRef | ClassRef]] = {}
    incurable: set[Hashable] = set()
    for loader in model.loaders:
        if model.exposed(1 << loader.index, None, 1) is None or start_severity(loader, model) is None:
            continue
        sent, maker = model.remembered(_sent, loader), _maker(loader, model)
        if all(_is_safe(ref, payload, model) for payload, ref in sent):
            alone.update(ref for _, ref in sent)
            by_maker.setdefault(maker, set()).update(ref for _, ref in sent)
        elif any(_is_sure(ref, payload, model) and not _is_safe(ref, payload, model) for payload, ref in sent):
            incurable.add(maker)
    whole = (refs for maker, refs in by_maker.items() if maker not in incurable)
    return _Curable(frozenset(alone), frozenset().union(*whole))


def _maker(loader: Loader, model: Model) -> Hashable:
    """What makes a loader: the function, the class of the method, or the script."""
    frame = loader.site.frame if loader.site is not None else None
    file = model.files.file(frame.path) if frame is not None else None
    if frame is None or file is None:
        return loader.index
    if frame.def_ == 0:
        return frame.path
    around = next((above for above in file.around(frame.piece) if file.pieces[above].kind == "class"), -1)
    return (frame.path, around) if around >= 0 else def_key(frame)


def _is_sure(ref: FunctionRef | ClassRef, payload: Payload, model: Model) -> bool:
    return not payload.guessed and not is_alternative(ref, model)


def _is_safe(ref: FunctionRef | ClassRef, payload: Payload, model: Model) -> bool:
    return any(fix.safety == "safe" for fix in _naming(ref, payload, model))


def _naming(ref: FunctionRef | ClassRef, payload: Payload, model: Model) -> tuple[Fix, ...]:
    return model.remembered(naming_fixes, ref, payload) if isinstance(ref, FunctionRef) else ()


def _option_of(ref: FunctionRef | ClassRef, loader: Loader, model: Model) -> Site | None:
    """The test of an option that is off by default, in whose branch a function or class is made."""
    made = made_at(ref)
    return unset_at(made, loader, model) if made is not None else None


def _made_by(ref: FunctionRef | ClassRef, model: Model) -> Iterator[Evidence]:
    """The function in which a function or class is made."""
    if ref.scope is not None and ref.scope.def_ != 0:
        label = model.label(ref.scope)
        yield Evidence(model.def_place(ref.scope), f"each call of {label} makes one")


def _is_chosen_by_test(path: Path, loader: Loader, model: Model) -> bool:
    """Whether a test hands what is in its file to a loader of the project. A loader that takes its number of
    workers from the caller has passed that test."""
    root = model.files.root
    return in_tests(path, root) and loader.site is not None and not in_tests(loader.site.frame.path, root)


def _advice(ref: FunctionRef | ClassRef, payload: Payload) -> str:
    if ref.path.suffix == SUFFIX:
        return "move it to a module that the notebook imports"
    if isinstance(ref, ClassRef):
        return "move the class to the module"
    if wraps(ref, payload):
        return "decorate it with `functools.wraps`"
    return "make it a function of the module"


RULE = Rule(
    code="LDR301",
    name="unpicklable-callable",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
    stops_start=True,
)
