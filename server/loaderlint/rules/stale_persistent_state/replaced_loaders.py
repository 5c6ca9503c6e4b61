"""New loaders that a loop puts in the place of those whose workers started before a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Instance, LibObject, def_key
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.epoch_loops import Loop, is_loader, step_goes_through
from loaderlint.rules.stale_persistent_state.dataset_changes import Change

#: How many calls lie between a loop and the call that makes its new loader, or the code that iterates over it.
_MAX_DEPTH = 3
#: How many decorators a function has whose body runs at each call: `lru_cache` keeps what it has returned.
_DECORATORS = {"plain": 0, "static": 1, "class": 1}


def is_replaced(change: Change, loop: Loop, loader: Loader, model: Model) -> bool:
    """Whether the turns of the loop that make the change also put a new loader in the old one's place, and iterate over
    neither in between: new workers start with what is set."""
    if loop.frame.code is not change.frame.code:
        return False
    stored = list(_stored_with(change, loop, loader, model))
    return any(_replaces(step, loop, loader, model) for step in stored) or _replace(stored, loop, loader, model)


def _stored_with(change: Change, loop: Loop, loader: Loader, model: Model) -> Iterator[ir.Bind | ir.SetAttr]:
    """What each turn of the loop that makes the change binds to names and stores in attributes, if the turn does not
    iterate over the loader in between."""
    frame, one = change.frame, model.def_of(change.frame)
    steps = list(model.steps(frame))
    changed = place_of(change, steps)
    if changed is None:
        return
    for number, step in steps:
        if not isinstance(step, ir.Bind | ir.SetAttr) or not one.is_within(step.context, loop.context):
            continue
        between = range(min(number, changed) + 1, max(number, changed))
        if one.is_within(change.context, step.context) and not any(
            n in between and step_goes_through(each, frame, loader, model) for n, each in steps
        ):
            yield step


def place_of(change: Change, steps: Iterable[tuple[int, ir.Step]]) -> int | None:
    """The number of the step that makes a change, of the numbered steps of its def."""
    return next((number for number, step in steps if _is_at(change, number, step)), None)


def _is_at(change: Change, number: int, step: ir.Step) -> bool:
    spot = change.spot
    return spot.number == (number if spot.kind == "step" else step.call if isinstance(step, ir.Perform) else ir.NONE)


def _replaces(step: ir.Bind | ir.SetAttr, loop: Loop, loader: Loader, model: Model) -> bool:
    """Whether a step makes another loader, over which the loop iterates where it iterates over this one."""
    frame = loop.frame
    sites = (atom.site for atom in model.ev.eval(step.value, frame).atoms if isinstance(atom, LibObject | Instance))
    made = [one for site in sites if site for one in model.made_at(site.frame.path, site.frame.piece, site.expr)]
    others = [one for one in made if one.site != loader.site]
    return any(
        is_loader(iterable, frame, loader, model) and any(is_loader(iterable, frame, one, model) for one in others)
        for iterable in _iterables(frame, loop.context, model)
    )


def _iterables(frame: Frame, context: int, model: Model) -> Iterator[int]:
    """What a def iterates over in a context, and passes to calls there."""
    one = model.def_of(frame)
    for _, step in model.steps(frame):
        if not one.is_within(step.context, context):
            continue
        if isinstance(step, ir.Iterate):
            yield step.iterable
        call = model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
        yield from (arg.value for arg in call.args) if isinstance(call, ir.Call) else ()


# --- loaders that functions make --------------------------------------------------------------------------------------


def _replace(stored: Sequence[ir.Bind | ir.SetAttr], loop: Loop, loader: Loader, model: Model) -> bool:
    """Whether steps call functions that make loaders, and the loop reads what they store wherever it may iterate over
    this loader. It is made at one place for all calls of a function with the same arguments."""
    made = [step for step in stored if _is_new(step.value, loop.frame, model)]
    read = list(_where_read(loop.frame, loop.context, loader, model)) if made else []
    return bool(read) and all(any(_reads(number, frame, step, loop) for step in made) for number, frame in read)


def _is_new(number: int, frame: Frame, model: Model, depth: int = 0) -> bool:
    """Whether an expression gives a new loader each time, or several in a tuple, list or dict."""
    match e := model.ev.expr(frame, number):
        case ir.Unpack(value, index, False):
            return any(_is_new(item, of, model, depth) for item, of in _items(value, index, frame, model))
        case ir.Seq() | ir.Map():
            numbers: tuple[int, ...] = e.items if isinstance(e, ir.Seq) else e.values
            return bool(numbers) and all(_is_new(one, frame, model, depth) for one in numbers)
        case ir.Call():
            if any(True for _ in model.made_at(frame.path, frame.piece, number)):
                return True
            returned = _returned(number, frame, model) if depth < _MAX_DEPTH else []
            return bool(returned) and all(_is_new(one, of, model, depth + 1) for one, of in returned)
    return False


def _items(number: int, index: int, frame: Frame, model: Model) -> list[tuple[int, Frame]]:
    """The item of the tuple or list that an expression always gives, with its frame; [] if that is not known."""
    e = model.ev.expr(frame, number)
    given = _returned(number, frame, model) if isinstance(e, ir.Call) else [(number, frame)]
    (one, of), *others = given or [(ir.NONE, frame)]
    display = model.ev.expr(of, one) if one != ir.NONE and not others else None
    if not isinstance(display, ir.Seq) or not -len(display.items) <= index < len(display.items):
        return []
    is_starred = any(isinstance(model.ev.expr(of, item), ir.Star) for item in display.items)
    return [] if is_starred else [(display.items[index], of)]


def _returned(call: int, frame: Frame, model: Model) -> list[tuple[int, Frame]]:
    """What the function that a call runs returns, with its frame; [] unless each call runs the body of one function."""
    targets = model.ev.targets(call, frame)
    if len({def_key(one) for one in targets}) != 1:
        return []
    one = model.def_of(targets[0])
    decoration = model.ev.functions.decoration(FunctionRef(*def_key(targets[0])))
    if one.kind not in ("function", "lambda") or one.is_generator or len(one.decorators) != _DECORATORS.get(decoration):
        return []
    return [(step.value, of) for of in targets for _, step in model.steps_of(of, ir.Return)]


def _where_read(
    frame: Frame, context: int, loader: Loader, model: Model, depth: int = 0
) -> Iterator[tuple[int, Frame]]:
    """The expressions with which a def, in a context, and the functions that it calls there iterate over a loader or
    pass it on; the parameters of these functions are left out."""
    one = model.def_of(frame)
    for number in _iterables(frame, context, model):
        if not isinstance(model.ev.expr(frame, number), ir.Param) and is_loader(number, frame, loader, model):
            yield number, frame
    for _, step in model.steps_of(frame, ir.Perform):
        if depth < _MAX_DEPTH and one.is_within(step.context, context):
            for target in model.ev.targets(step.call, frame):
                yield from _where_read(target, 0, loader, model, depth + 1)


def _reads(number: int, frame: Frame, step: ir.Bind | ir.SetAttr, loop: Loop) -> bool:
    """Whether an expression reads the name or attribute in which a step of the loop stores."""
    exprs, seen, waiting = frame.code.exprs, set[int](), [number]
    for one in waiting:  # grows
        if one in seen:
            continue
        seen.add(one)
        match exprs[one]:
            case _ if one == step.value and frame.code is loop.frame.code:
                return True
            case ir.Phi(choices):
                waiting += choices
            case ir.Index(base) | ir.Unpack(base):
                waiting.append(base)
            case ir.Global(name) | ir.Capture(_, name) if isinstance(step, ir.Bind) and name == step.name:
                return True
            case ir.Attr(base, name) if isinstance(step, ir.SetAttr) and name == step.name:
                return ir.is_self(exprs[base]) and ir.is_self(loop.frame.code.exprs[step.base])
    return False
