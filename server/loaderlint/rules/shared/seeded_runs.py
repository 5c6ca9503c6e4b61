"""The code that runs after a program has seeded a global generator with a fixed number: `set_seed(42)`, and then
`build(args)`, which shuffles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.call_sites import CallSite
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, Literal_, Unknown, def_key
from loaderlint.project.modules.dependencies import is_def
from loaderlint.project.modules.project_files import MODULE
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.seed_sources import FIXED_REASONS

Library = Literal["torch", "numpy", "python"]
#: At most this many callers of a function are looked at.
_MAX_FRAMES = 8
#: How many calls lie between the code that seeds and the function of the library.
_MAX_HELPERS = 3


class _Seeding(NamedTuple):
    """A call that seeds, by its expression in a frame."""

    frame: Frame
    number: int


class _Seeded(NamedTuple):
    """The calls of a program that seed a generator, and the frames that it runs after one of them."""

    seedings: tuple[_Seeding, ...]
    frames: frozenset[Frame]


def runs_after_seed(frame: Frame, library: Library, model: Model) -> bool:
    """Whether a program has seeded the generator of a library before it runs a frame, or before it creates the object
    whose method that is. Workers have generators of their own."""
    if frame in model.reached:
        return False
    seeded = model.remembered(_seeded, library)
    made = frame.receiver.site if isinstance(frame.receiver, Instance) else None
    if frame in seeded.frames or made is None:
        return frame in seeded.frames
    return made.frame in seeded.frames or any(
        one.frame is made.frame and _is_before(one, made.expr, model) for one in seeded.seedings
    )


def _seeded(library: Library, model: Model) -> _Seeded:
    seedings: dict[_Seeding, None] = {}
    found = list(dict.fromkeys(_of_library(library, model)))
    for _ in range(_MAX_HELPERS):
        seedings |= dict.fromkeys(found)
        found = [one for one in dict.fromkeys(_of_helpers(found, model)) if one not in seedings]
    started = model.run_by(frame for one in seedings for frame in _started_after(one, model))
    return _Seeded(tuple(seedings), frozenset(started))


def _of_library(library: Library, model: Model) -> Iterator[_Seeding]:
    """The calls of functions of libraries that seed, with what may be the same in each run."""
    names = {name for name, seeded in SEEDERS.items() if seeded in (library, "all")}
    for last in sorted({name.rpartition(".")[2] for name in names}):
        for site in model.callers.sites(last):
            for frame in _frames(site, model):
                call = model.ev.expr(frame, site.expr)
                if isinstance(call, ir.Call) and call.args and _is_fixed(call.args[0].value, frame, model):
                    callee = model.ev.eval(call.func, frame)
                    if any(one.name in names for one in callee.only(Lib)):
                        yield _Seeding(frame, site.expr)


def _is_fixed(seed: int, frame: Frame, model: Model) -> bool:
    """Whether a seed may be the same in each run: a number, an option, or an item of a loop; not the time."""
    match model.ev.expr(frame, seed):
        case ir.Element() | ir.Unpack():
            return True
        case ir.Bin(_, left, right):
            return _is_fixed(left, frame, model) and _is_fixed(right, frame, model)
    atoms = model.ev.eval(seed, frame).atoms
    return bool(atoms) and all(map(_is_fixed_value, atoms))


def _is_fixed_value(atom: Atom) -> bool:
    if isinstance(atom, Literal_):
        return atom.value is not None
    return isinstance(atom, Unknown) and atom.reason in FIXED_REASONS


def _of_helpers(seedings: Iterable[_Seeding], model: Model) -> Iterator[_Seeding]:
    """The calls of functions that always seed: `set_seed(42)`."""
    frames = {one.frame for one in seedings if one.frame.def_ and _always_runs(one, model)}
    for key in sorted({def_key(frame) for frame in frames}):
        name = next(model.def_of(frame).name for frame in frames if def_key(frame) == key)
        for site in model.callers.sites_running(name, key) if name else ():
            for caller in _frames(site, model):
                if not frames.isdisjoint(model.ev.targets(site.expr, caller)):
                    yield _Seeding(caller, site.expr)


def _started_after(seeding: _Seeding, model: Model) -> Iterator[Frame]:
    """The frames that a def or a module runs after a call that seeds."""
    frame = seeding.frame
    for number, targets in model.ev.leads(frame).items():
        if _is_before(seeding, number, model):
            yield from targets
    file = model.files.file(frame.path) if frame.def_ == 0 and _always_runs(seeding, model) else None
    clause = file.pieces[frame.piece].parent if file is not None else -1
    for piece in file.all_asking(_calls, scope=MODULE) if file is not None else ():
        if file is not None and piece > frame.piece and clause in (-1, *file.around(piece)):
            yield model.ev.body(frame.path, piece)


def _is_before(seeding: _Seeding, number: int, model: Model) -> bool:
    """Whether a call that seeds always comes before an expression of its def."""
    code = seeding.frame.code
    seeded, step = code.evaluated_by(seeding.number), code.evaluated_by(number)
    if code.one is None or seeded is None or step is None or seeded >= step:
        return False
    steps = code.one.steps
    return code.one.is_within(steps[step].context, steps[seeded].context) or _always_runs(seeding, model)


def _always_runs(seeding: _Seeding, model: Model) -> bool:
    """Whether each run of a def makes a call, as long as users set no option."""
    return model.runs_by_default(seeding.frame, seeding.frame.code.context_of(seeding.number))


def _frames(site: CallSite, model: Model) -> tuple[Frame, ...]:
    return model.callers.frames(site.path, site.piece, site.def_)[:_MAX_FRAMES]


def _calls(text: str) -> bool:
    """Whether a piece calls something, and is no function or class."""
    return "(" in text and not is_def(text)
