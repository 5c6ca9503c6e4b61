"""Loaders whose samples never end: one pass takes as long as the training, so their workers start only once."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.iterators import ENDLESS
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibObject, SeqOf, Val
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.epoch_loops import loops_around
from loaderlint.rules.shared.epoch_passes import loaders_in

_ITER, _NEXT = Lib("builtins.iter"), Lib("builtins.next")
_STOP = ir.Global("StopIteration")
#: What a handler names that catches it.
_CATCHING = (_STOP, ir.Global("Exception"), ir.Global("BaseException"))
_SLICE = "itertools.islice"
#: What gives the items of its first argument, as many as it has.
_PASSING_ON = frozenset({"torch.utils.data.BatchSampler", "builtins.iter", _SLICE})
_MAX_DEPTH = 6


def takes_one_pass(loader: Loader, model: Model) -> bool:
    """Whether the samples of a loader never end, and code in sight begins a pass over it, but not in a loop. A loop
    that leaves such a pass early begins another one, for which the workers start anew."""
    return _is_endless(loader, model) and model.once(_passed_in_loops).get(loader) is False


def _is_endless(loader: Loader, model: Model) -> bool:
    """Whether the samples never end: those of its sampler, or the stream that is its dataset."""
    if any(_all_go_on(loader.argument(name), model) for name in ("batch_sampler", "sampler")):
        return True
    streams = [one for one in loader.datasets if isinstance(one, Instance)]
    kinds = {model.dataset_kind(one.cls) for one in streams}
    return kinds == {"iterable"} and len(streams) == len(loader.datasets) and _all_go_on(_of(loader.datasets), model)


def _of(atoms: tuple[Atom, ...]) -> Val:
    return Val(frozenset(atoms))


def _all_go_on(value: Val, model: Model, depth: int = 0) -> bool:
    """Whether going through a value never ends, whichever object it is. The value of a generator contains its items,
    too."""
    is_generator = any(one.name == "builtins.generator" for one in value.only(LibObject))
    atoms = [one for one in value.atoms if not (is_generator and isinstance(one, SeqOf) and one.site is None)]
    return bool(atoms) and depth <= _MAX_DEPTH and all(_goes_on(one, model, depth + 1) for one in atoms)


def _goes_on(atom: Atom, model: Model, depth: int) -> bool:
    match atom:
        case LibObject("builtins.generator", site):
            return _generator_goes_on(site.frame, model, depth)
        case LibObject(name, site):
            given = model.ev.calls.site_arguments(site)
            if name in ENDLESS:
                return name != "itertools.repeat" or given.get("times", 1) is None
            inner = given.get("sampler", 0) if name in _PASSING_ON else None
            return inner is not None and _is_whole(name, given) and _all_go_on(inner, model, depth)
        case Instance():
            return _object_goes_on(atom, model, depth)
    return False


def _is_whole(name: str, given: Arguments) -> bool:
    """Whether something takes all items of what it is made from: not `islice(items, 100)`, but
    `islice(items, start, None, step)`."""
    stop = given.get("stop", 2) if name == _SLICE else None
    return name != _SLICE or (stop is not None and stop.is_none)


def _object_goes_on(inst: Instance, model: Model, depth: int) -> bool:
    """Whether the `__iter__` of an object never ends: itself, or what it returns."""
    begun = model.ev.classes.open_method(inst, "__iter__")
    if begun is None:
        return False
    if model.def_of(begun).is_generator:
        return _generator_goes_on(begun, model, depth)
    given = [model.ev.eval(step.value, begun) for _, step in model.steps_of(begun, ir.Return) if step.value != NONE]
    others = [Val(value.atoms - {inst}) for value in given]
    if any(inst in value.atoms for value in given) and not _next_goes_on(inst, model):
        return False
    return bool(given) and all(not value.atoms or _all_go_on(value, model, depth) for value in others)


def _next_goes_on(inst: Instance, model: Model) -> bool:
    """Whether nothing in `__next__` raises StopIteration."""
    opened = model.ev.classes.open_method(inst, "__next__")
    return opened is not None and not any(_may_stop(frame, model) for frame in model.run_by([opened]))


def _may_stop(frame: Frame, model: Model) -> bool:
    """Whether a function may raise StopIteration: it says so, or takes the next item of an iterator without a `try`
    around it."""
    for _, raised in model.steps_of(frame, ir.Raise):
        e = model.ev.expr(frame, raised.value) if raised.value != NONE else None
        if e is None or _STOP in (e, model.ev.expr(frame, e.func) if isinstance(e, ir.Call) else None):
            return True
    for step, call in model.ev.performed(frame):
        func = model.ev.expr(frame, call.func)
        named = isinstance(func, ir.Attr) and func.name == "__next__"
        takes = named or _NEXT in model.ev.eval(call.func, frame).atoms
        if takes and len(call.args) < 2 and not _is_caught(step.context, frame, model):
            return True
    return False


def _is_caught(context: int, frame: Frame, model: Model) -> bool:
    """Whether a `try` around a context catches StopIteration."""
    one = model.def_of(frame)
    caught = (
        model.ev.expr(frame, one.contexts[handler].expr) if one.contexts[handler].expr != NONE else _STOP
        for block in one.enclosing(context)
        if one.contexts[block].kind == "try"
        for handler in one.handlers(block)
    )
    return any(e in _CATCHING for e in caught)


def _generator_goes_on(frame: Frame, model: Model, depth: int) -> bool:
    """Whether a generator function yields for ever: it never comes to its end, or passes on an endless iterator."""
    one = model.def_of(frame)
    if any(True for _ in model.steps_of(frame, ir.Return)):
        return False
    yields = [step for _, step in model.steps_of(frame, ir.YieldStep)]
    if not one.falls_through:
        return any(any(here.kind == "while" for here in one.around(step.context)) for step in yields)
    return any(
        step.is_from and step.context == 0 and _all_go_on(model.ev.eval(step.value, frame), model, depth)
        for step in yields
    )


# --- passes -----------------------------------------------------------------------------------------------------------


def _passed_in_loops(model: Model) -> dict[Loader, bool]:
    """The loaders that the main process goes through, and whether a pass over them begins in a loop."""
    found: dict[Loader, bool] = {}
    for function in model.main_functions(("for ", "iter(")):
        if any(isinstance(step, ir.Iterate | ir.Perform) for step in function.written.steps):
            for frame in function.frames:
                for gone_over, context in _begun_in(frame, model):
                    for loader in loaders_in(model.ev.eval(gone_over, frame), model):
                        in_loop = any(True for _ in loops_around(frame, context, model))
                        found[loader] = found.get(loader, False) or in_loop
    return found


def _begun_in(frame: Frame, model: Model) -> Iterator[tuple[int, int]]:
    """What a def begins to go through, with the context. `iter(loader)` where an exception is caught begins a pass
    only after another one has ended."""
    for _, iterated in model.steps_of(frame, ir.Iterate):
        yield iterated.iterable, iterated.context
    one = model.def_of(frame)
    for step, call in model.ev.performed(frame):
        if call.args and _ITER in model.ev.eval(call.func, frame).atoms:
            if all(here.kind != "except" for here in one.around(step.context)):
                yield call.args[0].value, step.context
