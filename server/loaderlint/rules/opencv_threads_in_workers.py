"""
# opencv-threads-in-workers (LDR201)

## What it does
Finds modules whose OpenCV calls run in workers, in projects that never call `cv2.setNumThreads(0)` where the workers would
see it.

## Why is this bad?
Each worker starts OpenCV's own pool of threads, as many as the machine has cores: workers times cores threads compete. With
builds on OpenMP (conda's, older ones) a worker that was forked after the main process had used OpenCV may hang for ever
(pytorch/pytorch#45198). The wheels on PyPI use pthreads; there no hang could be reproduced, only the extra threads.

## When it is not a bug
- `cv2.setNumThreads(0)` (or 1) at module level of a module that workers import, or in the `worker_init_fn`. Under
  `if __name__ == "__main__"` it reaches forked workers, and is lost where workers are spawned.
- ultralytics and mmengine call it themselves.
- A loader without workers.

## Example
```python
import cv2

class Images(Dataset):
    def __getitem__(self, index):
        return cv2.resize(cv2.imread(self.paths[index]), (224, 224))

loader = DataLoader(Images(), num_workers=8)
```

## Fixed
```python
def limit_opencv_threads(worker_id):
    cv2.setNumThreads(0)

loader = DataLoader(Images(), num_workers=8, worker_init_fn=limit_opencv_threads)
```

## Fix safety
Safe: the call in the `worker_init_fn` changes workers only. The second action puts it after `import cv2`, which also limits
the main process.

## References
- pytorch/pytorch#45198, pytorch/pytorch#1355, opencv/opencv#5150
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.findings import Finding, Fix, InsertFunction, InsertStatement, Intent, Place, SetArgument, Severity
from loaderlint.project.frames import Frame
from loaderlint.project.model import Exposure, Loader, Model
from loaderlint.project.values import Atom, FunctionRef, Lib
from loaderlint.rules.base import Rule, WorkerModule, in_workers_of, loudness, page

_SETTER = "setNumThreads"
#: Packages that limit OpenCV's threads when they are imported.
_LIMITING = ("ultralytics", "mmengine", "mmcv", "mmdet")

_LIMIT = '''\
def {limit_opencv_threads}(worker_id):
    """Keep OpenCV to one thread in each worker: there are workers enough."""
    {cv2}.setNumThreads(0)'''


def find(module: WorkerModule, model: Model) -> Iterator[Finding]:
    """One finding a module, on its import of cv2."""
    place = _import_place(module, model)
    if place is None:
        return
    used = _first_use(module, model)
    if used is None:
        return
    frame, exposure = used
    severity = loudness(Severity.INFORMATION, exposure.certainty)
    if severity is None:
        return
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"each worker starts OpenCV's own threads: cv2 runs {in_workers_of(exposure)} and nothing limits it there; "
        "call `cv2.setNumThreads(0)` in the worker_init_fn",
        place,
        "cv2",
        model.why(frame, exposure),
        _fixes(place, exposure, model),
    )


def _import_place(module: WorkerModule, model: Model) -> Place | None:
    """Where the module imports cv2 at module level."""
    file = model.files.file(module.path)
    for binding in [b for bindings in file.names.values() for b in bindings] if file else ():
        facts = model.ev.facts(module.path, binding.piece)
        if facts is None or binding.step < 0:
            continue
        step = facts.ir.defs[binding.def_].steps[binding.step]
        value = facts.ir.exprs[step.value] if isinstance(step, ir.Bind) else None
        if isinstance(value, ir.Imported) and value.module.partition(".")[0] == "cv2" and value.level == 0:
            return Place(module.path, binding.piece, facts.anchors.steps[binding.def_][binding.step])
    return None


def _first_use(module: WorkerModule, model: Model) -> tuple[Frame, Exposure] | None:
    """The first worker function of the module that calls cv2, for the loaders that nothing cures."""
    best: tuple[Frame, Exposure] | None = None
    for function in module.functions:
        for call in model.calls(function):
            if not any(isinstance(a, Lib) and a.name.startswith("cv2.") for a in call.callee.atoms):
                continue
            exposure = model.exposure(call.frame, 1, cured=lambda loader: _limited(loader, module, model))
            if exposure is not None and (best is None or best[1].certainty == "possible"):
                best = (call.frame, exposure)
                if exposure.certainty == "proven":
                    return best
    return best


def _limited(loader: Loader, module: WorkerModule, model: Model) -> bool:
    """Whether the workers of a loader see a call of `cv2.setNumThreads(0 or 1)`, or a package that makes it."""
    for package in _LIMITING:
        if any(_imports(path, package, model) for path in model.files.containing(package)):
            return True
    forked = loader.out_of_sight or "fork" in model.start_methods(loader)
    for path in model.files.containing(_SETTER):
        file = model.files.file(path)
        for piece in file.mentioning(_SETTER) if file else ():
            facts = model.ev.facts(path, piece)
            for def_, one in enumerate(facts.ir.defs if facts else ()):
                for step in one.steps:
                    if facts and isinstance(step, ir.Perform) and _limits(facts.ir, step.call):
                        at_module_level = def_ == 0 and not _under_guard(path, piece, model)
                        if at_module_level or forked or _in_worker(path, piece, def_, model):
                            return True
    return False


def _imports(path: Path, package: str, model: Model) -> bool:
    file = model.files.file(path)
    return file is not None and any(
        line.startswith((f"import {package}", f"from {package}")) for line in file.text.splitlines()
    )


def _limits(piece: ir.PieceIR, number: int) -> bool:
    call = piece.exprs[number]
    if not isinstance(call, ir.Call) or not call.args:
        return False
    func, first = piece.exprs[call.func], piece.exprs[call.args[0].value]
    named = isinstance(func, ir.Attr | ir.Global) and func.name == _SETTER
    return named and isinstance(first, ir.Const) and first.value in (0, 1)


def _under_guard(path: Path, piece: int, model: Model) -> bool:
    file = model.files.file(path)
    while file is not None and piece >= 0:
        if "__name__" in file.pieces[piece].text.split("\n", 1)[0]:
            return True
        piece = file.pieces[piece].parent
    return False


def _in_worker(path: Path, piece: int, def_: int, model: Model) -> bool:
    return any((f.path, f.piece, f.def_) == (path, piece, def_) for f in model.reached)


def _fixes(place: Place, exposure: Exposure, model: Model) -> tuple[Fix, ...]:
    fixes = []
    intents = list(_in_init(exposure, model))
    if intents and None not in intents:
        kept = tuple(dict.fromkeys(intent for intent in intents if intent is not None))
        fixes.append(Fix("Call `cv2.setNumThreads(0)` in each worker", "safe", kept))
    after = InsertStatement(place, "{cv2}.setNumThreads(0)\n{cv2}.ocl.setUseOpenCL(False)")
    fixes.append(Fix("Call `cv2.setNumThreads(0)` after `import cv2` (limits the main process too)", "unsafe", (after,)))
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
            yield InsertFunction(call.path, "limit_opencv_threads", _LIMIT)
            yield SetArgument(call, "worker_init_fn", "{limit_opencv_threads}")
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
