"""Loaders for evaluation, which may be meant to draw the same numbers each time: by their own names, or by what all
known code does with them: it passes them to what evaluates, or iterates over them without keeping a gradient, in a
function, class or file that is named so, or with nothing that learns in the loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import DefKey, Lib, Val, def_key
from loaderlint.project.loaders.loaders import EVALUATION_NAME
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.epoch_passes import gives_items, keeps_no_gradient

#: Functions and methods that evaluate, by a word of their names: `trainer.validate`, `run_evaluation`; not
#: `train_and_test`.
_EVALUATES = re.compile(
    r"(?:^|_)(?:val|valid|validate|validation|test|eval|evaluate|evaluation|predict|infer|inference)(?:_|$)"
)
#: Classes that evaluate.
_EVALUATOR = re.compile(r"Evaluat|Validat|Tester|Predict|Infer")
#: Methods that a loop calls to learn.
_LEARNING = frozenset({"backward", "manual_backward"})
_TRAINS = re.compile("train|fit|learn", re.IGNORECASE)
#: Functions and methods that train a model: `loss.backward()`, `optimizer.step()`, `model.train()`, `fit_batch(x)`.
_LEARNS = re.compile(r"backward|optimi[sz]e|train|learn|(?:^|_)fit(?:_|$)|^step$", re.IGNORECASE)
_MAX_SITES = 20
_MAX_CALLERS = 2
_MAX_CALLED = 3


def evaluation_loaders(where: DefKey, model: Model) -> list[Loader]:
    """The evaluation loaders whose workers may run a def, without those of tests: nobody compares their numbers."""
    return model.remembered(_evaluation_loaders, where)


def _evaluation_loaders(where: DefKey, model: Model) -> list[Loader]:
    bits = 0
    for frame, reached in model.reached.items():
        bits |= reached.bits() if def_key(frame) == where else 0
    found = (one for one in model.loaders_of(bits) if one.has_workers() != "no")
    return [one for one in found if _may_evaluate(one, model) and not model.in_test_or_tutorial(one.path)]


def _may_evaluate(loader: Loader, model: Model) -> bool:
    """As `is_for_evaluation`. Where it does not shuffle, or that is not known, a name is enough: its own, or that of
    the function, class or file that creates it."""
    if is_for_evaluation(loader, model):
        return True
    shuffle = loader.argument("shuffle").literal
    if shuffle is not None and shuffle.value:
        return False
    is_named_so = shuffle is None and bool(EVALUATION_NAME.search(loader.name))
    return is_named_so or (loader.site is not None and _is_named_so(loader.site.frame, model))


def is_for_evaluation(loader: Loader, model: Model) -> bool:
    """Whether a loader reads its samples in order and is for evaluation: by its name, by the names that all callers of
    the function that returns it give it, or because it is only passed to what evaluates."""
    return loader.is_for_evaluation or (loader.keeps_order and model.remembered(_is_evaluated, loader))


def _is_evaluated(loader: Loader, model: Model) -> bool:
    return loader.site is not None and _serves(loader.site.frame, loader.site.expr, model, 0)


def _serves(frame: Frame, number: int, model: Model, depth: int) -> bool:
    """Whether all that is done with an expression of a def shows that it is a loader for evaluation."""
    code = frame.code
    steps = code.one.steps if code.one is not None else ()
    names = {step.name for step in steps if isinstance(step, ir.Bind | ir.SetAttr) and step.value == number}
    if names:
        if all(EVALUATION_NAME.search(name) for name in names):
            return True
        if frame.def_ == 0 or any(isinstance(step, ir.SetAttr) and step.value == number for step in steps):
            return False  # other pieces may read it
    if any(isinstance(e, ir.Capture) and e.name in names for e in code.exprs):
        return False
    uses = list(_uses(frame, number, model))
    if not uses or not all(uses):
        return False
    if not any(isinstance(step, ir.Return) and step.value == number for step in steps):
        return True
    return depth < _MAX_CALLERS and _serves_callers(frame, model, depth + 1)


def _serves_callers(frame: Frame, model: Model, depth: int) -> bool:
    """Whether all callers of a def use what it returns for evaluation."""
    name = model.def_of(frame).name
    sites = list(islice(model.callers.sites_running(name, def_key(frame)), _MAX_SITES + 1)) if name else []
    callers = [(model.callers.opened(one.path, one.piece, one.def_), one.expr) for one in sites]
    return 0 < len(sites) <= _MAX_SITES and all(
        caller is not None and _serves(caller, number, model, depth) for caller, number in callers
    )


def _uses(frame: Frame, number: int, model: Model) -> Iterator[bool]:
    """For each use of an expression, whether a loader for evaluation may be used so: it is passed to what evaluates, or
    returned, or a loop evaluates with it. Uses that start no workers are left out."""
    code = frame.code
    for reader, e in model.remembered(_readers, code).get(number, ()):
        match e:
            case ir.Element() | ir.Attr(_, "dataset" | "batch_size"):
                pass  # a loop is a step, too
            case ir.Comp(_, element, key, _) if number not in (element, key):
                pass
            case ir.Call() if _is_called(e, model.ev.eval(e.func, frame), gives_items):
                yield from _uses(frame, reader, model)
            case ir.Call() if _is_called(e, model.ev.eval(e.func, frame), "builtins.len".__eq__):
                pass
            case _:
                yield isinstance(e, ir.Call) and _evaluates(e, number, code)
    for step in code.one.steps if code.one is not None else ():
        if isinstance(step, ir.Return) and step.value == number:
            yield True
        elif isinstance(step, ir.Iterate) and step.iterable == number:
            yield _is_evaluating(step, frame, model)
        elif not isinstance(step, ir.Bind | ir.Perform) and number in ir.step_expressions(step):
            yield False


def _is_called(call: ir.Call, callee: Val, question: Callable[[str], bool]) -> bool:
    """Whether a call with positional arguments is one of a function of a library that answers a question by its
    name."""
    names = [atom.name for atom in callee.only(Lib)]
    return 0 < len(names) == len(callee.atoms) and all(map(question, names)) and call.args[0].kind == "pos"


def _is_evaluating(step: ir.Iterate, frame: Frame, model: Model) -> bool:
    """Whether a loop only evaluates: it keeps no gradient, as a whole or in what it does with a model, and what is
    around it is named so, or nothing in it learns, nor from what it gives."""
    code, one = frame.code, model.def_of(frame)
    if code.attribute_calls(_LEARNING):
        return False
    loops = {n for n, here in enumerate(one.contexts) if here.kind == "loop" and here.expr == step.iterable}
    inside = (n for n, here in enumerate(one.contexts) if here.kind == "with" and loops & set(one.enclosing(n)))
    if not any(keeps_no_gradient(context, frame, model) for context in (step.context, *inside)):
        return False
    if _is_named_so(frame, model):
        return True
    if any(returned.value != NONE for _, returned in model.steps_of(frame, ir.Return)):
        return False  # what it computes may be learned from
    return not any(_may_learn(loop, frame, model, _MAX_CALLED) for loop in loops)


def _may_learn(context: int, frame: Frame, model: Model, depth: int) -> bool:
    """Whether code in a context, or in functions of the project that it calls, may train a model, judging by the names
    of what it calls."""
    one = model.def_of(frame)
    for _, step in model.steps_of(frame, ir.Perform):
        if not one.is_within(step.context, context):
            continue
        call = frame.code.exprs[step.call]
        name = _called_name(call, frame.code) if isinstance(call, ir.Call) else None
        if name and _LEARNS.search(name):
            return True
        if depth and any(_may_learn(0, target, model, depth - 1) for target in model.ev.targets(step.call, frame)):
            return True
    return False


def _called_name(call: ir.Call, code: Code) -> str | None:
    callee = code.exprs[call.func]
    return callee.name if isinstance(callee, ir.Attr | ir.Global | ir.Imported) else None


def _is_named_so(frame: Frame, model: Model) -> bool:
    """Whether the name of a def, its class or its file says that it evaluates, and neither of the first that it
    trains."""
    names = [model.def_of(frame).name or "", model.ev.classes.name(frame.owner) if frame.owner is not None else ""]
    evaluates = _EVALUATES.search(names[0]) or _EVALUATOR.search(names[1]) or _EVALUATES.search(frame.path.stem)
    return bool(evaluates) and not any(map(_TRAINS.search, names))


def _readers(code: Code, _: Model) -> Mapping[int, list[tuple[int, ir.Expr]]]:
    """The expressions of a piece that each one is a part of, with their numbers."""
    found: dict[int, list[tuple[int, ir.Expr]]] = {}
    for number, e in enumerate(code.exprs):
        for part in ir.operands(e):
            found.setdefault(part, []).append((number, e))
    return found


def _evaluates(call: ir.Call, number: int, code: Code) -> bool:
    """Whether a call passes an expression to what evaluates, judging by its name."""
    name = _called_name(call, code)
    is_passed = any(arg.value == number for arg in call.args)
    return bool(is_passed and name and _EVALUATES.search(name) and not _TRAINS.search(name))
