"""What code takes over from configuration files as options of the command line, whatever their names:
`parser.set_defaults(**config)`, `vars(args).update(config)`,
`for name, value in config.items(): setattr(args, name, value)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Code that takes over options calls one of these.
TAKING_OVER = ("set_defaults", "update", "setattr")
_ALSO = ("set_defaults(**", ".items()", "vars(", "__dict__")


def takes_over(text: str) -> bool:
    """Whether the text of a piece may take over options."""
    return any(word in text for word in _ALSO)


def taken_over(ev: Evaluator, frame: Frame) -> Iterator[Atom]:
    """The parts of files whose items a def makes options."""
    for number in _sources(frame):
        yield from (atom for atom in ev.eval(number, frame).ordered() if ev.file_values.parts(atom))


def _sources(frame: Frame) -> Iterator[int]:
    """The expressions whose items a def makes options, or attributes of another object than its own."""
    exprs = frame.code.exprs
    for _, call in frame.code.calls:
        func = exprs[call.func]
        if isinstance(func, ir.Attr) and func.name == "set_defaults":
            yield from (arg.value for arg in call.args if arg.kind == "starstar")
        elif isinstance(func, ir.Attr) and func.name == "update" and _is_dict_of_options(func.base, frame):
            yield from (arg.value for arg in call.args if arg.kind in ("pos", "starstar"))
        elif func == ir.Global("setattr") and len(call.args) == 3:
            yield from items_gone_through(call, frame)


def _is_dict_of_options(number: int, frame: Frame) -> bool:
    """Whether an expression is `vars(args)` or `args.__dict__`."""
    exprs = frame.code.exprs
    e = exprs[number]
    if isinstance(e, ir.Call):
        return exprs[e.func] == ir.Global("vars") and len(e.args) == 1 and not ir.is_self(exprs[e.args[0].value])
    return isinstance(e, ir.Attr) and e.name == "__dict__" and not ir.is_self(exprs[e.base])


def items_gone_through(call: ir.Call, frame: Frame) -> Iterator[int]:
    """What `for name, value in options.items(): setattr(args, name, value)` takes over: `options`."""
    exprs = frame.code.exprs
    key, value = (exprs[arg.value] for arg in call.args[1:])
    if isinstance(key, ir.Unpack) and isinstance(value, ir.Unpack) and (key.index, value.index) == (0, 1):
        pair = exprs[key.value]
        items = exprs[pair.iterable] if isinstance(pair, ir.Element) and key.value == value.value else None
        func = exprs[items.func] if isinstance(items, ir.Call) and not items.args else None
        if isinstance(func, ir.Attr) and func.name == "items":
            yield func.base
