"""Tests that ask whether a loader has workers."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Code

#: What a test compares a number of workers with, to ask whether there are any.
_ANY_WORKERS = tuple(((operator,), ir.Const("int", least)) for operator, least in ((">", 0), ("!=", 0), (">=", 1)))


def asks_for_workers(context: int, loader: int, code: Code) -> bool:
    """Whether a branch is taken whenever a loader has workers: `if workers > 0:`, where the call `loader` of the same
    def passes these workers, itself or in a dict."""
    here = code.one.contexts[context] if code.one is not None else None
    if here is None or here.kind != "if" or here.negated:
        return False
    asked, test = here.expr, code.exprs[here.expr]
    if isinstance(test, ir.Compare) and (test.ops, *map(code.exprs.__getitem__, test.rights)) in _ANY_WORKERS:
        asked = test.left
    passed = code.exprs[loader]
    numbers = list(_passed(passed, "num_workers", code)) if isinstance(passed, ir.Call) else []
    return bool(numbers) and all(number == asked for number in numbers)


def _passed(call: ir.Call, name: str, code: Code) -> Iterator[int]:
    """What a call passes under a name, also with `**options`, where the def makes the dict."""
    for arg in call.args:
        given = code.exprs[arg.value] if arg.kind == "starstar" else None
        if arg.kind == "kw" and arg.name == name:
            yield arg.value
        elif isinstance(given, ir.Map):
            pairs = zip(given.keys, given.values, strict=True)
            yield from (value for key, value in pairs if key != ir.NONE and code.exprs[key] == ir.Const("str", name))
        elif isinstance(given, ir.Call) and code.exprs[given.func] == ir.Global("dict"):
            yield from (one.value for one in given.args if one.name == name)
