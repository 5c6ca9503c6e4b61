"""
# read-only-sample (LDR403)

## What it does
Finds arrays that cannot be written (`np.frombuffer` of bytes, `np.load(path, mmap_mode="r")`, `np.memmap(mode="r")`,
`np.asarray` of a Pillow image, `np.broadcast_to`) and whose memory sample code gives to a tensor: with
`torch.from_numpy`, torchvision's `ToTensor`, or through the default collate function.

## Why is this bad?
Tensors know no read-only memory. PyTorch warns once per worker (`The given NumPy array is not writable ... undefined
behavior`) and lets everybody write. Measured with torch 2.13: `torch.from_numpy(mapped[index]).mul_(2)` with a file
mapped in mode `r` ends the worker with a segmentation fault; with `np.frombuffer(raw)` the bytes object itself changes,
which Python and every other holder of it take for constant.

## When it is not a bug
- Something in between copies: `.copy()`, `np.array`, `.astype(...)`, arithmetic, `torch.tensor`.
- The memory can be written: `np.frombuffer(bytearray(...))`, a shared `multiprocessing` array, modes `c` and `r+`.
- A mapping that is sent to a spawned worker with the dataset arrives as an array in memory (measured: the whole file).
- Where the tensor is converted or copied at once, or collated (which copies), only the warning is left: information.

## Example
```python
def __getitem__(self, index):
    raw = self.paths[index].read_bytes()
    return torch.from_numpy(np.frombuffer(raw, dtype=np.float32))
```

## Fixed
```python
def __getitem__(self, index):
    raw = self.paths[index].read_bytes()
    return torch.from_numpy(np.copy(np.frombuffer(raw, dtype=np.float32)))
```

## Fix safety
Safe: `np.copy` gives the same values, of the part that is used only.

## References
- [torch.from_numpy](https://pytorch.org/docs/stable/generated/torch.from_numpy.html)
- pytorch/vision#4353, ray-project/ray#25106
"""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Finding, Fix, Severity, Silence, Wrap
from loaderlint.knowledge.arrays import (
    BYTES_MAKERS,
    BYTES_METHODS,
    COPYING_TENSOR_METHODS,
    KEEPS_STRIDES,
    MAPPERS,
    MEMORY_METHODS,
    MEMORY_SHARERS,
    READ_ONLY_MAKERS,
    STRIDES_ATTRIBUTES,
)
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibObject, Literal_, Unknown
from loaderlint.project.reach.model import Exposure, Model, WorkerFunction
from loaderlint.rules.base import Rule, page
from loaderlint.rules.shared.array_flow import ArrayFlow, Found, Path, is_whole
from loaderlint.rules.shared.array_sinks import Sink, sinks
from loaderlint.rules.shared.judgement import loudness
from loaderlint.rules.shared.silence_reasons import started_by, too_unsure
from loaderlint.rules.shared.wording import in_workers_of

#: One of these stands in a file that makes such an array.
_WORDS = ("frombuffer", "mmap", "asarray", "broadcast_to", "sliding_window_view")
#: Numbers, as far as an index is concerned.
_NUMBERS = ("builtins.operation", "builtins.int", "builtins.len", "random.randint", "random.randrange")


def find(function: WorkerFunction, model: Model) -> Iterator[Finding | Silence]:
    """One finding for each tensor that is made of such an array."""
    if not any(model.files.containing(word) for word in _WORDS):
        return
    memory = model.once(ReadOnly)
    for sink in sinks(function, model, memory.flow, MEMORY_SHARERS):
        exposure = _kept_read_only(sink, memory, model)
        if exposure is None:
            reason = f"{started_by(sink.exposure.lead, model)}: the mapped file is read into memory for them"
            yield Silence(RULE.name, sink.place, reason)
            continue
        if sink.collated and memory.is_picture(sink.found[0]):
            yield Silence(RULE.name, sink.place, "who returns pictures as arrays is warned by PyTorch, and that is all")
            continue
        harmless = sink.collated or _is_used_up(sink, model)
        base = Severity.INFORMATION if harmless else Severity.WARNING
        severity = loudness(base, exposure.certainty)
        if severity is None:
            yield Silence(RULE.name, sink.place, too_unsure(exposure.certainty))
            continue
        how = memory.described(sink.found[0])
        then = (
            "PyTorch warns" if harmless else "PyTorch warns, and who writes to the tensor ends the worker or changes it"
        )
        yield Finding(
            RULE.name,
            severity,
            exposure.certainty,
            f"{sink.where} is given memory that cannot be written ({how}) {in_workers_of(exposure)}: {then}; copy it",
            sink.place,
            how,
            model.why(sink.frame, exposure),
            _fixes(sink, memory, model),
        )


def _kept_read_only(sink: Sink, memory: ReadOnly, model: Model) -> Exposure | None:
    """The loaders with which it is read-only: pickling a mapping of the main process reads it into memory."""
    if not all(memory.is_mapped(one) and not model.runs_in_worker(one.frame) for one in sink.found):
        return sink.exposure
    kept = tuple(
        loader
        for loader in sink.exposure.loaders
        if loader.has_workers() == "no" or "fork" in model.start_methods(loader)
    )
    return Exposure(kept, sink.exposure.certainty) if kept else None


def _is_used_up(sink: Sink, model: Model) -> bool:
    """Whether the tensor is converted or copied at once: nobody can write to the array through it."""
    for e in model.facts(sink.frame).ir.exprs:
        if isinstance(e, ir.Attr) and e.base == sink.call and e.name in COPYING_TENSOR_METHODS:
            return True
        if isinstance(e, ir.Bin) and sink.call in (e.left, e.right):
            return True
    return False


def _fixes(sink: Sink, memory: ReadOnly, model: Model) -> tuple[Fix, ...]:
    """Copy the argument, where it is no local of several makers."""
    place = model.place(sink.frame, sink.number)
    e = model.ev.expr(sink.frame, sink.number)
    if sink.collated:
        own = [one for one in sink.found if one.frame is sink.frame and not memory.is_mapped(one)]
        if len(own) != 1 or len(sink.found) != 1:
            return ()
        place = model.place(sink.frame, own[0].number)
    elif not isinstance(e, ir.Call | ir.Index | ir.Attr):
        return ()
    if place.anchor < 0:
        return ()
    return (Fix("Copy it: `np.copy(...)`", "safe", (Wrap(place, "{numpy}.copy(", ")"),)),)


class ReadOnly:
    """What makes an array that cannot be written, and what stays in its memory."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._ev = model.ev
        self.flow = ArrayFlow(model, self)

    def makes(self, number: int, frame: Frame, path: Path) -> bool:
        """Whether an expression makes such an array."""
        call = self._ev.expr(frame, number)
        if not is_whole(path) or not isinstance(call, ir.Call):
            return False
        names = self._names(call.func, frame)
        arguments = self._ev.calls.arguments(call, frame) if names else None
        if arguments is None:
            return False
        if names & READ_ONLY_MAKERS:
            return True
        if "numpy.frombuffer" in names:
            return bool(call.args) and self._is_bytes(call.args[0].value, frame, 0)
        if "numpy.asarray" in names:
            first = self._ev.eval(call.args[0].value, frame) if len(call.args) == 1 else None
            atoms = first.atoms if first else ()
            return bool(atoms) and all(isinstance(a, LibObject) and a.name.startswith("PIL.Image.") for a in atoms)
        for name in names & MAPPERS.keys():
            mode = arguments.get(*MAPPERS[name])
            literal = mode.literal if mode else None
            return literal is not None and literal.value == "r"
        return False

    def _is_bytes(self, number: int, frame: Frame, depth: int) -> bool:
        """Whether an expression is known to be a bytes object."""
        e = self._ev.expr(frame, number)
        if isinstance(e, ir.Phi):
            return depth < 4 and all(self._is_bytes(choice, frame, depth + 1) for choice in e.choices)
        if isinstance(e, ir.Const):
            return e.kind == "bytes"
        if not isinstance(e, ir.Call):
            return False
        func = self._ev.expr(frame, e.func)
        if self._names(e.func, frame) & BYTES_MAKERS:
            return True
        return isinstance(func, ir.Attr) and func.name in BYTES_METHODS and not self._ev.targets(number, frame)

    def shares(self, number: int, frame: Frame, path: Path) -> Iterator[tuple[int, Path]]:
        """The array in whose memory an expression lies. Not the rows of what is collated: they may be numbers."""
        if not is_whole(path):
            return
        match self._ev.expr(frame, number):
            case ir.Index(base, index) if all(
                self._is_view(part, frame, not path) for part in self._parts(index, frame)
            ):
                yield base, ()
            case ir.Attr(base, name) if name in STRIDES_ATTRIBUTES:
                yield base, ()
            case ir.Call(func, args):
                attribute = self._ev.expr(frame, func)
                if self._names(func, frame) & (KEEPS_STRIDES | {"numpy.reshape"}):
                    if args and args[0].kind == "pos" and not any(arg.name == "dtype" for arg in args):
                        yield args[0].value, ()
                elif isinstance(attribute, ir.Attr) and attribute.name in MEMORY_METHODS:
                    if not self._ev.targets(number, frame) and not self._names(func, frame):
                        yield attribute.base, ()

    def _names(self, func: int, frame: Frame) -> frozenset[str]:
        return frozenset(a.name for a in self._ev.eval(func, frame).atoms if isinstance(a, Lib))

    def _parts(self, index: int, frame: Frame) -> tuple[int, ...]:
        e = self._ev.expr(frame, index)
        return e.items if isinstance(e, ir.Seq) and e.kind == "tuple" else (index,)

    def _is_view(self, part: int, frame: Frame, rows: bool) -> bool:
        """Whether a part of an index takes a view: a slice or, with `rows`, a number, and no list or mask."""
        e = self._ev.expr(frame, part)
        if isinstance(e, ir.Slice) or (isinstance(e, ir.Const) and e.kind in ("NoneType", "ellipsis")):
            return True
        return rows and all(self._is_number(atom) for atom in self._ev.eval(part, frame).atoms)

    def _is_number(self, atom: object) -> bool:
        match atom:
            case Literal_("int", _, _) | Unknown("index"):
                return True
            case LibObject(name, _):
                return name in _NUMBERS
        return False

    # --- questions about one array ------------------------------------------------------------------------------------

    def is_mapped(self, one: Found) -> bool:
        """Whether it is a mapped file: copying all of it would read all of it."""
        call = self._ev.expr(one.frame, one.number)
        return isinstance(call, ir.Call) and bool(self._names(call.func, one.frame) & MAPPERS.keys())

    def is_picture(self, one: Found) -> bool:
        """Whether it is the array of a Pillow image."""
        call = self._ev.expr(one.frame, one.number)
        return isinstance(call, ir.Call) and "numpy.asarray" in self._names(call.func, one.frame)

    def described(self, one: Found) -> str:
        """'`np.frombuffer`', '`np.load` in mode r'."""
        call = self._ev.expr(one.frame, one.number)
        names = sorted(self._names(call.func, one.frame)) if isinstance(call, ir.Call) else [""]
        short = names[0].replace("numpy.lib.stride_tricks.", "np.").replace("numpy.", "np.")
        return f"`{short}` in mode r" if self.is_mapped(one) else f"`{short}`"


RULE = Rule(
    code="LDR403",
    name="read-only-sample",
    severity=Severity.WARNING,
    needs="L",
    over="worker function",
    find=find,
    fix="safe",
    page=page(__doc__),
)
