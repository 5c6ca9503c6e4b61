"""The fixes: let one argument follow the other, or drop it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, OverrideArguments, Place, RemoveArgument, Replace, Safety, SetArgument
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.unpacked_dicts import display_of_one_use
from loaderlint.project.evaluation.values import Instance, Literal_, MapOf
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.conflicting_loader_arguments.argument_pairs import Conflict, conflicts
from loaderlint.rules.conflicting_loader_arguments.read_arguments import reads_argument
from loaderlint.rules.shared.branches import is_alike
from loaderlint.rules.shared.loader_call import Written, written
from loaderlint.rules.shared.loader_traits import side_if_none

#: An expression, and the frame that evaluates it.
_Source = tuple[Frame, int]
#: What raises where there are no workers.
_NEEDING = ("persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout")


def argument_fixes(conflict: Conflict, loader: Loader, model: Model) -> Iterator[Fix]:
    """Let the argument follow the one that it conflicts with; else drop it. Unsafe where code reads the argument from
    the loader: it may expect the value."""
    fixes = list(_fixes(conflict, loader, model))
    is_read = any(fix.safety == "safe" for fix in fixes) and reads_argument(conflict.argument, loader, model)
    yield from (replace(fix, safety="unsafe") if is_read else fix for fix in fixes)


def _fixes(conflict: Conflict, loader: Loader, model: Model) -> Iterator[Fix]:
    argument, other = written(loader, conflict.argument, model), written(loader, conflict.other, model)
    wrong = _wrong_side(conflict, argument, loader, model) if argument is not None else None
    if wrong is not None:
        instead = conflict.instead or "False"
        alone: Safety = "unsafe" if _may_conflict_too(conflict, loader, model) else "safe"
        yield Fix(f"Make `{conflict.argument}` {instead} where there are no workers", alone, (Replace(wrong, instead),))
        return
    if argument is None and other is not None:
        yield from _overriding(conflict, other, loader, model)
    if argument is None and other is None:
        yield from _in_dict(conflict, loader, model)
    if argument is None or not argument.keyword or conflict.other == "" and conflict.droppable:
        return
    assert loader.site is not None
    call = model.site_place(loader.site)
    named = other is not None and _is_named(other, call.anchor, model)
    followed = _following(conflict, argument, call.anchor, model) if named and other and other.keyword else None
    if followed is not None:
        sources = _following_too(conflict, loader, call.anchor, model) | {conflict.argument: followed}
        title = f"Make {_listed(sorted(sources))} depend on `{conflict.other}`"
        followed_alone: Safety = "unsafe" if _may_conflict_too(conflict, loader, model) else "safe"
        yield Fix(title, followed_alone, tuple(SetArgument(call, name, sources[name]) for name in sorted(sources)))
    elif conflict.soft == "always":
        wanted = named and conflict.other == "num_workers" or not conflict.droppable
        safety: Safety = "unsafe" if wanted or _more_arguments(loader, model) else "safe"
        yield Fix(f"Drop `{conflict.argument}`", safety, (RemoveArgument(call, argument.keyword),))


def _wrong_side(conflict: Conflict, argument: Written, loader: Loader, model: Model) -> Place | None:
    """The `0` of `factor if num_workers > 0 else 0`, where the argument depends on the number of workers already: at
    the call, or where it is assigned to an attribute."""
    workers = written(loader, "num_workers", model) if conflict.other == "num_workers" else None
    frame, number = _sources(argument.frame, argument.number, model)[-1]
    choice = model.ev.expr(frame, number)
    if workers is None or not isinstance(choice, ir.IfExp):
        return None
    asked, side = side_if_none(choice, frame, model)
    literal = model.ev.eval(side, frame).literal
    if literal is None or not _are_same((frame, asked), (workers.frame, workers.number), model):
        return None
    is_right = literal.value is None if conflict.argument == "prefetch_factor" else not literal.value
    return None if is_right else model.place(frame, side)


def _are_same(one: _Source, other: _Source, model: Model) -> bool:
    """Whether two expressions stand for the same variable, or for one and the attribute that it is assigned to."""
    return any(
        mine[0] is yours[0] and is_alike(mine[1], yours[1], mine[0].code.exprs)
        for mine in _sources(*one, model)
        for yours in _sources(*other, model)
    )


def _sources(frame: Frame, number: int, model: Model) -> list[_Source]:
    """An expression, and, for an attribute that is assigned once, the assigned value."""
    e = model.ev.expr(frame, number)
    found = [(frame, number)]
    if not isinstance(e, ir.Attr):
        return found
    owners = model.ev.eval(e.base, frame).only(Instance)
    stores = [store for owner in owners for store in model.ev.classes.stores(owner, e.name)]
    steps = {model.step_place(store.frame, store.step): store for store in stores}
    for store in steps.values() if len(steps) == 1 else ():
        step = model.def_of(store.frame).steps[store.step]
        found += [(store.frame, step.value)] if isinstance(step, ir.SetAttr) else []
    return found


def _may_conflict_too(conflict: Conflict, loader: Loader, model: Model) -> bool:
    """Whether the call passes another argument that needs workers and comes from elsewhere: it may raise as well, and
    then the fix of this one changes nothing. One that always raises is reported, and has a fix of its own."""
    if conflict.other != "num_workers":
        return False
    reported = {one.argument for one in conflicts(loader, model) if one.hard == "always"}
    rest = (one for one in _NEEDING if one != conflict.argument and one not in reported)
    others = [one for one in rest if written(loader, one, model) is not None]
    given = (atom for name in others for atom in loader.argument(name).atoms)
    return any(not isinstance(atom, Literal_) or atom.configured for atom in given)


def _overriding(conflict: Conflict, workers: Written, loader: Loader, model: Model) -> Iterator[Fix]:
    """Set the argument beside the dict that brings it: `**{**options, "persistent_workers": False}`."""
    more = _more_arguments(loader, model)
    if conflict.other != "num_workers" or conflict.hard != "always" or not workers.keyword or len(more) != 1:
        return
    assert loader.site is not None
    frame, place = loader.site.frame, model.site_place(loader.site)
    if any(not isinstance(atom, MapOf) for atom in model.ev.eval(more[0], frame).atoms):
        return
    if not _is_named(workers, place.anchor, model):
        # before torch 2.0, None is no `prefetch_factor`
        if conflict.soft == "always" and model.environment(loader).torch.before("2.0") != "yes":
            without = [one for one in conflicts(loader, model) if _is_brought(one, loader, model)]
            items = ", ".join(f'"{one.argument}": {one.instead or "False"}' for one in without)
            names = " and ".join(f"`{one.argument}`" for one in without)
            yield Fix(f"Leave out {names} in this call", "safe", (OverrideArguments(place, items),))
    elif not conflict.instead and isinstance(model.ev.expr(frame, more[0]), ir.Global):
        item = f'"{conflict.argument}": {{argument:num_workers}} > 0'
        yield Fix(f"Make `{conflict.argument}` depend on `num_workers`", "safe", (OverrideArguments(place, item),))


def _in_dict(conflict: Conflict, loader: Loader, model: Model) -> Iterator[Fix]:
    """Change the argument in the display that brings it and 0 workers, if no other call uses that dict."""
    more = _more_arguments(loader, model)
    if conflict.other != "num_workers" or (conflict.hard, conflict.soft) != ("always", "always") or len(more) != 1:
        return
    assert loader.site is not None
    found = display_of_one_use(model.ev, more[0], loader.site.frame)
    if found is None or model.environment(loader).torch.before("2.0") == "yes":
        return  # before torch 2.0, None is no `prefetch_factor`
    items = _constant_items(*found, model)
    without = [one for one in conflicts(loader, model) if _is_brought(one, loader, model)]
    if "num_workers" in items and all(one.argument in items for one in without):
        names = " and ".join(f"`{one.argument}` {one.instead or 'False'}" for one in without)
        changes = (Replace(items[one.argument], one.instead or "False") for one in without)
        yield Fix(f"Make {names} in the dict, which sets `num_workers` to 0", "safe", tuple(changes))


def _constant_items(frame: Frame, display: ir.Map, model: Model) -> dict[str, Place]:
    """The places of the constants that a display writes under constant keys."""
    pairs = [(model.ev.expr(frame, key), value) for key, value in zip(display.keys, display.values, strict=True)]
    return {
        str(key.value): model.place(frame, value)
        for key, value in pairs
        if isinstance(key, ir.Const) and isinstance(model.ev.expr(frame, value), ir.Const)
    }


def _is_brought(conflict: Conflict, loader: Loader, model: Model) -> bool:
    """Whether the call's `**` argument brings what needs workers."""
    by_dict = written(loader, conflict.argument, model) is None
    return by_dict and conflict.other == "num_workers" and conflict.hard == "always"


def _more_arguments(loader: Loader, model: Model) -> list[int]:
    """The `**` arguments of the call."""
    assert loader.site is not None
    call = model.ev.expr(loader.site.frame, loader.site.expr)
    return [arg.value for arg in call.args if arg.kind == "starstar"] if isinstance(call, ir.Call) else []


def _following(conflict: Conflict, argument: Written, call: int, model: Model) -> str | None:
    """The argument as an expression of what it conflicts with; None if it can only be dropped."""
    if conflict.other == "sampler":
        return "{argument:sampler} is None" if conflict.soft != "always" else None
    if conflict.other != "num_workers":
        return None
    constant = isinstance(model.ev.expr(argument.frame, argument.number), ir.Const)
    is_written = constant and model.place(argument.frame, argument.number).anchor > call
    if not conflict.instead and is_written:
        return "{argument:num_workers} > 0"
    if not constant and not _is_named(argument, call, model):
        return None
    if not conflict.instead:
        return f"{{argument:{conflict.argument}}} and {{argument:num_workers}} > 0"
    return f"{{argument:{conflict.argument}}} if {{argument:num_workers}} > 0 else {conflict.instead}"


def _following_too(conflict: Conflict, loader: Loader, call: int, model: Model) -> dict[str, str]:
    """The other arguments of the call that raise where there are no workers, as expressions of the number of workers: a
    fix of one alone would change nothing."""
    found: dict[str, str] = {}
    for one in conflicts(loader, model) if conflict.other == "num_workers" else ():
        argument = written(loader, one.argument, model) if one.other == "num_workers" else None
        if argument is not None and argument.keyword and one.hard == "always":
            source = _following(one, argument, call, model)
            found |= {one.argument: source} if source is not None else {}
    return found


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence: '`a`, `b` and `c`'."""
    first, last = ", ".join(f"`{name}`" for name in names[:-1]), f"`{names[-1]}`"
    return f"{first} and {last}" if first else last


def _is_named(argument: Written, call: int, model: Model) -> bool:
    """Whether the call's text holds a name, or an attribute of one, for the argument."""
    number, frame = argument.number, argument.frame
    while model.place(frame, number).anchor > call:
        e = model.ev.expr(frame, number)
        if not isinstance(e, ir.Attr):
            return isinstance(e, ir.Global | ir.Param | ir.Capture)
        number = e.base
    return True  # a name that was bound before
