"""
# opencv-threads-in-workers (LDR201)

## What it does
Finds modules whose OpenCV calls run in workers, in projects that never call `cv2.setNumThreads(0)` where the workers
would see it.

## Why is this bad?
Each worker starts OpenCV's own pool of threads, as many as the machine has cores: workers times cores threads compete.
With builds on OpenMP (conda's, older ones) a worker that was forked after the main process had used OpenCV may hang for
ever (pytorch/pytorch#45198). The wheels on PyPI use pthreads; there no hang could be reproduced, only more threads.

## When it is not a bug
- `cv2.setNumThreads(0)` (or 1) at module level of a module that workers import, or in the `worker_init_fn`. Under
  `if __name__ == "__main__"`, or in a function that the main process calls, it reaches forked workers, and is lost
  where workers are spawned.
- ultralytics and mmengine call it themselves.
- Reading and writing images, flips and drawing (`cv2.imread`, `imdecode`, `flip`, `rectangle`, ...) start no thread.
- A loader without workers.

## Example
```python
import cv2

class Images(Dataset):
    def __getitem__(self, index):
        return cv2.GaussianBlur(cv2.imread(self.paths[index]), (5, 5), 0)

loader = DataLoader(Images(), num_workers=8)
```

## Fixed
```python
def init_worker(worker_id):
    cv2.setNumThreads(0)

loader = DataLoader(Images(), num_workers=8, worker_init_fn=init_worker)
```

## Fix safety
Safe: the call in the `worker_init_fn` changes workers only. The second action puts it after `import cv2`, which also
limits the main process.

## References
- pytorch/pytorch#45198, pytorch/pytorch#1355, opencv/opencv#5150
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import (
    Evidence,
    Finding,
    Fix,
    InsertFunction,
    InsertStatement,
    Intent,
    Place,
    SetArgument,
    Severity,
    Silence,
)
from loaderlint.knowledge.opencv import SERIAL
from loaderlint.project.evaluation.values import Atom, FunctionRef, Lib
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerCall
from loaderlint.rules.base import Rule, WorkerModule, page
from loaderlint.rules.opencv_threads_in_workers.opencv_limits import Limits
from loaderlint.rules.shared.judgement import Candidate, WorkerVerdict, judged
from loaderlint.rules.shared.lazy_places import Spot
from loaderlint.rules.shared.wording import in_workers_of

#: How many calls a finding shows.
_MAX_SHOWN_CALLS = 8

_LIMITED = "cv2.setNumThreads limits OpenCV's threads there"
_LIMIT = """\
def {init_worker}(worker_id):
    # The workers already run in parallel.
    {cv2}.setNumThreads(0)"""


class Import(NamedTuple):
    """An import of cv2. `plain`: at module level, under no condition."""

    spot: Spot
    plain: bool


def find(module: WorkerModule, model: Model) -> Iterator[Finding | Silence]:
    """One finding a module, on its import of cv2."""
    imported = next(_imports(module, model), None)
    if imported is None:
        return
    limits = Limits(model)

    def cure(loader: Loader) -> str:
        return _LIMITED if limits.reach(loader, module.path) else ""

    calls = (Candidate(call, call.frame, imported.spot, cure, key=module.path) for call in _calls(module, model))
    for one in judged(RULE, calls, model):
        yield one if isinstance(one, Silence) else _finding(one, imported, limits, model)


def _finding(verdict: WorkerVerdict[WorkerCall], imported: Import, limits: Limits, model: Model) -> Finding:
    lost = " (what stands under `__main__` is not run by spawned workers)" if limits.lost else ""
    return verdict.finding(
        f"each worker starts OpenCV's own threads: cv2 runs {in_workers_of(verdict.exposure)} and nothing limits it "
        f"there{lost}; call `cv2.setNumThreads(0)` in the worker_init_fn",
        imported.spot.place(model),
        "cv2",
        (*_called(verdict, model), *verdict.why(model)),
        _fixes(imported, verdict.exposure, model),
    )


# --- where cv2 is imported and called ---------------------------------------------------------------------------------


def _imports(module: WorkerModule, model: Model) -> Iterator[Import]:
    """Where cv2 is imported: at module level first, then in the functions that workers run."""
    file = model.files.file(module.path)
    if file is None or not file.mentioning("cv2"):
        return  # as in most modules that workers run: do not parse them for it
    for binding in file.bindings_holding("cv2"):
        spot = Spot(model.ev.body(module.path, binding.piece), binding.step, "step")
        if binding.def_ == 0 and _imports_cv2(spot, model):
            yield Import(spot, not binding.conditional)
    for function in module.functions:
        for frame in function.frames[:1]:
            spots = (Spot(frame, step, "step") for step in range(len(model.def_of(frame).steps)))
            yield from (Import(spot, plain=False) for spot in spots if _imports_cv2(spot, model))


def _imports_cv2(spot: Spot, model: Model) -> bool:
    """Whether a step binds cv2 or a part of it."""
    file = model.files.file(spot.frame.path)
    one = model.ev.def_of(spot.frame)
    if one is None or spot.number < 0 or file is None or not file.pieces[spot.frame.piece].holds("cv2"):
        return False
    step = one.steps[spot.number]
    value = model.ev.expr(spot.frame, step.value) if isinstance(step, ir.Bind) else None
    return isinstance(value, ir.Imported) and value.module.partition(".")[0] == "cv2" and value.level == 0


def _calls(module: WorkerModule, model: Model) -> Iterator[WorkerCall]:
    """The calls of cv2 that worker functions of the module make, in every frame."""
    for function in module.functions:
        for call in model.calls(function):
            if any(isinstance(a, Lib) and _starts_threads(a.name) for a in call.callee.atoms):
                yield call


def _starts_threads(name: str) -> bool:
    return name.startswith("cv2.") and name not in SERIAL and not name.startswith("cv2.ocl.")


def _called(verdict: WorkerVerdict[WorkerCall], model: Model) -> Iterator[Evidence]:
    """Where cv2 is called, the first few places."""
    bits = sum(1 << loader.index for loader in verdict.exposure.loaders)
    calls = [call for call in verdict.together if model.reached[call.frame].bits() & bits]
    places = {model.place(call.frame, call.number): model.label(call.frame) for call in calls}
    for place, label in [*places.items()][:_MAX_SHOWN_CALLS]:
        yield Evidence(place, f"{label} calls cv2 here")


# --- the fix ----------------------------------------------------------------------------------------------------------


def _fixes(imported: Import, exposure: Exposure, model: Model) -> tuple[Fix, ...]:
    fixes = []
    intents = list(_in_init(exposure, model))
    if intents and None not in intents:
        kept = tuple(dict.fromkeys(intent for intent in intents if intent is not None))
        fixes.append(Fix("Call `cv2.setNumThreads(0)` in each worker", "safe", kept))
    if imported.plain:
        after = InsertStatement(imported.spot.place(model), "{cv2}.setNumThreads(0)\n{cv2}.ocl.setUseOpenCL(False)")
        title = "Call `cv2.setNumThreads(0)` after `import cv2` (limits the main process too)"
        fixes.append(Fix(title, "unsafe", (after,)))
    return tuple(fixes)


def _in_init(exposure: Exposure, model: Model) -> Iterator[Intent | None]:
    """The call in each loader's worker_init_fn, a new one where there is none; None where that cannot be done."""
    for loader in exposure.loaders:
        passed = loader.argument("worker_init_fn")
        literal = passed.literal
        if loader.site is None or loader.kind.name != "torch.utils.data.DataLoader":
            yield None
        elif literal is not None and literal.value is None:
            call = model.site_place(loader.site)
            yield InsertFunction(call.path, "init_worker", _LIMIT)
            yield SetArgument(call, "worker_init_fn", "{init_worker}")
        else:
            yield _first_statement(passed.only(FunctionRef), model)


def _first_statement(functions: Sequence[Atom], model: Model) -> Intent | None:
    """`cv2.setNumThreads(0)` before the first statement of a worker_init_fn of the project."""
    function = functions[0] if len(functions) == 1 else None
    if not isinstance(function, FunctionRef):
        return None
    facts = model.ev.facts(function.path, function.piece)
    if facts is None or facts.ir.defs[function.def_].kind != "function":
        return None
    for number, step in enumerate(facts.ir.defs[function.def_].steps):
        value = facts.ir.exprs[step.expr] if isinstance(step, ir.Evaluate) else None
        if isinstance(value, ir.Const):
            continue  # the docstring
        if isinstance(step, ir.Perform) or step.context != 0:
            continue  # its statement comes next, or it stands inside a block
        anchor = facts.anchors.steps[function.def_][number]
        return InsertStatement(Place(function.path, function.piece, anchor), "{cv2}.setNumThreads(0)", "before")
    return None


RULE = Rule(
    code="LDR201",
    name="opencv-threads-in-workers",
    severity=Severity.INFORMATION,
    needs="W1",
    over="worker module",
    find=find,
    fix="safe",
    page=page(__doc__),
)
