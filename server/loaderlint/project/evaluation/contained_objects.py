"""Where the code of a def reads an object that it has put into a dict, a list or another object:
`sets["train"] = Crops()`, and later `sets["train"].transform = Flip()` or `for each in sets.values(): ...`.

Nothing is evaluated: an expression is followed from what holds it to what reads it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Code

#: The maximum number of steps from an expression to what it holds.
LONGEST = 4
#: Methods of lists and sets, with the position of the argument that they add.
ADDERS = {"append": 0, "add": 0, "insert": 1}
#: The methods of a dict that read one item.
_GETTERS = frozenset({"get", "pop"})

#: An index or a key that is known.
Key = str | int | None


class Step(NamedTuple):
    """A step from what holds an object towards the object. `kind`: a dict, list or tuple, or an object with
    attributes. `key`: the key, the 0-based index or the attribute's name; `is_any` if it is not known."""

    kind: Literal["dict", "list", "object"]
    key: Key = None
    is_any: bool = False

    def may_be(self, other: Step) -> bool:
        """Whether a read by `other` may give what is held by this step. An index may read a dict or a list."""
        if (self.kind == "object") != (other.kind == "object"):
            return False
        return self.is_any or other.is_any or self.key == other.key


class Holder(NamedTuple):
    """Expression `number` holds an object, which is reached by the steps of `path`, the first one first. It is the
    object if there are none. `SELF` is the first parameter of a method."""

    number: int
    path: tuple[Step, ...] = ()


#: The number of the object whose method the def is.
SELF = -2
ANY_ITEM, _ANY_KEY = Step("list", is_any=True), Step("dict", is_any=True)


def holders(code: Code, known: Iterable[Holder]) -> frozenset[Holder]:
    """The expressions of a def that are, or hold, what `known` holds."""
    waiting = list(known)
    found = set(waiting)
    while waiting:
        one = waiting.pop()
        for other in (*_around(code, one), *_inside(code, one)):
            if other not in found and len(other.path) <= LONGEST:
                found.add(other)
                waiting.append(other)
    return frozenset(found)


def objects_in(found: Iterable[Holder]) -> frozenset[int]:
    """The expressions that are the object."""
    return frozenset(one.number for one in found if not one.path)


def attribute(name: str) -> Step:
    """The step to an attribute."""
    return Step("object", name)


def _around(code: Code, one: Holder) -> Iterator[Holder]:
    """What holds the expression: a display, a comprehension, what it is stored in; what a branch may have chosen."""
    for number, step in contents_of(code).put.get(one.number, ()):
        yield Holder(number, one.path if step is None else (step, *one.path))
    e = code.exprs[one.number] if one.path and one.number >= 0 else None  # a container that is changed where it is kept
    if isinstance(e, ir.Attr):
        yield Holder(_base(code, e.base), (attribute(e.name), *one.path))
    elif isinstance(e, ir.Index) and not code.has_slice(e.index):
        yield Holder(e.base, (Step("dict", *_key(code, e.index)), *one.path))


def _inside(code: Code, one: Holder) -> Iterator[Holder]:
    """What reads a part of the expression, on the way to the object."""
    if not one.path:
        return
    first, rest = one.path[0], one.path[1:]
    for number, read in contents_of(code).read.get(one.number, ()):
        match read:
            case Step() if first.may_be(read):
                yield Holder(number, rest)
            case "element" if first.kind == "list":
                yield Holder(number, rest)
            case "values" if first.kind == "dict":
                yield Holder(number, (ANY_ITEM, *rest))
            case "items" if first.kind == "dict":
                yield Holder(number, (ANY_ITEM, Step("list", 1), *rest))
            case int(index) if first.kind == "list":  # an argument of `zip` or `enumerate`
                yield Holder(number, (ANY_ITEM, Step("list", index), *rest))
            case "copy" if first.kind != "object":
                yield Holder(number, one.path)


#: How a part is read: by a step, in a loop, by a method of dicts, through a copy, or as an item of what `zip` or
#: `enumerate` gives, at this index.
Read = Step | Literal["element", "values", "items", "copy"] | int


def contents_of(code: Code) -> Contents:
    """What the code of a def puts into what."""
    if code.contents is None:
        code.contents = Contents(code)
    return code.contents


class Contents:
    """What the code of a def puts into what, and what it reads from what. `put`: what an expression is put into, and
    the step back to it (None: it may be the same object). `read`: what reads a part of an expression, and how."""

    __slots__ = ("put", "read")

    def __init__(self, code: Code) -> None:
        self.put: dict[int, list[tuple[int, Step | None]]] = defaultdict(list)
        self.read: dict[int, list[tuple[int, Read]]] = defaultdict(list)
        for number in sorted(code.expressions()):
            self._add(code, number, code.exprs[number])
        for _, step in code.steps_of(ir.SetItem):
            if not code.has_slice(step.index):
                self.put[step.value].append((step.base, Step("dict", *_key(code, step.index))))
        for _, stored in code.steps_of(ir.SetAttr):
            if stored.value != ir.NONE:
                self.put[stored.value].append((_base(code, stored.base), attribute(stored.name)))

    def _add(self, code: Code, number: int, e: ir.Expr) -> None:
        match e:
            case ir.Seq(kind, items):
                for index, item in enumerate(items):
                    self.put[item].append((number, ANY_ITEM if kind == "set" else Step("list", index)))
            case ir.Map(keys, values):
                for key, value in zip(keys, values, strict=True):
                    if key != ir.NONE:
                        self.put[value].append((number, Step("dict", *_key(code, key))))
            case ir.Comp(kind=kind, element=element):
                self.put[element].append((number, _ANY_KEY if kind == "dict" else ANY_ITEM))
            case ir.Index(base, index) if not code.has_slice(index):
                self.read[base].append((number, Step("dict", *_key(code, index))))
            case ir.Attr(base, name):
                self.read[_base(code, base)].append((number, attribute(name)))
            case ir.Unpack(value, index, False):
                self.read[value].append((number, Step("list", index)))
            case ir.Element(iterable):
                self.read[iterable].append((number, "element"))
            case ir.Call():
                self._add_call(code, number, e)
        for choice in code.chosen_from(number):
            self.put[choice].append((number, None))

    def _add_call(self, code: Code, number: int, e: ir.Call) -> None:
        func = code.exprs[e.func] if e.func != ir.NONE else None
        values = [arg.value for arg in e.args if arg.kind == "pos"]
        match func:
            case ir.Attr(base, "values") if not e.args:
                self.read[base].append((number, "values"))
            case ir.Attr(base, "items") if not e.args:
                self.read[base].append((number, "items"))
            case ir.Attr(base, name) if name in _GETTERS and values:
                self.read[base].append((number, Step("dict", *_key(code, values[0]))))
            case ir.Attr(base, name) if name in ADDERS and len(values) > ADDERS[name]:
                self.put[values[ADDERS[name]]].append((base, ANY_ITEM))
            case ir.Global("enumerate") if values:
                self.read[values[0]].append((number, 1))
            case ir.Global("zip"):
                for index, value in enumerate(values):
                    self.read[value].append((number, index))
            case ir.Global("list" | "tuple" | "reversed" | "dict") if len(values) == 1:
                self.read[values[0]].append((number, "copy"))
            case ir.Global("dict"):
                for arg in e.args:
                    if arg.kind == "kw":
                        self.put[arg.value].append((number, Step("dict", arg.name)))


def _key(code: Code, number: int) -> tuple[Key, bool]:
    """The key that an expression is, and whether it is not known. Indices from the end are not known."""
    e = code.exprs[number] if number != ir.NONE else None
    if isinstance(e, ir.Const) and isinstance(e.value, str | int):
        return e.value, False
    return None, True


def _base(code: Code, number: int) -> int:
    """The expression that has an attribute, `SELF` for the first parameter of a method."""
    return SELF if number != ir.NONE and ir.is_self(code.exprs[number]) else number
