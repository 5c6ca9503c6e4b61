"""Which libraries' global random states the code of a loader's samples and workers draws from."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.knowledge.augmentations import LIBRARIES, STEADY_TRANSFORMS, TORCH_DRAWN_TRANSFORMS
from loaderlint.knowledge.lazy_pipelines import TABLES
from loaderlint.knowledge.numpy_random import (
    DRAW_FREE,
    GENERATOR_DRAWS,
    NUMPY_GLOBAL_DRAWS,
    OWN_STATE,
    SEEDERS,
    draws_through_library,
)
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
from loaderlint.project.loaders.library_samples import sample_callables
from loaderlint.project.reach.model import Loader, Model, Part, WorkerCall
from loaderlint.project.versions.environment import VersionSet
from loaderlint.rules.shared.generator_creation import library_of
from loaderlint.rules.shared.judgement import EVERYWHERE

#: Whether something draws from a global state: code that is known does, or code that is not known may.
Drawn = Literal["yes", "maybe", "no"]
_ANSWERS: tuple[Drawn, ...] = ("yes", "maybe", "no")
SAMPLE_PARTS: tuple[Part, ...] = ("sample", "collate")

_MAX_DEPTH = 8
_TORCH_DRAWS = (
    *("torch.rand", "torch.normal", "torch.multinomial", "torch.bernoulli", "torch.poisson"),
    "torch.initial_seed",  # what is seeded from it follows torch's state
)
#: Packages that draw from a global state only where that is known: what else is called may draw from any.
_KNOWN = DRAW_FREE | frozenset(sys.stdlib_module_names) | frozenset("builtins numpy torch PIL cv2 yaml".split())
#: Pipelines that draw nothing but what their steps draw, and from torch's state whether to run them.
_PIPELINES = frozenset(f"torchvision.transforms.{name}" for name in ("Compose", "Lambda", "RandomApply"))
_RANDOM_APPLY = "torchvision.transforms.RandomApply"
#: What may draw from torch's state beside the functions that certainly do: layers, initialisation, distributions.
_MAY_DRAW_FROM_TORCH = re.compile(
    r"torch\.(nn\.(?!functional\.)|distributions|distributed|utils\.data\.[rR]andom|.*(dropout|gumbel|rrelu|fractional))"
    r"|torchaudio|torchvision"
)
#: What the attribute of a library's object is, such as `self.np_random` of a base class.
_LIBRARY_ATTRIBUTE = Unknown("library attribute")
#: Functions of torchvision, which draw nothing.
_FUNCTIONAL = "torchvision.transforms.functional."
#: The torch of torchvision 0.8, whose transforms began to draw from torch's state. Nothing declared means a later one.
_DRAWN_FROM_TORCH = "1.7"
#: Attributes that may draw, whatever has them: `x.uniform_()`, `rng.choice(x)`, `distribution.sample()`.
_DRAWING = GENERATOR_DRAWS | frozenset(
    "normal_ uniform_ random_ bernoulli_ cauchy_ exponential_ geometric_ log_normal_ rsample".split()
)


class _Known(Struct, frozen=True):
    """The library in question, and which transforms of torchvision, and pipelines of them, do not draw from its
    state."""

    library: str
    steady: frozenset[str]
    pipelines: frozenset[str]


def is_drawn_from(seeder: str, loader: Loader, model: Model) -> bool:
    """Whether the workers of a loader may draw from the state that `seeder` sets. Only where everything that they call
    is known to draw from none, or from which, they do not."""
    library = SEEDERS.get(seeder, "all")
    return drawn_from(library, loader, EVERYWHERE, model) != "no"


def drawn_by_samples(seeders: Iterable[str], loader: Loader, model: Model) -> Drawn:
    """Whether the samples and batches of a loader draw from a state that one of `seeders` sets."""
    libraries = {SEEDERS.get(seeder, "all") for seeder in seeders}
    if "all" in libraries:
        libraries |= {"numpy", "python", "torch"}
    answers = {drawn_from(library, loader, SAMPLE_PARTS, model) for library in libraries - {"all"}}
    return next((one for one in _ANSWERS if one in answers), "maybe")


def drawn_from(library: str, loader: Loader, parts: tuple[Part, ...], model: Model) -> Drawn:
    """Whether these parts of a loader's work draw from the global state of a library."""
    return model.remembered(_drawn_from, library, loader, parts)


def draw_from_own(loader: Loader, model: Model) -> bool:
    """Whether the samples of a loader draw from a generator object, their own or one that a library keeps."""
    return model.remembered(_draw_from_own, loader)


def _drawn_from(library: str, loader: Loader, parts: tuple[Part, ...], model: Model) -> Drawn:
    run = [one for one in model.reached_by(loader) if one.bits(parts) >> loader.index & 1]
    if library not in ("numpy", "python", "torch"):
        return "maybe"
    if not any(one.bits(SAMPLE_PARTS) >> loader.index & 1 for one in run) and not _reads_only_tables(loader, model):
        return "maybe"  # the dataset is unknown
    known = _Known(library, *_pipelines_of(library, loader, model))
    drawn = [_libraries(call, known, model) for one in run for call in model.frame_calls(one.frame)]
    if any(found is not None and library in found for found in drawn):
        return "yes"
    return "maybe" if None in drawn else "no"


def _reads_only_tables(loader: Loader, model: Model) -> bool:
    """Whether the dataset is one of Hugging Face that is given no transform, and the loader no collate function: the
    samples are rows of a table."""
    atoms, collate = loader.argument("dataset").atoms, loader.argument("collate_fn")
    return (
        bool(atoms)
        and collate.literal is not None
        and all(
            isinstance(atom, LibObject) and atom.name.startswith(TABLES) and not sample_callables(model.ev, atom)
            for atom in atoms
        )
    )


def _pipelines_of(library: str, loader: Loader, model: Model) -> tuple[frozenset[str], frozenset[str]]:
    """The transforms of torchvision that do not draw from a library's state, and the pipelines of them."""
    if library == "torch":
        return STEADY_TRANSFORMS, _PIPELINES - {_RANDOM_APPLY}
    if _is_torchvision_old(loader, model):
        return STEADY_TRANSFORMS, _PIPELINES
    return STEADY_TRANSFORMS | TORCH_DRAWN_TRANSFORMS, _PIPELINES


def _draw_from_own(loader: Loader, model: Model) -> bool:
    run = [one for one in model.reached_by(loader) if one.bits(SAMPLE_PARTS) >> loader.index & 1]
    calls = [call for one in run for call in model.frame_calls(one.frame)]
    return any(_is_own_draw(call, model) or _augments_by_own_state(call, loader, model) for call in calls)


def _is_own_draw(call: WorkerCall, model: Model) -> bool:
    func = model.ev.expr(call.frame, call.call.func)
    if not isinstance(func, ir.Attr) or func.name not in GENERATOR_DRAWS:
        return False
    owners = model.ev.eval(func.base, call.frame).atoms
    return any(one == _LIBRARY_ATTRIBUTE or (isinstance(one, LibObject) and library_of(one)) for one in owners)


def _augments_by_own_state(call: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether a call runs an augmentation of a library whose objects may hold generators, in some version that the
    project may run on."""
    names = [atom.name for atom in call.callee.atoms if isinstance(atom, LibObject)]
    found = {library for library in LIBRARIES if any(name.startswith(library.prefix) for name in names)}
    declared = model.environment(loader).packages or {}
    return any(declared.get(library.package, VersionSet()).before(library.since) != "yes" for library in found)


def _is_torchvision_old(loader: Loader, model: Model) -> bool:
    """Whether torchvision's transforms may draw from `random`, judging by the torch that the project declares."""
    return model.environment(loader).torch.before(_DRAWN_FROM_TORCH) in ("yes", "maybe")


def _libraries(call: WorkerCall, known: _Known, model: Model) -> Iterable[str] | None:
    """The libraries from whose states a call draws, but not from those of `known`; None if it may be any."""
    func = model.ev.expr(call.frame, call.call.func)
    if isinstance(func, ir.Attr) and model.ev.eval(func.base, call.frame).unknown is not None:
        return None if func.name in _DRAWING else ()  # a method of unknown data
    found = {"numpy"} if draws_from_numpy(call, model) else set()
    for atom in call.callee.atoms:
        name = "" if _is_steady(atom, known, model, 0) else _name(atom)
        if name is None or (known.library == "torch" and _MAY_DRAW_FROM_TORCH.match(name)):
            return None
        found.add(library_drawn_from(name))
    return found - {""}


def draws_from_numpy(call: WorkerCall, model: Model) -> bool:
    """Whether a call draws from NumPy's global state."""
    return any(True for _ in numpy_draws(call, model))


def numpy_draws(call: WorkerCall, model: Model) -> Iterator[str]:
    """The names of the functions by which a call draws from NumPy's global state."""
    for atom in call.callee.ordered():
        match atom:
            case Lib(name) if name in NUMPY_GLOBAL_DRAWS:
                yield name
            case Lib(name) if draws_through_library(name) and not _has_own_state(call, model):
                yield name
            case LibMember(LibObject(owner), method) if draws_through_library(f"{owner}.{method}"):
                if not _has_own_state(call, model):
                    yield f"pandas.DataFrame.{method}" if owner.startswith("pandas.") else f"{owner}.{method}"


def _has_own_state(call: WorkerCall, model: Model) -> bool:
    """Whether a call may pass a generator or a seed."""
    return any(
        arg.kind == "starstar"
        or (arg.kind == "kw" and arg.name in OWN_STATE and not model.ev.eval(arg.value, call.frame).is_none)
        for arg in call.call.args
    )


def library_drawn_from(name: str) -> str:
    """The library, as in `SEEDERS`, from whose global state the library call `name` draws; '' for other calls."""
    if name in NUMPY_GLOBAL_DRAWS:
        return "numpy"
    if name.startswith(_TORCH_DRAWS):
        return "torch"
    return "python" if name.startswith("random.") and name not in SEEDERS else ""


def _is_steady(atom: Atom, known: _Known, model: Model, depth: int) -> bool:
    """Whether calling an object of a library does what those of `known` do, but for the project's own code that it
    calls. Creating one draws nothing, and its `get_params` draws as it does."""
    if isinstance(atom, Lib):
        name = atom.name.removesuffix(".get_params")
        return name in known.steady or name in known.pipelines or name.startswith(_FUNCTIONAL)
    if not isinstance(atom, LibObject) or depth > _MAX_DEPTH:
        return False
    if atom.name not in known.pipelines:
        return atom.name in known.steady
    made = model.ev.calls.site_arguments(atom.site)
    steps = [step for value in made.values for step in _steps(value, 0)]
    return all(
        isinstance(step, (FunctionRef, Method, Instance, Literal_)) or _is_steady(step, known, model, depth + 1)
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
        case LibMember(LibObject() as owner, _) if library_of(owner):
            return ""  # a generator draws from its own state
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
