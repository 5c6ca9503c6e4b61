"""Calls of OpenCV on images that are too small for its threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from loaderlint.facts import ir
from loaderlint.knowledge.opencv import (
    ANY_TYPE,
    BYTES,
    BYTES_ONLY,
    COPIES_ARRAY,
    FILLED,
    FLOATS,
    FOR_BYTES,
    KEEPS_TYPE,
    LEAST_PIXELS,
    MAKES_FLOATS,
    READS,
    READS_BYTES,
    READS_DATA,
    READS_ELSEWHERE,
    SERIAL_IF_SMALL,
    SIZED,
)
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.number_bounds import count_of
from loaderlint.project.evaluation.values import Atom, Lib, LibObject, Literal_, SeqOf, Unknown, Val, unknown

#: How many calls are followed from an image back to the one that made it.
_MAX_DEPTH = 6

#: Methods of arrays and of PIL's images whose result has the same size.
_KEEPS_SIZE = frozenset({"astype", "copy", "convert", "clip"})
#: Methods of arrays whose result has the same type.
_KEEPS_TYPE = frozenset({"copy", "reshape", "squeeze", "transpose"})
#: An ellipsis and the channels, or the rows and the columns.
_ROWS_OR_COLUMNS = 2

#: An item of something that is not known.
_ITEM = frozenset({Unknown("item")})

#: What is asked about what made an image, and how many calls were followed.
_Question = Callable[[LibObject, Evaluator, int], bool]

#: What is asked about the least and the greatest number of pixels.
_OfPixels = Callable[[float, float], bool]


def is_small(name: str, arguments: Arguments, ev: Evaluator) -> bool:
    """Whether a call of an OpenCV function works on an image for which it starts no threads."""
    if name == "cv2.resize":
        return _is_sized(name, arguments, _are_few, ev) and (
            _is_one_of(arguments.get("interpolation", 5), ANY_TYPE)
            or (_is_one_of(arguments.get("interpolation", 5), BYTES_ONLY) and _follow(arguments, _is_bytes, ev, 0))
        )
    if name in FOR_BYTES:
        return _is_float(arguments.get("src", 0), ev, 0)
    return name in SERIAL_IF_SMALL and _follow(arguments, _is_small_result, ev, 0)


def is_large(name: str, arguments: Arguments, ev: Evaluator) -> bool:
    """Whether a call of a function whose threads depend on the size works on an image that is large enough: it gets
    a known size, or is as it was read."""
    return _is_large_call(name, arguments, ev, 0)


def gets_large_size(name: str, arguments: Arguments, ev: Evaluator) -> bool:
    """Whether a call gives its result a known size that is large enough for threads."""
    return name in SIZED and _is_sized(name, arguments, _are_many, ev)


def _is_large_call(name: str, arguments: Arguments, ev: Evaluator, depth: int) -> bool:
    if gets_large_size(name, arguments, ev):
        return True
    return (name not in SIZED or _is_sized_by_item(name, arguments)) and _follow(arguments, _is_large_result, ev, depth)


def _follow(arguments: Arguments, question: _Question, ev: Evaluator, depth: int) -> bool:
    """Whether the question is true of every call that may have made the image among the arguments."""
    image = arguments.get("src", 0) or unknown("no image")
    made = [atom for atom in image.atoms if not (isinstance(atom, Literal_) and atom.value is None)]
    if not made or depth >= _MAX_DEPTH:
        return False
    return all(isinstance(atom, LibObject) and question(atom, ev, depth + 1) for atom in made)


def _is_small_result(made: LibObject, ev: Evaluator, depth: int) -> bool:
    arguments = ev.calls.site_arguments(made.site)
    if made.name in SIZED:
        return _is_sized(made.name, arguments, _are_few, ev)
    return made.name in KEEPS_TYPE and _follow(arguments, _is_small_result, ev, depth)


def _is_large_result(made: LibObject, ev: Evaluator, depth: int) -> bool:
    """Whether an image is as it was read from a file, or a large result of another call. What keeps the size of an
    array keeps it large: another type, arithmetic, whole slices."""
    if made.name in READS or made.name in READS_ELSEWHERE:
        return True
    if made.name in KEEPS_TYPE:
        return _is_large_call(made.name, ev.calls.site_arguments(made.site), ev, depth)
    frame, same = made.site.frame, partial(_is_large_array, ev=ev, depth=depth)
    match ev.expr(frame, made.site.expr):
        case ir.Call() if _copies(made.name):
            return same(ev.calls.site_arguments(made.site).get("a", 0))
        case ir.Call(func, _) if isinstance(method := ev.expr(frame, func), ir.Attr) and method.name in _KEEPS_SIZE:
            return same(ev.eval(method.base, frame))
        case ir.Index(base, index) if _takes_whole(index, frame):
            return same(ev.eval(base, frame))
        case ir.Bin(_, left, right):
            return same(ev.eval(left, frame)) or same(ev.eval(right, frame))
        case ir.Augmented(_, target, _):
            return same(ev.eval(target, frame))
    return False


def _copies(name: str) -> bool:
    """Whether a function gives an array of the size of its first argument."""
    library, _, function = name.partition(".")
    return library == "numpy" and function in COPIES_ARRAY


def _is_large_array(image: Val | None, ev: Evaluator, depth: int) -> bool:
    """Whether all that an image may be is large, as far as `_is_large_result` knows."""
    return _is_made(image, _is_large_result, ev, depth)


def _takes_whole(index: int, frame: Frame) -> bool:
    """Whether an index takes all rows and columns: `[:, :, ::-1]`, `[..., :3]`."""
    exprs = frame.code.exprs
    e = exprs[index]
    items = e.items if isinstance(e, ir.Seq) else ()
    first = [exprs[item] for item in items[:2]]
    if first and isinstance(first[0], ir.Const) and first[0].kind == "ellipsis":
        return len(items) == _ROWS_OR_COLUMNS
    return len(first) == _ROWS_OR_COLUMNS and all(
        isinstance(one, ir.Slice) and one.lower == one.upper == ir.NONE and _turns(one.step, exprs) for one in first
    )


def _turns(step: int, exprs: Sequence[ir.Expr]) -> bool:
    """Whether a slice with this step takes each row or column, at most in another order."""
    return step == ir.NONE or exprs[step] == ir.Const("int", -1)


def _is_bytes(made: LibObject, ev: Evaluator, depth: int) -> bool:
    arguments = ev.calls.site_arguments(made.site)
    if made.name in READS:
        return _is_one_of(arguments.get("flags", 1), READS_BYTES)
    if made.name in FILLED:
        return _is_one_of(arguments.get("dtype", FILLED[made.name]), BYTES)
    return made.name in KEEPS_TYPE and _follow(arguments, _is_bytes, ev, depth)


def _is_float(image: Val | None, ev: Evaluator, depth: int) -> bool:
    """Whether an image is an array of floats, whatever made it: `np.zeros((64, 64))`, an item of that, or a copy."""
    return _is_made(image, _makes_floats, ev, depth)


def _is_made(image: Val | None, question: _Question, ev: Evaluator, depth: int) -> bool:
    """Whether the question is true of all that an image may be."""
    made = list(image.atoms) if image is not None and depth < _MAX_DEPTH else []
    return bool(made) and all(isinstance(atom, LibObject) and question(atom, ev, depth + 1) for atom in made)


def _makes_floats(made: LibObject, ev: Evaluator, depth: int) -> bool:
    frame, arguments = made.site.frame, ev.calls.site_arguments(made.site)
    if made.name in MAKES_FLOATS:
        return True
    if made.name in FILLED:
        dtype = arguments.get("dtype", FILLED[made.name])
        return _is_one_of(dtype, FLOATS) and not (made.name == "numpy.full" and dtype is None)
    match ev.expr(frame, made.site.expr):
        case ir.Index(base, _):
            return _is_float(ev.eval(base, frame), ev, depth)
        case ir.Bin("/", _, _) | ir.Augmented("/", _, _):
            return True
        case ir.Bin("+" | "-" | "*", left, right) | ir.Augmented("+" | "-" | "*", left, right):
            return any(_is_float(ev.eval(side, frame), ev, depth) for side in (left, right))
        case ir.Call() if _copies(made.name):
            return made.name != "numpy.uint8" and _is_float(arguments.get("a", 0), ev, depth)
        case ir.Call(func, _) if isinstance(method := ev.expr(frame, func), ir.Attr):
            if method.name == "astype":
                return _is_one_of(arguments.get("dtype", 0), FLOATS - {None})
            if made.name in KEEPS_TYPE:
                return _is_float(arguments.get("src", 0), ev, depth)
            return method.name == "copy" and _is_float(ev.eval(method.base, frame), ev, depth)
    return False


def is_of_data_file(arguments: Arguments, ev: Evaluator) -> bool:
    """Whether a call works on an array of a file that may hold floats as well as bytes: `loadmat(path)["cube"]`."""
    return _is_made(arguments.get("src", 0), _reads_data, ev, 0)


def _reads_data(made: LibObject, ev: Evaluator, depth: int) -> bool:
    if made.name in READS_DATA:
        return True
    frame = made.site.frame
    match ev.expr(frame, made.site.expr):
        case ir.Index(base, _):
            return _is_made(ev.eval(base, frame), _reads_data, ev, depth)
        case ir.Call(func, _) if isinstance(method := ev.expr(frame, func), ir.Attr) and method.name in _KEEPS_TYPE:
            return _is_made(ev.eval(method.base, frame), _reads_data, ev, depth)
    return False


def _is_sized(name: str, arguments: Arguments, question: _OfPixels, ev: Evaluator) -> bool:
    """Whether every size that the result of a call may have is known, and the question is true of it."""
    size = arguments.get("dsize", SIZED[name]) or unknown("no size")
    return bool(size.atoms) and all(_is_pair(atom, question, ev) for atom in size.atoms)


def _is_sized_by_item(name: str, arguments: Arguments) -> bool:
    """Whether the size of a result is items of something that is not known: `image.shape`, as a rule. That of
    `cv2.resize` is a smaller one."""
    size = arguments.get("dsize", SIZED[name])
    if size is None or name == "cv2.resize":
        return False
    parts = [item for pair in size.only(SeqOf) for item in pair.items] or [size]
    return all(part.atoms == _ITEM for part in parts)


def _is_pair(size: Atom, question: _OfPixels, ev: Evaluator) -> bool:
    if not isinstance(size, SeqOf) or len(size.items) != 2:
        return False
    width, height = (count_of(ev, item) for item in size.items)
    known = min(width.least, height.least) > 0
    return known and question(width.least * height.least, width.most * height.most)


def _are_few(_: float, most: float) -> bool:
    return most < LEAST_PIXELS


def _are_many(least: float, _: float) -> bool:
    return least >= LEAST_PIXELS


def _is_one_of(choice: Val | None, known: frozenset[str | int | None]) -> bool:
    """Whether an argument is one of these constants of OpenCV, by its name or number; None if it is not passed."""
    if choice is None:
        return None in known
    named = [atom.name if isinstance(atom, Lib) else atom.value for atom in choice.only(Lib, Literal_)]
    return bool(named) and len(named) == len(choice.atoms) and known.issuperset(named)
