"""What loaders are called: `train_loader`, `val_dl`, `test_set`."""

from __future__ import annotations

import re

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.reach.model import MainFunction

#: What loaders are called, and what makes them.
_LOADER = re.compile(
    r"loader|dataset|batches|(?:^|_)dl(?:_|$)|(?:train|val|valid|test|eval)_(?:set|iter|data)", re.IGNORECASE
)


def is_named_as_loader(source: int, function: MainFunction) -> bool:
    """Whether the iterable of a loop, or anything that is passed for it, has such a name."""
    waiting, seen = [source], set[int]()
    while waiting:
        number = waiting.pop()
        if number == NONE or number in seen:
            continue
        seen.add(number)
        match function.exprs[number]:
            case ir.Call(func, args):
                if _LOADER.search(called_name(function.exprs, func)):
                    return True
                waiting += [argument.value for argument in args]
            case ir.Param(index) if _LOADER.search(function.written.params[index].name):
                return True
            case ir.Global(name) | ir.Attr(_, name) | ir.Capture(_, name) | ir.Imported(_, name, _):
                if name and _LOADER.search(name):
                    return True
            case ir.Phi(choices):
                waiting += choices
    return False
