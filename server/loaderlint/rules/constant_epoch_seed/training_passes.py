"""Training in loops: passes that iterate again and again over a loader whose order or workers draw random numbers."""

from __future__ import annotations

from typing import Literal

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Lib, LibObject
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.epoch_passes import Pass, inside, passes

_MODULES = ("torch.nn.Module", "lightning.pytorch.LightningModule")
#: What combines settings: each turn of a loop over it is an experiment of its own.
_COMBINATIONS = frozenset(
    "itertools.product itertools.combinations itertools.permutations sklearn.model_selection.ParameterGrid".split()
)
_RESTORING = frozenset({"torch.random.fork_rng", "torch.set_rng_state", "torch.random.set_rng_state"})


def repeats(one: Pass, model: Model) -> bool:
    """Whether a pass is one of training through a loader that was made before the loop, and draws something."""
    return not one.evaluates(model) and is_random(one.loader) != "no" and not _is_made_in(one, model)


def trains(called: Frame, caller: Frame, model: Model) -> bool:
    """Whether a def that a loop calls iterates over a loader for training itself."""
    return called in model.remembered(_trained_through, caller)


def _trained_through(caller: Frame, model: Model) -> frozenset[Frame]:
    """The defs that iterate over a loader for training, called in the loops of a def. It may call thousands."""
    return frozenset(one.through for one in passes(caller, model) if repeats(one, model))


def is_random(loader: Loader) -> Literal["yes", "no", "maybe"]:
    """Whether the passes through a loader depend on torch's state. A loader with a generator draws its order and the
    seed of its workers from that one (`_BaseDataLoaderIter.__init__`); a sampler may draw from anywhere."""
    shuffle = loader.argument("shuffle").literal
    if loader.argument("generator").only(LibObject) and loader.argument("sampler").literal is not None:
        return "no"
    if shuffle is not None and shuffle.value:
        return "yes"
    workers = "no" if loader.persistent else loader.has_workers()
    ordered = shuffle is not None and loader.argument("sampler").literal is not None
    return workers if workers == "yes" or ordered else "maybe"


def _is_made_in(one: Pass, model: Model) -> bool:
    """Whether the loader is made again in each turn."""
    site = one.loader.site
    if site is None:
        return True
    contexts = [s.context for _, s in model.steps(site.frame) if isinstance(s, ir.Perform) and s.call == site.expr]
    if site.frame is one.frame:
        return any(inside(context, one.loop, one.frame, model) for context in contexts)
    return site.frame in model.run_by(_called_in(one.frame, one.loop, model))


def _called_in(frame: Frame, loop: int, model: Model) -> list[Frame]:
    """The frames that the calls of a loop lead to."""
    return [
        target
        for _, step in model.steps(frame)
        if isinstance(step, ir.Perform) and inside(step.context, loop, frame, model)
        for target in model.ev.targets(step.call, frame)
    ]


def is_a_run(frame: Frame, loop: int, model: Model) -> bool:
    """Whether each iteration of a loop is a training of its own, which makes a model or an optimizer, or has settings
    of its own; or puts torch's state back."""
    if _combines(model.def_of(frame).contexts[loop].expr, frame, model):
        return True
    calls = [c for c in model.frame_calls(frame) if inside(c.context, loop, frame, model)]
    inner = [c for target in _called_in(frame, loop, model) for c in model.frame_calls(target)]
    return any(_makes(atom, model) for call in (*calls, *inner) for atom in call.callee.atoms)


def _combines(iterable: int, frame: Frame, model: Model) -> bool:
    """Whether a loop goes through combinations of settings, perhaps counted or shown with a progress bar."""
    call = model.ev.expr(frame, iterable) if iterable != ir.NONE else None
    if not isinstance(call, ir.Call):
        return False
    names = {atom.name for atom in model.ev.eval(call.func, frame).atoms if isinstance(atom, Lib | LibObject)}
    if names & _COMBINATIONS:
        return True
    return bool(names) and bool(call.args) and _combines(call.args[0].value, frame, model)


def _makes(atom: object, model: Model) -> bool:
    if isinstance(atom, Lib):
        return atom.name.startswith("torch.optim.") and "lr_scheduler" not in atom.name or atom.name in _RESTORING
    return isinstance(atom, ClassRef) and any(base in _MODULES for base in model.ev.classes.library_bases(atom))
