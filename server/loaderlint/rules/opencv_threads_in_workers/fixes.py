"""The fixes: limit the threads of OpenCV in each worker, or wherever cv2 is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import indent

from loaderlint.findings.finding import Fix, InsertFunction, InsertStatement, Intent, Place
from loaderlint.project.evaluation.file_imports import own_imports, surely_imported
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Lib
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerCall
from loaderlint.rules.opencv_threads_in_workers.opencv_imports import Import, starts_threads
from loaderlint.rules.opencv_threads_in_workers.opencv_limits import Limits
from loaderlint.rules.opencv_threads_in_workers.trials import is_trial
from loaderlint.rules.shared.first_statement import begun_with
from loaderlint.rules.shared.init_functions import InitFunction, does_only_calls, edits_many_files, init_passed, passing
from loaderlint.rules.shared.loader_traits import has_optional_workers, has_unknown_dataset, in_sight
from loaderlint.rules.shared.worker_seeding import (
    LIGHTNING_IS_REPLACED,
    may_be_passed,
    replaces_lightnings_init,
    seeds_from_torch,
)

#: The comment says why, above all in a function with a name that promises something else.
_LIMIT = """\
# The workers already run in parallel.
{cv2}.setNumThreads(0)"""
_NEW_INIT = f"def {{init_worker}}(worker_id: int) -> None:\n{indent(_LIMIT, '    ')}"


def limiting_fixes(
    imported: Import, exposure: Exposure, without_workers_yet: Sequence[Loader], model: Model
) -> tuple[Fix, ...]:
    """Limit the threads in each worker, and, as a second way, right after the import."""
    fixes = []
    loaders = in_sight(exposure)
    several = [loader for loader in loaders if loader.has_workers(2) != "no"]
    intents = _in_init(several or loaders, [*_others(several, model), *without_workers_yet], model)
    if intents:
        # A worker that is alone may need the threads: without them it is slower.
        for_several = bool(several) and not any(_is_shared_by_one_worker(loader, model) for loader in several)
        for_all = all(loader in several or not has_optional_workers(loader, model) for loader in loaders)
        # A script that only imports the code with cv2 in a branch may run without it.
        paths = {intent.path for intent in intents if isinstance(intent, InsertFunction)}
        is_there = all(_has_cv2(path, imported.spot.frame.path, model) for path in paths)
        replaces = any(replaces_lightnings_init(loader, model) for loader in loaders)
        is_safe = for_several and for_all and is_there and not replaces and not edits_many_files(intents)
        title = "Call `cv2.setNumThreads(0)` in each worker" + (LIGHTNING_IS_REPLACED if replaces else "")
        fixes.append(Fix(title, "safe" if is_safe else "unsafe", tuple(dict.fromkeys(intents))))
    if imported.plain:
        after = InsertStatement(imported.spot.place(model), "{cv2}.setNumThreads(0)\n{cv2}.ocl.setUseOpenCL(False)")
        title = "Call `cv2.setNumThreads(0)` after `import cv2` (limits the main process too)"
        fixes.append(Fix(title, "unsafe", (after,)))
    return tuple(fixes)


def _is_passed_over(loader: Loader, model: Model) -> bool:
    """Whether a loader only tries out its module, or has one worker in any case where others have several."""
    is_alone = loader.has_workers(2) == "no" and not has_optional_workers(loader, model)
    return is_trial(loader, model) or (is_alone and model.once(_has_several_workers))


def _has_several_workers(model: Model) -> bool:
    return any(loader.has_workers(2) != "no" for loader in model.loaders)


def _is_shared_by_one_worker(loader: Loader, model: Model) -> bool:
    """Whether a loader with a single worker has the same worker_init_fn, which is a function of the project."""
    functions = set(loader.argument("worker_init_fn").only(FunctionRef))
    alone = (one for one in model.loaders if one.has_workers() != "no" and one.has_workers(2) == "no")
    return any(functions.intersection(one.argument("worker_init_fn").only(FunctionRef)) for one in alone)


def _has_cv2(path: Path, user: Path, model: Model) -> bool:
    """Whether a file imports cv2 in any case, itself or through the module that uses it."""
    own = (e.module.partition(".")[0] for e in own_imports(model.ev, path))
    return "cv2" in own or user in surely_imported(model.ev, path)


def _others(loaders: Sequence[Loader], model: Model) -> list[Loader]:
    """The other loaders in the files of these whose workers would start OpenCV's threads too, or may do so: what a
    registry gives them is probably what these hold."""
    files = {loader.site.frame.path for loader in loaders if loader.site is not None}
    return [
        one
        for one in model.once(_starting_loaders)
        if one not in loaders and one.site is not None and one.site.frame.path in files
    ]


def _starting_loaders(model: Model) -> tuple[Loader, ...]:
    """The loaders with several workers, or perhaps so, that start OpenCV's threads, and that nothing limits; those with
    several workers whose dataset is unknown too."""
    limits = Limits(model)
    return tuple(
        loader
        for loader in model.loaders
        if loader.has_workers(2) != "no"
        and not is_trial(loader, model)
        and any(not limits.reach(loader, path) for path in _users(loader, model))
    )


def _users(loader: Loader, model: Model) -> Iterator[Path]:
    """The files whose code starts OpenCV's threads in the loader's workers; its own file if its dataset is unknown."""
    if has_unknown_dataset(loader) and loader.path is not None and loader.has_workers(2) == "yes":
        yield loader.path
    for call in (*model.calls_in(loader, "sample"), *model.calls_in(loader, "collate")):
        if starts_threads(call, model):
            yield call.frame.path


def _in_init(loaders: Sequence[Loader], others: Sequence[Loader], model: Model) -> list[Intent]:
    """The call in each loader's worker_init_fn, a new one where there is none; nothing where that cannot be done. It is
    left out only for `others`."""
    found = [_limiting(loader, model) for loader in loaders]
    if None in found:
        return []
    found += [_limiting(one, model) for one in others if not _is_shared_by_one_worker(one, model)]
    calls = [one for one in found if isinstance(one, Place)]
    first = [one for one in found if isinstance(one, InsertStatement)]
    seeding = _seeding_init([*loaders, *others], calls, model)
    if seeding:
        return [*(passing(call, seeding) for call in calls), *first]
    return [*init_passed(calls, _INIT, model), *first]


def _seeding_init(loaders: Sequence[Loader], calls: Sequence[Place], model: Model) -> str:
    """The name of the only worker_init_fn of these loaders, if it only seeds as torch does, and stands above the calls
    that have none: these share it instead of a second function. '' if there is no such function."""
    given = {one for loader in loaders for one in loader.argument("worker_init_fn").only(FunctionRef)}
    one = given.pop() if len(given) == 1 else None
    file = model.files.file(one.path) if one is not None else None
    if one is None or file is None or one.def_ != 1 or file.pieces[one.piece].parent != -1:
        return ""
    if any(call.path != one.path or call.piece <= one.piece for call in calls):
        return ""
    frame = model.ev.functions.open_frame(one, None, None)
    return model.def_of(frame).name if frame is not None and seeds_from_torch(frame, model) else ""


def _limiting(loader: Loader, model: Model) -> Place | InsertStatement | None:
    """The call of the loader, which a worker_init_fn can be passed to, or a statement at the start of the one it has;
    None if there is no such way."""
    given = loader.argument("worker_init_fn")
    if loader.site is None or loader.kind.name != "torch.utils.data.DataLoader":
        return None
    if given.is_none and may_be_passed(loader, model):
        return model.site_place(loader.site)
    functions = given.only(FunctionRef)
    return begun_with(_LIMIT, functions[0], model) if len(functions) == 1 else None


def _only_limits(frame: Frame, model: Model) -> bool:
    """Whether a function limits OpenCV's threads, and does nothing else."""
    calls = model.frame_calls(frame)
    return bool(calls) and does_only_calls(frame, model) and all(_limits(call, model) for call in calls)


def _limits(call: WorkerCall, model: Model) -> bool:
    literal = model.ev.eval(call.call.args[0].value, call.frame).literal if len(call.call.args) == 1 else None
    return call.callee.atoms == {Lib("cv2.setNumThreads")} and literal is not None and literal.value in (0, 1)


#: A worker_init_fn, by its name.
_SETS_UP = re.compile(r"def \w*(?:init_?worker|worker_?init)")
_INIT = InitFunction(
    "init_worker",
    _NEW_INIT,
    ("cv2",),
    "cv2",
    "setNumThreads",
    _only_limits,
    _SETS_UP,
    passes_over=_is_passed_over,
)
