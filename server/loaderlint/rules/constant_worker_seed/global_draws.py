"""Which libraries' global random states the workers of a loader draw from."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Set
from itertools import accumulate

from loaderlint.facts import ir
from loaderlint.knowledge.augmentations import STEADY_TRANSFORMS, TORCH_DRAWN_TRANSFORMS
from loaderlint.knowledge.numpy_random import DRAW_FREE, GENERATOR_DRAWS, NUMPY_GLOBAL_DRAWS, SEEDERS
from loaderlint.project.evaluation.values import (
    Atom,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    SeqOf,
    Unknown,
    Val,
)
from loaderlint.project.reach.model import Loader, Model, WorkerCall

_MAX_DEPTH = 8
_TORCH_DRAWS = ("torch.rand", "torch.normal", "torch.multinomial", "torch.bernoulli", "torch.poisson")
#: Packages that draw from a global state only where that is known: what else is called may draw from any.
_KNOWN = DRAW_FREE | frozenset(sys.stdlib_module_names) | frozenset("builtins numpy torch PIL cv2 yaml".split())
#: Pipelines that draw nothing but what their steps draw, and from torch's state whether to run them.
_PIPELINES = frozenset(f"torchvision.transforms.{name}" for name in ("Compose", "Lambda", "RandomApply"))
#: Functions of torchvision, which draw nothing.
_FUNCTIONAL = "torchvision.transforms.functional."
#: The torch of torchvision 0.8, whose transforms began to draw from torch's state. Nothing declared means a later one.
_DRAWN_FROM_TORCH = "1.7"
#: Attributes that may draw, whatever has them: `x.uniform_()`, `rng.choice(x)`, `distribution.sample()`.
_DRAWING = GENERATOR_DRAWS | frozenset(
    "normal_ uniform_ random_ bernoulli_ cauchy_ exponential_ geometric_ log_normal_ rsample".split()
)


def is_drawn_from(seeder: str, loader: Loader, model: Model) -> bool:
    """Whether the workers of a loader may draw from the state that `seeder` sets. Only where everything that they call
    is known to draw from none, or from which, they do not."""
    library = SEEDERS.get(seeder, "all")
    if library not in ("numpy", "python"):
        return True
    run = model.reached_by(loader)
    if not any(one.bits(("sample", "collate")) >> loader.index & 1 for one in run):
        return True  # the dataset is unknown
    steady = STEADY_TRANSFORMS if _is_torchvision_old(loader, model) else STEADY_TRANSFORMS | TORCH_DRAWN_TRANSFORMS
    drawn = [_libraries(call, steady, model) for one in run for call in model.frame_calls(one.frame)]
    return any(found is None or library in found for found in drawn)


def _is_torchvision_old(loader: Loader, model: Model) -> bool:
    """Whether torchvision's transforms may draw from `random`, judging by the torch that the project declares."""
    return model.environment(loader).torch.before(_DRAWN_FROM_TORCH) in ("yes", "maybe")


def _libraries(call: WorkerCall, steady: Set[str], model: Model) -> Iterable[str] | None:
    """The libraries from whose states a call draws, but torch from those of `steady`; None if it may be any."""
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and model.ev.eval(func.base, call.frame).unknown is not None:
        return None if func.name in _DRAWING else ()  # a method of unknown data
    found: set[str] = set()
    for atom in call.callee.atoms:
        name = "" if _is_steady(atom, steady, model, 0) else _name(atom)
        if name is None:
            return None
        found.add(library_drawn_from(name))
    return found - {""}


def library_drawn_from(name: str) -> str:
    """The library, as in `SEEDERS`, from whose global state the library call `name` draws; '' for other calls."""
    if name in NUMPY_GLOBAL_DRAWS:
        return "numpy"
    if name.startswith(_TORCH_DRAWS):
        return "torch"
    return "python" if name.startswith("random.") and name not in SEEDERS else ""


def _is_steady(atom: Atom, steady: Set[str], model: Model, depth: int) -> bool:
    """Whether calling an object of a library does what those of `steady` do, but for the project's own code that it
    calls. Creating one draws nothing, and its `get_params` draws as it does."""
    if isinstance(atom, Lib):
        name = atom.name.removesuffix(".get_params")
        return name in steady or name in _PIPELINES or name.startswith(_FUNCTIONAL)
    if not isinstance(atom, LibObject) or depth > _MAX_DEPTH:
        return False
    if atom.name not in _PIPELINES:
        return atom.name in steady
    made = model.ev.calls.site_arguments(atom.site)
    steps = [step for value in (*made.positional, *(v for _, v in made.keywords)) for step in _steps(value, 0)]
    return all(
        isinstance(step, (FunctionRef, Method, Instance, Literal_)) or _is_steady(step, steady, model, depth + 1)
        for step in steps
    )


def _steps(value: Val, depth: int) -> Iterator[Atom]:
    """The atoms of a value and of the lists in it."""
    for atom in value.atoms:
        if isinstance(atom, SeqOf) and depth < _MAX_DEPTH:
            for item in atom.items:
                yield from _steps(item, depth + 1)
        else:
            yield atom


def _name(atom: Atom) -> str | None:
    """The dotted name of what is called, '' for code of the project; None if it may draw from any state."""
    match atom:
        case Unknown():
            return None
        case Lib(name) | LibObject(name, _):
            return name if _is_known(name) else None
        case LibMember(LibObject(name, _), attribute):
            return "" if _is_known(name) and attribute not in _DRAWING else None
        case LibMember(SeqOf() | MapOf(), _):
            return ""
        case LibMember():
            return None
    return ""


def _is_known(name: str) -> bool:
    """Whether the package, a module or the function itself is one of `_KNOWN`. An item of a result counts as it
    (`librosa.load[]`)."""
    return any(prefix in _KNOWN for prefix in accumulate(name.partition("[")[0].split("."), "{}.{}".format))
