"""Searches that ran before on the same data: `next(x for x in items if test)` finds again what it found then. If it had
found nothing, the code would not have come so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Instance, Lib, def_key
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.shared.branches import is_alike, is_passed
from loaderlint.rules.shared.one_shot_iterators import kept, one_shot
from loaderlint.rules.stop_iteration_sample.matches_before import Search, search_of

#: Why a search does not raise.
SEARCHED = "the same search ran before on the same data"
_NEXT = Lib("builtins.next")
_DRAWING = ("random.", "numpy.random.", "torch.", "time.")
#: At most so many functions are looked through that a constructor runs.
_MAX_FRAMES = 64


def ran_before(call: WorkerCall, model: Model) -> bool:
    """Whether an earlier line of the same def, or of each of its callers, does the same search."""
    frame = call.frame
    searched = search_of(call.number, frame, model)
    if searched is None:
        return False
    exprs = frame.code.exprs
    for earlier in _searches_before(call.number, call.context, frame, model):
        if all(is_alike(one, other, exprs) for one, other in zip(earlier, searched, strict=True)):
            return _is_steady(searched, ir.made_of(exprs, earlier), frame, model)
    callers = model.callers_of(frame) if _is_steady(searched, (), frame, model) else ()
    return bool(callers) and all(_caller_searched(searched, frame, *caller, model) for caller in callers)


def is_tried_by_constructor(frame: Frame, loader: Loader, model: Model) -> bool:
    """Whether the constructor of the loader's dataset calls the same def for each of many items."""
    dataset = model.chain(frame, loader)[0].receiver
    return isinstance(dataset, Instance) and model.remembered(_is_tried, dataset, frame)


def _is_tried(dataset: Instance, frame: Frame, model: Model) -> bool:
    queue = [target for one in model.ev.classes.construction(dataset) for target in _run_in_loops(one, model)]
    done: set[Frame] = set()
    while queue and len(done) < _MAX_FRAMES:
        one = queue.pop()
        if def_key(one) == def_key(frame):
            return True
        if one not in done:
            done.add(one)
            queue.extend(target for step, _ in model.ev.performed(one) for target in model.ev.targets(step.call, one))
    return False


def _run_in_loops(frame: Frame, model: Model) -> Iterator[Frame]:
    """The frames that a frame calls once for each item of something."""
    one = model.def_of(frame)
    for step, _ in model.ev.performed(frame):
        if any(one.loops_around(step.context)):
            yield from model.ev.targets(step.call, frame)


def _is_steady(searched: Search, once: Iterable[int], frame: Frame, model: Model) -> bool:
    """Whether a search finds the same again: it reads what is kept, and draws nothing. After a search through an
    iterator, the next one goes on behind what was found. `once`: the expressions whose values both searches use."""
    items, exprs = searched.items, frame.code.exprs
    if one_shot(items, frame, model) is not None or kept(items, frame, model) is not None:
        return False
    anew = set(ir.made_of(exprs, [items])).difference(once)
    if any(isinstance(exprs[one], ir.Call) and not _is_view(exprs[one], exprs) for one in anew):
        return False
    parts = [exprs[one] for one in set(ir.made_of(exprs, searched)).difference(once)]
    read = {e.name for e in parts if isinstance(e, ir.Attr)}
    if any(step.name in read for _, step in model.steps_of(frame, ir.SetAttr)):
        return False
    called = (atom for e in parts if isinstance(e, ir.Call) for atom in model.ev.eval(e.func, frame).only(Lib))
    return not any(atom.name.startswith(_DRAWING) for atom in called)


def _is_view(e: ir.Expr, exprs: Sequence[ir.Expr]) -> bool:
    """Whether an expression is `data.keys()` or the like."""
    func = exprs[e.func] if isinstance(e, ir.Call) and not e.args else None
    return isinstance(func, ir.Attr) and func.name in ("keys", "values", "items")


def _searches_before(number: int, context: int, frame: Frame, model: Model) -> Iterator[Search]:
    """The searches that a frame has always done when it evaluates an expression, and that raise where nothing
    matches."""
    around = {0, *model.def_of(frame).enclosing(context)}
    before = frame.code.evaluated_by(number) or 0
    for call in model.frame_calls(frame):
        if call.context not in around or len(call.call.args) != 1 or not _raises(call, model):
            continue
        step = frame.code.evaluated_by(call.number)
        found = search_of(call.number, frame, model) if step is not None and step < before else None
        if found is not None:
            yield found


def _raises(call: WorkerCall, model: Model) -> bool:
    """Whether a call is `next(...)`, or of a function that raises where there is no next item, as the fix writes it."""
    if _NEXT in call.callee.atoms:
        return True
    targets = model.ev.targets(call.number, call.frame) if call.callee.only(FunctionRef) else ()
    return bool(targets) and all(map(partial(_is_next_or_fail, model), targets))


def _is_next_or_fail(model: Model, frame: Frame) -> bool:
    takes = any(_NEXT in call.callee.atoms and len(call.call.args) == 1 for call in model.frame_calls(frame))
    return takes and any(isinstance(step, ir.Raise) for step in model.def_of(frame).steps)


def _caller_searched(searched: Search, frame: Frame, caller: Frame, number: int, model: Model) -> bool:
    """Whether a caller does the search before it calls the def, with what it passes for the parameters."""
    passed = _passed(frame, caller, number, model)
    same_file = frame.path == caller.path
    return any(
        all(
            is_passed(one, frame.code.exprs, other, caller.code.exprs, passed, same_file)
            for one, other in zip(searched, earlier, strict=True)
        )
        and _is_steady(earlier, ir.made_of(caller.code.exprs, passed.values()), caller, model)
        for earlier in _searches_before(number, caller.code.context_of(number), caller, model)
    )


def _passed(frame: Frame, caller: Frame, number: int, model: Model) -> Mapping[int, int]:
    """The expressions of a caller that a call passes, by the number of the parameter; none where it unpacks some."""
    call = model.ev.expr(caller, number)
    if not isinstance(call, ir.Call) or any(arg.kind not in ("pos", "kw") for arg in call.args):
        return {}
    names: Sequence[str] = [param.name for param in model.def_of(frame).params]
    func = model.ev.expr(caller, call.func)
    is_bound = frame.receiver is not None and isinstance(func, ir.Attr)
    passed = {0: func.base} if is_bound and isinstance(func, ir.Attr) else {}
    positional = [arg.value for arg in call.args if arg.kind == "pos"]
    passed.update(enumerate(positional, 1 if is_bound else 0))
    passed.update({names.index(arg.name): arg.value for arg in call.args if arg.name in names})
    return passed
