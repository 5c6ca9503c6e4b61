"""
# handle-across-workers (LDR303)

## What it does
Finds files, archives, HDF5 files, LMDB environments, database connections and video captures that are opened in the main
process, kept on a dataset or in a module, and used in a loader's workers.

## Why is this bad?
Forked workers share the handle's position in the file: while one seeks, another reads. Measured: 3 of 6000 records of a plain
file came back as another sample's bytes, without an exception; of a tar archive 7 to 14; a zip archive raised BadZipFile 1294
times of 32000; HDF5 1.10 returned 57 wrong items of 12000. LMDB and SQLite forbid the use after a fork. A video capture that the
main process has read from hangs.
Spawned workers (Windows, macOS, Linux from Python 3.14 on) cannot get the handle at all: `cannot pickle '_io.BufferedReader'
object`.

## When it is not a bug
- The handle is opened in `__getitem__`, in the `worker_init_fn`, or by an accessor that compares `os.getpid()`.
- It is opened and closed (or set to None) in `__init__`, or only used there.
- What is kept is what was read: `self.lines = open(path).readlines()`.
- A loader without workers.

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
            self.file, self._file_pid = open(self.path, "rb"), os.getpid()
        return self.file

    def __getstate__(self):
        state = self.__dict__.copy()
        state["file"] = state["_file_pid"] = None
        return state
```

## Fix safety
Safe: each process opens its own handle, the main process keeps the one it has. Opening `if self.file is None` is not enough:
where the main process has read a sample first, the workers inherit its handle. An LMDB environment is closed in the worker
before it is opened again. No fix for handles that are written to.

## References
- pytorch/pytorch#11887, pytorch/pytorch#11929
- [h5py and multiprocessing](https://docs.h5py.org/en/stable/mpi.html), [lmdb](https://lmdb.readthedocs.io/)
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings import Evidence, Finding, Fix, InsertMethod, InsertStatement, ReplaceAttributeUses, Severity
from loaderlint.knowledge.handles import DERIVED, OPENERS, HandleKind
from loaderlint.project.classes import Store
from loaderlint.project.frames import Frame
from loaderlint.project.model import Exposure, Loader, Model, WorkerFunction
from loaderlint.project.values import Instance, LibObject, Origin, Val
from loaderlint.rules.base import Rule, in_workers_of, loudness, page
from loaderlint.rules.source import source_of


def find(function: WorkerFunction, model: Model) -> Iterator[Finding]:
    """One finding a handle that the function reads, where it is opened."""
    for frame in function.frames:
        if _compares_pid(frame, model):
            continue
        for number, value in sorted(((n, v) for n, v in frame.memo.items() if v is not None), key=lambda item: item[0]):
            if not isinstance(model.ev.expr(frame, number), ir.Attr | ir.Global | ir.Capture | ir.Param):
                continue
            for atom in value.only(LibObject):
                kind = _kind(atom) if isinstance(atom, LibObject) else None
                if isinstance(atom, LibObject) and kind and not model.runs_in_worker(atom.site.frame):
                    yield from _judge(frame, number, atom, kind, value, model)


def _kind(atom: LibObject) -> HandleKind | None:
    """What handle an object is; a transaction, cursor or HDF5 dataset counts as its file."""
    name = atom.name
    while name not in OPENERS:
        if name.endswith("[]") and name.startswith(("h5py.", "netCDF4.", "tables.")):
            name = name[:-2]
        elif name.rpartition(".")[2] in DERIVED:
            name = name.rpartition(".")[0]
        else:
            return None
    return OPENERS[name]


def _compares_pid(frame: Frame, model: Model) -> bool:
    file = model.files.file(frame.path)
    return file is not None and file.pieces[frame.piece].holds("getpid")


def _judge(
    frame: Frame, number: int, made: LibObject, kind: HandleKind, value: Val, model: Model
) -> Iterator[Finding]:
    if not _still_held(made, value.origins, model):
        return
    drops = _drops_state(value.origins, model)

    def cured(loader: Loader) -> bool:
        return not loader.out_of_sight and drops and "fork" not in model.start_methods(loader)

    exposure = model.exposure(frame, 1, parts=("sample", "collate"), cured=cured)
    if exposure is None:
        return
    forked = exposure.lead.out_of_sight or "fork" in model.start_methods(exposure.lead)
    base = Severity.WARNING if forked and kind.fork == "forbidden" else Severity.ERROR
    severity = loudness(base, exposure.certainty)
    if severity is None:
        return
    use = Evidence(model.place(frame, number), f"{model.label(frame)} uses it")
    yield Finding(
        RULE.name,
        severity,
        exposure.certainty,
        f"{_effect(kind, forked)} {in_workers_of(exposure)}: this {kind.word} is opened {_where(made, model)}, before the "
        "workers start; open it in each process",
        model.site_place(made.site),
        made.name,
        (use, *model.why(frame, exposure)),
        _fixes(made, kind, value.origins, model),
    )


def _effect(kind: HandleKind, forked: bool) -> str:
    if not forked:
        return "the workers cannot be started: the handle cannot be pickled"
    if kind.fork == "corrupts":
        return "reads return other samples' data"
    return "one handle is used by several processes, which its library forbids,"


def _where(made: LibObject, model: Model) -> str:
    if made.site.frame.def_ == 0:
        return f"at module level in {made.site.frame.path.name}"
    return f"in `{model.label(made.site.frame)}`"


def _still_held(made: LibObject, origins: frozenset[Origin], model: Model) -> bool:
    """Whether the attribute holds the handle when the workers start: not closed again, not opened anew in worker code."""
    for origin in origins:
        if not isinstance(origin.owner, Instance) or len(origin.path) != 1:
            continue
        stores = model.ev.classes.stores(origin.owner, origin.path[0])
        if any(not s.construction and model.runs_in_worker(s.frame) for s in stores):
            return False
        last = _last_stores(stores)
        if last and not any(made in s.value.atoms for s in last):
            return False
        if _is_closed(origin, model):
            return False
    return True


def _last_stores(stores: tuple[Store, ...]) -> list[Store]:
    """The stores of the constructor that can be the last: from the last one that is sure to happen."""
    constructed = [s for s in stores if s.construction]
    start = max((i for i, s in enumerate(constructed) if s.sure), default=0)
    return constructed[start:]


def _is_closed(origin: Origin, model: Model) -> bool:
    """Whether the constructor closes the handle or deletes the attribute."""
    assert isinstance(origin.owner, Instance)
    for frame in model.ev.classes.construction(origin.owner):
        for _, step in model.steps(frame):
            target: int = NONE
            if isinstance(step, ir.Delete):
                target = step.target
            elif isinstance(step, ir.Perform):
                call = model.ev.expr(frame, step.call)
                func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
                target = func.base if isinstance(func, ir.Attr) and func.name == "close" else NONE
            e = model.ev.expr(frame, target)
            if isinstance(e, ir.Attr) and e.name == origin.path[0] and model.ev.expr(frame, e.base) == ir.Param(0):
                return True
    return False


def _drops_state(origins: frozenset[Origin], model: Model) -> bool:
    """Whether the object leaves its handle out when it is pickled."""
    owners = [origin.owner for origin in origins if isinstance(origin.owner, Instance)]
    return any(model.ev.classes.member(o.cls, n) for o in owners for n in ("__getstate__", "__reduce__"))


# --- the fix ----------------------------------------------------------------------------------------------------------

_ACCESSOR = '''\
def {{_get_{stem}}}(self):
    """The handle of this process: one opened before a fork shares its file position with all other processes."""
    if self._{stem}_pid != {{os}}.getpid():
{before}        self.{name}, self._{stem}_pid = {opened}, {{os}}.getpid()
    return self.{name}'''

_CLOSE_FIRST = '''\
        if self.{name} is not None:
            self.{name}.close()  # LMDB opens an environment once in a process, and an inherited one counts
'''

_GETSTATE = '''\
def __getstate__(self):
    state = self.__dict__.copy()
    state["{name}"] = state["_{stem}_pid"] = None  # opened again where it is used
    return state'''


def _fixes(made: LibObject, kind: HandleKind, origins: frozenset[Origin], model: Model) -> tuple[Fix, ...]:
    """The accessor, where the class's own `__init__` opens the handle for reading and keeps it under one name."""
    store = _own_store(made, origins, model)
    if store is None or store.frame.owner is None or not kind.fix or kind.word == "video capture":
        return ()
    if _is_written(made, model):
        return ()
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    opened, kept = source_of(step.value, store.frame, model)
    if opened is None:
        return ()
    stem = step.name.lstrip("_")
    birth = model.step_place(store.frame, store.step)
    statements = "\n".join([f"self._{stem}_pid = {{os}}.getpid()", *kept])
    cls = model.class_place(store.frame.owner)
    before = _CLOSE_FIRST.format(name=step.name) if kind.fix == "close_first" else ""
    accessor = _ACCESSOR.format(stem=stem, name=step.name, opened=opened, before=before)
    getstate = _GETSTATE.format(stem=stem, name=step.name)
    intents = (
        InsertStatement(birth, statements),
        InsertMethod(cls, f"_get_{stem}", accessor),
        InsertMethod(cls, "__getstate__", getstate),
        ReplaceAttributeUses(cls, step.name, f"self.{{_get_{stem}}}()", ("__init__", f"_get_{stem}", "__getstate__")),
    )
    return (Fix(f"Open the {kind.word} in each process", "safe", intents),)


def _own_store(made: LibObject, origins: frozenset[Origin], model: Model) -> Store | None:
    for origin in origins:
        if not isinstance(origin.owner, Instance) or len(origin.path) != 1:
            continue
        names = ("__slots__", "__getstate__", "__reduce__", "__setattr__")
        if any(model.ev.classes.member(origin.owner.cls, name) for name in names):
            return None
        stores = model.ev.classes.stores(origin.owner, origin.path[0])
        if len(stores) == 1 and stores[0].value.atoms == {made} and model.def_of(stores[0].frame).name == "__init__":
            return stores[0] if stores[0].frame == made.site.frame else None
    return None


def _is_written(made: LibObject, model: Model) -> bool:
    """Whether the handle may be opened for writing: a mode that is no constant, or holds w, a, x or +."""
    arguments = model.ev.site_arguments(made.site)
    for name, position in (("mode", 1), ("flag", None)):
        mode = arguments.get(name, position)
        if mode is None or (made.name.startswith(("lmdb.", "sqlite3.")) and name == "mode"):
            continue
        literal = mode.literal
        if literal is None or not isinstance(literal.value, str) or set(literal.value) & set("wax+"):
            return True
    readonly = arguments.get("readonly")
    if made.name.startswith("lmdb."):
        return readonly is None or readonly.literal is None or not readonly.literal.value
    return False


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
