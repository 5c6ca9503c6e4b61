"""The fix that gives each worker its own part of the stream of an iterable dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertFunction, Place, Safety, Wrap
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, LibObject
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.reach.worker_dataset import WORKER_INFO
from loaderlint.rules.shared.iterator_state import carries_state

_SHARD = '''\
def {shard_by_worker}(stream):
    """Every n-th item for each of n workers, and all in the main process."""
    worker = {torch.utils.data}.get_worker_info()
    if worker is None:
        return stream
    return {itertools}.islice(stream, worker.id, None, worker.num_workers)'''

#: Methods that take the next item of a stream.
_READING = frozenset({"__next__", "read", "readline", "readlines"})


class EarlyCall(NamedTuple):
    """A call of `get_worker_info()` in the main process, and the name of the surrounding code."""

    place: Place
    where: str


def iter_frames(loader: Loader, model: Model) -> Iterator[Frame]:
    """The frames of `__iter__` that the loader's workers run for an iterable dataset."""
    for reached in model.reached_by(loader):
        if not reached.loaders.get("sample", 0) >> loader.index & 1 or reached.parents.get(loader.index) is not None:
            continue
        receiver = reached.frame.receiver
        if isinstance(receiver, Instance) and model.dataset_kind(receiver.cls) == "iterable":
            if model.def_of(reached.frame).name == "__iter__" and not model.ev.classes.has_unknown_base(receiver.cls):
                yield reached.frame


def early_worker_info_calls(entry: Frame, model: Model) -> Iterator[EarlyCall]:
    """Where the main process calls `get_worker_info()`: while it creates the dataset, or at module level for what
    `__iter__` reads. Calls in the constructor of a library's own class are the library's business."""
    assert isinstance(entry.receiver, Instance)
    own = not model.ev.installed.holds(entry.receiver.cls.path)
    for frame in model.run_by(model.ev.classes.construction(entry.receiver) if own else ()):
        if model.runs_in_worker(frame):
            continue
        for call in model.frame_calls(frame):
            if Lib(WORKER_INFO) in call.callee.atoms:
                yield EarlyCall(model.place(frame, call.number), f"`{model.label(frame)}`")
    for number in sorted(model.ev.evaluated(entry)):
        for atom in model.ev.eval(number, entry).only(LibObject):
            if atom.name == WORKER_INFO and atom.site.frame.def_ == 0:
                yield EarlyCall(model.site_place(atom.site), f"module-level code of {atom.site.frame.path.name}")


def sharding_fixes(entry: Frame, model: Model, safety: Safety) -> tuple[Fix, ...]:
    """The fixes that shard the iterable of the only outermost loop that yields, or of the only `yield from` after all
    loops. A loop may `yield from` what it reads from its own item, such as a file."""
    step = _yielding(model.def_of(entry), entry.code.exprs)
    if step is None or carries_state(entry, model) or _reads_ahead(entry, model):
        return ()
    function = InsertFunction(entry.path, "shard_by_worker", _SHARD)
    wrap = Wrap(model.step_place(entry, step), "{shard_by_worker}(", ")")
    return (Fix("Give each worker its own part of the stream", safety, (function, wrap)),)


def _yielding(one: ir.DefIR, exprs: Sequence[ir.Expr]) -> int | None:
    """The step of the loop or of the `yield from` that yields all items; None if several do."""
    yields = [(number, step) for number, step in enumerate(one.steps) if isinstance(step, ir.YieldStep)]
    if len(yields) == 1 and yields[0][1].is_from and not one.is_in_loop(yields[0][1].context):
        return yields[0][0]
    loops = [n for n, s in enumerate(one.steps) if isinstance(s, ir.Iterate) and not one.is_in_loop(s.context)]
    if len(loops) != 1 or not all(_is_of_item(step, loops[0], one, exprs) for _, step in yields):
        return None
    return loops[0]


def _is_of_item(step: ir.YieldStep, loop: int, one: ir.DefIR, exprs: Sequence[ir.Expr]) -> bool:
    """Whether a step yields in a loop, and what it delegates to is made of the loop's item: `yield from open(path)`,
    but not `yield from self.rows` in each of several passes."""
    over = one.steps[loop]
    if not isinstance(over, ir.Iterate) or not one.is_in_loop(step.context):
        return False
    made_of = ir.made_of(exprs, [step.value]) if step.is_from else ()
    return not step.is_from or any(exprs[part] == ir.Element(over.iterable) for part in made_of)


def _reads_ahead(entry: Frame, model: Model) -> bool:
    """Whether an iteration takes more than its own item: `next(file)`, `file.readline()`, or a function that gets the
    iterated object."""
    one = model.def_of(entry)
    gone_over = {step.iterable for step in one.steps if isinstance(step, ir.Iterate)}
    for call in model.frame_calls(entry):
        if not one.is_in_loop(call.context):
            continue
        if Lib("builtins.next") in call.callee.atoms or _takes_next(call.call, entry, model):
            return True
        if any(arg.value in gone_over for arg in call.call.args):
            return True
    return False


def _takes_next(call: ir.Call, entry: Frame, model: Model) -> bool:
    """Whether a method takes the next item of a stream: `file.readline()`, but not `self.read(path)`, which is told
    what to read."""
    func = model.ev.expr(entry, call.func)
    if not isinstance(func, ir.Attr) or func.name not in _READING:
        return False
    exprs = entry.code.exprs
    of_item = any(isinstance(exprs[one], ir.Element) for one in ir.made_of(exprs, (arg.value for arg in call.args)))
    return not (of_item and ir.is_self(model.ev.expr(entry, func.base)))
