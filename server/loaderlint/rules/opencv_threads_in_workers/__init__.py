"""
# opencv-threads-in-workers (LDR201)

## What it does
Finds modules whose OpenCV calls run in workers, in projects that never call `cv2.setNumThreads(0)` where it would reach
the workers.

## Why is this bad?
Each worker starts OpenCV's own thread pool with one thread per core, so workers times cores threads compete. With
OpenMP builds (conda's, older ones), a worker that is forked after the main process used OpenCV may hang for ever
(pytorch/pytorch#45198). The wheels on PyPI use pthreads: with them no hang could be reproduced, only more threads.

## When it is not a bug
- `cv2.setNumThreads(0)` (or 1) is at module level of a module that workers import, or in the `worker_init_fn`. Under
  `if __name__ == "__main__"`, or in a function that the main process calls, it reaches forked workers but not spawned
  ones.
- ultralytics or mmengine calls it.
- The main process takes a sample (`dataset[0]`) in any case before it forks the workers, that is, before it first
  iterates over the loader. Measured with OpenCV 5.0 from PyPI: its pool does not start again in a forked process.
  Spawned workers start theirs. The sample may be taken in a function that gets the dataset, or in the constructor of
  the object that makes the loader. The pool is one per process: a sample of another dataset counts too, if it surely
  starts threads, or if a library's dataset has the same step.
- The OpenCV functions start no threads: reading and writing images, flips and drawing (`cv2.imread`, `imdecode`,
  `flip`, `rectangle`, ...). Or not for so small an image: `cv2.resize` to less than about 313 x 313 pixels, and
  `cv2.cvtColor`, `threshold`, `LUT`, `equalizeHist` or `bilateralFilter` of the result; `cv2.dilate`, `erode`,
  `morphologyEx`, `filter2D` and derivatives such as `Sobel` up to 1280 x 720; `cv2.GaussianBlur` of floats.
- The size of the image is not known, and the functions start threads for large images only: a hint. An image as it was
  read from a file counts as large, and the message says from what size on threads start. It does not where the workers
  bring images to known sizes, all of them small: then it is a hint, because such images are often small in their files.
  `cv2.warpAffine`, `warpPerspective` and `remap` to less than 313 x 313 pixels are a hint, too: OpenCV 4 starts no
  threads for them, but OpenCV 5 does unless the image has two channels.
- `cv2.GaussianBlur` gets an array of a file that may hold floats, `np.load(path)` or `loadmat(path)["image"]`: a hint.
- OpenCV runs only by a chance that is 0 for this object (`if random.random() < self.p`). Where 0 is only the default of
  an option, and no configuration file sets another one: a hint.
- The loader has no workers. Or it has one worker, and the project limits the threads for loaders with several. (If no
  loader has more than one worker, the finding is a hint: no threads of other workers compete.)
- The loader only tries out its module: it is created under the main guard of a module that others import and that
  trains nothing, or of one that defines the dataset and runs no model.

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
Safe: a call in the `worker_init_fn` changes only the workers. Unsafe if only large images start threads: it has no
effect where all images are small. Unsafe if a loader has one worker, which may be faster
with the threads. Loaders with several workers get the call, and loaders with one do not, unless they share a
`worker_init_fn`: then the fix is unsafe. A loader in the same file whose dataset is unknown, because it comes out of a
registry, gets the call too, and so does one whose option for workers is 0 by default, for those who set the option. If
several scripts need the function, the fix writes it once, in a module that imports cv2 and that all of them import,
directly or not. If the project already has such a function, the fix passes that one. If the other loaders have one that
only seeds from torch, all share it. Unsafe where scripts have no module in common, so that each would get the function,
where a loader is left out that has one worker only by default, where only loaders in tests or tutorials get the call,
and where Lightning would give the loader its own `worker_init_fn` (after `seed_everything(..., workers=True)`), which
a loader with another one does not get. The second action puts the call after `import cv2`, which also limits the main
process.

## References
- pytorch/pytorch#45198, pytorch/pytorch#1355, opencv/opencv#5150
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerCall
from loaderlint.rules.base import Rule, WorkerModule, page
from loaderlint.rules.opencv_threads_in_workers.fixes import limiting_fixes
from loaderlint.rules.opencv_threads_in_workers.forks_after_use import is_forked_after_use
from loaderlint.rules.opencv_threads_in_workers.opencv_imports import (
    Import,
    imports_of_cv2,
    starts_threads,
    starts_threads_of_any_size,
    surely_starts_threads,
)
from loaderlint.rules.opencv_threads_in_workers.opencv_limits import Limits
from loaderlint.rules.opencv_threads_in_workers.sample_sizes import make_only_small
from loaderlint.rules.opencv_threads_in_workers.trials import is_trial
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, judged, lowered
from loaderlint.rules.shared.loader_traits import in_sight, without_workers_yet
from loaderlint.rules.shared.wording import in_workers_of, start_of_workers

#: How many calls a finding shows.
_MAX_SHOWN_CALLS = 8

_TRIED_OUT = "it only tries out its module, under a main guard"
_USED_BEFORE = "the main process runs OpenCV before it forks, and a forked worker starts no threads then"
_LIMITED = "cv2.setNumThreads limits OpenCV's threads there"
#: Who limits the threads where several workers compete has chosen to leave them to a worker that is alone.
_LIMITED_ELSEWHERE = "it has one worker, and cv2.setNumThreads limits OpenCV's threads where there are several"


def find(module: WorkerModule, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each module, on its import of cv2."""
    imported = next(imports_of_cv2(module, model), None)
    if imported is None:
        return
    limits = Limits(model)

    def cure(call: WorkerCall, loader: Loader) -> str:
        if is_trial(loader, model):
            return _TRIED_OUT
        if limits.reach(loader, module.path):
            return _LIMITED
        if is_forked_after_use(call, loader, model):
            return _USED_BEFORE
        others = (one for one in model.loaders if loader.has_workers(2) == "no" and one.has_workers(2) != "no")
        return _LIMITED_ELSEWHERE if any(limits.reach(one, module.path) for one in others) else ""

    calls = (
        Candidate(call, call.frame, imported.spot, partial(cure, call), key=module.path, context=call.context)
        for call in _calls(module, model)
    )
    for one in judged(RULE, calls, model, weigh=partial(_weigh, model)):
        yield one if isinstance(one, Silence) else _finding(one, imported, limits, model)


def _weigh(model: Model, calls: Sequence[Candidate[WorkerCall]], exposure: Exposure) -> Severity | Unsaid:
    """The threads of a worker that is alone compete with those of no other worker. An image whose size is not known may
    be too small for any, and so may one that is as it was read, if all that is known are small sizes."""
    loaders = in_sight(exposure)
    are_alone = all(loader.has_workers(2) == "no" for loader in loaders)
    severity = lowered(Severity.HINT if are_alone else RULE.severity, exposure)
    sure = [one.about for one in calls if surely_starts_threads(one.about, model)]
    is_sure = any(starts_threads_of_any_size(call, model) for call in sure) or (
        bool(sure) and not make_only_small(loaders, model)
    )
    return severity if is_sure or isinstance(severity, Unsaid) else Severity.HINT


def _finding(verdict: WorkerVerdict[WorkerCall], imported: Import, limits: Limits, model: Model) -> Finding:
    calls = _running(verdict, model)
    depends_on_size = not any(starts_threads_of_any_size(call, model) for call in calls)
    large = " for images of more than about 313 x 313 pixels" if depends_on_size else ""
    lost = " (spawned workers do not run the code under `__main__`)" if limits.lost else ""
    fixes = limiting_fixes(imported, verdict.exposure, _without_workers_yet(verdict, imported, limits, model), model)
    if depends_on_size:
        fixes = tuple(replace(fix, safety="unsafe") for fix in fixes)
    return verdict.finding(
        f"each worker starts OpenCV's own threads{large}: cv2 runs {in_workers_of(verdict.exposure)} and nothing "
        f"limits it there{lost}; call `cv2.setNumThreads(0)` in {start_of_workers(verdict.exposure.lead)}",
        imported.spot.place(model),
        "cv2",
        (*_called(calls, model), *verdict.why(model)),
        fixes,
    )


def _without_workers_yet(
    verdict: WorkerVerdict[WorkerCall], imported: Import, limits: Limits, model: Model
) -> list[Loader]:
    """The loaders that would start these threads if a user set their option for workers."""
    loaders = without_workers_yet((call.frame for call in verdict.together), model)
    path = imported.spot.frame.path
    return [one for one in loaders if not is_trial(one, model) and not limits.reach(one, path)]


# --- where cv2 is imported and called ---------------------------------------------------------------------------------


def _calls(module: WorkerModule, model: Model) -> Iterator[WorkerCall]:
    """The calls of cv2 that worker functions of the module make, in every frame."""
    for function in module.functions:
        for call in model.calls(function):
            if starts_threads(call, model):
                yield call


def _running(verdict: WorkerVerdict[WorkerCall], model: Model) -> list[WorkerCall]:
    """The calls that the workers of the verdict's loaders run."""
    bits = sum(1 << loader.index for loader in verdict.exposure.loaders)
    return [call for call in verdict.together if model.reached[call.frame].bits() & bits]


def _called(calls: Sequence[WorkerCall], model: Model) -> Iterator[Evidence]:
    """Where cv2 is called, the first few places."""
    places = {model.place(call.frame, call.number): model.label(call.frame) for call in calls}
    for place, label in [*places.items()][:_MAX_SHOWN_CALLS]:
        yield Evidence(place, f"{label} calls cv2 here")


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
