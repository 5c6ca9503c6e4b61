"""What makes an array whose memory cannot be written, and what stays in that memory."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.arrays import (
    KEEPS_STRIDES,
    MAPPERS,
    MEMORY_METHODS,
    READ_ONLY_MAKERS,
    STRIDES_ATTRIBUTES,
)
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.name_patterns import pattern_of
from loaderlint.project.evaluation.values import INDICES, LibObject, Literal_, Unknown
from loaderlint.project.reach.model import Model
from loaderlint.rules.read_only_sample.bytes_values import is_bytes
from loaderlint.rules.shared.array_flow import ArrayFlow, Found, Path, is_whole
from loaderlint.rules.shared.called_libraries import library_names

#: Numbers, as far as an index is concerned.
_NUMBERS = ("builtins.operation", "builtins.int", "builtins.len", "random.randint", "random.randrange")


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
            return bool(call.args) and is_bytes(call.args[0].value, frame, self._model)
        if "numpy.asarray" in names:
            first = self._ev.eval(call.args[0].value, frame) if len(call.args) == 1 else None
            atoms = first.atoms if first else ()
            return bool(atoms) and all(isinstance(a, LibObject) and a.name.startswith("PIL.Image.") for a in atoms)
        for name in names & MAPPERS.keys():
            mode = arguments.get(*MAPPERS[name])
            literal = mode.literal if mode else None
            return literal is not None and literal.value == "r"
        return False

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
        return library_names(func, frame, self._model)

    def _parts(self, index: int, frame: Frame) -> tuple[int, ...]:
        e = self._ev.expr(frame, index)
        return e.items if isinstance(e, ir.Seq) and e.kind == "tuple" else (index,)

    def _is_view(self, part: int, frame: Frame, rows: bool) -> bool:
        """Whether a part of an index takes a view: a slice or, with `rows`, a number, and no list or mask. A text names
        an array in an .npz file, which `np.load` reads anew."""
        e = self._ev.expr(frame, part)
        if isinstance(e, ir.Slice) or (isinstance(e, ir.Const) and e.kind in ("NoneType", "ellipsis")):
            return True
        if not rows or pattern_of(self._ev, part, frame):
            return False
        return all(self._is_number(atom) for atom in self._ev.eval(part, frame).atoms)

    def _is_number(self, atom: object) -> bool:
        match atom:
            case Literal_("int", _, _):
                return True
            case Unknown():
                return atom in INDICES
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
