"""The fixes: limit the threads of OpenCV in each worker, or wherever cv2 is imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.findings.finding import Fix, InsertFunction, InsertStatement, Intent, Safety, SetArgument
from loaderlint.project.evaluation.values import Atom, FunctionRef
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.opencv_threads_in_workers.opencv_imports import Import
from loaderlint.rules.shared.first_statement import first_statement

_LIMIT = """\
def {init_worker}(worker_id):
    # The workers already run in parallel.
    {cv2}.setNumThreads(0)"""


def limiting_fixes(imported: Import, exposure: Exposure, model: Model) -> tuple[Fix, ...]:
    """Limit the threads in each worker, and, as a second way, right after the import."""
    fixes = []
    several = [loader for loader in exposure.loaders if loader.has_workers(2) != "no"]
    intents = list(_in_init(several or exposure.loaders, model))
    if intents and None not in intents:
        kept = tuple(dict.fromkeys(intent for intent in intents if intent is not None))
        # A worker that is alone may need the threads: without them it is slower.
        safety: Safety = "safe" if several else "unsafe"
        fixes.append(Fix("Call `cv2.setNumThreads(0)` in each worker", safety, kept))
    if imported.plain:
        after = InsertStatement(imported.spot.place(model), "{cv2}.setNumThreads(0)\n{cv2}.ocl.setUseOpenCL(False)")
        title = "Call `cv2.setNumThreads(0)` after `import cv2` (limits the main process too)"
        fixes.append(Fix(title, "unsafe", (after,)))
    return tuple(fixes)


def _in_init(loaders: Sequence[Loader], model: Model) -> Iterator[Intent | None]:
    """The call in each loader's worker_init_fn, a new one where there is none; None where that cannot be done."""
    for loader in loaders:
        passed = loader.argument("worker_init_fn")
        literal = passed.literal
        if loader.site is None or loader.kind.name != "torch.utils.data.DataLoader":
            yield None
        elif literal is not None and literal.value is None:
            call = model.site_place(loader.site)
            yield InsertFunction(call.path, "init_worker", _LIMIT)
            yield SetArgument(call, "worker_init_fn", "{init_worker}")
        else:
            yield _limit_first(passed.only(FunctionRef), model)


def _limit_first(functions: Sequence[Atom], model: Model) -> Intent | None:
    """`cv2.setNumThreads(0)` before the first statement of a worker_init_fn of the project."""
    function = functions[0] if len(functions) == 1 else None
    body = model.ev.functions.open_frame(function, None, None) if isinstance(function, FunctionRef) else None
    first = first_statement(body, model) if body is not None else None
    return InsertStatement(first, "{cv2}.setNumThreads(0)", "before") if first is not None else None
