"""The fixes: let one argument follow the other, or drop it."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, RemoveArgument, SetArgument
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.conflicting_loader_arguments.argument_pairs import Conflict
from loaderlint.rules.shared.loader_call import Written, written


def argument_fixes(conflict: Conflict, loader: Loader, model: Model) -> Iterator[Fix]:
    """Let the argument follow the one that it conflicts with; else drop it."""
    argument, other = written(loader, conflict.argument, model), written(loader, conflict.other, model)
    if argument is None or not argument.keyword or conflict.other == "" and conflict.droppable:
        return
    assert loader.site is not None
    call = model.site_place(loader.site)
    named = other is not None and _is_named(other, call.anchor, model)
    followed = _following(conflict, argument, call.anchor, model) if named and other and other.keyword else None
    if followed is not None:
        title = f"Let `{conflict.argument}` follow `{conflict.other}`"
        yield Fix(title, "safe", (SetArgument(call, conflict.argument, followed),))
    elif conflict.soft == "always":
        lost = named and conflict.other == "num_workers" or not conflict.droppable or _takes_more(loader, model)
        yield Fix(
            f"Drop `{conflict.argument}`", "unsafe" if lost else "safe", (RemoveArgument(call, argument.keyword),)
        )


def _takes_more(loader: Loader, model: Model) -> bool:
    """Whether the call is given `**more`, which may bring the argument back."""
    assert loader.site is not None
    call = model.ev.expr(loader.site.frame, loader.site.expr)
    return isinstance(call, ir.Call) and any(arg.kind == "starstar" for arg in call.args)


def _following(conflict: Conflict, argument: Written, call: int, model: Model) -> str | None:
    """The argument as an expression of what it conflicts with; None if it can only be dropped."""
    if conflict.other == "sampler":
        return "{argument:sampler} is None" if conflict.soft != "always" else None
    if conflict.other != "num_workers":
        return None
    if not conflict.instead:
        return "{argument:num_workers} > 0"
    constant = isinstance(model.ev.expr(argument.frame, argument.number), ir.Const)
    if not constant and not _is_named(argument, call, model):
        return None
    return f"{{argument:{conflict.argument}}} if {{argument:num_workers}} > 0 else {conflict.instead}"


def _is_named(argument: Written, call: int, model: Model) -> bool:
    """Whether the call's text holds a name, or an attribute of one, for the argument."""
    number, frame = argument.number, argument.frame
    while model.place(frame, number).anchor > call:
        e = model.ev.expr(frame, number)
        if not isinstance(e, ir.Attr):
            return isinstance(e, ir.Global | ir.Param | ir.Capture)
        number = e.base
    return True  # a name that was bound before
