"""
# called-worker-init (LDR602)

## What it does
Finds loaders whose `worker_init_fn` is the result of a call that returns no function, or a function that cannot be
called with one argument, the worker's number.

## Why is this bad?
`worker_init_fn=init(0)` runs `init` once, in the main process, and passes its result. If the result is None, PyTorch
accepts it silently: no worker is set up, and a seed in `init` only reaches the main process.
`worker_init_fn=torch.manual_seed(0)`, and functions that take no argument or need two, raise a TypeError in the worker
at the first batch. Measured with torch 2.13.

## When it is not a bug
- The call returns a function (a factory), has an explicit `return None`, or calls code that is not available.
- The function has defaults for its other parameters, or `functools.partial` binds them.
- The loader has no workers and ignores the argument.
- `np.random.seed(0)` or `random.seed(0)` is called, and the samples draw nothing from the state that it sets: a hint.

## Example
```python
def init(worker_id):
    torch.set_num_threads(1)

loader = DataLoader(Crops(), num_workers=4, worker_init_fn=init(0))
```

## Fixed
```python
loader = DataLoader(Crops(), num_workers=4, worker_init_fn=init)
```

## Fix safety
Safe: the fix passes the function instead of calling it. Unsafe where the function seeds from its parameter, because
each worker would then get the same numbers in every epoch (`constant-worker-seed`). Where a library's seeding function
was called, the fix passes `seed_worker` instead, which is also unsafe.

## References
- [DataLoader](https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader): `worker_init_fn`
- [Randomness in multi-process data loading](https://pytorch.org/docs/stable/notes/randomness.html#dataloader)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.evaluation.values import Atom, FunctionRef, Lib, Method
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.base import Rule, page
from loaderlint.rules.called_worker_init.fixes import all_seed, uncalled_fixes
from loaderlint.rules.called_worker_init.init_calls import def_of, refusal, wrong_arguments
from loaderlint.rules.shared.global_draws import drawn_by_samples
from loaderlint.rules.shared.judgement import Verdict, certainty_of_workers, undoubted
from loaderlint.rules.shared.loader_call import Written, written
from loaderlint.rules.shared.silence_reasons import few_workers

_GIVING_NONE = frozenset({"numpy.random.seed", "random.seed"})


def find(loader: Loader, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each loader, at its worker_init_fn."""
    argument = written(loader, "worker_init_fn", model)
    if argument is None:
        return
    if loader.has_workers() == "no":
        if model.explains:
            yield Silence(RULE.name, argument.place(model), few_workers(loader))
        return
    wrong = _called_too_early(argument, model) or _uncallable(argument, model)
    if wrong is None:
        if model.explains:
            fine = "no fault is known in what is passed"
            yield Silence(RULE.name, argument.place(model), fine)
        return
    verdict = undoubted(RULE, certainty_of_workers(loader))
    if _seeds_for_nothing(argument, loader, model):
        verdict = Verdict(RULE.name, Severity.HINT, verdict.certainty)
    message = f"{wrong} (`worker_init_fn` of {loader.described})"
    yield verdict.finding(message, argument.place(model), "worker_init_fn", fixes=uncalled_fixes(argument, model))


def _called_too_early(argument: Written, model: Model) -> str | None:
    """What is wrong where a call is passed that gives no function."""
    call = model.ev.expr(argument.frame, argument.number)
    value = model.ev.eval(argument.number, argument.frame)
    if not isinstance(call, ir.Call):
        return None
    callees = model.ev.eval(call.func, argument.frame).ordered()
    if all_seed(callees):
        assert isinstance(callees[0], Lib)
        name = callees[0].name
        return f"`{name}` is called here, once, in the main process, and seeds no worker; pass a function that seeds"
    literal = value.literal
    if (
        literal is None
        or literal.kind != "NoneType"
        or not all(isinstance(one, FunctionRef | Method) for one in callees)
    ):
        return None
    if any(_returns_on_purpose(callee, model) for callee in callees):
        return None
    name = _name(callees[0], model)
    if any(_fails(callee, argument, call, model) for callee in callees):
        return f"`{name}` is called here without its argument, which raises TypeError; pass `{name}`"
    return f"`{name}` is called here, once, in the main process, and returns no function for the workers; pass `{name}`"


def _seeds_for_nothing(argument: Written, loader: Loader, model: Model) -> bool:
    """Whether a library's seeding function is called that gives None, and the samples draw nothing from its state."""
    call = model.ev.expr(argument.frame, argument.number)
    callees = model.ev.eval(call.func, argument.frame).ordered() if isinstance(call, ir.Call) else []
    seeders = [one.name for one in callees if isinstance(one, Lib) and one.name in _GIVING_NONE]
    return bool(seeders) and len(seeders) == len(callees) and drawn_by_samples(seeders, loader, model) == "no"


def _returns_on_purpose(callee: Atom, model: Model) -> bool:
    """Whether a function says itself that it gives None: a factory with nothing to set up."""
    function = callee.function if isinstance(callee, Method) else callee
    one = def_of(function, model) if isinstance(function, FunctionRef) else None
    return one is None or any(isinstance(step, ir.Return) and step.value != NONE for step in one.steps)


def _fails(callee: Atom, argument: Written, call: ir.Call, model: Model) -> bool:
    """Whether the call itself lacks an argument."""
    passed = model.ev.calls.arguments(call, argument.frame)
    return isinstance(callee, FunctionRef) and wrong_arguments(callee, passed, 0, model) is not None


def _name(callee: Atom, model: Model) -> str:
    function = callee.function if isinstance(callee, Method) else callee
    one = def_of(function, model) if isinstance(function, FunctionRef) else None
    return one.name if one and one.name else "the function"


def _uncallable(argument: Written, model: Model) -> str | None:
    """What is wrong where the value cannot be called with the worker's number."""
    value = model.ev.eval(argument.number, argument.frame)
    reasons = {refusal(atom, model) for atom in value.atoms}
    reason = reasons.pop() if len(reasons) == 1 else None
    return f"every worker fails at its start: {reason}" if reason else None


RULE = Rule(
    code="LDR602",
    name="called-worker-init",
    severity=Severity.ERROR,
    needs="W1",
    over="loader",
    find=find,
    fix="safe",
    page=page(__doc__),
)
