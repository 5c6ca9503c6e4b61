"""Traits of a single loader: how its workers start and draw, and its purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import LibObject
from loaderlint.project.reach.model import Exposure, Loader, Model
from loaderlint.rules.shared.endless_passes import takes_one_pass
from loaderlint.rules.shared.loader_call import written
from loaderlint.rules.shared.silence_reasons import ONE_PASS, ONE_STREAM, started_by

#: Comparisons of a number of workers that hold if there are any.
_SOME = ((">", ir.Const("int", 0)), (">=", ir.Const("int", 1)), ("!=", ir.Const("int", 0)))
#: Those that hold if there are none.
_NO = (("==", ir.Const("int", 0)), ("<=", ir.Const("int", 0)), ("<", ir.Const("int", 1)))


def not_forked(model: Model, so: str) -> Callable[[Loader], str]:
    """A cure: the workers of a loader are never forked, judging by the code. `so` says what follows from that."""
    return lambda loader: "" if "fork" in model.start_methods.of(loader) else f"{started_by(loader, model)}, {so}"


def one_stream(loader: Loader, model: Model) -> str:
    """Why a loader has one worker that draws from one state for as long as it is used, so nothing repeats; '' if it has
    several, or starts them anew."""
    if loader.has_workers(2) != "no":
        return ""
    if loader.persistent is True:
        return ONE_STREAM
    return ONE_PASS if takes_one_pass(loader, model) else ""


def persist_if_any(loader: Loader, model: Model) -> bool:
    """Whether the loader's workers live longer than an epoch, if it has any. `persistent_workers=num_workers > 0` says
    so too, as do `True if num_workers > 0 else False` and a store under `if num_workers > 0`."""
    if loader.persistent is not None:
        return loader.persistent
    return persists_with_workers(loader, model)


def persists_with_workers(loader: Loader, model: Model) -> bool:
    """Whether the loader asks for workers that persist only where it has any: `persistent_workers=num_workers > 0`."""
    tests = _tests_of_persistence(loader, model)
    return bool(tests) and all(one is not None and is_for_workers(*one, loader, model) for one in tests)


def _tests_of_persistence(loader: Loader, model: Model) -> list[tuple[int, Frame] | None]:
    """The expressions that decide whether the workers persist, each with its frame; None for what is no test."""
    given = written(loader, "persistent_workers", model)
    choice = model.ev.expr(given.frame, given.number) if given is not None else None
    if given is not None and isinstance(choice, ir.IfExp):
        then, other = (model.ev.expr(given.frame, number) for number in (choice.then, choice.other))
        is_plain = (then, other) == (ir.Const("bool", True), ir.Const("bool", False))
        return [(choice.test, given.frame) if is_plain else None]
    if given is not None and isinstance(choice, ir.Compare):
        return [(given.number, given.frame)]
    stored = _test_of_store(loader) if given is None else None
    if stored is not None:
        return [stored]
    atoms = loader.argument("persistent_workers").atoms
    return [(one.site.expr, one.site.frame) if isinstance(one, LibObject) else None for one in atoms]


def _test_of_store(loader: Loader) -> tuple[int, Frame] | None:
    """The test under which the def that creates the loader makes its workers persist, if it does so once:
    `if num_workers > 0: options["persistent_workers"] = True`."""
    frame = loader.site.frame if loader.site is not None else None
    one = frame.code.one if frame is not None else None
    if frame is None or one is None:
        return None
    exprs = frame.code.exprs
    name = ir.Const("str", "persistent_workers")
    stores = [step for _, step in frame.code.steps_of(ir.SetItem) if exprs[step.index] == name]
    if len(stores) != 1 or exprs[stores[0].value] != ir.Const("bool", True):
        return None
    around = one.contexts[stores[0].context]
    is_only = around.kind == "if" and not around.negated and around.parent == 0
    return (around.expr, frame) if is_only else None


def is_for_workers(test: int, frame: Frame, loader: Loader, model: Model) -> bool:
    """Whether a test says that the loader has workers: `num_workers > 0`."""
    number = _compared(test, _SOME, frame, model)
    return number is not None and model.ev.eval(number, frame).atoms == loader.argument("num_workers").atoms


def _compared(test: int, ways: Sequence[tuple[str, ir.Expr]], frame: Frame, model: Model) -> int | None:
    """What a test compares in one of these ways."""
    e = model.ev.expr(frame, test)
    if not isinstance(e, ir.Compare) or len(e.ops) != 1:
        return None
    return e.left if (e.ops[0], model.ev.expr(frame, e.rights[0])) in ways else None


def side_if_none(choice: ir.IfExp, frame: Frame, model: Model) -> tuple[int, int]:
    """A number that a conditional expression asks for, and the side that it takes if there are none: the `n` and the
    `0` of `factor if n > 0 else 0`."""
    number = _compared(choice.test, _NO, frame, model)
    if number is not None:
        return number, choice.then
    number = _compared(choice.test, _SOME, frame, model)
    return choice.test if number is None else number, choice.other


def in_sight(exposure: Exposure) -> tuple[Loader, ...]:
    """The loaders that code creates, which a fix can change; the one that is presumed if there are none."""
    return tuple(loader for loader in exposure.loaders if not loader.out_of_sight) or exposure.loaders


def without_workers_yet(frames: Iterable[Frame], model: Model) -> list[Loader]:
    """The loaders that run one of these frames, and whose option for workers is 0 by default: users who set it need
    the fix of what workers do there."""
    bits = 0
    for frame in frames:
        bits |= model.reached[frame].bits()
    return [one for one in model.loaders_of(bits) if one.workers.configured and one.has_workers() == "no"]


def has_optional_workers(loader: Loader, model: Model) -> bool:
    """Whether a loader may get more workers than it has by default: an option or a parameter gives their number."""
    given = written(loader, "num_workers", model)
    is_constant = given is not None and isinstance(model.ev.expr(given.frame, given.number), ir.Const)
    return not is_constant


def has_unknown_dataset(loader: Loader) -> bool:
    """Whether a loader that code creates holds a dataset that is not known, such as what a registry gives."""
    return bool(loader.late) and not loader.datasets and loader.site is not None
