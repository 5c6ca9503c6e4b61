"""
# handle-across-workers (LDR303)

## What it does
Finds files, archives, HDF5 files, LMDB environments, database connections, videos, rasters (rasterio, tifffile), sound
files and genomes (pysam, pyfaidx, pyBigWig) that the main process opens, that a dataset or a module keeps, and that a
loader's workers use.

## Why is this bad?
Forked workers share the handle's file position: while one worker seeks, another reads. Measured: 3 of 6000 records of a
plain file came back as another sample's bytes, without an exception; of a tar archive, 7 to 14. A zip archive raised
BadZipFile 1294 times in 32000 reads (`np.load` of an .npz file keeps one open), and HDF5 1.10 returned 57 wrong items
of 12000. Of 256 windows of a raster, 13 came back wrong. LMDB and SQLite forbid the use after a fork. A video capture
that the main process has read from hangs (of an MP4 file even one that it has only opened), and so does a `VideoReader`
of decord.

Spawned workers (Windows, macOS, Linux from Python 3.14 on) cannot get the handle at all:
`cannot pickle '_io.BufferedReader' object`.

## When it is not a bug
- The worker opens the handle: in `__getitem__`, in the `worker_init_fn`, or in an accessor that compares `os.getpid()`.
  (Reopening it after use, at the end of the file or in an `except` clause, comes too late: the worker has already read
  from the main process's handle.)
- The first sample opens the handle (`if self.file is None`), and the main process reads no sample. If the main process
  reads one before the workers start, if `__init__` calls the method (or reads the property) that opens the handle, or
  if `__len__` does and something asks for the length before, the workers inherit it, and the rule reports it. A loader
  that shuffles asks, and so do `len(loader)` and `tqdm(loader)`; any other loader asks during the first epoch, and the
  workers of the second inherit the handle (measured).
- `__init__` closes the handle or sets it to None, or is the only code that uses it.
- The code that creates the loader calls `dataset.close()` before.
- The dataset keeps the content and not the handle: `self.lines = open(path).readlines()`.
- The loader has no workers, or the handle is opened only without them: `if self.num_workers == 0: self.file = ...`.
  With a single forked worker, reads of a file, an archive or an HDF5 file only go wrong if the main process reads too,
  so the finding is an information, and a hint if the loader never gets more workers: `num_workers=1`.
- The value is only a handle on some paths (a file's extension decides how it is read): one step less severe.
- It is a guess that a loader holds the dataset, for example one whose dataset a configuration names: a hint.

## Example
```python
class Records(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = open(path, "rb")

    def __getitem__(self, index):
        self.file.seek(index * 64)
        return self.file.read(64)
```

## Fixed
```python
class Records(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = open(path, "rb")
        self._file_pid = os.getpid()

    def __getitem__(self, index):
        self._get_file().seek(index * 64)
        return self._get_file().read(64)

    def _get_file(self):
        if self._file_pid != os.getpid():
            self.file = open(self.path, "rb")
            self._file_pid = os.getpid()
        return self.file

    def __getstate__(self):
        state = self.__dict__.copy()
        state["file"] = state["_file_pid"] = None
        return state
```

## Fix safety
Safe: each process opens its own handle, and the main process keeps the one it has. A worker first closes the LMDB
environment, HDF5 or netCDF file that it inherited. LMDB refuses to open an environment twice in one process, and HDF5
gives the new handle the file descriptor of one that is still open: measured with HDF5 1.14 and 2.0, what a worker then
opened still moved the main process's file position; after the close it did not. (These versions read right with the
inherited handle too. HDF5 1.10.4 did not.) Unsafe for these where a loop makes several such objects: they may have the
same file open.

`__del__`, `close` and other methods that only close the handle do not open it again for that: they close it where it is
open (`if self.file is not None`). Unsafe if one of them does more with it.

If the first use opens the handle (`if self.file is None`), the fix makes the test also check whether the handle belongs
to another process, and reopens what is opened beside it.

Unsafe for a file in which nothing seeks, except to begin anew at its end: each worker reads it from the start, so all
workers read the same lines. There is no fix for handles that are written to, that code outside the class reads, of
which another attribute keeps a part, or whose path changes in `__init__`, for a SQLite database in memory, or for a
class that keeps more than 16 handles.

## References
- pytorch/pytorch#11887, pytorch/pytorch#11929
- [h5py and multiprocessing](https://docs.h5py.org/en/stable/mpi.html), [lmdb](https://lmdb.readthedocs.io/)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from loaderlint.findings.finding import Evidence, Finding, Severity, Silence
from loaderlint.knowledge.handles import HDF5, HandleKind
from loaderlint.project.evaluation.values import LibObject
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.handle_across_workers.first_use_fixes import first_use_by_process
from loaderlint.rules.handle_across_workers.handle_uses import Use, cure_of, drops_state, why_not_shared
from loaderlint.rules.shared.first_uses import first_uses
from loaderlint.rules.shared.handle_accessor import accessor
from loaderlint.rules.shared.held_handles import handles_read, may_be_no_handle, opener
from loaderlint.rules.shared.judgement import Candidate, Unsaid, WorkerVerdict, as_hint, judged_first, lowered
from loaderlint.rules.shared.loader_traits import has_optional_workers
from loaderlint.rules.shared.made_by_constructors import Construction, constructions
from loaderlint.rules.shared.unresolved_places import site_key, spot_of
from loaderlint.rules.shared.wording import in_workers_of, loaders_of


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each handle that the function reads, where it is opened."""
    uses = _candidates(function, model)
    for one in judged_first(RULE, uses, model, parts=("sample", "collate"), weigh=partial(_weigh, model)):
        yield one if isinstance(one, Silence) else _finding(one, model)


def _candidates(function: WorkerFunction, model: Model) -> Iterator[Candidate[Use]]:
    """The handles that the function reads."""
    for frame in function.frames:
        for number, value, held, kind in handles_read(frame, model):
            made = opener(held, model).site
            lazy = model.runs_in_worker(held.site.frame)
            touches = tuple(first_uses(held, value.origins, model)) if lazy else ()
            before = constructions(held, value.origins, model) if lazy else ()
            use = Use(frame, number, held, kind, value, drops_state(value, model), touches, before)
            why_not, context = why_not_shared(use, model), frame.code.context_of(number)
            cure, key = partial(cure_of, use, model), site_key(made)
            doubts = int(may_be_no_handle(value, model))
            yield Candidate(use, frame, spot_of(made), cure, why_not, doubts=doubts, key=key, context=context)


def _finding(verdict: WorkerVerdict[Use], model: Model) -> Finding:
    use, exposure = verdict.about, verdict.exposure
    made = opener(use.held, model)
    early = (*(_construction(one, model) for one in use.constructions), *use.touches)
    reads = Evidence(model.place(use.frame, use.number), f"{model.label(use.frame)} uses it")
    return verdict.finding(
        f"{_effect(use.kind, exposure, model)}: this {use.kind.word} is opened "
        f"{_where(made, model)}, {'which runs ' if early else ''}before the workers start; open it in each process",
        verdict.spot.place(model),
        made.name,
        (reads, *early, *verdict.why(model)),
        (first_use_by_process if early else accessor)(use.held, use.kind, use.value.origins, model),
    )


def _construction(one: Construction, model: Model) -> Evidence:
    return Evidence(model.place(one.frame, one.number), f"{model.label(one.frame)} has it opened in the main process")


# --- whether the workers share it -------------------------------------------------------------------------------------


def _weigh(model: Model, uses: Sequence[Candidate[Use]], exposure: Exposure) -> Severity | Unsaid:
    if _is_alone(uses[0].about.kind, exposure, model):
        return Severity.INFORMATION if has_optional_workers(exposure.lead, model) else Severity.HINT
    forbidden = _forked(exposure, model) and uses[0].about.kind.fork == "forbidden"
    doubts = min(one.doubts for one in uses)
    severity = lowered(Severity.WARNING if forbidden else RULE.severity, exposure, doubts)
    return as_hint(severity) if exposure.guessed else severity


def _is_alone(kind: HandleKind, exposure: Exposure, model: Model) -> bool:
    """Whether a single forked worker reads the handle, whose reads fail only where another process reads as well.
    Measured with plain files, zip and tar archives: none of 6,000 reads of one worker was wrong, until the main process
    read too. Of an HDF5 file (h5py 3.16), none of 15,360."""
    one = len(exposure.loaders) == 1 and exposure.lead.has_workers(2) == "no"
    return one and (kind.fork == "corrupts" or kind.word == HDF5) and _forked(exposure, model)


def _forked(exposure: Exposure, model: Model) -> bool:
    return exposure.lead.out_of_sight or "fork" in model.start_methods.of(exposure.lead)


def _effect(kind: HandleKind, exposure: Exposure, model: Model) -> str:
    where = in_workers_of(exposure)
    if _is_alone(kind, exposure, model):
        return f"reads {where} return other samples' data once a second process reads too"
    if not _forked(exposure, model):
        return f"the workers of {loaders_of(exposure)} cannot start, because the handle cannot be pickled"
    match kind.fork:
        case "corrupts":
            return f"reads return other samples' data {where}"
        case "hangs":
            return f"reads hang {where}"
    return f"several processes share one handle {where}, which its library forbids"


def _where(made: LibObject, model: Model) -> str:
    if made.site.frame.def_ == 0:
        return f"at module level in {made.site.frame.path.name}"
    return f"in `{model.label(made.site.frame)}`"


RULE = Rule(
    code="LDR303",
    name="handle-across-workers",
    severity=Severity.ERROR,
    needs="W1",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
