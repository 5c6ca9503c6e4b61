"""The fix: another exception where there is no next item."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertFunction, Replace
from loaderlint.project.reach.model import Model, WorkerCall

_NEXT_OR_FAIL = '''\
def {next_or_fail}(items):
    """The next of `items`: a StopIteration would end the loader's epoch."""
    try:
        return next(items)
    except StopIteration:
        raise RuntimeError("no more items for this sample") from None'''


def failing_fixes(call: WorkerCall, model: Model) -> tuple[Fix, ...]:
    """Another exception, from a function beside it."""
    if not isinstance(model.ev.expr(call.frame, call.call.func), ir.Global):
        return ()
    function = InsertFunction(call.frame.path, "next_or_fail", _NEXT_OR_FAIL)
    replaced = Replace(model.place(call.frame, call.call.func), "{next_or_fail}")
    return (Fix("Raise an error where there is no next item", "unsafe", (function, replaced)),)
