"""What a lambda or a nested function is called at module level: after what it does, if that is one simple thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts

#: Functions and methods that make something of their argument, with a name that says what. A name of a conversion,
#: such as `float`, becomes `to_float`.
_MAKES = MappingProxyType(
    {
        **dict.fromkeys(("array", "asarray", "numpy"), "to_array"),
        **dict.fromkeys(("as_tensor", "from_numpy", "tensor", "FloatTensor", "LongTensor", "Tensor"), "to_tensor"),
        **dict.fromkeys("bool byte double float half int list long str tuple".split(), "to_{}"),
        "fromarray": "to_image",
        "tolist": "to_list",
    }
)
_CASTS = frozenset("bool byte double float int long".split())
_ARITHMETIC = MappingProxyType(
    {"/": "divide_by", "*": "multiply_by", "div": "divide_by", "mul": "multiply_by", "+": "add", "-": "subtract"}
)
_COMPUTED = re.compile(r"(?:add|divide_by|invert|multiply_by|negate|rescale|subtract)(?:_\d+)?$")
#: A larger number makes no name.
_MAX_NUMBER = 10**6
_ITEMS: MappingProxyType[object, str] = MappingProxyType({0: "first_item", 1: "second_item", -1: "last_item"})
_ARGUMENTS = MappingProxyType({0: "first_argument", 1: "second_argument"})
_MODES = MappingProxyType({"L": "grayscale", "1": "bilevel"})
#: Names that say nothing at module level, nor as a keyword.
_BLANK = re.compile(r"_*(?:[a-zA-Z]|cb|callback|fn|fun|func|function|inner|key|lambd|wrapped|wrapper)_*$")
#: Names of arguments that say little.
_PLAIN = re.compile(r"_*transform(?:s|ation|ations)?(?:_\w+)?$")
#: Names of uses that name a function: `index_to_name`, `name_formatter`.
_FUNCTION = re.compile(
    r"(?:^|[a-z0-9]_)to_[a-z]|_(?:converter|decoder|encoder|fn|formatter|func|function|loader|reader)$"
)
#: What a factory does, before what it makes.
_FACTORY = re.compile(r"_*(?:build|create|get|main|make)(?:_|$)")
#: Names of parameters that say what they hold.
_TELLING = re.compile(r"(?!data$|input|value$|args?$|self$)[a-z]{3,}$")
_WORD_BEGIN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def module_names(facts: PieceFacts, def_: int, attribute: str) -> list[str]:
    """Names for a function at module level, the best first: after its key in a table of functions, what it does, or
    what it is used as. `attribute`: the name of the attribute that holds it, '' if there is none."""
    keys = [] if (told := told_name(facts, def_)) == "identity" else _told_uses(_keys(facts, def_))
    uses = _told_uses((*_names_of_use(facts, def_), attribute))
    telling = [name for name in uses if not _PLAIN.match(name)]
    # of arithmetic, the author's word says more
    order = [*keys, *telling, told, *uses] if _COMPUTED.match(told) else [*keys, told, *telling, *uses]
    return [name if name == told else _as_function(name.strip("_")) for name in order if name]


def _as_function(use: str) -> str:
    """The name of a function that is used as this."""
    return use if _FUNCTION.search(use) else f"apply_{use}"


def _told_uses(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.isidentifier() and not is_blank(name)]


def told_name(facts: PieceFacts, def_: int) -> str:
    """The name of a function that returns one simple expression of its parameter, after that expression; '' for any
    other."""
    one = facts.ir.defs[def_]
    returned = [step.value for step in one.steps if isinstance(step, ir.Return)]
    calls = all(isinstance(step, ir.Return | ir.Perform | ir.Test | ir.Iterate) for step in one.steps)
    if len(returned) != 1 or not one.params or not calls:
        return ""
    params = [param.name for param in one.params]
    if _is_given_back(returned[0], len(params), facts.ir.exprs):
        return "identity"
    if (kept := _kept(returned[0], params, facts.ir.exprs)) is not None:
        return f"return_{kept}"
    told = _Told(facts.ir.exprs, params[0])
    return told.of(returned[0]) if len(params) == 1 else told.of_several(returned[0])


def is_blank(name: str) -> bool:
    """Whether the name of a nested function would say nothing at module level."""
    return _BLANK.match(name) is not None


def _made(facts: PieceFacts, def_: int) -> set[int]:
    """The expressions that are a function."""
    exprs = facts.ir.exprs
    made = {number for number, e in enumerate(exprs) if type(e) is ir.MakeDef and e.index == def_}
    return made | {number for number, e in enumerate(exprs) if isinstance(e, ir.Phi) and made & set(e.choices)}


def _keys(facts: PieceFacts, def_: int) -> Iterator[str]:
    """The keys under which dicts hold a function."""
    exprs, made = facts.ir.exprs, _made(facts, def_)
    for table in (e for e in exprs if isinstance(e, ir.Map)):
        keys = (exprs[key] for key, value in zip(table.keys, table.values, strict=True) if value in made and key >= 0)
        yield from (_snake(str(key.value)) for key in keys if isinstance(key, ir.Const) and key.kind == "str")


def _names_of_use(facts: PieceFacts, def_: int) -> Iterator[str]:
    """The name of the function that returns a function, without what its own work is called, and those of the keyword
    arguments that it becomes."""
    exprs, one, made = facts.ir.exprs, facts.ir.defs[def_], _made(facts, def_)
    outer = facts.ir.defs[one.parent] if one.parent > 0 else None
    if outer is not None and any(isinstance(step, ir.Return) and step.value in made for step in outer.steps):
        yield _FACTORY.sub("", outer.name)
    yield from (arg.name for e in exprs if isinstance(e, ir.Call) for arg in e.args if arg.value in made)


def _is_given_back(returned: int, params: int, exprs: Sequence[ir.Expr]) -> bool:
    """Whether a function returns its arguments as they are."""
    e = exprs[returned] if returned != ir.NONE else None
    is_tuple = isinstance(e, ir.Seq) and e.kind == "tuple" and len(e.items) > 1
    items = [exprs[item] for item in e.items] if isinstance(e, ir.Seq) and is_tuple else [e]
    return items == [ir.Param(index) for index in range(params)] and all(isinstance(i, ir.Param) for i in items)


def _kept(returned: int, params: Sequence[str], exprs: Sequence[ir.Expr]) -> str | None:
    """What a function returns whatever it gets: one of several arguments as it is, or a constant; None if neither."""
    match exprs[returned] if returned != ir.NONE else None:
        case ir.Param(index) if len(params) > 1:
            name = params[index].strip("_")
            return name if _TELLING.match(name) else _ARGUMENTS.get(index)
        case ir.Seq(kind, ()):
            return f"empty_{kind}"
        case ir.Const("NoneType" | "bool" | "int", bool() | int() | None as value) if 0 <= (value or 0) < _MAX_NUMBER:
            return str(value).lower()
    return None


def _snake(name: str) -> str:
    """A name as that of a function: `cvtColor` and `cvt-color` as `cvt_color`."""
    return re.sub(r"\W+", "_", _WORD_BEGIN.sub("_", name)).lower().strip("_")


class _Told:
    """The name for what is done to one parameter."""

    def __init__(self, exprs: Sequence[ir.Expr], param: str) -> None:
        self._exprs = exprs
        self._noun = param if _TELLING.match(param) else ""

    def of(self, number: int) -> str:
        """The name for an expression; '' if it does not do one simple thing."""
        match self._exprs[number]:
            case ir.IfExp(_, then, other) if self._is_param(then) or self._is_param(other):
                return self.of(other if self._is_param(then) else then)
            case ir.Index(base, index) if self._is_param(base):
                return self._item(index)
            case ir.Unary("-", operand) if self._is_param(operand):
                return "negate"
            case ir.Bin() | ir.Unary():
                return self._computed(number)
            case ir.Compare(left, _, (right,)) if self._is_param(left) and self._number(right) is not None:
                return "binarize"
            case ir.Seq(kind, items):
                return self._in_sequence(kind, items)
            case ir.Call(func, args):
                return self._called(func, args) or self._called_twice(func, args)
        return ""

    def _in_sequence(self, kind: str, items: Sequence[int]) -> str:
        """The name for a list or tuple: of the parameter alone, or of its items, of which one is changed."""
        if len(items) == 1 and self._is_param(items[0]) and kind in ("list", "tuple"):
            return f"wrap_in_{kind}"
        parts = [self._exprs[item] for item in items]
        calls = [part for part in parts if isinstance(part, ir.Call)]
        if len(calls) != 1 or not all(isinstance(part, ir.Call) or self._is_item(part) for part in parts):
            return ""
        (call,) = calls
        func = self._exprs[call.func]
        name = func.name if isinstance(func, ir.Attr | ir.Global | ir.Capture | ir.Imported) else None
        if not name or len(name) < 3 or not any(self._is_item(self._exprs[arg.value]) for arg in call.args):
            return ""
        return f"apply_{_snake(name)}"

    def _is_item(self, e: ir.Expr) -> bool:
        return isinstance(e, ir.Index) and self._is_param(e.base)

    def _called_twice(self, func: int, args: tuple[ir.Arg, ...]) -> str:
        """The name for a function of what another one makes of the parameter: `clamp_and_log`."""
        inner = [self._exprs[arg.value] for arg in args if not isinstance(self._exprs[arg.value], ir.Const)]
        outer = self._exprs[func]
        if len(inner) != 1 or not isinstance(inner[0], ir.Call) or not isinstance(outer, ir.Attr | ir.Global):
            return ""
        called = self._exprs[inner[0].func]
        is_method = any(isinstance(one, ir.Attr) and self._is_param(one.base) for one in (outer, called))
        first = self._called(inner[0].func, inner[0].args)
        if is_method or not first or not isinstance(called, ir.Attr | ir.Global) or len(outer.name) < 3:
            return ""
        return f"{_snake(called.name)}_and_{_snake(outer.name)}"

    def of_several(self, number: int) -> str:
        """The name for an expression of several parameters: that of the one function that gets some of them."""
        e = self._exprs[number]
        args = [self._exprs[arg.value] for arg in e.args] if isinstance(e, ir.Call) else []
        plain = all(isinstance(arg, ir.Param | ir.Const) for arg in args) and ir.Param(0) in args
        if not isinstance(e, ir.Call) or not plain:
            return ""
        func = self._exprs[e.func]
        is_method = isinstance(func, ir.Attr) and self._is_param(func.base)
        return "" if is_method else self._called(e.func, e.args)

    def _is_param(self, number: int) -> bool:
        return isinstance(self._exprs[number], ir.Param)

    def _item(self, index: int) -> str:
        number, key = self._number(index), self._text(index)
        return f"get_{key}" if key.isidentifier() else _ITEMS.get(number, "")

    def _number(self, number: int) -> float | None:
        match self._exprs[number]:
            case ir.Const("int" | "float", int() | float() as value) if abs(value) < _MAX_NUMBER:
                return float(value)
            case ir.Unary("-", operand):
                positive = self._number(operand)
                return None if positive is None else -positive
        return None

    def _text(self, number: int) -> str:
        e = self._exprs[number]
        return str(e.value) if isinstance(e, ir.Const) and e.kind == "str" else ""

    def _computed(self, number: int) -> str:
        """The name for arithmetic with numbers."""
        leaves = list(self._leaves(number))
        if [leaf for leaf in leaves if self._number(leaf) is None] != [one for one in leaves if self._is_param(one)]:
            return ""
        e = self._exprs[number]
        if not isinstance(e, ir.Bin) or len(leaves) != 2 or sum(map(self._is_param, leaves)) != 1:
            return "rescale" if sum(map(self._is_param, leaves)) == 1 else ""
        if self._is_param(e.left) or e.op in "*+":
            return self._by_number(e.op, e.right if self._is_param(e.left) else e.left)
        return "invert" if e.op == "-" else "rescale"

    def _leaves(self, number: int) -> Iterator[int]:
        match self._exprs[number]:
            case ir.Bin(op, left, right) if op in ("/", "*", "+", "-"):
                yield from self._leaves(left)
                yield from self._leaves(right)
            case ir.Unary("-", operand) if self._number(number) is None:
                yield from self._leaves(operand)
            case _:
                yield number

    def _by_number(self, op: str, operand: int) -> str:
        number = self._number(operand)
        if number is None or op not in _ARITHMETIC:
            return ""
        return f"{_ARITHMETIC[op]}_{int(number)}" if number.is_integer() and number >= 0 else "rescale"

    def _called(self, func: int, args: tuple[ir.Arg, ...]) -> str:
        """The name for one call: of a method of the parameter, or of a function that gets it."""
        e = self._exprs[func]
        name = e.name if isinstance(e, ir.Attr | ir.Global | ir.Capture | ir.Imported) else None
        if not name or len(name.strip("_")) < 3:
            return ""
        if isinstance(e, ir.Attr) and self._is_param(e.base):
            return self._method(name, [arg.value for arg in args])
        if isinstance(e, ir.Attr) and name in _CASTS and not args and isinstance(self._exprs[e.base], ir.Compare):
            return self.of(e.base)
        outer = [one for one in ir.made_of(self._exprs, [func]) if isinstance(self._exprs[one], ir.Call | ir.Param)]
        given = any(self._is_param(arg.value) for arg in args) and not outer
        return self._named(name) if given and not any(map(self._calls, args)) else ""

    def _calls(self, arg: ir.Arg) -> bool:
        return any(isinstance(self._exprs[one], ir.Call) for one in ir.made_of(self._exprs, [arg.value]))

    def _method(self, name: str, args: list[int]) -> str:
        mode = self._text(args[0]) if name == "convert" and len(args) == 1 else ""
        if mode:
            return f"convert_to_{_MODES.get(mode, mode.lower())}"
        if len(args) == 1 and (computed := self._by_number(name.strip("_"), args[0])):
            return computed
        numbers = [self._number(arg) for arg in args]
        if name in ("repeat", "expand") and len(numbers) > 2 and numbers[0] == 3:
            return f"{name}_channels"
        return self._named(name)

    def _named(self, name: str) -> str:
        if name in _MAKES:
            return _MAKES[name].format(name)
        words = _snake(name)
        return f"{words}_{self._noun}" if self._noun and "_" not in words else f"apply_{words}"
