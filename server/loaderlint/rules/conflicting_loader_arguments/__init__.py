"""
# conflicting-loader-arguments (LDR601)

## What it does
Finds DataLoaders with combinations of arguments, or single values, that PyTorch rejects.

## Why is this bad?
The constructor or the first iteration raises an exception. Measured with torch 2.13:

| arguments | what happens |
|---|---|
| `num_workers=0` with `persistent_workers=True`, `prefetch_factor=...`, `multiprocessing_context=...` | ValueError |
| `num_workers=0` with `timeout` > 0; workers with `prefetch_factor=0` | AssertionError at the first iteration |
| `shuffle=True` with `sampler` | ValueError |
| `batch_sampler` with `batch_size` (not 1), `shuffle=True`, `sampler` or `drop_last=True` | ValueError |
| `batch_size=None` with `drop_last=True` | ValueError |
| an iterable dataset with `shuffle=True`, `sampler` or `batch_sampler` | ValueError |
| negative `num_workers`, `timeout`, `prefetch_factor`; `batch_size` < 1 or a float; no start method | ValueError |
| `num_workers=None` | TypeError |
| `num_workers` a float | TypeError at the first iteration |

The usual cause is a hard-coded `persistent_workers=True`: the program fails when someone sets the number of workers to
0 to debug it.

## When it is not a bug
- One argument depends on the other: `persistent_workers=num_workers > 0`, `shuffle=sampler is None`.
- The call is under a test of the number of workers, or in `pytest.raises`.
- The values are allowed: `shuffle=False` with a sampler or an iterable dataset; `batch_size=1` with a batch sampler;
  before torch 2.0, `prefetch_factor=2`, which was the default.
- The values come from `**kwargs`, or from code that is not available.
- PyTorch raises at the first iteration only, and nothing iterates over the loader: a test creates it and reads
  `loader.timeout`.
- Both values depend on options, which a user may set together.

The severity depends on where the value comes from: error for a constant; warning for a default (of a command line
option, of a parameter); information where some path to the call has the value, or where the person who runs the program
may choose 0 workers. A `batch_size` that is None on some path is a hint: a program that takes this path has failed
before. So is an option for it that somebody forgets, if it has a type and no default and no code compares it with None.

## Example
```python
loader = DataLoader(data, num_workers=args.workers, persistent_workers=True)
```

## Fixed
```python
loader = DataLoader(data, num_workers=args.workers, persistent_workers=args.workers > 0)
```

## Fix safety
Safe: the fix makes one argument depend on the other, or removes an argument that has no effect. If the argument already
depends on the number of workers, but is wrong without them, the fix corrects that condition, also where it is assigned
to an attribute. If the argument comes from a dict, the fix overrides it at the call, `**{**COMMON, "prefetch_factor":
None}`, because other calls may use the dict. If the 0 workers come from the dict too, and nothing else uses it, the fix
changes the argument in the dict. Unsafe where the fix removes something the author wants, such as the shuffling of an
iterable dataset, and where the call passes another argument that needs workers and comes from a configuration: it may
raise as well. Unsafe also where code reads the argument from the loader, as in `loader.timeout`, or the length of a
loader with `drop_last`.

## References
- [DataLoader](https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Certainty, Finding, Severity, Silence
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.conflicting_loader_arguments.argument_pairs import Conflict, Sure, conflicts
from loaderlint.rules.conflicting_loader_arguments.expected_errors import is_expected
from loaderlint.rules.conflicting_loader_arguments.fixes import argument_fixes
from loaderlint.rules.shared.judgement import Verdict
from loaderlint.rules.shared.loader_call import written

#: Loaders that pass their arguments to torch's constructor.
_CHECKED = frozenset(
    {
        "torch.utils.data.DataLoader",
        "torchdata.stateful_dataloader.StatefulDataLoader",
        "torch_geometric.loader.DataLoader",
        "torch_geometric.loader.DataListLoader",
        "torch_geometric.loader.DenseDataLoader",
    }
)
_WHEN = {
    "always": ", and there are none",
    "by default": ", and by default there are none",
    "sometimes": ", and some callers set none",
    "if chosen": ", and a user may choose 0",
}


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each argument that torch rejects, at the argument."""
    if loader.site is None or loader.kind.name not in _CHECKED:
        return
    for conflict in _weighed(loader, model):
        severity = _severity(conflict, loader)
        argument = written(loader, conflict.argument, model)
        place = argument.place(model) if argument else model.site_place(loader.site)
        if severity is None:
            yield Silence(RULE.name, place, f"`{conflict.argument}` depends on two options, which may be set together")
            continue
        if conflict.raised == "at iteration" and model.is_idle(loader):
            yield Silence(RULE.name, place, "nothing iterates over this loader, and its call does not raise")
            continue
        other = written(loader, conflict.other, model) if conflict.other else None
        if is_expected(loader.site, other.number if other else NONE, model):
            yield Silence(RULE.name, place, "the code tests for it first, or expects the exception")
            continue
        certainty: Certainty = "proven" if "sometimes" not in (conflict.hard, conflict.soft) else "possible"
        yield Verdict(RULE.name, severity, certainty).finding(
            f"{conflict.reason.replace('{when}', _WHEN.get(conflict.soft, ''))} ({loader.described})",
            place,
            conflict.argument,
            fixes=tuple(argument_fixes(conflict, loader, model)),
        )


def _weighed(loader: Loader, model: Model) -> Iterator[Conflict]:
    """The conflicts of a loader. One that only some ways to the same call have is less sure; a value that is wrong by
    itself there is the caller's (a test that passes nonsense, say)."""
    site = loader.site
    same = model.made_at(site.frame.path, site.frame.piece, site.expr) if site else ()
    others = [one for one in same if one is not loader]
    everywhere = [{found.argument for found in conflicts(one, model)} for one in others]
    for conflict in conflicts(loader, model):
        if all(conflict.argument in found for found in everywhere):
            yield conflict
        elif conflict.other:
            yield conflict if conflict.soft == "if chosen" else replace(conflict, soft="sometimes")


def _severity(conflict: Conflict, loader: Loader) -> Severity | None:
    """What is certain is an error. What depends on two choices is silent: they may be made together."""
    sure: set[Sure] = {conflict.hard, conflict.soft}
    if sure == {"always"}:
        return Severity.ERROR
    if sure <= {"always", "by default"}:
        return Severity.WARNING
    if (conflict.hard, conflict.soft) == ("sometimes", "always"):
        return Severity.INFORMATION if loader.argument(conflict.argument).unknown is None else None
    if conflict.hard != "always":
        return None
    return Severity.HINT if conflict.other == "batch_size" else Severity.INFORMATION


RULE = Rule(
    code="LDR601",
    name="conflicting-loader-arguments",
    severity=Severity.ERROR,
    needs="L",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
